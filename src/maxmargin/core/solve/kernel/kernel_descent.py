"""Block descent on the exact dual of a kernel machine with a free bias.

    max over β    Σ y_i β_i − ½ βᵀKβ      with  0 ≤ y_i β_i ≤ c_i  and  Σ β_i = 0

A block of rows is solved by pair steps, then f = Kβ is brought up to date with the block's
rows of K, which come from a bounded cache.  Half of each block are the rows that violate
most, half stay from the last one: without these the block undoes what the last one did.

Rows whose multiplier is zero, and whose slope is farther from all others than any violation, are
left out until the end: their slack is zero, so primal and dual are those of the others.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...certify.bias import best_bias
from ...kernels.gram_cache import Forgetful, GramCache
from ...problem.kernelised import KernelProblem
from ..contract import Ending, Monitor, ended
from ..working_set import WorkingSet, search_in_rounds
from .pair_steps import Pairs, pair_steps

# Rows in a block: at least, at most, and as a share of the multipliers between their bounds.
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS, BLOCK_SHARE_OF_FREE = 512, 3072, 1.0
# A block is solved to this share of its violation; slopes are float32, as K is, where their
# rounding is less than this share of that.
BLOCK_TOL_SHARE, MAX_SLOPE_ROUNDING = 0.1, 1e-3
MAX_BLOCK_STEPS = 100_000
# Rows are left out where no more than this share stays.
MAX_SHARE_LEFT_IN = 0.7
# Violation, relative to the scores, at which rounding leaves nothing to gain.
VIOLATION_ROUNDING = 1e-14
# Blocks after which a dual that has not risen, but for these shares of itself and of the gap, will
# not.
MAX_IDLE_BLOCKS, DUAL_ROUNDING, MIN_GAP_SHARE = 200, 1e-14, 1e-8


@dataclass
class DualPoint:
    """β, the scores f = Kβ that belong to it, and the bounds of every β_i."""

    beta: np.ndarray
    f: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    stale: bool = False  # f of some rows was left as it was

    @classmethod
    def start(cls, problem: KernelProblem, alpha=None, f=None) -> DualPoint:
        y, n = problem.y, len(problem.y)
        beta = np.zeros(n) if alpha is None else y * alpha
        f = np.zeros(n) if f is None else f.copy()
        point = cls(beta, f, np.zeros(n), np.zeros(n))
        point.bound(problem)
        return point

    def taken(self, rows: np.ndarray) -> DualPoint:
        return DualPoint(self.beta[rows], self.f[rows], self.lo[rows], self.hi[rows])

    def put(self, part: DualPoint, rows: np.ndarray) -> None:
        """What was found for some of the rows; others have none, though they may have had one."""
        beta = np.zeros_like(self.beta)
        beta[rows], self.f[rows] = part.beta, part.f
        self.beta = beta
        self.stale = len(rows) < len(self.beta)

    def bound(self, problem: KernelProblem) -> None:
        """Take the bounds of a problem; β must be within them."""
        self.lo = np.where(problem.y < 0, -problem.cap, 0.0)
        self.hi = np.where(problem.y > 0, problem.cap, 0.0)

    def bounds(self, problem: KernelProblem) -> tuple[float, float]:
        """Primal, at the best bias, and dual; both from f as it is."""
        norm = float(self.beta @ self.f)
        b = best_bias(problem, self.f)
        dual = float(np.abs(self.beta).sum()) - 0.5 * norm
        if problem.hard:
            closest = float((problem.y * (self.f + b))[problem.c > 0].min())
            return (0.5 * norm / closest**2 if closest > 0 else np.inf), dual
        return 0.5 * norm + float(problem.c @ np.maximum(0.0, 1.0 - problem.y * (self.f + b))), dual


def descend(
    problem: KernelProblem,
    monitor: Monitor,
    cache: GramCache | Forgetful,
    point: DualPoint,
    tol: float,
) -> Ending:
    """Improve ``point`` in place until primal and dual, as far as f knows, agree to ``tol``."""
    blocks = _Blocks(problem, monitor, cache, point, tol)
    return ended(lambda: search_in_rounds(blocks, sys.maxsize))


def descend_shrinking(
    problem: KernelProblem,
    monitor: Monitor,
    cache: GramCache | Forgetful,
    point: DualPoint,
    tol: float,
) -> Ending:
    """As ``descend``, but rows are left out: their f is out of date, and the cache is used up."""
    blocks = _Shrinking(problem, monitor, cache, point, tol)
    ending = ended(lambda: search_in_rounds(blocks, sys.maxsize))
    point.put(blocks.point, blocks.rows)
    return ending


class DualSlopes(NamedTuple):
    """y − f of the rows whose β may rise, and of those whose β may fall; ∓∞ elsewhere."""

    rise: np.ndarray
    fall: np.ndarray

    @classmethod
    def of(cls, problem: KernelProblem, point: DualPoint) -> DualSlopes:
        g = problem.y - point.f
        rise = np.where(point.beta < point.hi, g, -np.inf)
        return cls(rise, np.where(point.beta > point.lo, g, np.inf))

    @property
    def violation(self) -> float:
        return float(self.rise.max() - self.fall.min())

    def near(self, beta: np.ndarray) -> np.ndarray:
        """Rows with a multiplier, and those that may have one: within a violation of the others."""
        top, bottom = self.rise.max() + self.violation, self.fall.min() - self.violation
        far = np.where(np.isinf(self.fall), self.rise < bottom, self.fall > top)
        return np.flatnonzero((beta != 0.0) | ~far)


class _Blocks(WorkingSet):
    """The present block, and when every row last entered one."""

    def __init__(
        self, problem: KernelProblem, monitor: Monitor, cache, point: DualPoint, tol: float
    ):
        self.problem, self.monitor, self.cache = problem, monitor, cache
        self.point, self.tol = point, tol
        self.block: np.ndarray | None = None
        self.entered = np.zeros(len(problem.y), dtype=np.int64)
        self.best, self.idle = -np.inf, 0

    def look(self) -> bool:
        if self.block is None:
            return False
        primal, dual = self.point.bounds(self.problem)
        self.monitor.record(primal, dual)
        # A block raises the dual, but for rounding; one of all rows needs few others after it.
        least = max(DUAL_ROUNDING * abs(dual), MIN_GAP_SHARE * (primal - dual))
        gained = dual > self.best + least
        whole = len(self.block) == np.count_nonzero(self.problem.c)
        self.idle = 0 if gained and not whole else self.idle + 1
        self.best = max(self.best, dual)
        return primal - dual <= self.tol * abs(primal)

    def choose(self) -> bool:
        problem, point = self.problem, self.point
        if self.block is None:
            size = min(MIN_BLOCK_ROWS, self.cache.capacity)
            self.block = _first(problem, np.random.default_rng(self.monitor.seed), size)
            return True
        between = (point.beta > point.lo) & (point.beta < point.hi) & (point.beta != 0.0)
        share = int(BLOCK_SHARE_OF_FREE * np.count_nonzero(between))
        size = min(max(MIN_BLOCK_ROWS, share), MAX_BLOCK_ROWS, self.cache.capacity)
        slopes = DualSlopes.of(problem, point)
        violation = slopes.violation
        self.block = _next(slopes, point, self.block, self.entered, size)
        if self.idle >= MAX_IDLE_BLOCKS:
            return False
        return violation > VIOLATION_ROUNDING * max(1.0, float(np.abs(point.f).max()))

    def solve(self) -> bool:
        assert self.block is not None
        self.monitor.step()
        _solve_block(self.problem, self.cache, self.point, self.block)
        return True


class _Shrinking(_Blocks):
    """The same for the rows that are left in."""

    def __init__(self, problem: KernelProblem, *others):
        super().__init__(problem, *others)
        self.rows = np.arange(len(problem.y))

    def look(self) -> bool:
        closed = super().look()
        if self.block is not None and not closed:
            self._leave_out(self.block)
        return closed

    def _leave_out(self, block: np.ndarray) -> None:
        if not self.cache.full:  # whole rows of K serve the proof, too
            return
        near = DualSlopes.of(self.problem, self.point).near(self.point.beta)
        if len(near) <= MAX_SHARE_LEFT_IN * len(self.rows):
            self.rows, self.point = self.rows[near], self.point.taken(near)
            self.cache, self.entered = self.cache.taken(near), self.entered[near]
            self.block = np.searchsorted(near, np.intersect1d(block, near))
            y, c = self.problem.y[near], self.problem.c[near]
            self.problem = replace(self.problem, rows=self.cache.points, y=y, c=c)


def _first(problem: KernelProblem, rng, size: int) -> np.ndarray:
    """Rows of both classes in equal numbers, by lot."""
    sides = [np.flatnonzero((problem.y == side) & (problem.c > 0)) for side in (1.0, -1.0)]
    half = max(1, size // 2)
    picked = [rng.choice(side, min(half, len(side)), replace=False) for side in sides]
    return np.sort(np.concatenate(picked))


def _solve_block(
    problem, cache: GramCache | Forgetful, point: DualPoint, block: np.ndarray
) -> None:
    K = cache.corner(block)
    beta, g = point.beta[block], problem.y[block] - point.f[block]
    lo, hi = point.lo[block], point.hi[block]
    rising, falling = g[beta < hi], g[beta > lo]
    if len(rising) == 0 or len(falling) == 0:
        return
    violation = float(rising.max() - falling.min())
    enough = BLOCK_TOL_SHARE * violation
    if np.finfo(K.dtype).eps * float(np.abs(g).max()) > MAX_SLOPE_ROUNDING * enough:
        K = K.astype(np.float64)
    pair_steps(Pairs.of(K, lo, hi, g, beta), enough, MAX_BLOCK_STEPS)
    step = beta - point.beta[block]
    moved = np.flatnonzero(step)
    cache.add(block[moved], step[moved], point.f)
    point.beta[block] = beta


def _next(slopes: DualSlopes, point: DualPoint, last, entered, size: int) -> np.ndarray:
    """The rows that violate most, and as many of the last block: those between their bounds
    first, and of these the ones that violated most recently.
    """
    quarter = max(1, min(size // 4, len(entered) // 2))
    most = np.argpartition(-slopes.rise, quarter - 1)[:quarter]
    least = np.argpartition(slopes.fall, quarter - 1)[:quarter]
    new = np.union1d(most, least)
    old = np.setdiff1d(last, new, assume_unique=True)
    beta = point.beta[old]
    bound = (beta <= point.lo[old]) | (beta >= point.hi[old])
    old = old[np.lexsort((-entered[old], bound))][: max(0, size - len(new))]
    entered[new] = entered.max() + 1
    block = np.union1d(new, old)
    return block[point.hi[block] > point.lo[block]]
