"""The hinge after the costs of some rows have changed, from the optimum before.

    min over w, b    ½‖w‖² + Σ c_i max(0, z_i),        z_i = 1 − y_i ((x_i − μ)·w + b)

A row that is gone has cost 0.  The optimum before has w = Σ α_i y_i x_i, and a row far from its
margin keeps its multiplier, 0 or c; so all that is far pulls as it did, but for the rows whose
costs have changed, and the rows near their margin are solved alone, by ``lagrangian.py``.  Neither
pull nor slacks of the others need a pass over the data: one is made for the certificate, which is
recomputed from the data as always.
"""

from __future__ import annotations

import numpy as np

from ...certify.two_class import certify
from ...problem.problem import Problem
from ...rows.one_pass import see
from ...rows.rows import combine, take
from ..contract import Ending, Monitor, OutOfBudget, Point, Proved, Solution
from ..driver import conclude
from ..semismooth import Terms
from ..threads import one_blas_thread
from .blocks import NearRows, State
from .lagrangian import Goal, augment
from .rounds import near_margin
from .vertex import vertex

# Rows taken for near, per column, and at least one for every row whose cost has changed: with 800
# of 100,000 × 50 the gap after 1,000 rows were gone was 1.5e-8, with 400 it was 4e-5.
NEAR_ROWS_PER_COLUMN = 16
# Times that more rows are taken, and how many times more, where the proof falls short.
MAX_ROUNDS, ROUND_GROWTH = 3, 4
# The near rows are solved to this share of the gap asked for; rows that change sides have the rest.
NEAR_TOL_SHARE = 0.3
# κ, where σ = κ c, to begin with: of 1 to 10,000 it took the fewest steps, 8 for one row of 100,000
# and 15 for a hundredth of them.
START_KAPPA = 1000.0
# Times that free multipliers are moved to Σαy = 0: rounding in the first is mended by the next.
MAX_BALANCE_MOVES = 3

CHANGED_COSTS_REASON = "the rows near their margin, from the optimum before"


def solve_changed(
    problem: Problem, start: Point, f, changed: int, monitor: Monitor
) -> Solution | None:
    """The optimum of ``problem`` from that of other costs of ``changed`` rows, whose w·x are f.

    None where the rows near their margin do not suffice: then it is another problem altogether.
    """
    here = Proved(start, None, f)
    size = max(changed, NEAR_ROWS_PER_COLUMN * (problem.shape[1] + 1))
    with one_blas_thread(), np.errstate(all="ignore"):
        for _ in range(MAX_ROUNDS):
            try:
                here = _round(problem, here, size, monitor)
            except OutOfBudget:
                return None
            monitor.record(here.certificate.primal, here.certificate.dual)
            if here.certificate.holds(monitor.tol):
                return conclude(here, Ending.REACHED, "newton", CHANGED_COSTS_REASON, monitor)
            size *= ROUND_GROWTH
    return None


def _round(problem: Problem, here: Proved, size: int, monitor: Monitor) -> Proved:
    """Solve the ``size`` rows nearest their margin, all others being at their bounds."""
    z = 1.0 - problem.y * (here.scores + here.point.b)
    near, frozen = near_margin(problem, z, size)
    block, state = _near_rows(problem, here.point, z, near, frozen)
    _minimise(block, state, float(frozen.sum()), monitor)
    a = _balanced(block, state.a)
    pull = block.v0 + combine(block.rows, a * block.y) - float(a @ block.y) * block.mu
    b = state.b - float(block.mu @ state.w) if problem.bias else 0.0
    frozen[near] = a
    alpha = vertex(problem, frozen)
    seen = see(problem.rows, pull, alpha * problem.y)
    return Proved(
        Point(pull, b, alpha), certify(problem, pull, b, alpha, seen, monitor.tol), seen.f
    )


def _near_rows(problem: Problem, point: Point, z, near, frozen) -> tuple[NearRows, State]:
    """The near rows and the pull of the others: that of w, but for what is not as it was."""
    (w, b, alpha), y = point, problem.y
    rows = take(problem.rows, near)
    m = len(near)
    mu = combine(rows, np.full(m, 1.0 / m)) if problem.bias else np.zeros(len(w))
    r0 = float(frozen @ y)
    v0 = w + combine(problem.rows, (frozen - alpha) * y) - r0 * mu
    block = NearRows(rows, y[near], problem.c[near], mu, problem.bias, v0, r0)
    a = np.clip(alpha[near], 0.0, block.cap)
    return block, State(w, b + float(mu @ w), a, z[near])


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
