"""Block descent on the exact dual of a kernel machine with a free bias.

    max over β    Σ y_i β_i − ½ βᵀKβ      with  0 ≤ y_i β_i ≤ c_i  and  Σ β_i = 0

A block of rows is solved by pair steps, then f = Kβ is brought up to date with the block's
rows of K, which come from a bounded cache.  Half of each block are the rows that violate
most, half stay from the last one: without these the block undoes what the last one did.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from ...certify.bias import best_bias
from ...kernels.gram_cache import Forgetful, GramCache
from ...problem.kernelised import KernelProblem
from ..contract import Ending, Monitor, ended
from ..working_set import WorkingSet, search_in_rounds
from .pair_steps import pair_steps

# Rows in a block; more where the multipliers between their bounds are many.
BLOCK_ROWS, LARGE_BLOCK_ROWS = 512, 1024
MIN_LARGE_BLOCK_FREE = 5000
# A block is solved to this share of its violation.
BLOCK_TOL_SHARE = 0.1
MAX_BLOCK_STEPS = 100_000
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

    @classmethod
    def start(cls, problem: KernelProblem, alpha=None, f=None) -> DualPoint:
        y, n = problem.y, len(problem.y)
        beta = np.zeros(n) if alpha is None else y * alpha
        f = np.zeros(n) if f is None else f.copy()
        point = cls(beta, f, np.zeros(n), np.zeros(n))
        point.bound(problem)
        return point

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
            size = min(BLOCK_ROWS, self.cache.capacity)
            self.block = _first(problem, np.random.default_rng(self.monitor.seed), size)
            return True
        between = (point.beta > point.lo) & (point.beta < point.hi) & (point.beta != 0.0)
        many = np.count_nonzero(between) > MIN_LARGE_BLOCK_FREE
        size = min(LARGE_BLOCK_ROWS if many else BLOCK_ROWS, self.cache.capacity)
        self.block, violation = _next(problem, point, self.block, self.entered, size)
        if self.idle >= MAX_IDLE_BLOCKS:
            return False
        return violation > VIOLATION_ROUNDING * max(1.0, float(np.abs(point.f).max()))

    def solve(self) -> bool:
        assert self.block is not None
        self.monitor.step()
        _solve_block(self.problem, self.cache, self.point, self.block)
        return True


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
    pair_steps(K, lo, hi, BLOCK_TOL_SHARE * violation, MAX_BLOCK_STEPS, g, beta)
    step = beta - point.beta[block]
    moved = np.flatnonzero(step)
    cache.add(block[moved], step[moved], point.f)
    point.beta[block] = beta


def _next(problem, point: DualPoint, last, entered, size: int) -> tuple[np.ndarray, float]:
    """The rows that violate most, and as many of the last block: those between their bounds
    first, and of these the ones that violated most recently.
    """
    g = problem.y - point.f
    rise = np.where(point.beta < point.hi, g, -np.inf)
    fall = np.where(point.beta > point.lo, g, np.inf)
    quarter = max(1, min(size // 4, len(g) // 2))
    most = np.argpartition(-rise, quarter - 1)[:quarter]
    least = np.argpartition(fall, quarter - 1)[:quarter]
    new = np.union1d(most, least)
    old = np.setdiff1d(last, new, assume_unique=True)
    beta = point.beta[old]
    bound = (beta <= point.lo[old]) | (beta >= point.hi[old])
    old = old[np.lexsort((-entered[old], bound))][: max(0, size - len(new))]
    entered[new] = entered.max() + 1
    block = np.union1d(new, old)
    return block[point.hi[block] > point.lo[block]], float(rise.max() - fall.min())
