"""Epochs and leaps of dual coordinate descent, one after another, until a check is due.

One compiled call instead of three per epoch: on short rows the calls took a third of the time,
and threads over folds waited for each other's.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .leap import leap
from .sweep import awake, sweep

# Over-relaxation; 1.0 and 1.5 take more epochs on most text, 1.5 fewer in some long tails.
OVER_RELAXATION = 1.3
# Every leap multiplies the rounding errors of w by its length, and nothing ever mends them:
# when the product of lengths passes this, w is computed afresh from α.
MAX_LEAP_PRODUCT = 1e5
# The gap predicted from the movement is a guess: look when it is this near.
CHECK_TOL_FACTOR = 1.05
# At most so many epochs from one check to the next; in between, half the epochs so far.
MAX_CHECK_EPOCHS, MIN_CHECK_EPOCHS = 20, 4

# Where the descent stands: bias, r = Σ αy, the clock of ``sweep.py`` and how fast it ran last,
# the product of leaps; in the present epoch, what moved, which row is next and how many there are.
DESCENT_STATE_DTYPE = np.dtype(
    [(name, np.float64) for name in ("b", "r", "clock", "speed", "stretch", "moved")]
    + [(name, np.int64) for name in ("epochs", "next", "count")]
)


@njit(cache=True, nogil=True)
def march(loss, rows, bends, rho, free, stride, visits, last, outlook, states, points, w, past):
    """Go on until a check is due (True), or ``visits`` rows or the ``last`` epoch are done, or w
    must be computed afresh (False).

    ``outlook``: the gap asked for, the gap and the speed at the last check, and its epoch;
    ``past``: α and w at the last leap, and room for an order, dice and a direction.
    """
    now = states[0]
    old_alpha, old_w, order, dice, room = past
    while visits > 0 and now.epochs < last:
        if now.next == 0:
            now.count, now.moved = awake(points, now.clock, dice, order), 0.0
        end = min(now.count, now.next + visits)
        omega = OVER_RELAXATION if now.epochs and bends.shape[0] else 1.0
        part = order[now.next : end]
        now.r, moved = sweep(loss, rows, part, now.b, rho, omega, now.clock, now.r, points, w)
        visits -= max(1, end - now.next)
        now.moved, now.next = now.moved + moved, end
        if end < now.count:
            return False
        now.next = 0
        now.speed = np.sqrt(now.moved / max(1, now.count))
        now.clock += now.speed
        if free:
            now.b += rho * now.r
        now.epochs += 1
        if now.epochs % stride:
            continue
        if _due(now.epochs, now.speed, outlook):
            return True
        if bends.shape[0] == 0:  # the dual is no quadratic along the path
            continue
        now.r, length = leap(
            rows, bends, now.b, rho, now.r, points, w, old_alpha, old_w, room
        )  # fmt: skip
        now.stretch *= 1.0 + abs(length)
        if now.stretch > MAX_LEAP_PRODUCT:
            return False
    return False


@njit(cache=True, nogil=True)
def _due(epochs, speed, outlook):
    """Whether the gap should have closed by now, or a check is long overdue."""
    tol, gap, then, checked = outlook
    guess = gap * (speed / then) if then > 0 and np.isfinite(gap) else gap
    return guess <= CHECK_TOL_FACTOR * tol or epochs - checked >= min(
        MAX_CHECK_EPOCHS, max(MIN_CHECK_EPOCHS, epochs // 2)
    )
