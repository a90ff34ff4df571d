"""From nearly feasible multipliers to feasible ones, in memory or over parts.

A solver ends with multipliers whose Σ α_i y_i is only nearly zero.  The dual bounds the
optimum only if it is zero, so the last step of every solver comes through here.

Free multipliers are moved first: near the optimum they absorb the residual at second order.  If
what remains is small a single multiplier bears it; else the heavier class is scaled.  Every step
is a pass over the multipliers of some rows, in place, that tells what they add up to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..problem.problem import Problem
from . import at_once

# Times that free multipliers are moved: rounding in the first move is mended by the next.
MAX_REPAIR_MOVES = 3
# A residual of Σαy below this share of Σα is the rounding of the sum itself.
RESIDUAL_ROUNDING = 1e-15
# Below this share a single multiplier takes it all.
SINGLE_REPAIR_SHARE = 1e-6


def repair(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Multipliers inside the box with Σ α_i y_i = 0, as close to ``alpha`` as is cheap."""
    out = np.array(alpha, dtype=np.float64)
    by_passes(out, problem.cap, problem.y, bool(problem.bias))
    return out


def by_passes(alpha, cap, y, balance):
    """In place; ``repair_parts`` asks for the same passes, one by one.

    The passes are kernels, and this need not be one: most points need the first pass only, so that
    0.2 s are spent on compiling where all five took 0.7.
    """
    r, plus, minus, free = shift(alpha, cap, y, 0.0)
    if not balance:
        return
    for _ in range(MAX_REPAIR_MOVES):
        if r == 0.0 or free == 0:
            break
        r, plus, minus, free = shift(alpha, cap, y, r / free)
    left, heavy = abs(plus - minus), 1.0 if plus > minus else -1.0
    if left <= RESIDUAL_ROUNDING * (plus + minus):
        return
    if left <= SINGLE_REPAIR_SHARE * (plus + minus):
        freest = freedom(alpha, cap, y, heavy, left)
        if freest >= 0.0:
            bear(alpha, cap, y, heavy, left, freest, left)
            return
    lighten(alpha, y, heavy, min(plus, minus) / max(plus, minus))


# For kernels that repair as a part of what they do.
repair_in_place = plain_at_first(njit(cache=True, nogil=True)(by_passes))


@plain_at_first(arrays=at_once.shift)
@njit(cache=True, nogil=True)
def shift(alpha, cap, y, step):
    """Into the box, the free ones moved by −y step; Σαy, Σ₊α, Σ₋α and how many are free now."""
    r, plus, minus, free = 0.0, 0.0, 0.0, 0
    for i in range(len(alpha)):
        a, sign = min(max(alpha[i], 0.0), cap[i]), y[i]
        # No branches: which multipliers are free is as good as random, and so are labels.
        gone = min(max(a - sign * step, 0.0), cap[i])
        a = gone if (step != 0.0) & (a > 0.0) & (a < cap[i]) else a
        alpha[i] = a
        r += a * sign
        free += (a > 0.0) & (a < cap[i])
        plus += a if sign > 0.0 else 0.0
        minus += 0.0 if sign > 0.0 else a
    return r, plus, minus, free


@plain_at_first
@njit(cache=True, nogil=True)
def freedom(alpha, cap, y, heavy, left):
    """How far from its bounds the freest multiplier is that can bear what is left; −1: none can.

    One at a bound would leave it, though its row is not on its margin.
    """
    freest = -1.0
    for i in range(len(alpha)):
        room = alpha[i] if y[i] == heavy else cap[i] - alpha[i]
        if room >= left:
            freest = max(freest, min(alpha[i], cap[i] - alpha[i]))
    return freest


@plain_at_first
@njit(cache=True, nogil=True)
def bear(alpha, cap, y, heavy, left, freest, load):
    """The first multiplier that is that free takes ``load`` of what is left; the rest stay."""
    for i in range(len(alpha)):
        room = alpha[i] if y[i] == heavy else cap[i] - alpha[i]
        if room >= left and min(alpha[i], cap[i] - alpha[i]) == freest:
            alpha[i] -= heavy * y[i] * load
            return


@plain_at_first
@njit(cache=True, nogil=True)
def lighten(alpha, y, heavy, factor):
    """Scale the multipliers of the heavier class."""
    for i in range(len(alpha)):
        if y[i] == heavy:
            alpha[i] *= factor
