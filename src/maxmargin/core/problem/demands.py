"""Every linear problem as demands on one vector of weights, in whole numbers: nothing is rounded.

    min over v, u    ½‖v‖² + Σ_g c_g ℓ(demands of g),        m_p = a_p·v + e_p·u

A demand p asks for a margin m_p of 1, or as large as may be, and belongs to a group of cost c_g:

    two classes          one demand per row, a = yx, e = y
    pairs of objects     a = x_winner − x_loser, no bias
    k classes            k − 1 demands per row, a = (e_y − e_c) ⊗ x, e = e_y − e_c; "max" and
                         softmax take those of a row together, "sum" each alone
    pairs of labels      a = (e_winner − e_loser) ⊗ x, each alone

Floats are whole numbers times a power of two, so a and c are kept as such.
"""

from __future__ import annotations

from enum import Enum
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..rows.rows import DenseRows, PairRows, SparseRows, dense, shape
from .class_losses import MaxHinge, MaxSquaredHinge, Softmax, SumHinge, SumSquaredHinge
from .label_pairs import LabelPairsProblem
from .losses import Hinge, Logistic, SquaredHinge
from .multiclass import MulticlassProblem
from .problem import Problem


class Penalty(Enum):
    """What a group pays for its worst slack z, or for all of its margins."""

    HINGE = "max(0, z)"
    SQUARE = "max(0, z)²"
    HARD = "no slack is allowed"
    LOG = "log(1 + Σ exp(−m))"


PENALTIES: dict[type, Penalty] = {
    Hinge: Penalty.HINGE, SquaredHinge: Penalty.SQUARE, Logistic: Penalty.LOG,
    MaxHinge: Penalty.HINGE, SumHinge: Penalty.HINGE, Softmax: Penalty.LOG,
    MaxSquaredHinge: Penalty.SQUARE, SumSquaredHinge: Penalty.SQUARE,
}  # fmt: skip
SHARED = (MaxHinge, MaxSquaredHinge, Softmax)


class Dyadic(NamedTuple):
    """Dyadic numbers of any size, in an array of objects, times 2^exponent."""

    numbers: np.ndarray
    exponent: int


class Demands(NamedTuple):
    """Rows a of all demands, of which those of a group follow each other."""

    a: Dyadic  # (P, D)
    e: np.ndarray  # (P, B) of −1, 0 and 1; B = 0 without a bias
    group: np.ndarray  # (P,)
    cost: np.ndarray  # (G,), positive
    penalty: Penalty
    where: tuple[np.ndarray, ...]  # where a multiplier stands among those of the problem
    place: np.ndarray  # (d,): a place among the rows, or the origin where there is no bias

    @property
    def starts(self) -> np.ndarray:
        """The first demand of every group."""
        return np.searchsorted(self.group, np.arange(len(self.cost)))


def whole(values: Any) -> Dyadic:
    """Finite floats as whole numbers times one power of two."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    used = exponent[mantissa != 0.0]
    least = int(used.min(initial=0)) if len(used) else 0
    numbers = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
    return Dyadic(numbers << np.where(mantissa != 0.0, exponent - least, 0), least - 53)


def _items(problem: Any) -> np.ndarray:
    """The rows, of pairs the items, as a dense array of floats."""
    rows = problem.rows.items if isinstance(problem.rows, PairRows) else problem.rows
    return dense(rows, np.arange(shape(rows)[0])).astype(np.float64)


def can_demand(problem: Any) -> bool:
    """Whether these are rows and a loss that are known here."""
    rows = problem.rows.items if isinstance(problem.rows, PairRows) else problem.rows
    loss = type(getattr(problem, "loss", Hinge()))
    return isinstance(rows, DenseRows | SparseRows) and loss in PENALTIES


@singledispatch
def demands(problem: Any) -> Demands:
    """The problem as demands."""
    raise TypeError(f"no demands of {type(problem).__name__}")


@demands.register
def _(problem: Problem) -> Demands:
    X, alive = whole(_items(problem)), np.flatnonzero(problem.c > 0.0)
    x = X.numbers
    if isinstance(problem.rows, PairRows):
        x = x[problem.rows.winner] - x[problem.rows.loser]
    sign = problem.y[alive].astype(np.int64)
    a = Dyadic(x[alive] * sign.astype(object)[:, None], X.exponent)
    e = sign[:, None] if problem.bias else np.zeros((len(alive), 0), dtype=np.int64)
    penalty = Penalty.HARD if problem.hard else PENALTIES[type(problem.loss)]
    group = np.arange(len(alive))
    return Demands(a, e, group, problem.c[alive], penalty, (alive,), _place(problem))


@demands.register
def _(problem: MulticlassProblem) -> Demands:
    alive = np.flatnonzero(problem.c > 0.0)
    row = np.repeat(alive, problem.k - 1)
    other = np.concatenate([np.delete(np.arange(problem.k), problem.y[i]) for i in alive])
    if type(problem.loss) in SHARED:
        group, cost = np.repeat(np.arange(len(alive)), problem.k - 1), problem.c[alive]
    else:
        group, cost = np.arange(len(row)), problem.c[row]
    penalty = Penalty.HARD if problem.hard else PENALTIES[type(problem.loss)]
    a, e = _contests(problem, row, problem.y[row], other)
    return Demands(a, e, group, cost, penalty, (row, other), _place(problem))


@demands.register
def _(problem: LabelPairsProblem) -> Demands:
    alive = np.flatnonzero(problem.c > 0.0)
    contest = problem.example[alive], problem.winner[alive], problem.loser[alive]
    a, e = _contests(problem, *contest)
    group = np.arange(len(alive))
    return Demands(a, e, group, problem.c[alive], Penalty.HINGE, (alive,), _place(problem))


def _contests(problem, row, over, under) -> tuple[Dyadic, np.ndarray]:
    """(e_over − e_under) ⊗ x and e_over − e_under."""
    X, k, p = whole(_items(problem)), problem.k, np.arange(len(row))
    d = X.numbers.shape[1]
    a = np.zeros((len(row), k, d), dtype=object)
    a[p, over] = X.numbers[row]
    a[p, under] = -X.numbers[row]
    e = np.zeros((len(row), k if problem.bias else 0), dtype=np.int64)
    if problem.bias:
        e[p, over], e[p, under] = 1, -1
    return Dyadic(a.reshape(len(row), k * d), X.exponent), e


def _place(problem: Any) -> np.ndarray:
    """Near the middle of the rows, where there is a bias to say it."""
    X = _items(problem)
    return 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0) if problem.bias else np.zeros(X.shape[1])
