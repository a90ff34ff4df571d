"""The best bias for given weights, exactly, in O(n).

    min over b    Σ c_i ℓ(y_i (f_i + b)),        f_i = w·x_i

When the minimum is a flat interval the middle is returned, so the answer depends neither
on a seed nor on the order of the rows.  For the hard margin the same rule gives the
lecture's  b = −½ (min over positives of f + max over negatives of f).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..problem.losses import Hinge, Logistic, SquaredHinge, slope
from ..problem.problem import Problem
from ..rows.exponential import exponentials
from ..rule import otherwise, rule, verb
from . import at_once

# Two sums of costs that agree this well are equal: the slack of float64 summation.
SUM_EQUALITY_TOL = 1e-12
# How far from the guess a bias is sought, in units of the largest score, and how precisely.
MAX_BIAS_DISTANCE, MAX_HALVINGS = 1e6, 200
# Rows whose exponentials are taken at once: they stay in the nearest cache.
EXP_BLOCK_ROWS = 1024


def best_bias(problem: Problem, f: np.ndarray, guess: float = 0.0) -> float:
    """The minimising bias for finite scores f; ``guess`` only makes finding it faster."""
    if problem.hard:
        return middle_bias(f, problem.y, problem.c)
    return bias_for(problem.loss, f, problem.y, problem.c, guess)


@verb
def bias_for(loss, f, y, c, guess):
    """The minimising bias."""


@rule(bias_for, Hinge)
def _(loss, f, y, c, guess):
    return _hinge_bias(f, y, c, guess)


@rule(bias_for, SquaredHinge)
def _(loss, f, y, c, guess):
    return _squared_hinge_bias(f, y, c, guess)


@rule(bias_for, Logistic)
def _(loss, f, y, c, guess):
    return _logistic_bias(f, y, c, guess)


@otherwise(bias_for)
def _(loss, f, y, c, guess):
    return _bisected_bias(loss, f, y, c, guess)


def middle_bias(f: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """Half way between the two closest points of the two classes."""
    alive = c > 0
    return -0.5 * float(f[alive & (y > 0)].min() + f[alive & (y < 0)].max())


@plain_at_first(arrays=partial(at_once.hinge_bias, equality=SUM_EQUALITY_TOL))
@njit(cache=True, nogil=True)
def _hinge_bias(f, y, c, guess):
    """A weighted order statistic of the breakpoints y_i − f_i, by partitioning."""
    n = f.shape[0]
    point, cost = np.empty(n), np.empty(n)
    target, biggest, count, total = 0.0, 0.0, 0, 0.0
    for i in range(n):
        if c[i] > 0.0:
            point[count], cost[count] = y[i] - f[i], c[i]
            biggest = max(biggest, c[i])
            total += point[count]
            count += 1
    if not np.isfinite(total):  # nothing can be compared
        return guess
    for i in range(n):  # in units of the largest cost, equal costs add up exactly
        if y[i] > 0.0:
            target += c[i] / biggest
    for i in range(count):
        cost[i] /= biggest
    slack = SUM_EQUALITY_TOL * max(1.0, target)

    # Invariant: the answer lies in point[lo:hi]; `below` is the cost left of it;
    # `left` and `right` are the breakpoints just outside.
    lo, hi, below, pivot = 0, count, 0.0, guess
    left, right = -np.inf, np.inf
    while hi > lo:
        cut, end, mass = lo, hi, 0.0
        while cut < end:
            if point[cut] <= pivot:
                mass += cost[cut]
                cut += 1
            else:
                end -= 1
                point[cut], point[end] = point[end], point[cut]
                cost[cut], cost[end] = cost[end], cost[cut]
        highest, lowest = left, right  # of the values up to the pivot, and of those beyond
        for k in range(lo, cut):
            highest = max(highest, point[k])
        for k in range(cut, hi):
            lowest = min(lowest, point[k])
        if abs(below + mass - target) <= slack:  # flat between two breakpoints
            return 0.5 * (highest + lowest) if highest > -np.inf and lowest < np.inf else guess
        if below + mass < target:
            below, lo, left = below + mass, cut, highest
        elif cut < hi:
            hi, right = cut, lowest
        else:  # nothing beyond the pivot: step down to the next smaller value
            pivot = -np.inf
            for k in range(lo, hi):
                if point[k] < highest:
                    pivot = max(pivot, point[k])
            if pivot == -np.inf:
                return highest
            continue
        if hi > lo:
            pivot = _median_of_three(point[lo], point[(lo + hi) // 2], point[hi - 1])
    return left


@plain_at_first
@njit(cache=True, nogil=True)
def _median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@plain_at_first
@njit(cache=True, nogil=True)
def _squared_hinge_bias(f, y, c, guess):
    """Newton's method on the piecewise linear derivative, inside a shrinking bracket."""
    n = f.shape[0]
    lo, hi, low_plus, high_minus = np.inf, -np.inf, -np.inf, np.inf
    for i in range(n):
        if c[i] > 0.0:
            point = y[i] - f[i]
            lo, hi = min(lo, point), max(hi, point)
            if y[i] > 0.0:
                low_plus = max(low_plus, point)
            else:
                high_minus = min(high_minus, point)
    if low_plus <= high_minus:  # no slack at all between them
        return 0.5 * (low_plus + high_minus)
    b = min(max(guess, lo), hi)
    for _ in range(200):
        slope, curvature, size = 0.0, 0.0, 0.0
        for i in range(n):
            z = 1.0 - y[i] * (f[i] + b)
            if z > 0.0 and c[i] > 0.0:
                slope -= c[i] * y[i] * z
                curvature += c[i]
                size += c[i] * z
        if slope > 0.0:
            hi = b
        else:
            lo = b
        if abs(slope) <= 1e-15 * size or not lo < hi:
            break
        new = b - slope / curvature if curvature > 0.0 else 0.5 * (lo + hi)
        if not lo < new < hi:
            new = 0.5 * (lo + hi)
        if new == b:
            break
        b = new
    return b


@njit(cache=True, nogil=True)
def _logistic_bias(f, y, c, guess):
    """Newton's method on log Σ₋α − log Σ₊α, inside a shrinking bracket.

    The logarithms make the function nearly linear where every row is far from its margin,
    and its root exact even where all multipliers are tiny.
    """
    lo, hi, plus, minus = np.inf, -np.inf, 0.0, 0.0
    for i in range(f.shape[0]):
        if c[i] > 0.0:
            lo, hi = min(lo, -f[i]), max(hi, -f[i])
            if y[i] > 0.0:
                plus += c[i]
            else:
                minus += c[i]
    shift = math.log(plus / minus)
    lo, hi = lo + min(shift, 0.0), hi + max(shift, 0.0)
    b = min(max(guess, lo), hi)
    small, sums = np.empty(EXP_BLOCK_ROWS), np.empty(4)
    for _ in range(200):
        sums[:] = 0.0
        for start in range(0, f.shape[0], EXP_BLOCK_ROWS):
            stop = min(f.shape[0], start + EXP_BLOCK_ROWS)
            part = slice(start, stop)
            _add_pulls(f[part], b, y[part], c[part], small[: stop - start], sums)
        plus, minus, plus_bends, minus_bends = sums[0], sums[1], sums[2], sums[3]
        if minus > plus:
            hi = b
        else:
            lo = b
        if abs(plus - minus) <= 1e-15 * (plus + minus) or not lo < hi:
            break
        new = 0.5 * (lo + hi)
        if plus > 0.0 and minus > 0.0:
            newton = b + math.log(plus / minus) / (plus_bends / plus + minus_bends / minus)
            new = newton if lo < newton < hi else new
        if new == b:
            break
        b = new
    return b


@njit(cache=True, nogil=True)
def _add_pulls(f, b, y, c, small, sums):
    """Σ α and Σ c σ(1 − σ) of either class."""
    for i in range(f.shape[0]):
        small[i] = -abs(f[i] + b)
    exponentials(small)
    _add_classes(f, b, y, c, small, sums)


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _add_classes(f, b, y, c, small, sums):
    plus, minus, plus_bends, minus_bends = 0.0, 0.0, 0.0, 0.0
    for i in range(f.shape[0]):
        alpha = (1.0 if y[i] * (f[i] + b) < 0.0 else small[i]) / (1.0 + small[i])
        bend = small[i] / ((1.0 + small[i]) * (1.0 + small[i]))
        alpha, bend = (c[i] * alpha, c[i] * bend) if c[i] > 0.0 else (0.0, 0.0)
        plus += alpha if y[i] > 0.0 else 0.0
        minus += 0.0 if y[i] > 0.0 else alpha
        plus_bends += bend if y[i] > 0.0 else 0.0
        minus_bends += 0.0 if y[i] > 0.0 else bend
    sums[0] += plus
    sums[1] += minus
    sums[2] += plus_bends
    sums[3] += minus_bends


@njit(cache=True, nogil=True)
def _bisected_bias(loss, f, y, c, guess):
    """Bisection on the increasing derivative of any loss; the middle of where it changes sign."""
    span = 1.0
    for i in range(f.shape[0]):
        span = max(span, abs(f[i]))
    low, high = (
        _crossing(loss, f, y, c, guess, span, -1.0),
        _crossing(loss, f, y, c, guess, span, 1.0),
    )
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _crossing(loss, f, y, c, guess, span, side):
    """Where the derivative is no longer below zero (side −1), or where it first is above (1)."""
    low, high = guess, guess
    while high - guess < MAX_BIAS_DISTANCE * span and _rises(loss, f, y, c, high, side) <= 0.0:
        high += high - guess + span
    while guess - low < MAX_BIAS_DISTANCE * span and _rises(loss, f, y, c, low, side) > 0.0:
        low -= guess - low + span
    for _ in range(MAX_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _rises(loss, f, y, c, middle, side) > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _rises(loss, f, y, c, b, side):
    """The derivative in b, in units of its largest terms; what is rounding counts for ``side``."""
    total, size = 0.0, 0.0
    for i in range(f.shape[0]):
        if c[i] > 0.0:
            part = c[i] * slope(loss, y[i] * (f[i] + b))
            total += y[i] * part
            size += abs(part)
    return total - side * SUM_EQUALITY_TOL * size
