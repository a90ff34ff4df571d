"""Two multipliers at a time: the dual of a few rows, to a given violation.

    max over β    Σ y_i β_i − ½ βᵀKβ      with  lo ≤ β ≤ hi  and  Σ β_i  as it is

g = y − Kβ is the slope of every β_i.  A point is optimal when no β_i that may rise has a
larger slope than a β_j that may fall.  A step raises the i with the largest slope and lowers
the j with which the gain (g_i − g_j)²/(K_ii + K_jj − 2K_ij) is largest.  [Fan, Chen, Lin 2005]
"""

from __future__ import annotations

import numpy as np
from numba import njit

# ‖φ(x_i) − φ(x_j)‖² below this share of K's size is rounding: the two points coincide.
SQUARED_DISTANCE_ROUNDING = 1e-12


@njit(cache=True, nogil=True)
def pair_steps(K, lo, hi, gap, most, g, beta):
    """Steps until no pair violates by more than ``gap``; returns their number and the rest."""
    q = len(beta)
    flat = SQUARED_DISTANCE_ROUNDING * K[0, 0]
    for i in range(q):
        flat = max(flat, SQUARED_DISTANCE_ROUNDING * K[i, i])
    for step in range(most):
        i, gi = -1, -np.inf
        for t in range(q):
            if beta[t] < hi[t] and g[t] > gi:
                i, gi = t, g[t]
        if i < 0:
            return step, 0.0
        j, best, lowest, own, Ki = -1, 0.0, np.inf, K[i, i], K[i]
        for t in range(q):
            if beta[t] > lo[t]:
                lowest = min(lowest, g[t])
                rise = gi - g[t]
                if rise > 0.0:
                    gain = rise * rise / max(own + K[t, t] - 2.0 * Ki[t], flat)
                    if gain > best:
                        j, best = t, gain
        if j < 0 or gi - lowest <= gap:
            return step, max(0.0, gi - lowest)
        Kj = K[j]
        d = (gi - g[j]) / max(own + Kj[j] - 2.0 * Ki[j], flat)
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        d = min(d, room_i, room_j)
        beta[i] = hi[i] if d == room_i else beta[i] + d
        beta[j] = lo[j] if d == room_j else beta[j] - d
        for t in range(q):
            g[t] -= d * (Ki[t] - Kj[t])
    return most, np.inf
