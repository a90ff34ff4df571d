"""Leaps: exact maximisation of the dual along the path the descent is on.

Coordinate descent is slow where multipliers must move together (near-duplicate rows, large
C): epoch after epoch it creeps the same way.  Along the displacement since the last leap,
which contains that leap itself and so carries momentum, the dual is a quadratic known from
w and α alone.  A leap goes to its maximum without touching the data; only the rows whose
multipliers would leave the box are read, to stop them at it.  Wherever a step of conjugate
gradients on the free multipliers was tried instead, leaps took a fraction of the work.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..represent.rows import nudge


@njit(cache=True, nogil=True, error_model="numpy")
def leap(rows, bend, b, rho, r, points, w, old_alpha, old_w, v):
    """Move α, w from the old point through the present one and beyond; returns the new r.

    ``bend`` holds ℓ*'s curvature for every row, 1/(2c) for squared hinge and 0 for hinge.
    Leaves the point leapt from in ``old_alpha`` and ``old_w``; v is room for a direction.
    """
    for j in range(w.shape[0]):
        v[j] = w[j] - old_w[j]
    far = _best_step(bend, b + rho * r, rho, points, old_alpha, w, v, 1.0)
    if far == 0.0:
        old_w[:] = w
        for i in range(points.shape[0]):
            old_alpha[i] = points[i].alpha
        return r
    for j in range(w.shape[0]):
        v[j] *= far

    # Where each multiplier would land, in the box; v follows those stopped at its walls.
    stopped = False
    for i in range(points.shape[0]):
        point = points[i]
        free = point.alpha + far * (point.alpha - old_alpha[i])
        land = min(max(free, 0.0), point.cap)
        if land != free:
            nudge(rows, i, (land - free) * point.y, v)
            stopped = True
        old_alpha[i] = land
    share = 1.0
    if stopped:
        share = _best_step(bend, b + rho * r, rho, points, old_alpha, w, v, -1.0)
        share = min(max(share, 0.0), 1.0)
    for i in range(points.shape[0]):
        point = points[i]
        alpha, land = point.alpha, old_alpha[i]
        point.alpha = land if share == 1.0 else alpha + share * (land - alpha)
        r += point.y * (point.alpha - alpha)
        old_alpha[i] = alpha
    for j in range(w.shape[0]):
        old_w[j] = w[j]
        w[j] += share * v[j]
    return r


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _best_step(bend, shift, rho, points, other, w, v, sign):
    """The maximiser t of the dual at α + t d, w + t v, where d = ±(α − other)."""
    slope, curvature, dr = 0.0, 0.0, 0.0
    for i in range(points.shape[0]):
        point = points[i]
        d = sign * (point.alpha - other[i])
        slope += d * (1.0 - bend[i] * point.alpha)
        curvature += bend[i] * d * d
        dr += point.y * d
    for j in range(w.shape[0]):
        slope -= w[j] * v[j]
        curvature += v[j] * v[j]
    curvature += rho * dr * dr
    return (slope - shift * dr) / curvature if curvature > 0.0 else 0.0
