"""Epochs and leaps of dual coordinate descent, one after another, until a check is due.

One compiled call instead of three per epoch: on short rows the calls took a third of the time,
and threads over folds waited for each other's.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .leap import leap
from .sweep import awake, enroll, sweep

# Over-relaxation; 1.0 and 1.5 take more epochs on most text, 1.5 fewer in some long tails.
OVER_RELAXATION = 1.3
# Every leap multiplies the rounding errors of w by its length, and nothing ever mends them:
# when the product of lengths passes this, w is computed afresh from α.
MAX_LEAP_PRODUCT = 1e5
# The gap predicted from the movement is a guess: look when it is this near.
CHECK_TOL_FACTOR = 1.05
# At most so many epochs from one check to the next; in between, half the epochs so far.
MAX_CHECK_EPOCHS, MIN_CHECK_EPOCHS = 20, 4
# A check costs as much as visits to half of all rows.  While few are awake it waits until so many
# visits have been made, or this share of them where it is likely to pass, but not where the gap
# predicted is below this share of the one asked for, nor for so many epochs in all.
CHECK_ROWS, LIKELY_CHECK_ROWS = 0.5, 0.125
SURE_TOL_FACTOR, MAX_IDLE_EPOCHS = 0.5, 100

# Rows that will not wake for so many epochs at the present speed are not even looked at.
ENROLLED_EPOCHS = 3.0

# Where the descent stands: bias, r = Σ αy, the clock of ``sweep.py`` and how fast it ran last,
# the product of leaps; in the present epoch, what moved, which row is next and how many there are;
# the clock until which all but those enrolled sleep, how many these are, and how often one of them
# was looked at in vain; Σα at the last check, how many rows have moved since the last leap,
# and how many visits were made since the last check.
DESCENT_STATE_DTYPE = np.dtype(
    [
        (name, np.float64)
        for name in ("b", "r", "clock", "speed", "stretch", "moved", "horizon", "mass")
    ]
    + [(name, np.int64) for name in ("epochs", "next", "count", "enrolled", "idle", "gone", "seen")]
)


@njit(cache=True, nogil=True)
def march(loss, rows, bends, rho, free, stride, visits, last, outlook, states, points, w, past):
    """Go on until a check is due (True), or ``visits`` rows or the ``last`` epoch are done, or w
    must be computed afresh (False).

    ``outlook``: the gap asked for, the gap and the speed at the last check, and its epoch;
    ``past``: α and w at the last leap, the rows that have moved since, the rows enrolled (none
    where the horizon is −∞, as after ``settle``), dice, and room for an order and a direction.
    """
    now = states[0]
    old_alpha, old_w, trail, some, dice, order, room = past
    while visits > 0 and now.epochs < last:
        if now.next == 0:
            if now.clock >= now.horizon or now.idle > points.shape[0]:
                ahead = ENROLLED_EPOCHS * now.speed if np.isfinite(now.speed) else 0.0
                now.horizon, now.idle = now.clock + ahead, 0
                now.enrolled = enroll(points, now.horizon, some)
            now.count = awake(points, some[: now.enrolled], now.clock, dice, order)
            now.idle += now.enrolled - now.count
            now.moved = 0.0
        end = min(now.count, now.next + visits)
        omega = OVER_RELAXATION if now.epochs and bends.shape[0] else 1.0
        part = order[now.next : end]
        now.r, moved, now.gone = sweep(
            loss, rows, part, now.b, rho, omega, now.clock, now.r, points, w, trail, now.gone
        )
        visits -= max(1, end - now.next)
        now.seen += end - now.next
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
        if _due(now.epochs, now.speed, now.seen / points.shape[0], outlook):
            return True
        if bends.shape[0] == 0:  # the dual is no quadratic along the path
            continue
        now.r, length, now.gone = leap(
            rows, bends, trail[: now.gone], now.mass, now.b, rho, now.r,
            points, w, old_alpha, old_w, room,
        )  # fmt: skip
        now.stretch *= 1.0 + abs(length)
        if now.stretch > MAX_LEAP_PRODUCT:
            return False
    return False


@njit(cache=True, nogil=True)
def _due(epochs, speed, seen, outlook):
    """Whether the gap should have closed by now, or a check is long overdue; ``seen``: visits since
    the last one, in units of all rows."""
    tol, gap, then, checked = outlook
    guess = gap * (speed / then) if then > 0 and np.isfinite(gap) else gap
    since, usual = epochs - checked, min(MAX_CHECK_EPOCHS, max(MIN_CHECK_EPOCHS, epochs // 2))
    if since >= MAX_IDLE_EPOCHS or guess <= SURE_TOL_FACTOR * tol:
        return True
    if guess <= CHECK_TOL_FACTOR * tol:
        return seen >= LIKELY_CHECK_ROWS
    return since >= usual and seen >= CHECK_ROWS
