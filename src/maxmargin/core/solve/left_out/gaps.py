"""What the ends of paths are worth: duality gaps, over the rows that can matter."""

from __future__ import annotations

import numpy as np
from numba import njit

from .pivot import REORDER

# Of every line so many rows are named that have crossed their margin and are not near.
MAX_CROSSED = 64


@njit(cache=True, nogil=True, error_model="numpy")
def line_gaps(P, y, c, z, key, alpha0, alpha, place, Q, pull, ties):
    """For every line the gap Σ c max(0, z) − αz at its end, the bias's change, the change of its
    own row's y w·x, the free row that ``ties`` the bias, if there is one, and which rows that are
    not near have crossed their margin, −1 after the last.

    ``P``: rows y(x − μ) in the order of ``key``, |z|/√(1 + ‖x − μ‖²), of which the first are near
    and have multipliers α0, with ``alpha`` (lines, near) at the ends.  ``Q``: the rows left out,
    with multipliers ``pull`` and ``place`` among all.  A gap of infinity: P has too few rows.
    """
    lines, near = alpha.shape
    gap, shift, own = np.empty(lines), np.zeros(lines), np.empty(lines)
    tied, crossed = np.empty(lines, np.int64), np.full((lines, MAX_CROSSED), -1)
    for i in range(lines):
        a = alpha[i]
        dw = -pull[i] * Q[i]
        for k in range(near):
            if k != place[i] and a[k] != alpha0[k]:
                _add(dw, P[k], a[k] - alpha0[k])
        own[i] = _dot(dw, Q[i])
        best, room = -1, 0.0
        for k in range(near):
            if k != place[i] and min(a[k], c[k] - a[k]) > room:
                best, room = k, min(a[k], c[k] - a[k])
        tied[i] = best
        if ties and best >= 0:
            shift[i] = y[best] * (z[best] - _dot(dw, P[best]))
        gap[i] = _gap(P, y, c, z, key, alpha0, a, place[i], dw, shift[i], crossed[i])
    return gap, shift, own, tied, crossed


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(P, y, c, z, key, alpha0, a, place, dw, shift, crossed):
    far = np.sqrt(_dot(dw, dw) + shift * shift)
    total, n, count = 0.0, len(P), 0
    for j in range(n):
        if key[j] > far:  # such a row has not crossed its margin
            if j >= len(a):
                return total
            if a[j] == alpha0[j]:
                continue
        if j == place:
            continue
        slack = z[j] - _dot(dw, P[j]) - y[j] * shift
        held = a[j] if j < len(a) else alpha0[j]
        term = c[j] * max(0.0, slack) - held * slack
        total += term
        if term > 0.0 and j >= len(a) and count < len(crossed):
            crossed[count] = j
            count += 1
    return total if n == len(key) else np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _dot(a, b):
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _add(out, row, factor):
    for j in range(len(out)):
        out[j] += factor * row[j]
