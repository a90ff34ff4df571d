"""What Newton's method asks the parts: the smooth function of ``newton.py`` on their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.problem.problem import Problem
from ....core.rows.gram import column_gram
from ....core.rows.rows import Rows, SparseRows, combine, scores, take
from ....core.solve.two_class.lagrangian import activity, hinge_slope
from .tasks import BinaryState

# Free rows are copied for their products where they are fewer than one in this many.
ROWS_PER_COPIED_FREE_ROW = 3


class SmoothedHinge(NamedTuple):
    """What all parts are told of the smooth function: its centre, its κ, what to answer."""

    mu: np.ndarray
    kappa: float
    gram: bool
    diagonal: bool


class LagrangianSums(NamedTuple):
    """A part's answer at one point."""

    v: np.ndarray  # Σ â y (x − μ)
    r: float
    complementarity: float
    loss: float
    free: int
    curvature: np.ndarray  # G, or its diagonal, or nothing
    pull: np.ndarray  # h = Σ s (x − μ), if G is told
    stiffness: float  # Σ s


class Free(NamedTuple):
    """The rows whose multiplier on trial is free, their σ, and a copy of them once it is needed."""

    which: np.ndarray
    s: np.ndarray
    rows: Any = None


def start(
    problem: Problem, state: BinaryState, mu, w, b, level: float | None
) -> tuple[BinaryState, int]:
    """Slacks at (w, b), from the rows; multipliers as they are, or at this share of their cost."""
    z = 1.0 - problem.y * (scores(problem.rows, w) + (b - float(mu @ w)))
    alpha = state.alpha if level is None else level * problem.c
    state = state._replace(alpha=alpha, points=alpha[None, :], z=z, dz=None, trial=None, v=None)
    return state, 0


def evaluate(
    problem: Problem, state: BinaryState, told: SmoothedHinge, t: float, took: bool, pending: bool
):
    """Go t along the direction; answer with gradient and curvature there."""
    state = after_step(state, pending)
    assert state.z is not None
    z = state.z if state.dz is None or t == 0.0 else state.z + t * state.dz
    alpha = state.trial if took and state.trial is not None else state.alpha
    trial, v, free, sums = _sums(problem, state, told, z, alpha)
    state = state._replace(
        alpha=alpha, points=alpha[None, :], z=z, dz=None, trial=trial, v=v, free=free, ahead=None
    )
    return state, sums


def advance(
    problem: Problem, state: BinaryState, told: SmoothedHinge, direction, steps, pending: bool
):
    """Slopes at some steps along (dw, db), and gradient and curvature at its end."""
    dw, db = direction
    state = after_step(state, pending)
    assert state.z is not None
    dz = -problem.y * (scores(problem.rows, dw) + (db - float(told.mu @ dw)))
    *ahead, sums = _sums(problem, state, told, state.z + dz, state.alpha)
    state = state._replace(dz=dz, ahead=tuple(ahead))
    return state, (_slopes(problem, state, told, steps), sums)


def probe(problem: Problem, state: BinaryState, told: SmoothedHinge, steps):
    """Slopes at some more steps along the direction last told; no row is read."""
    return state, _slopes(problem, state, told, steps)


def product(problem: Problem, state: BinaryState, told: SmoothedHinge, p, pb: float, pending: bool):
    """Σ over free rows of s (x − μ) ((x − μ)·p + pb), and Σ s ((x − μ)·p + pb)."""
    state = after_step(state, pending)
    index, s, rows = state.free
    if rows is None:
        rows = problem.rows
        if ROWS_PER_COPIED_FREE_ROW * len(index) < len(problem.y):
            rows = take(rows, index)
        else:  # many are: a copy would cost more than the few products it is for
            s = np.bincount(index, s, len(problem.y))
        state = state._replace(free=Free(index, s, rows))
    m = s * (scores(rows, p) + (pb - float(told.mu @ p)))
    moment = float(m.sum())
    return state, (combine(rows, m) - moment * told.mu, moment)


def keep(
    problem: Problem, state: BinaryState, took: bool, pending: bool
) -> tuple[BinaryState, int]:
    """The multipliers on trial become the part's own."""
    state = after_step(state, pending)
    alpha = state.trial if took and state.trial is not None else state.alpha
    alpha = np.clip(alpha, 0.0, problem.cap)
    return BinaryState(state.q, alpha, alpha[None, :], state.epochs), 0


def stand(problem: Problem, state: BinaryState, pending: bool) -> tuple[BinaryState, int]:
    """Make the step that was agreed on."""
    return after_step(state, pending), 0


def after_step(state: BinaryState, pending: bool) -> BinaryState:
    """Where the part stands: one whole step ahead, if that was agreed on and not yet done."""
    if not pending:
        return state
    assert state.z is not None
    trial, v, free = state.ahead
    return state._replace(z=state.z + state.dz, dz=None, trial=trial, v=v, free=free, ahead=None)


def _sums(problem: Problem, state: BinaryState, told: SmoothedHinge, z, alpha):
    """Multipliers on trial at slacks z, Σ â y x, the free rows, and the sums."""
    sigma, base = _sigma(problem, told.kappa, alpha)
    trial, free = np.empty(len(z)), np.empty(len(z), dtype=np.int64)
    count, r, complementarity, loss = activity(z, base, sigma, problem.cap, problem.y, trial, free)
    if state.v is None or state.trial is None:
        v = combine(problem.rows, trial * problem.y)
    else:  # few multipliers change from step to step
        v = state.v + combine(problem.rows, (trial - state.trial) * problem.y)
    J = free[:count].copy()
    s = sigma[J]
    if told.gram:
        curvature, pull = column_gram(problem.rows, J, s, told.mu)
    else:
        curvature, pull = _diagonal(problem, J, s, told), np.zeros(0)
    found = LagrangianSums(
        v - r * told.mu, r, complementarity, loss, count, curvature, pull, float(s.sum())
    )
    return trial, v, Free(J, s), found


def _slopes(problem: Problem, state: BinaryState, told: SmoothedHinge, steps) -> np.ndarray:
    """The slope along the direction, without the quadratic's share."""
    sigma, base = _sigma(problem, told.kappa, state.alpha)
    return np.array([hinge_slope(state.z, state.dz, base, sigma, problem.cap, t)[0] for t in steps])


def _sigma(problem: Problem, kappa: float, alpha) -> tuple[np.ndarray, np.ndarray]:
    """σ and the multipliers the Lagrangian is about; the squared hinge is smooth by itself."""
    if np.isinf(problem.cap).any() or kappa == 0.0:
        return 2.0 * problem.c, np.zeros(len(alpha))
    return kappa * problem.c, alpha


def _diagonal(problem: Problem, index, s, told: SmoothedHinge) -> np.ndarray:
    """Σ s (x − μ)² by column, where the model wants it."""
    if not told.diagonal:
        return np.zeros(0)
    free = take(problem.rows, index)
    squared: Rows
    if isinstance(free, SparseRows):
        squared = free._replace(data=free.data.astype(np.float64) ** 2)
    else:
        squared = free._replace(X=free.X.astype(np.float64) ** 2)
    mu = told.mu
    return combine(squared, s) - 2.0 * mu * combine(free, s) + float(s.sum()) * mu**2
