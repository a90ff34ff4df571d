"""The problem every two-class solver answers.

    min over w, b    ½‖w‖² + Σ c_i ℓ(y_i (w·x_i + b)),        c_i = C s_i

The bias b is free (not penalised), or there is none.  C = ∞ asks for the hard margin: min ½‖w‖²
with every y_i (w·x_i + b) ≥ 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ..rows.rows import lengths, shape, sqnorms
from .losses import Hinge, Logistic, SquaredHinge, boxed, largest, target

MarginLoss = Hinge | SquaredHinge | Logistic


class Bias(Enum):
    """Whether there is a bias, as ``bool`` tells.  It is free: a penalised one is a weight."""

    FREE = "free"
    NONE = "none"

    def __bool__(self) -> bool:
        return self is Bias.FREE


class OnRows:
    """What all problems ask of their rows."""

    rows: Any

    @cached_property
    def sqnorms(self) -> np.ndarray:
        """‖x‖² of every row."""
        return sqnorms(self.rows)

    @cached_property
    def lengths(self) -> np.ndarray:
        """‖x‖ of every row, or a little more."""
        return lengths(self.rows)

    @cached_property
    def shape(self) -> tuple[int, int]:
        return shape(self.rows)


@dataclass(frozen=True)
class Problem(OnRows):
    """AnyRows, labels y in {−1, +1}, costs c ≥ 0 (∞ for the hard margin), a loss, a bias."""

    rows: Any  # dense, sparse or pairs
    y: np.ndarray
    c: np.ndarray
    loss: MarginLoss
    bias: Bias = Bias.FREE

    @cached_property
    def hard(self) -> bool:
        """Whether slack is forbidden."""
        return bool(np.isinf(self.c).any())

    @cached_property
    def cap(self) -> np.ndarray:
        """The largest multiplier of every example: ∞ for squared hinge, c for the others."""
        if not boxed(self.loss):
            return np.where(self.c > 0, np.inf, 0.0)
        most = largest(self.loss)
        return self.c if most == 1.0 else most * self.c

    def summary(self) -> str:
        """Variables and constraints, as the lectures count them."""
        return two_class_summary(self.loss, self.bias, *self.shape, self.hard)


def two_class_summary(loss: MarginLoss, bias: Bias, n: int, d: int, hard: bool) -> str:
    """Variables and constraints of a problem with n rows and d columns."""
    biases = 1 if bias else 0
    name = f"{type(loss).__name__}, bias {bias.value}"
    if np.isnan(target(loss)):  # no row has slack
        return f"{name}: {d + biases} variables ({d} weights, {biases} bias)"
    slacks = 0 if hard else n
    return (
        f"{name}: {d + biases + slacks} variables ({d} weights, {biases} bias, "
        f"{slacks} slacks), {n} margin constraints"
    )


def costs(C: float, sample_weight: np.ndarray | None, n: int) -> np.ndarray:
    """c_i = C s_i, with the convention that weight 0 removes an example even at C = ∞."""
    if sample_weight is None:
        return np.full(n, float(C))
    weight = np.asarray(sample_weight, dtype=np.float64)
    return np.where(weight > 0, C, 0.0) if np.isinf(C) else C * weight
