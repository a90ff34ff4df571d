"""Newton's method for data with many rows and up to a few thousand columns.

Hinge: a small random part of the rows is solved first (recursively), which tells which
rows matter; when a class is rare and the rows are sparse, a few epochs of coordinate
descent tell it better.  Then ``rounds.py`` goes on with these rows on the whole data.  Few
rows are given to the augmented Lagrangian of ``lagrangian.py`` at once.

Squared hinge: every row with slack matters, so Newton steps run on all rows, again
starting from the solution of a part.
"""

from __future__ import annotations

import numpy as np

from ...problem.losses import Hinge, SquaredHinge, boxed
from ...problem.problem import Problem
from ...rows.rows import SparseRows, combine, take
from ..contract import Best, Ending, Monitor, Point, ended, serves
from ..semismooth import Terms
from .blocks import NearRows, State
from .descent import descent
from .lagrangian import CentredPoint, Goal, augment, block_slack, minimise
from .rounds import solve_in_rounds

# Rows that are solved at once rather than in rounds.
ONE_ROUND_ROWS = 1500
ONE_ROUND_ROWS_PER_COLUMN = 48
# One row in this many makes the part that is solved first …
ROWS_PER_PART_ROW = 8
# … but of each class at least this many rows per column.
PART_ROWS_PER_COLUMN = 2
# When a class has fewer than this many rows per column in the part, and the rows are sparse,
# a few epochs of coordinate descent are the better start.
RARE_ROWS_PER_COLUMN = 4
START_EPOCHS = 12


@serves(Hinge, SquaredHinge)
def newton(problem: Problem, monitor: Monitor, start: Point | None = None) -> tuple[Point, Ending]:
    """Solve ``problem``; the multipliers returned are not yet repaired."""
    mu = _known_means(problem, monitor)
    best = Best(problem)
    ending = ended(lambda: _solve(problem, mu, monitor, start, best))
    return Point(best.w, best.b - float(mu @ best.w), best.alpha), ending


def _known_means(problem: Problem, monitor: Monitor) -> np.ndarray:
    """The same for every C of a path."""
    if monitor.path is None:
        return _means(problem)
    return monitor.path.means(problem.rows, lambda: _means(problem))


def _means(problem: Problem) -> np.ndarray:
    """Column means: a free bias makes the problem blind to them, and Newton more accurate."""
    n, d = problem.shape
    if not problem.bias:
        return np.zeros(d)
    return combine(problem.rows, np.full(n, 1.0 / n))


def _solve(problem, mu, monitor, start, best) -> Ending:
    """All biases below are in centred coordinates: b + μ·w."""
    n, d = problem.shape
    few = max(ONE_ROUND_ROWS, ONE_ROUND_ROWS_PER_COLUMN * (d + 1))
    if start is None and n > few and _rare_and_sparse(problem):
        start = _from_epochs(problem, monitor)
    if start is not None:
        w, b = start.w, start.b + float(mu @ start.w)
    elif n > few:
        w, b = _from_a_part(problem, mu, monitor, best)
    else:
        w, b = np.zeros(d), 0.0
    if not boxed(problem.loss):
        return _solve_squared(problem, CentredPoint(mu, w, b), monitor, best)
    if n > few:
        # The weights of a part are off by about √(columns / rows of the part).
        reach = 3.0 * float(np.sqrt(ROWS_PER_PART_ROW * (d + 1) / n))
        return solve_in_rounds(problem, CentredPoint(mu, w, b), monitor, best, start, reach)
    return _solve_at_once(problem, CentredPoint(mu, w, b), monitor, best, start)


def _rare_and_sparse(problem: Problem) -> bool:
    """Whether a part would hold too few rows of the rarer class, and epochs are cheap."""
    _, d = problem.shape
    rarer = min(np.count_nonzero(problem.y > 0), np.count_nonzero(problem.y < 0))
    sparse = isinstance(problem.rows, SparseRows) and boxed(problem.loss)
    return sparse and int(rarer) < RARE_ROWS_PER_COLUMN * ROWS_PER_PART_ROW * (d + 1)


def _from_epochs(problem: Problem, monitor: Monitor) -> Point:
    """Where a few epochs of coordinate descent lead."""
    inner = Monitor(
        tol=monitor.tol,
        max_iter=min(START_EPOCHS, monitor.max_iter),
        max_seconds=monitor.max_seconds - monitor.seconds,
        seed=monitor.seed,
    )
    point, ending = descent(problem, inner)
    monitor.n_iter += inner.n_iter
    if ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return point


def _from_a_part(problem: Problem, mu, monitor: Monitor, best: Best) -> tuple[np.ndarray, float]:
    """Weights and (centred) bias that are optimal for a random part of the rows."""
    _, d = problem.shape
    index, scale = _part(problem.y, PART_ROWS_PER_COLUMN * (d + 1), monitor.seed)
    part = Problem(
        take(problem.rows, index),
        problem.y[index],
        problem.c[index] * scale,
        problem.loss,
        problem.bias,
    )
    inner = Monitor(
        # As well as it resembles the whole: a part of m rows is off by about d/m.
        tol=max(monitor.tol, min(0.1, 2.0 * (d + 1) / len(index))),
        max_iter=monitor.max_iter,
        max_seconds=monitor.max_seconds - monitor.seconds,
        seed=monitor.seed,
    )
    found = Best(part)
    try:
        _solve(part, mu, inner, None, found)
    finally:  # should time run out, the part's solution is the best there is
        monitor.n_iter += inner.n_iter
        best.w, best.b = found.w, found.b
    return found.w, found.b


def _part(y, enough: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One row in ROWS_PER_PART_ROW of each class, more of a rare one, and what each stands for."""
    rng = np.random.default_rng(seed)
    chosen, scale = [], np.zeros(len(y))
    for mine in (np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        size = min(len(mine), max(1 + len(mine) // ROWS_PER_PART_ROW, enough))
        some = rng.choice(mine, size=size, replace=False)
        scale[some] = len(mine) / max(1, size)  # pairs are all of one class
        chosen.append(some)
    index = np.sort(np.concatenate(chosen))
    return index, scale[index]


def _solve_at_once(problem, at: CentredPoint, monitor, best, start) -> Ending:
    """The augmented Lagrangian on all rows."""
    n, d = problem.shape
    mu, w, b = at
    block = NearRows(problem.rows, problem.y, problem.c, mu, problem.bias, np.zeros(d))
    alpha = np.zeros(n) if start is None else np.clip(start.alpha, 0.0, problem.cap)
    state = State(w, b, alpha, block_slack(block, w, b))

    def done(terms: Terms) -> bool:
        best.offer_primal(terms.primal, state.w, state.b)
        best.offer_dual(terms.primal - terms.gap, state.a)
        return (
            monitor.record(best.primal, best.dual) or terms.gap <= 0.1 * monitor.tol * terms.primal
        )

    reached, _ = augment(block, state, 0.5, monitor, Goal(0.1 * monitor.tol, done))
    return Ending.REACHED if reached else Ending.STALLED


def _solve_squared(problem, at: CentredPoint, monitor, best) -> Ending:
    """The squared hinge is smooth as it stands: σ = 2c, no cap, one minimisation."""
    n, d = problem.shape
    mu, w, b = at
    block = NearRows(problem.rows, problem.y, problem.cap, mu, problem.bias, np.zeros(d))
    state = State(w, b, np.zeros(n), block_slack(block, w, b))

    def enough(terms: Terms) -> bool:
        best.offer_primal(terms.primal, state.w, state.b)
        best.offer_dual(terms.primal - terms.gap, 2.0 * problem.c * np.maximum(state.z, 0.0))
        monitor.record(best.primal, best.dual)
        return terms.gap <= 0.1 * monitor.tol * terms.primal

    _, finished = minimise(block, state, 2.0 * problem.c, monitor, enough)
    return Ending.REACHED if finished else Ending.STALLED
