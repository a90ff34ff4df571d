"""Two multipliers at a time: the dual of a few rows, to a given violation.

    max over β    Σ y_i β_i − ½ βᵀKβ      with  lo ≤ β ≤ hi  and  Σ β_i  as it is

g = y − Kβ is the slope of every β_i.  A point is optimal when no β_i that may rise has a
larger slope than a β_j that may fall.  A step raises the i with the largest slope and lowers
the j with which the gain (g_i − g_j)²/(K_ii + K_jj − 2K_ij) is largest.  [Fan, Chen, Lin 2005]

Every loop over the rows is one that becomes vector instructions: a β_i that may not rise has a
slope with ``FAR`` taken off, and where the largest is comes from a second look, in stretches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...rows.extremes import larger, smaller

# ‖φ(x_i) − φ(x_j)‖² below so many units in the last place of K is rounding: the points coincide.
COINCIDENT_UNITS = 4.0
# More than any slope; float32 has it, too.
FAR = 1e37
# Slopes that are looked at together for the one that was found to be the largest.
STRETCH = 64
# Sums may be taken in any order; infinities mean what they mean.
PROMISES = {"nnan", "nsz", "reassoc", "contract", "arcp"}


class Pairs(NamedTuple):
    """The rows of a block: K and slopes in one precision, multipliers and bounds in float64."""

    K: np.ndarray
    diagonal: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    g: np.ndarray
    beta: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, lo, hi, g, beta) -> Pairs:
        """β is moved in place, a copy of g is."""
        return cls(K, np.ascontiguousarray(K.diagonal()), lo, hi, g.astype(K.dtype), beta)


@njit(cache=True, nogil=True, error_model="numpy")
def pair_steps(pairs, gap, most):
    """Steps until no pair violates by more than ``gap``; returns their number."""
    g, K = pairs.g, pairs.K
    rise, fall, gain, none = np.empty_like(g), np.empty_like(g), np.empty_like(g), np.zeros_like(g)
    for t in range(len(g)):
        _bar(pairs, t, rise, fall)
    flat = g.dtype.type(COINCIDENT_UNITS * np.finfo(g.dtype).eps * pairs.diagonal.max())
    i, j, d = 0, 0, 0.0
    for step in range(most):
        highest = _shift(g, rise, K[i], K[j], g.dtype.type(d))
        i = _first_equal(g, rise, highest)
        if i < 0:
            return step
        best, lowest = _gains(pairs, i, fall, flat, gain)
        if highest - lowest <= gap or best <= 0.0:
            return step
        j = _first_equal(gain, none, best)
        d = _move(pairs, i, j, flat)
        _bar(pairs, i, rise, fall)
        _bar(pairs, j, rise, fall)
    return most


@njit(cache=True, nogil=True)
def _bar(pairs, t, rise, fall):
    """What is added to a slope: nothing, or so much that the row is never chosen."""
    rise[t] = 0.0 if pairs.beta[t] < pairs.hi[t] else -FAR
    fall[t] = 0.0 if pairs.beta[t] > pairs.lo[t] else FAR


@njit(cache=True, nogil=True, fastmath=PROMISES, error_model="numpy")
def _shift(g, rise, Ki, Kj, d):
    """g −= d(K_i − K_j), and the largest slope of a row that may rise."""
    highest = g.dtype.type(-FAR)
    for t in range(g.shape[0]):
        slope = g[t] - d * (Ki[t] - Kj[t])
        g[t] = slope
        highest = larger(highest, slope + rise[t])
    return highest


@njit(cache=True, nogil=True, fastmath=PROMISES, error_model="numpy")
def _gains(pairs, i, fall, flat, gain):
    """What each row gains with row i; the largest gain, and the lowest slope that may fall."""
    g, Ki, diagonal = pairs.g, pairs.K[i], pairs.diagonal
    zero, lowest = g.dtype.type(0.0), g.dtype.type(FAR)
    best, own, two = zero, diagonal[i], g.dtype.type(2.0)
    for t in range(g.shape[0]):
        slope = g[t] + fall[t]
        lowest = smaller(lowest, slope)
        rise = larger(g[i] - slope, zero)
        gain[t] = rise / larger(own + diagonal[t] - two * Ki[t], flat) * rise
        best = larger(best, gain[t])
    return best, lowest


@njit(cache=True, nogil=True)
def _first_equal(a, b, value):
    """The first t with a_t + b_t equal to the value, −1 if there is none."""
    for start in range(0, a.shape[0], STRETCH):
        some, others = a[start : start + STRETCH], b[start : start + STRETCH]
        equal = 0
        for t in range(some.shape[0]):
            equal += some[t] + others[t] == value
        if equal > 0:
            for t in range(some.shape[0]):
                if some[t] + others[t] == value:
                    return start + t
    return -1


@njit(cache=True, nogil=True)
def _move(pairs, i, j, flat):
    """Raise β_i and lower β_j by as much as is best, or as there is room; returns how much."""
    K, diagonal, beta = pairs.K, pairs.diagonal, pairs.beta
    bend = max(np.float64(diagonal[i]) + diagonal[j] - 2.0 * K[i, j], np.float64(flat))
    room_i, room_j = pairs.hi[i] - beta[i], beta[j] - pairs.lo[j]
    d = min((np.float64(pairs.g[i]) - pairs.g[j]) / bend, room_i, room_j)
    beta[i] = pairs.hi[i] if d == room_i else beta[i] + d
    beta[j] = pairs.lo[j] if d == room_j else beta[j] - d
    return d
