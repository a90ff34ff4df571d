"""The inner loop of dual coordinate descent.

    max over α in the box    Σ −c_i ℓ*(−α_i/c_i) − ½‖w‖² − b r − ½ρ r²

with w = Σ α_i y_i x_i and r = Σ α_i y_i.  One step gives one α_i its best value, which
needs only G_i = y_i (w·x_i + b + ρ r) − 1.  For a free bias b is the multiplier of the
constraint r = 0 and ρ stabilises it (an augmented Lagrangian); with ρ = 0 and b = 0 the same
function is the dual of no bias at all.

A row whose multiplier sits at a bound, with G of the right sign, is left asleep until the
margins have moved about as far as G is from zero.  The distance travelled is read off the
rows that are visited: a clock that ticks with movement, not with epochs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...problem.losses import best_alpha, kink, target
from ...rows.prefetch import prefetch, touch
from ...rows.rows import nudge, score

# All a step needs to know of its example, side by side: one cache line.  ``listed``: whether it is
# among those that have moved since the last leap.
POINT_DTYPE = np.dtype(
    [(name, np.float64) for name in ("y", "q", "c", "cap", "alpha", "G", "wake", "listed")]
)

# Rows between the one asked for from memory and the one in use: about one memory latency.
PREFETCH_DISTANCE = 2
# A row at a bound sleeps until the clock has moved this many times its |G|.  The clock runs
# on the rms of movements, so single rows may move faster; 0.7 and 3 measured the same.
SLEEP_FACTOR = 3.0
# Knuth's linear congruential generator; only its high bits are used.
LCG_MULTIPLIER = np.uint64(6364136223846793005)
LCG_INCREMENT = np.uint64(1442695040888963407)
HIGH_BITS_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True)
def awake(points, some, clock, dice, order):
    """Write the rows of ``some`` that are awake to ``order``, shuffled by ``dice``; returns their
    number."""
    count, state = 0, dice[0]
    for i in some:
        if points[i].wake <= clock:
            state = state * LCG_MULTIPLIER + LCG_INCREMENT
            j = ((state >> HIGH_BITS_SHIFT) * np.uint64(count + 1)) >> HIGH_BITS_SHIFT
            order[count] = order[j]
            order[j] = i
            count += 1
    dice[0] = state
    return count


@njit(cache=True, nogil=True)
def enroll(points, horizon, some):
    """Write to ``some`` the rows that wake up until ``horizon``; returns their number."""
    count = 0
    for i in range(points.shape[0]):
        if points[i].wake <= horizon:
            some[count] = i
            count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(loss, rows, order, b, rho, omega, clock, r, points, w, trail, gone):
    """Give each multiplier in ``order`` its best value once, over-relaxed by ω.

    Returns r, the sum of squared changes of G since each row's last visit, and how many rows
    ``trail`` lists of those that have moved; before, it was ``gone``.
    """
    moved = 0.0
    count = order.shape[0]
    for t in range(count):
        if t + PREFETCH_DISTANCE < count:
            touch(points, order[t + PREFETCH_DISTANCE])
            prefetch(rows, order[t + PREFETCH_DISTANCE])
        i = order[t]
        point = points[i]
        y, alpha, cap, q = point.y, point.alpha, point.cap, point.q
        G = y * (score(rows, i, w) + b + rho * r) - 1.0
        moved += (G - point.G) ** 2
        best = best_alpha(loss, alpha, G, q, point.c)
        new = min(max(alpha + omega * (best - alpha), 0.0), cap)
        step = new - alpha
        if step != 0.0:
            nudge(rows, i, step * y, w)
            r += step * y
            G += step * q
            point.alpha = new
            if point.listed == 0.0:
                point.listed = 1.0
                trail[gone] = i
                gone += 1
        elif _rests(loss, alpha, cap, G):
            point.wake = clock + SLEEP_FACTOR * abs(G + (1.0 - target(loss)))
        point.G = G
    return r, moved, gone


@njit(cache=True, nogil=True, inline="always")
def _rests(loss, alpha, cap, G):
    """Whether a multiplier at its bound has nothing to do; nobody knows of a loss without these."""
    return (alpha == 0.0 and target(loss) - 1.0 < G) or (alpha == cap and kink(loss) - 1.0 > G)


@njit(cache=True, nogil=True)
def settle(loss, points, f, shift, clock):
    """Refresh every G from the exact scores f; put to sleep whoever has nothing to do."""
    for i in range(points.shape[0]):
        point = points[i]
        if point.c <= 0.0:
            continue
        G = point.y * (f[i] + shift) - 1.0
        asleep = _rests(loss, point.alpha, point.cap, G)
        point.wake = clock + SLEEP_FACTOR * abs(G + (1.0 - target(loss))) if asleep else clock
        point.G = G
