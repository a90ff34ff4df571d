"""The inner loop of dual block coordinate descent for k classes.

    max over β in its domain    −Σ c_i ℓ*(β_i/c_i) − ½‖W‖² − b·r − ½τ‖r‖²

with W = Σ α_i (x_i − μ)ᵀ and r = Σ α_i (α_iy = Σ_c β_ic, α_ic = −β_ic).  One step gives one
row its best multipliers (``row_subproblem.py``), which needs its scores s = W(x_i − μ) + b + τr
only. For a free bias b is the multiplier of r = 0 and any centre μ gives the same problem; the
mean makes rows and bias nearly independent.  The rows are not centred in memory: with U = Σ α_i
x_iᵀ,

    s = U x_i − (μ·x_i) r + h,        h = b − U μ + (τ + ‖μ‖²) r.

A row whose multipliers sit at a corner of their domain, and want to, sleeps until the scores
have moved about as far as it is from leaving it; the clock runs on the movement of the rows
that are visited.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...rows.class_products import class_nudge, class_scores
from ...rows.prefetch import CACHE_LINE_BYTES, prefetch, touch
from .row_subproblem import cost, scaled, share

# All a step needs to know of its row but its multipliers: one cache line.
CLASS_ROW_DTYPE = np.dtype(
    [("y", np.int64)]
    + [(name, np.float64) for name in ("c", "q", "centre", "margin", "wake", "unused", "unused_")]
)

# Rows between the one asked for from memory and the one in use: about one memory latency.
PREFETCH_DISTANCE = 2
# A row at a corner sleeps until the clock has moved this many times its distance from leaving.
SLEEP_FACTOR = 1.5


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nsz", "reassoc"})
def sweep(rates, rows, order, k, pull, noise, clock, points, beta, U, r, h, room):
    """Give every row in ``order`` its best multipliers once.

    ``pull`` is τ + ‖μ‖²; a change below ``noise`` times β is rounding; ``room`` holds four
    vectors of work space.  Returns the sum of squared changes of margins since each row's
    last visit.
    """
    s, step, D, new = room
    moved = 0.0
    count = order.shape[0]
    for t in range(count):
        if t + PREFETCH_DISTANCE < count:
            ahead = order[t + PREFETCH_DISTANCE]
            touch(points, ahead)
            prefetch(rows, ahead)
            for c in range(0, k, CACHE_LINE_BYTES // beta.itemsize):
                touch(beta[ahead], c)
        i = order[t]
        point = points[i]
        y, A, centre, old = point.y, point.q, point.centre, beta[i]
        class_scores(rows, i, U, s)
        total, rival = 0.0, -np.inf
        for c in range(k):
            score = s[c] + h[c] - centre * r[c]
            new[c] = score
            D[c] = 1.0 + score + A * old[c]
            total += old[c]
        own = new[y]
        for c in range(k):
            rival = max(rival, new[c] if c != y else -np.inf)
        moved += (own - rival - point.margin) ** 2
        point.margin = own - rival
        if total == 0.0 and own - rival >= 1.0:
            point.wake = clock + SLEEP_FACTOR * (own - rival - 1.0)
            continue
        D[y] = -np.inf
        share(scaled(rates, point.c), D, k, y, own - A * total, A, own, new)
        largest, change = 0.0, 0.0
        for c in range(k):
            step[c] = old[c] - new[c]
            change -= step[c]
            largest = max(largest, abs(step[c]))
        if largest <= noise * max(total, total + change):
            for c in range(k):  # D is 1 + scores again
                D[c] -= A * old[c]
            D[y] = 1.0 + own
            point.wake = clock + SLEEP_FACTOR * firmness(
                scaled(rates, point.c), noise, k, y, D, old
            )
            continue
        for c in range(k):
            old[c] -= step[c]
        step[y] = change
        class_nudge(rows, i, step, U)
        for c in range(k):
            r[c] += step[c]
            h[c] += (pull - centre) * step[c]
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def firmness(limit, noise, k, y, scores, beta):
    """How far the scores may move before a row at a corner of its domain leaves it, or 0.

    A corner is: no blame at all; a class that bears all of it ("max"); every class with none
    or its full share of it ("sum").
    """
    cap_each, each, cap_all, all_ = limit
    if each > 0.0 or all_ > 0.0:
        return 0.0
    own, total, most, guilty = scores[y] - 1.0, 0.0, -np.inf, y
    for c in range(k):
        total += beta[c]
        if c != y and scores[c] > most:
            most, guilty = scores[c], c
    if total == 0.0:
        return max(0.0, own - most)
    distance = np.inf
    if cap_all < np.inf:
        if beta[guilty] < cap_all * (1.0 - 4.0 * noise):
            return 0.0
        distance = most - own
        for c in range(k):
            if c != y and c != guilty:
                distance = min(distance, most - scores[c])
        return max(0.0, distance)
    for c in range(k):
        if c == y:
            continue
        z = scores[c] - own
        if beta[c] == 0.0:
            distance = min(distance, -z)
        elif beta[c] >= cap_each * (1.0 - noise):
            distance = min(distance, z)
        else:
            return 0.0
    return max(0.0, distance)


@njit(cache=True, nogil=True, error_model="numpy")
def look(rates, rows, k, noise, clock, points, beta, U, r, h, room, kept):
    """Σ c_i ℓ at the present weights; every row's margin and sleep are set anew.

    The scores are kept in ``kept`` if it has a place for every row.
    """
    s, _, D, new = room
    losses = 0.0
    count = points.shape[0]
    for i in range(count):
        if i + PREFETCH_DISTANCE < count:
            prefetch(rows, i + PREFETCH_DISTANCE)
        point = points[i]
        if point.c <= 0.0:
            continue
        class_scores(rows, i, U, s)
        y, rival = point.y, -np.inf
        for c in range(k):
            new[c] = s[c] + h[c] - point.centre * r[c]
            D[c] = 1.0 + new[c]
        for c in range(k):
            rival = max(rival, new[c] if c != y else -np.inf)
        losses += point.c * cost(rates, new, k, y)
        if kept.shape[0] == count:
            for c in range(k):
                kept[i, c] = new[c]
        point.margin = new[y] - rival
        point.wake = clock + SLEEP_FACTOR * firmness(
            scaled(rates, point.c), noise, k, y, D, beta[i]
        )
    return losses


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def square_sum(U):
    """‖U‖², summed in float64."""
    total = 0.0
    for j in range(U.shape[0]):
        for c in range(U.shape[1]):
            value = np.float64(U[j, c])
            total += value * value
    return total


@njit(cache=True, nogil=True)
def weights(U, mu, r, k):
    """U − μ rᵀ of the k classes, in float64."""
    W = np.empty((U.shape[0], k))
    for j in range(U.shape[0]):
        for c in range(k):
            W[j, c] = U[j, c] - mu[j] * r[c]
    return W
