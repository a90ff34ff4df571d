"""The problem every k-class solver answers.

    min over W, b    ½‖W‖²_F + Σ c_i ℓ(W x_i + b, y_i),        c_i = C s_i

with one weight vector W_c and one free bias b_c per class.  Adding the same vector to every
W_c, or the same number to every b_c, changes no loss; the norm makes Σ_c W_c = 0, and b is
reported with Σ_c b_c = 0.  C = ∞ asks for the hard margin: min ½‖W‖² with every
(W_y − W_c)·x + b_y − b_c ≥ 1.

For two classes W_1 = −W_2 = w/2, so C here is 2C in the two-class problem:
¼‖w‖² + C Σ ℓ = ½ (½‖w‖² + 2C Σ ℓ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..rows.rows import Rows
from .class_losses import ClassLoss, slacks_each
from .problem import Bias, OnRows


@dataclass(frozen=True)
class MulticlassProblem(OnRows):
    """Rows, labels y in {0, …, k−1} (int64), costs c ≥ 0 (∞: hard margin), a loss, a bias."""

    rows: Rows
    y: np.ndarray
    c: np.ndarray
    loss: ClassLoss
    k: int
    bias: Bias = Bias.FREE

    @cached_property
    def hard(self) -> bool:
        """Whether slack is forbidden."""
        return bool(np.isinf(self.c).any())

    def summary(self) -> str:
        """Variables and constraints, as the lectures count them."""
        return summary(self.loss, self.k, self.bias, *self.shape, self.hard)


def summary(loss: ClassLoss, k: int, bias: Bias, n: int, d: int, hard: bool = False) -> str:
    """Variables and constraints of a problem with n rows and d columns."""
    biases = k if bias else 0
    name = f"{type(loss).__name__}, {k} classes, bias {bias.value}"
    each = slacks_each(loss, k)
    if each == 0:
        return f"{name}: {k * d + biases} variables ({k * d} weights, {biases} biases)"
    slacks = 0 if hard else n * each
    return (
        f"{name}: {k * d + biases + slacks} variables ({k * d} weights, {biases} biases, "
        f"{slacks} slacks), {n * (k - 1)} margin constraints"
    )
