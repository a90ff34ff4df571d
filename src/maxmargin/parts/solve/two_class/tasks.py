"""What a part is asked about a two-class margin problem, and what it remembers of it.

    min over w, b    ½‖w‖² + Σ over parts Σ over rows c_i ℓ(y_i (w·x_i + b))

Every part keeps the multipliers of its own rows; only sums of the length of w leave it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.problem.losses import Hinge, SquaredHinge, boxed
from ....core.problem.problem import Bias, Problem, costs
from ....core.rows.rows import as_rows, combine, size_of, sqnorms, take
from ...parts import Block


class BinarySpec(NamedTuple):
    """A two-class problem: class ``positive`` against ``negative``, or against all others."""

    C: float
    loss: Hinge | SquaredHinge
    bias: Bias = Bias.FREE
    positive: int = 1
    negative: int | None = None
    by_class: np.ndarray | None = None  # class weights, one per code
    seed: int = 0

    @property
    def key(self) -> tuple[int, int | None]:
        """Where a part keeps what it knows; the same along C, so that fits start warm."""
        return self.positive, self.negative

    def pose(self, block: Block) -> Problem:
        """The part's rows as this problem."""
        return pose(block, self)

    @property
    def squared(self) -> bool:
        return not boxed(self.loss)


class BinaryState(NamedTuple):
    """What a part remembers: never written in place, for a task may be run again."""

    q: np.ndarray  # ‖x‖²
    alpha: np.ndarray  # multipliers, the accepted ones
    points: np.ndarray  # them, those a leap and the epochs after it proposed, and older ones
    epochs: int = 0
    z: np.ndarray | None = None  # slacks, their change along a direction, multipliers on trial
    dz: np.ndarray | None = None
    trial: np.ndarray | None = None
    v: np.ndarray | None = None  # Σ y x over the multipliers on trial
    free: Any = None  # the rows whose trial multiplier is free
    ahead: Any = None  # trial, v and free as they are one whole step ahead


class Census(NamedTuple):
    """Sums over all rows that set the scale of everything."""

    rows: int
    alive: int
    values: int
    sqnorm: float
    softness: float  # Σ 1/c, or Σ 1/(2c) for squared hinge
    cost: float
    by_side: np.ndarray  # the negative and the positive class's costs
    sum_x: np.ndarray
    alpha: float
    r: float
    bent: float  # Σ bend α²
    w: np.ndarray  # Σ α y x


def pose(block: Block, spec: BinarySpec) -> Problem:
    """The part's rows as a two-class problem; rows of third classes are left out."""
    X, codes, weight = block
    if spec.negative is not None and len(codes):
        some = (codes == spec.positive) | (codes == spec.negative)
        if not some.all():
            index = np.flatnonzero(some)
            rows, codes = take(as_rows(X), index), codes[index]
            weight = None if weight is None else weight[index]
        else:
            rows = as_rows(X)
    else:
        rows = as_rows(X)
    c = costs(spec.C, weight, len(codes))
    if spec.by_class is not None:
        c = c * spec.by_class[codes]
    y = np.where(codes == spec.positive, 1.0, -1.0)
    return Problem(rows, y, c, spec.loss, spec.bias)


def bends(problem: Problem) -> np.ndarray | None:
    """ℓ*'s curvature 1/(2c) by row for the squared hinge; None for the hinge, which has none."""
    if boxed(problem.loss):
        return None
    return np.divide(0.5, problem.c, out=np.zeros(len(problem.c)), where=problem.c > 0)


def begin(problem: Problem, state: BinaryState | None) -> tuple[BinaryState, Census]:
    """Take the multipliers of an earlier fit into the box of this one, or start from none."""
    n = len(problem.y)
    alpha = np.zeros(n) if state is None else np.clip(state.alpha, 0.0, problem.cap)
    q = sqnorms(problem.rows) if state is None else state.q
    alive = problem.c > 0
    bend = bends(problem)
    soft = 1.0 / problem.c[alive] if bend is None else bend[alive]
    v = alpha * problem.y
    census = Census(
        rows=n,
        alive=int(alive.sum()),
        values=size_of(problem.rows),
        sqnorm=float(q[alive].sum()),
        softness=float(soft.sum()),
        cost=float(problem.c.sum()),
        by_side=np.bincount(problem.y > 0, problem.c, minlength=2),
        sum_x=combine(problem.rows, alive.astype(np.float64)),
        alpha=float(alpha.sum()),
        r=float(v.sum()),
        bent=0.0 if bend is None else float(bend @ alpha**2),
        w=combine(problem.rows, v),
    )
    return BinaryState(q, alpha, alpha[None, :]), census


def weigh(problem: Problem, state: BinaryState) -> tuple[BinaryState, tuple]:
    """w = Σ α y x afresh from the multipliers, with Σα and Σαy."""
    v = state.alpha * problem.y
    return state, (combine(problem.rows, v), float(state.alpha.sum()), float(v.sum()))
