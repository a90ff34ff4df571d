"""The hinge: every row that has a multiplier left out by following the optimum's path.

As α_i goes from its value to zero the optimum moves along a piecewise linear path, which
``pivot.py`` follows among the rows near their margin.  What it ends with is then checked for all
rows: with w that of the multipliers, the duality gap is

    Σ_j c_j max(0, z_j) − α_j z_j,

to which a row adds nothing whose slack has the sign that its multiplier claims.  Rows further from
their margin than ‖Δw‖‖x − μ‖ + |Δb| cannot have crossed it, and are not looked at.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from typing import NamedTuple

import numpy as np

from ..threads import one_blas_thread
from .gram import Lines
from .independent import independent
from .pivot import RATE_ROUNDING, follow_all
from .tableau import Optimum, Tableau, tableau

# Rows near their margin among which paths are followed: per free row, and at least; of rows on
# their margin all, if they are no more than the most.
NEAR_ROWS_PER_FREE, MIN_NEAR_ROWS, MAX_NEAR_ROWS = 3, 150, 6000
# A lost path is followed again with the rows that it crossed, or twice the rows, at most so often.
MAX_DOUBLINGS = 2
# A slack below this is that of a row on its margin.
ON_MARGIN_SLACK = 1e-8
# Rows on their margin are moved off it by about this much on the way, by lot, each attempt more.
MARGIN_NUDGE, MARGIN_NUDGE_GROWTH = 1e-11, 4.0
# Rows left out at a time: many, for a batch costs a millisecond whatever it has, but no more
# numbers of near rows, or of a kernel, than are soon had.
MIN_BATCH_ROWS, MAX_BATCH_ROWS, BATCH_VALUES = 128, 1024, 1 << 19
# Rounding of a slack: it counts as gap where it meets a free multiplier.
SLACK_ROUNDING = 16.0 * np.finfo(float).eps
# A multiplier this near its bound, relative to the cap, is at the bound.
AT_BOUND_TOL = 1e-9
# A row ties the bias if its multiplier is this share of its cap away from its bounds.
MIN_TIE_SHARE = 1e-6
# A path whose end is proved no better than this, relative to the score, was lost.
MAX_TOLERANCE = 1e-3
NO_ROWS = np.empty(0, dtype=np.int64)


class Found(NamedTuple):
    """Scores, their tolerances, which of them are good, and rows that the others lacked."""

    scores: np.ndarray
    tolerance: np.ndarray
    good: np.ndarray
    crossed: np.ndarray


class Paths:
    """All that paths from one optimum have in common."""

    def __init__(self, gram, here: Optimum, attempt: int = 0, lacked: np.ndarray = NO_ROWS):
        """``lacked``: rows that earlier paths crossed; unless they are known, twice the rows."""
        self.gram, self.here, self.again = gram, here, attempt > 0
        problem = here.problem
        key = np.where(here.free, -1.0, np.abs(here.z) / np.sqrt(1.0 + gram.lengths**2))
        alive = np.flatnonzero(problem.c > 0.0)
        order = alive[np.argsort(key[alive], kind="stable")]
        count = self._near_count(0 if len(lacked) else attempt)
        rest = order[count:]
        more = np.isin(rest, lacked)
        more &= np.cumsum(more) <= MAX_NEAR_ROWS - count
        self.near = np.append(order[:count], rest[more])
        self.order = np.append(self.near, rest[~more])
        self.key = key[self.order]
        self.table = tableau(gram, self.near, here.free[self.near])
        self.rank = gram.rank(self.near)
        self.place = np.full(len(problem.y), -1)
        self.place[self.near] = np.arange(len(self.near))
        edge = MARGIN_NUDGE * MARGIN_NUDGE_GROWTH**attempt
        lots = edge * np.random.default_rng(attempt).uniform(0.5, 1.5, len(self.near))
        lots[np.abs(here.z[self.near]) > ON_MARGIN_SLACK] = 0.0
        self.edge = np.where(here.alpha[self.near] == 0.0, -lots, lots)

    def _near_count(self, attempt: int) -> int:
        free = int(np.count_nonzero(self.here.free))
        at = int(np.count_nonzero(np.abs(self.here.z) <= ON_MARGIN_SLACK))
        count = max(MIN_NEAR_ROWS, NEAR_ROWS_PER_FREE * free, at)
        return max(free, min(MAX_NEAR_ROWS, count * 2 ** min(attempt, MAX_DOUBLINGS)))

    def polished(self) -> Optimum:
        """The exact optimum near a good point: slacks that should be zero are led there."""
        here, near, A, F = self.here, self.near, self._table.A, self._table.F
        alpha, z = here.alpha[near], here.z[near]
        off = np.where((alpha == 0.0) == (z > 0.0), z, 0.0)  # on the wrong side of the margin
        off[F] = z[F]
        rates = off[F] @ A[F] + np.where(self._table.free, 0.0, off)
        none, zero, moves = np.array([-1]), np.zeros(1), len(near) + 1
        found, events = self._follow(-rates[None], z - off, none, none, zero, zero, moves)
        if events[0] < 0:
            return here
        moved = here.alpha.copy()
        moved[near] = found[0]
        return tied(self.gram, replace(here, alpha=moved))

    def leave_out(self, rows: np.ndarray, pull: np.ndarray) -> Found:
        """Rows whose multipliers fall by ``pull``: their scores at the ends of their paths."""
        self.gram.prepare(self._table, self.order, self.again)
        values = max(len(self.near), self.gram.width)
        size = max(MIN_BATCH_ROWS, min(MAX_BATCH_ROWS, BATCH_VALUES // values))
        parts = [slice(k, k + size) for k in range(0, len(rows), size)]
        with one_blas_thread(), ThreadPoolExecutor(cpu_count()) as pool:
            found = list(pool.map(lambda part: self._leave_out(rows[part], pull[part]), parts))
        return Found(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def _leave_out(self, rows: np.ndarray, pull: np.ndarray) -> Found:
        here, place, free = self.here, self.place[rows], self.here.free[rows]
        points = self.gram.points(rows)
        g = np.where(free, 0.0, -pull)[:, None] * self.gram.answers(self._table, rows, points)
        size = pull * self.gram.lengths[rows] * float(self.gram.lengths.max())
        skip, pin = np.where(free, -1, place), np.where(free, place, -1)
        alpha, events = self._follow(g, here.z[self.near], skip, pin, -pull, size, self.rank)
        ends = self.gram.ends(here, self.key, Lines(rows, points, place, pull), alpha)
        tolerance = self._tolerance(rows, ends.gap + self.rounding, alpha, ends.tie)
        f = here.problem.y[rows] * (1.0 - here.z[rows] + ends.change) + ends.shift
        good = (events >= 0) & (tolerance <= MAX_TOLERANCE * (1.0 + np.abs(f)))
        crossed = np.unique(ends.crossed[~good & (events >= 0)])
        return Found(f, tolerance, good, crossed[crossed >= 0])

    def _follow(self, g, z, skip, pin, pull, size, rank) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers of the near rows at the end of every path, and its events."""
        here, near, free = self.here, self.near, self._table.free
        cap = here.problem.cap[near]
        slow = RATE_ROUNDING * np.column_stack([size, np.full(len(g), cap.max(initial=0.0))])
        z = np.where(free, 0.0, z)
        found, events = follow_all(
            self._table.A, g, free, cap, here.alpha[near], z, self.edge, skip, pin, pull, slow,
            rank,
        )  # fmt: skip
        return np.clip(found, 0.0, cap), events

    @property
    def rounding(self) -> float:
        """Of the gap: slacks are rounded, and those of free rows count."""
        free = np.flatnonzero(self.here.free)
        size = 1.0 + np.abs(1.0 - self.here.z[free]) + abs(self.here.b)
        return SLACK_ROUNDING * (1.0 + float(self.here.problem.c[free] @ size))

    def base_tolerance(self) -> np.ndarray:
        """Of every row's score by the optimum with all rows."""
        here, near = self.here, self.near
        z, c, n = here.z, here.problem.c, len(here.z)
        gap = float((c * np.maximum(z, 0.0) - here.alpha * z).sum()) + self.rounding
        room = np.minimum(here.alpha[near], c[near] - here.alpha[near])
        tie = np.full(n, room.argmax())
        return self._tolerance(np.arange(n), np.full(n, gap), here.alpha[near][None], tie)

    def _tolerance(self, rows, gap, alpha, tie) -> np.ndarray:
        """How far scores can be from the optimum's, for gaps at the points found.

        A row with 0 < α < c has |z| ≤ gap/min(α, c − α) at the optimum: that ties the bias.
        """
        lengths, apart = self.gram.lengths, np.sqrt(2.0 * gap)
        if not self.here.problem.bias:
            return apart * lengths[rows]
        line = np.arange(len(rows)) if len(alpha) > 1 else np.zeros(len(rows), dtype=int)
        held, c = alpha[line, tie], self.here.problem.c[self.near[tie]]
        room = np.minimum(held, c - held)
        between = lengths[rows] + lengths[self.near[tie]]
        tolerance = apart * between + gap / np.maximum(room, np.finfo(float).tiny)
        return np.where((tie >= 0) & (room > MIN_TIE_SHARE * c), tolerance, np.inf)

    @property
    def _table(self) -> Tableau:
        assert self.table is not None
        return self.table


def tied(gram, here: Optimum) -> Optimum:
    """Slacks computed afresh, the bias such that the freest row lies on its margin."""
    here = gram.with_slacks(here)
    problem = here.problem
    room = np.minimum(here.alpha, problem.c - here.alpha)
    best = int(room.argmax())
    if not problem.bias or room[best] <= 0.0:
        return here
    shift = float(problem.y[best] * here.z[best])
    return replace(here, b=here.b + shift, z=here.z - shift * problem.y)


def snapped(gram, problem, alpha: np.ndarray, b: float) -> Optimum:
    """Multipliers that are at their bounds but for rounding put there; b is about the centre."""
    alpha = _at_bounds(alpha, problem.cap)
    free = np.flatnonzero((alpha > 0.0) & (alpha < problem.cap))
    if len(free):
        moved = independent(gram.extended(free), alpha[free], problem.cap[free])
        alpha[free] = _at_bounds(moved, problem.cap[free])
    return tied(gram, Optimum(problem, alpha, b, np.empty(0)))


def _at_bounds(alpha: np.ndarray, cap: np.ndarray) -> np.ndarray:
    alpha = np.where(alpha <= AT_BOUND_TOL * cap, 0.0, alpha)
    return np.where(alpha >= (1.0 - AT_BOUND_TOL) * cap, cap, alpha)
