"""The hinge on many rows: rounds over those near their margin.

    min over w, b    ½‖w‖² + Σ c_i max(0, z_i),        z_i = 1 − y_i ((x_i − μ)·w + b)

A row far from its margin has multiplier 0 or c and stays there for a while.  A round
freezes all such rows, gives the others to the augmented Lagrangian of ``lagrangian.py``,
and passes once over all rows to see the gap.  Near the present point the reduced objective
equals the full one, so its minimiser lies downhill; should it lead uphill because frozen
rows changed sides, a line search on the full objective steps back.
"""

from __future__ import annotations

import numpy as np

from ...problem.problem import Problem
from ...rows.rows import AnyRows, combine, scores, shape, size_of, take
from ..contract import Best, Ending, Monitor, Point
from ..semismooth import Terms, exact_step
from ..working_set import WorkingSet, search_in_rounds
from .blocks import NearRows, State
from .lagrangian import KAPPA_GROWTH, CentredPoint, Goal, HingeLine, augment
from .margin_path import MarginPath

MAX_WORKING_SET_ROUNDS = 100
# Rows given to a round, at least.
ROUND_ROWS_PER_COLUMN = 16
# Of large data no more than one row in this many is copied, unless more are needed.
ROWS_PER_COPIED_ROW = 8
LARGE_DATA_VALUES = 10_000_000
# One row in this many tells about where the rows nearest their margin end.
SAMPLED_EVERY = 16
# A row moves about this much less from one round to the next.
ROUND_MOVE_DECAY = 0.2
# κ, where σ = κ c, with which a start that brings multipliers begins: 30 to 100 take a tenth to a
# third fewer steps than 1, which would forget them.
WARM_KAPPA = 100.0
# Where slacks move by more than a stiff start allows, multipliers mislead: a few Newton steps, one
# for each κ, in which a row bends over 1/κ of slack, find the rows that matter.  On three made
# problems multipliers take 43 steps at small C and these 27; where no slack moves 12 and 27.
SMOOTHING_KAPPAS = (8.0, 16.0, 32.0, 64.0)
# The gap that a round's precision is first judged by, without a start and with one.
COLD_START_GAP, WARM_START_GAP = 1e-2, 1e-3
# The frozen rows told the truth if the objective is off by no more than this share of the gap.
HONEST_SHARE = 0.1
# A round is solved to this share of the gap it starts with.
ROUND_TOL_SHARE = 0.1


def solve_in_rounds(
    problem: Problem, at: CentredPoint, monitor: Monitor, best: Best, start: Point | None,
    reach: float,
) -> Ending:  # fmt: skip
    """Improve (w, b), the bias in centred coordinates, until the gap is closed.

    ``reach`` guesses how far a row's slack may still move.
    """
    search = _Rounds(_Front(problem, at, monitor.path), monitor, best, start, reach)
    return search_in_rounds(search, MAX_WORKING_SET_ROUNDS)


class _Rounds(WorkingSet):
    """How many rows a round takes, and how well it is solved."""

    def __init__(self, here: _Front, monitor: Monitor, best: Best, start, reach: float):
        self.here, self.monitor, self.best = here, monitor, best
        problem = here.problem
        n, d = problem.shape
        here.alpha = None if start is None else np.clip(start.alpha, 0.0, problem.c)
        self.pull = _Pull(problem.rows, here.mu)
        large = size_of(problem.rows) > LARGE_DATA_VALUES
        self.most = n // ROWS_PER_COPIED_ROW if large else n // 2
        self.few = min(n, max(1000, ROUND_ROWS_PER_COLUMN * (d + 1)))
        self.size = max(self.few, n // ROWS_PER_COPIED_ROW, min(self.most, here.count(reach)))
        self.least = self.fewest = min(self.few, max(500, 4 * (d + 1)))
        self.gap, self.kappa, self.smooth = COLD_START_GAP, 0.0, False
        if start is not None and start.alpha.any():
            self.gap, self.kappa = WARM_START_GAP, WARM_KAPPA * KAPPA_GROWTH
            path = monitor.path
            self.smooth = path is not None and path.moved * WARM_KAPPA > 1.0
        self.found: tuple[State, np.ndarray, float] | None = None

    def look(self) -> bool:
        if self.found is None:
            return False
        here, best = self.here, self.best
        gap = best.primal - best.dual
        close = gap <= WARM_START_GAP * best.primal < np.inf
        honest = HONEST_SHARE * gap if close else 0.0
        self.moved, self.step = here.move(*self.found, honest)
        best.offer_primal(here.primal, here.w, here.b)
        return self.monitor.record(best.primal, best.dual)

    def choose(self) -> bool:
        """How many rows; which ones follows from their slacks."""
        if self.found is None:
            return True
        here, best = self.here, self.best
        self.gap = min(COLD_START_GAP, max(0.0, best.primal - best.dual) / best.primal)
        if self.step == 1.0:
            self.fewest = max(self.least, self.fewest // 2)
            near = here.count(ROUND_MOVE_DECAY * _most(self.moved))
            self.size = max(self.fewest, min(self.most, near))
        else:  # more rows; beyond the most only if hardly a step was possible
            most = max(self.few, self.most) if self.step > 0.05 else len(here.z)
            self.size = self.fewest = min(most, 2 * len(self.found[1]))
        return True

    def solve(self) -> bool:
        """Minimise over the rows near their margin; offer the dual this proves."""
        here, best = self.here, self.best
        problem, c, y = here.problem, here.problem.c, here.problem.y
        target = max(ROUND_TOL_SHARE * self.gap, 0.2 * self.monitor.tol)
        near, frozen = near_margin(problem, here.z, self.size)
        constant = float(frozen.sum())
        v0, r0 = self.pull.of(frozen * y), float(frozen @ y)
        block = NearRows(take(problem.rows, near), y[near], c[near], here.mu, problem.bias, v0, r0)
        a = 0.5 * c[near] if here.alpha is None else here.alpha[near]
        state = State(here.w, here.b, a, here.z[near])
        halfwidth = max(float(np.abs(state.z).max()), 1e-12)

        def done(terms: Terms) -> bool:
            return terms.gap <= target * abs(terms.primal + constant)

        # The reduced objective lies below the full one everywhere; once it is below a dual
        # bound, the frozen rows no longer tell the truth and the line search takes over.
        floor = max(best.dual, 0.0) * (1.0 - 1e-9) - constant
        kappa = max(0.5 / halfwidth, self.kappa / KAPPA_GROWTH)
        kappas = SMOOTHING_KAPPAS if self.smooth else ()
        goal = Goal(target, done, floor, kappas)
        _, self.kappa = augment(block, state, kappa, self.monitor, goal)
        self.smooth = False
        here.alpha = frozen
        here.alpha[near] = state.a
        best.offer_dual(_dual(problem, block, state, here.alpha), here.alpha)
        self.found = state, near, block.objective(state) + constant
        return True


class _Front:
    """The present point, its slacks z for all rows, and its objective."""

    def __init__(self, problem: Problem, at: CentredPoint, path: MarginPath | None = None):
        self.problem, self.path = problem, path
        self.mu, self.w, self.b = at
        self.z = self._slacks(self.w, self.b)
        self.primal = self._objective(self.w, self.z)
        self.alpha: np.ndarray | None = None

    def _slacks(self, w, b) -> np.ndarray:
        rows = self.problem.rows
        f = scores(rows, w) if self.path is None else self.path.scores(rows, w)
        return 1.0 - self.problem.y * (f + (b - float(self.mu @ w)))

    def _objective(self, w, z) -> float:
        return 0.5 * float(w @ w) + float(self.problem.c @ np.maximum(z, 0.0))

    def count(self, reach: float) -> int:
        """How many rows lie within ``reach`` of their margin."""
        return int(np.count_nonzero(np.abs(self.z) <= reach))

    def move(self, state: State, near, told: float, honest: float) -> tuple[np.ndarray, float]:
        """Go towards the round's result; how far the near rows moved, and the step taken.

        ``told``: the objective there if the rows frozen told the truth, as they do if it is within
        ``honest``: uphill is then what the outer steps still have to close.
        """
        z_new = self._slacks(state.w, state.b)
        primal = self._objective(state.w, z_new)
        moved = np.abs(z_new[near] - self.z[near])
        if primal <= self.primal or abs(primal - told) <= honest:
            self.w, self.b, self.z, self.primal = state.w, state.b, z_new, primal
            return moved, 1.0
        dw, db, dz = state.w - self.w, state.b - self.b, z_new - self.z
        t = self._step(dw, dz)
        self.w, self.b, self.z = self.w + t * dw, self.b + t * db, self.z + t * dz
        self.primal = self._objective(self.w, self.z)
        return moved, t

    def _step(self, dw, dz) -> float:
        """The minimiser of the full objective between here (0) and the round's result (1)."""
        c = self.problem.c
        slope, curvature = float(self.w @ dw), float(dw @ dw)
        start = slope + float((c * (self.z > 0.0)) @ dz)
        steep = 1e12 * c  # so steep that clip(σz, 0, c) is the hinge's own slope
        line = HingeLine(self.z, dz, np.zeros_like(c), steep, c)
        t = exact_step(line, start, slope, curvature)
        return min(t, 1.0)


def _dual(problem: Problem, block: NearRows, state: State, alpha) -> float:
    """Σα − ½‖w_α‖², charged for what Σαy lacks of zero."""
    v = block.v0 + combine(block.rows, state.a * block.y) - float(state.a @ block.y) * block.mu
    r = float(alpha @ problem.y)
    value = float(alpha.sum()) - 0.5 * float(v @ v)
    return value - abs(r) * (abs(state.b) + 1.0) if problem.bias else value


def near_margin(problem: Problem, z, size) -> tuple[np.ndarray, np.ndarray]:
    """The ``size`` rows nearest their margin, and the multipliers of the others, 0 or c.

    More rows are taken while those at their cap pull the bias harder than the near ones
    can hold: the reduced problem would have no minimum.
    """
    n, y, c = len(z), problem.y, problem.c
    distance = np.abs(z)
    while True:
        size = min(n, size)
        near = _smallest(distance, size)
        frozen = np.where(z > 0.0, c, 0.0)
        frozen[near] = 0.0
        if size == n or not problem.bias:
            return near, frozen
        pull = float(frozen @ y)
        hold = float(c[near][y[near] == -np.sign(pull)].sum())
        if abs(pull) < 0.9 * hold or pull == 0.0:
            return near, frozen
        size *= 2


def nearest(z, size: int) -> np.ndarray:
    """The ``size`` rows whose slacks are the smallest, above zero or below."""
    return _smallest(np.abs(z), min(len(z), size))


def _most(values: np.ndarray) -> float:
    """All but one in twenty are smaller."""
    k = int(0.95 * (len(values) - 1))
    return float(np.partition(values, k)[k])


def _kth(values: np.ndarray, k: int) -> float:
    """The value that k others are not above: of few in many, sought among those a sample allows."""
    n, sample = len(values), values[::SAMPLED_EVERY]
    place = 2 * (k // SAMPLED_EVERY + 8)
    if ROWS_PER_COPIED_ROW * k < n and place < len(sample):
        few = values[values <= np.partition(sample, place)[place]]
        if k < len(few):
            return float(np.partition(few, k)[k])
    return float(np.partition(values, k)[k])


def _smallest(values: np.ndarray, size: int) -> np.ndarray:
    """Where the ``size`` smallest values are, in order; of equal ones at the edge any."""
    edge = _kth(values, size - 1)
    index = np.flatnonzero(values <= edge)
    if len(index) > size:
        equal = np.flatnonzero(values[index] == edge)
        # Spread out, for rows may be sorted by their labels.
        spare = np.linspace(0, len(equal) - 1, len(index) - size).astype(np.int64)
        index = np.delete(index, equal[spare])
    return index


class _Pull:
    """Σ u_i (x_i − μ), kept up to date by passing only over the rows whose u changed."""

    def __init__(self, rows: AnyRows, mu: np.ndarray):
        self.rows, self.mu = rows, mu
        n, d = shape(rows)
        self.u, self.v = np.zeros(n), np.zeros(d)

    def of(self, u: np.ndarray) -> np.ndarray:
        step = u - self.u
        self.v = self.v + combine(self.rows, step) - float(step.sum()) * self.mu
        self.u = u
        return self.v
