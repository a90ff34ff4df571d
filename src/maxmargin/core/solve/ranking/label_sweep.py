"""The inner loop of coordinate descent over pairs of labels.

    max over 0 ≤ α_p ≤ c_p    Σ α_p − ½‖W‖² − b·r − ½τ‖r‖²

with W = Σ α_p (e_a − e_b)(x_i − μ)ᵀ and r = Σ α_p (e_a − e_b).  All pairs of an example share
its row: its k scores are read once, every pair then takes its best value a few times over
(which costs no more than k numbers), and the row is written once.

As in ``class_sweep.py`` rows are centred by arithmetic, W = U − μrᵀ with U kept, and an
example whose pairs all sit at a bound sleeps until the scores have moved far enough.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...rows.class_products import class_nudge, class_scores
from ...rows.prefetch import prefetch

PREFETCH_DISTANCE = 2
# An example sleeps until the clock has moved this many times the distance of its pairs.
SLEEP_FACTOR = 1.5
# Times that the pairs of one example take their best values while its row is at hand.
TURNS_PER_VISIT = 2


@njit(cache=True, nogil=True, error_model="numpy")
def label_sweep(rows, pairs, places, pull, clock, order, alpha, U, r, h, room):
    """One visit of every example in ``order``; returns the mean square movement of a pair.

    ``pairs`` = (start, winner, loser, c) by example; ``places`` = (centre, A, wake, last).
    """
    start, winner, loser, c = pairs
    centre, A, wake, last = places
    s, step = room
    moved, count = 0.0, order.shape[0]
    for t in range(count):
        if t + PREFETCH_DISTANCE < count:
            prefetch(rows, order[t + PREFETCH_DISTANCE])
        i = order[t]
        class_scores(rows, i, U, s)
        for a in range(r.shape[0]):
            s[a] += h[a] - centre[i] * r[a]
            step[a] = 0.0
        first, end = start[i], start[i + 1]
        distance, square, change = np.inf, 0.0, 0.0
        for turn in range(TURNS_PER_VISIT):
            for p in range(first, end):
                a, b = winner[p], loser[p]
                z = 1.0 - s[a] + s[b]
                if turn == 0:
                    square += (z - last[p]) ** 2
                new = min(max(alpha[p] + z / (2.0 * A[i]), 0.0), c[p])
                d = new - alpha[p]
                if d != 0.0:
                    alpha[p] = new
                    s[a] += A[i] * d
                    s[b] -= A[i] * d
                    step[a] += d
                    step[b] -= d
                    change += abs(d)
        for p in range(first, end):
            z = 1.0 - s[winner[p]] + s[loser[p]]
            last[p] = z
            at_rest = (alpha[p] == 0.0 and z < 0.0) or (alpha[p] == c[p] and z > 0.0)
            distance = min(distance, abs(z) if at_rest else 0.0)
        moved += square / (end - first)
        if change > 0.0:
            class_nudge(rows, i, step, U)
            for a in range(r.shape[0]):
                r[a] += step[a]
                h[a] += (pull - centre[i]) * step[a]
        wake[i] = clock + SLEEP_FACTOR * distance
    return moved / max(1, count)


@njit(cache=True, nogil=True)
def look(rows, pairs, places, clock, alpha, U, r, h, room, z):
    """Every pair's slack at the present weights, into z; sleep is set anew."""
    start, winner, loser, c = pairs
    centre, _, wake, last = places
    s, _ = room
    for i in range(wake.shape[0]):
        if start[i] == start[i + 1]:
            continue
        class_scores(rows, i, U, s)
        distance = np.inf
        for a in range(r.shape[0]):
            s[a] += h[a] - centre[i] * r[a]
        for p in range(start[i], start[i + 1]):
            z[p] = last[p] = 1.0 - s[winner[p]] + s[loser[p]]
            at_rest = (alpha[p] == 0.0 and z[p] < 0.0) or (alpha[p] == c[p] and z[p] > 0.0)
            distance = min(distance, abs(z[p]) if at_rest else 0.0)
        wake[i] = clock + SLEEP_FACTOR * distance


@njit(cache=True, nogil=True)
def follow(rows, pairs, centre, steps, V, dr, room):
    """Add the pairs' ``steps`` to V and dr: V += Σ step (e_a − e_b) x_iᵀ."""
    start, winner, loser, _ = pairs
    _, step = room
    for i in range(centre.shape[0]):
        step[:] = 0.0
        change = 0.0
        for p in range(start[i], start[i + 1]):
            step[winner[p]] += steps[p]
            step[loser[p]] -= steps[p]
            change += abs(steps[p])
        if change > 0.0:
            class_nudge(rows, i, step, V)
            for a in range(dr.shape[0]):
                dr[a] += step[a]
