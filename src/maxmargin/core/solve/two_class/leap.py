"""Leaps: exact maximisation of the dual along the path the descent is on.

Coordinate descent is slow where multipliers must move together (near-duplicate rows, large
C): epoch after epoch it creeps the same way.  Along the displacement since the last leap,
which contains that leap itself and so carries momentum, the dual is a quadratic known from
w and α alone.  A leap goes to its maximum without touching the data; only the rows whose
multipliers would leave the box are read, to stop them at it.  A prototype of
conjugate gradients on the free multipliers, the usual remedy, was no faster on any text tried.
"""

from __future__ import annotations

from numba import njit

from ...rows.rows import nudge, score

# The slope is what remains of sums as large as ‖w‖² and Σα; below this share of them rounding
# shows, and it is summed again over the rows, whose margins are each close to their target.
CANCELLED_SLOPE_SHARE = 1e-12


@njit(cache=True, nogil=True)
def leap(rows, bend, trail, mass, b, rho, r, points, w, old_alpha, old_w, v):
    """Move α, w from the old point through the present one and beyond.

    ``trail`` lists the rows that have moved since; ``mass`` is about Σα.
    ``bend`` holds ℓ*'s curvature for every row, 1/(2c) for squared hinge and 0 for hinge.
    Leaves the point leapt from in ``old_alpha`` and ``old_w``; v is room for a direction.
    Returns the new r, the length of the leap in displacements, and how many rows are on the trail
    of the next one, which the leap itself belongs to.
    """
    shift = b + rho * r
    for j in range(len(w)):
        v[j] = w[j] - old_w[j]
    far = _best_step(rows, bend, trail, mass, shift, rho, points, old_alpha, w, v, 1.0)
    v *= far
    land = old_alpha
    stopped = _aim(rows, trail, far, points, land, v)
    share = 1.0
    if stopped:
        share = _best_step(rows, bend, trail, mass, shift, rho, points, land, w, v, -1.0)
        share = min(max(share, 0.0), 1.0)
        v *= share
    r = _move(trail, share, r, points, land)
    for j in range(len(w)):
        old_w[j] = w[j]
        w[j] += v[j]
    return r, share * far, _still_away(trail, points, old_alpha)


@njit(cache=True, nogil=True)
def _aim(rows, trail, far, points, old_alpha, v):
    """Overwrite ``old_alpha`` by where each multiplier lands; whether any is stopped by the box.

    v follows those that are.
    """
    stopped = False
    for i in trail:
        point = points[i]
        free = point.alpha + far * (point.alpha - old_alpha[i])
        land = min(max(free, 0.0), point.cap)
        if land != free:
            nudge(rows, i, (land - free) * point.y, v)
            stopped = True
        old_alpha[i] = land
    return stopped


@njit(cache=True, nogil=True)
def _still_away(trail, points, old_alpha):
    """Strike from the trail whoever is where the leap began; returns how many are left."""
    count = 0
    for i in trail:
        if points[i].alpha != old_alpha[i]:
            trail[count] = i
            count += 1
        else:
            points[i].listed = 0.0
    return count


@njit(cache=True, nogil=True)
def _move(trail, share, r, points, land):
    """Go that share of the way to ``land``, which then holds where it began; returns r."""
    for i in trail:
        point = points[i]
        alpha, goal = point.alpha, land[i]
        point.alpha = goal if share == 1.0 else alpha + share * (goal - alpha)
        r += point.y * (point.alpha - alpha)
        land[i] = alpha
    return r


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _best_step(rows, bend, trail, mass, shift, rho, points, other, w, v, sign):
    """The maximiser t of the dual at α + t d, w + t v, where d = ±(α − other)."""
    slope, curvature, dr, size = 0.0, 0.0, 0.0, mass
    for i in trail:
        point = points[i]
        d = sign * (point.alpha - other[i])
        slope += d * (1.0 - bend[i] * point.alpha)
        curvature += bend[i] * d * d
        dr += point.y * d
        size += abs(d)
    for j in range(w.shape[0]):
        slope -= w[j] * v[j]
        curvature += v[j] * v[j]
        size += w[j] * w[j]
    curvature += rho * dr * dr
    slope -= shift * dr
    if abs(slope) < CANCELLED_SLOPE_SHARE * size:
        slope = 0.0
        for i in trail:
            point = points[i]
            d = sign * (point.alpha - other[i])
            if d != 0.0:
                m = point.y * (score(rows, i, w) + shift)
                slope += d * (1.0 - m - bend[i] * point.alpha)
    return slope / curvature if curvature > 0.0 else 0.0
