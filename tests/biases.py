"""The three biases that a user can ask for; a penalised one is the weight of a column of ones."""

from __future__ import annotations

from maxmargin.core.problem.problem import Bias
from maxmargin.models.bias_column import with_ones

BIASES = ["free", "penalized", "none"]


def posed(X, bias: str | Bias):
    """The rows and the bias of the problem that is solved."""
    return (with_ones(X), Bias.NONE) if bias == "penalized" else (X, Bias(bias))
