"""Learning to rank labels: the hinge over pairs of classes that examples have an opinion on.

    min over W, b    ½‖W‖² + Σ c_p max(0, 1 − (w_a − w_b)·x_i − (b_a − b_b))

over pairs p = (i, a, b): example i ranks class a above class b.  One label y per example is
the special case (i, y, c) for all c ≠ y: the "sum" rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rows.rows import Rows
from .problem import Bias, OnRows


@dataclass(frozen=True)
class LabelPairsProblem(OnRows):
    """Rows, k classes, and for every pair its example, the class preferred, the other, its cost."""

    rows: Rows
    k: int
    example: np.ndarray
    winner: np.ndarray
    loser: np.ndarray
    c: np.ndarray
    bias: Bias = Bias.FREE

    def summary(self) -> str:
        """Variables and constraints, as the lectures count them."""
        d, m = self.shape[1], len(self.c)
        biases = self.k if self.bias else 0
        return (
            f"Hinge over pairs of labels, bias {self.bias.value}: "
            f"{self.k * d + biases + m} variables ({self.k * d} weights, {biases} biases, "
            f"{m} slacks), {m} margin constraints"
        )
