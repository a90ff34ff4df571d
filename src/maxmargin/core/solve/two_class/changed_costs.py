"""The hinge after the costs of some rows have changed, from the optimum before.

    min over w, b    ½‖w‖² + Σ c_i max(0, z_i),        z_i = 1 − y_i ((x_i − μ)·w + b)

A row that is gone has cost 0.  The optimum before has w = Σ α_i y_i x_i, and a row far from its
margin keeps its multiplier, 0 or c; so all that is far pulls as it did, but for the rows whose
costs have changed, and the rows near their margin are solved alone, by ``lagrangian.py``.  Which
are near follows from the slacks before, if they are known, and neither the pull nor the slacks of
the others need a pass over the data: one is made for the certificate, which is recomputed from the
data as always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...certify.hinge_pass import HingeProof, prove_hinge
from ...problem.problem import Problem
from ...rows.rows import combine, take
from ..contract import Ending, Monitor, OutOfBudget, Point, Proved, Solution
from ..driver import conclude
from ..semismooth import Terms
from ..threads import one_blas_thread
from .blocks import NearRows, State
from .lagrangian import Goal, augment, block_slack
from .left_rows import RowsSeen
from .rounds import nearest
from .vertex import vertex

# Rows taken for near: so many per column and so many more for every row whose cost has changed, up
# to 16 per column, and one for every such row at least.  Of 20, 50 and 100 columns one round was
# then enough for one row, 30, and one in a hundred; with four per column it was not for 30.
FEWEST_PER_COLUMN, MORE_PER_CHANGE, NEAR_ROWS_PER_COLUMN = 4, 16, 16
# Times that more rows are taken, and how many times more, where the proof falls short.
MAX_ROUNDS, ROUND_GROWTH = 3, 4
# The near rows are solved to this share of the gap asked for; rows that change sides have the rest.
NEAR_TOL_SHARE = 0.3
# κ, where σ = κ c, to begin with: of 1 to 10,000 it took the fewest steps, 8 for one row of 100,000
# and 15 for a hundredth of them.
START_KAPPA = 1000.0
# Times that free multipliers are moved to Σαy = 0: rounding in the first is mended by the next.
MAX_BALANCE_MOVES = 3
# The near rows must be able to hold so much more than the pull of the others on the bias.
HOLD_SHARE = 0.9

CHANGED_COSTS_REASON = "the rows near their margin, from the optimum before"


class Front(NamedTuple):
    """A point, and the slacks that its rows have, or had to six digits; its proof, and the rows
    whose multipliers are no longer those of the start."""

    point: Point
    z: np.ndarray
    moved: np.ndarray
    proof: HingeProof | None = None


def solve_changed(
    problem: Problem, start: Front, changed: np.ndarray, monitor: Monitor,
    known: Callable[[Front], bool] = lambda here: True,
) -> Solution | None:  # fmt: skip
    """The optimum of ``problem`` from that of other costs of the rows ``changed``; as slacks what
    was seen of its rows.

    ``known`` may refuse what the proof saw.  None then, and where the rows near their margin do
    not suffice: then it is another problem altogether.
    """
    here = start
    columns, count = problem.shape[1] + 1, len(changed)
    few = FEWEST_PER_COLUMN * columns + MORE_PER_CHANGE * count
    size = max(count, min(few, NEAR_ROWS_PER_COLUMN * columns))
    with one_blas_thread(), np.errstate(all="ignore"):
        for turn in range(MAX_ROUNDS):
            away = changed if turn == 0 else _away(problem, here)
            try:
                found = _round(problem, here, away, size, monitor)
            except OutOfBudget:
                return None
            if found is None or not known(found):
                return None
            here, proof = found, found.proof
            assert proof is not None
            monitor.record(proof.certificate.primal, proof.certificate.dual)
            if proof.certificate.holds(monitor.tol):
                proved = Proved(
                    here.point, proof.certificate, None, RowsSeen(proof.z, proof.support)
                )
                return conclude(proved, Ending.REACHED, "newton", CHANGED_COSTS_REASON, monitor)
            size *= ROUND_GROWTH
    return None


def _away(problem: Problem, here: Front) -> np.ndarray:
    """Rows whose multiplier is not at the bound that their slack says."""
    return np.flatnonzero(here.point.alpha != np.where(here.z > 0.0, problem.c, 0.0))


def _round(problem: Problem, here: Front, away, size: int, monitor: Monitor) -> Front | None:
    """Solve the ``size`` rows nearest their margin; others keep their multipliers, but for those
    ``away``, which go to the bound on their side."""
    (w, b, alpha), y = here.point, problem.y
    near = nearest(here.z, size)
    frozen = alpha.copy()
    frozen[away] = np.where(here.z[away] > 0.0, problem.c[away], 0.0)
    frozen[near] = 0.0
    r0 = float(frozen @ y)
    while problem.bias and len(near) < len(y) and not _holds(problem, near, r0):
        near = nearest(here.z, 2 * len(near))
        frozen[near] = 0.0
        r0 = float(frozen @ y)
    rows = take(problem.rows, near)
    away = away[near[np.minimum(np.searchsorted(near, away), len(near) - 1)] != away]
    moved = away[frozen[away] != alpha[away]]
    m, a, signs = len(near), alpha[near], y[near]
    mu = combine(rows, np.full(m, 1.0 / m)) if problem.bias else np.zeros(len(w))
    v0 = w - combine(rows, a * signs) - r0 * mu
    v0 += combine(take(problem.rows, moved), (frozen - alpha)[moved] * y[moved])
    block = NearRows(rows, signs, problem.c[near], mu, problem.bias, v0, r0)
    state = State(w, b + float(mu @ w), np.clip(a, 0.0, block.cap), np.empty(0))
    state.z = block_slack(block, state.w, state.b)
    if not np.isfinite(state.z).all():
        return None
    # Of the objective no more than its size is asked: what is frozen at the caps adds to it.
    _minimise(block, state, float(frozen.sum()), monitor)
    a = _balanced(block, state.a)
    a = vertex(Problem(rows, signs, block.cap, problem.loss, problem.bias), a)
    pull = v0 + combine(rows, a * signs) - float(a @ signs) * mu
    frozen[near] = a
    b = state.b - float(mu @ state.w) if problem.bias else 0.0
    proof = prove_hinge(problem, pull, b, frozen, monitor.tol)
    return Front(Point(pull, b, frozen), proof.z, np.concatenate([here.moved, near, moved]), proof)


def _holds(problem: Problem, near, pull: float) -> bool:
    """Whether near rows can hold what the others pull the bias; else there is no minimum."""
    against = problem.y[near] == -np.sign(pull)
    return pull == 0.0 or abs(pull) < HOLD_SHARE * float(problem.c[near][against].sum())


def _minimise(block: NearRows, state: State, constant: float, monitor: Monitor) -> None:
    """``constant``: what the rows frozen at their caps add to the objective."""
    tol = NEAR_TOL_SHARE * monitor.tol

    def done(terms: Terms) -> bool:
        return terms.gap <= tol * abs(terms.primal + constant)

    augment(block, state, START_KAPPA, monitor, Goal(tol, done))


def _balanced(block: NearRows, a: np.ndarray) -> np.ndarray:
    """Multipliers with Σαy = 0 over all rows, the free ones moved alike."""
    for _ in range(MAX_BALANCE_MOVES if block.bias else 0):
        r, free = block.r0 + float(a @ block.y), (a > 0.0) & (a < block.cap)
        if r == 0.0 or not free.any():
            break
        step = np.where(free, block.y * (r / np.count_nonzero(free)), 0.0)
        a = np.clip(a - step, 0.0, block.cap)
    return a
