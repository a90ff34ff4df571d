"""Leaps for k classes: exact maximisation of the dual along the path the descent is on.

As for two classes (``leap.py``): along the displacement since the last leap the dual is a
quadratic known from U and β alone.  A leap goes to its maximum; only rows whose multipliers
would leave their domain are read, to stop them at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ...rows.class_products import class_nudge
from ...rows.rows import stretch
from ...team import SHARES, in_shares
from .row_subproblem import scaled

if TYPE_CHECKING:
    from .class_descent import ClassDescent

# Leaps shorter than this many displacements are not made, nor longer ones.
MIN_LEAP_LENGTH, MAX_LEAP_LENGTH = 0.01, 100.0
# Multipliers that are worth a thread: 0.3 ms.
MIN_SHARE_VALUES = 1 << 17
# Roundings of ‖U‖² up to which a slope may be nothing else.
SLOPE_ROUNDINGS = 4.0


def leap(at: ClassDescent) -> None:
    """Move β, U, r and h from the old point through the present one and beyond.

    Leaves the point leapt from in ``old_beta`` and ``old_U``.
    """
    rates, rows, points, k = at.rates, at.rows, at.points, at.problem.k
    b, tau, mu, mm = at.b, at.tau, at.mu, at.mm
    beta, U, r, h, old_beta, old_U = at.beta, at.U, at.r, at.h, at.old_beta, at.old_U
    shift = b + tau * r
    level = b + (tau + mm) * r - h  # U μ
    V = old_U
    slope, curvature, dr = _all_multipliers(rates, points, k, beta, old_beta, 1.0)
    along, across, drift, size = _displacement(mu, U, V)

    def best_step() -> float:
        up = slope - (along - r @ drift - dr @ level + mm * (r @ dr)) - shift @ dr
        bend = curvature + across - 2.0 * (dr @ drift) + (mm + tau) * (dr @ dr)
        # V is a difference of sums as long as U: what it tells may be their rounding.
        noise = SLOPE_ROUNDINGS * np.finfo(U.dtype).eps * size
        return (
            float(np.clip(up / bend, -MAX_LEAP_LENGTH, MAX_LEAP_LENGTH)) if abs(up) > noise else 0.0
        )

    far = best_step()
    if abs(far) < MIN_LEAP_LENGTH:
        old_beta[:], old_U[:] = beta, U
        return
    share = 1.0
    if _all_aim(rates, rows, k, far, (points, beta, old_beta), V):
        slope, curvature, dr = _all_multipliers(rates, points, k, beta, old_beta, -1.0)
        along, across, drift, size = _overlap(mu, U, V)
        along, across, drift = far * along, far * far * across, far * drift
        share = min(max(best_step(), 0.0), 1.0)
        dr, drift = share * dr, share * drift
    else:
        dr, drift = far * dr, far * drift
    _move(share, beta, old_beta)
    _advance(share * far, U, V)
    r += dr
    h += (tau + mm) * dr - drift


def _all_multipliers(rates, points, k, beta, other, sign) -> tuple:
    """``_multipliers`` of all rows, by as many threads as there are."""
    shares = in_shares(
        lambda i, j: _multipliers(rates, points[i:j], k, beta[i:j], other[i:j], sign),
        len(points), MIN_SHARE_VALUES // k,
    )  # fmt: skip
    slope, curvature, dr = map(sum, zip(*shares, strict=True))
    return slope, curvature, dr


def _all_aim(rates, rows, k, far, of_rows: tuple, V) -> bool:
    """Likewise ``_aim``, where copies of V are small."""
    points, beta, old_beta = of_rows
    n = len(points)
    least = MIN_SHARE_VALUES // k if SHARES[0] * V.size <= beta.size else n

    def share(i: int, j: int) -> tuple[bool, np.ndarray]:
        mine = V if j - i == n else np.zeros_like(V)
        some = stretch(rows, i, j)
        return _aim(rates, some, k, far, points[i:j], beta[i:j], old_beta[i:j], mine), mine

    shares = in_shares(share, n, least)
    for _, mine in shares if len(shares) > 1 else ():
        V += mine
    return any(stopped for stopped, _ in shares)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _multipliers(rates, points, k, beta, other, sign):
    """Slope and curvature of −Σ c ℓ* along d = ±(β − other), and the change of r."""
    slope, curvature = 0.0, 0.0
    dr = np.zeros(beta.shape[1])
    for i in range(points.shape[0]):
        here, there = beta[i], other[i]
        if points[i].c <= 0.0 or not _differ(here, there, k):
            continue
        _, each, _, total = scaled(rates, points[i].c)
        sum_d, sum_beta, along, across = 0.0, 0.0, 0.0, 0.0
        for c in range(k):
            value = np.float64(here[c])
            d = sign * (value - there[c])
            sum_d += d
            sum_beta += value
            along += value * d
            across += d * d
            dr[c] -= d
        slope += sum_d - each * along - total * sum_beta * sum_d
        curvature += each * across + total * sum_d * sum_d
        dr[points[i].y] += sum_d
    return slope, curvature, dr


@njit(cache=True, nogil=True)
def _differ(here, there, k):
    """Whether a row's multipliers have moved: of most rows they have not."""
    moved = False
    for c in range(k):
        moved |= here[c] != there[c]
    return moved


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _displacement(mu, U, old_U):
    """Turn ``old_U`` into V = U − old_U; returns as ``_overlap``."""
    for j in range(U.shape[0]):
        for c in range(U.shape[1]):
            old_U[j, c] = U[j, c] - old_U[j, c]
    return _overlap(mu, U, old_U)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _overlap(mu, U, V):
    """⟨U, V⟩, ‖V‖², V μ and ‖U‖²."""
    along, across, drift, size = 0.0, 0.0, np.zeros(U.shape[1]), 0.0
    for j in range(U.shape[0]):
        for c in range(U.shape[1]):
            u, v = np.float64(U[j, c]), np.float64(V[j, c])
            along += u * v
            across += v * v
            size += u * u
            drift[c] += mu[j] * v
    return along, across, drift, size


@njit(cache=True, nogil=True)
def _aim(rates, rows, k, far, points, beta, old_beta, V):
    """Overwrite ``old_beta`` by where every row lands; whether any is stopped by its domain.

    far · V follows those that are.
    """
    stopped = False
    step = np.zeros(beta.shape[1], dtype=beta.dtype)
    for i in range(points.shape[0]):
        here, old = beta[i], old_beta[i]
        if points[i].c <= 0.0 or not _differ(here, old, k):
            continue
        cap_each, _, cap_all, _ = scaled(rates, points[i].c)
        total, outside = 0.0, False
        for c in range(k):
            free = here[c] + far * (here[c] - old[c])
            land = min(max(free, 0.0), cap_each)
            outside |= land != free
            step[c] = free - land
            old[c] = land
            total += land
        if total > cap_all:
            shrink, outside = cap_all / total, True
            for c in range(k):
                step[c] += old[c] * (1.0 - shrink)
                old[c] *= shrink
        if outside:
            y, change = points[i].y, 0.0
            for c in range(k):
                step[c] /= far
                change -= step[c]
            step[y] = change
            class_nudge(rows, i, step, V)
            stopped = True
    return stopped


@njit(cache=True, nogil=True)
def _move(share, beta, land):
    """Go that share of the way to ``land``, which then holds where it began."""
    for i in range(beta.shape[0]):
        for c in range(beta.shape[1]):
            here, goal = beta[i, c], land[i, c]
            if here != goal:
                beta[i, c] = goal if share == 1.0 else here + share * (goal - here)
            land[i, c] = here


@njit(cache=True, nogil=True)
def _advance(length, U, V):
    """U += length · V; V then holds the U before."""
    for j in range(U.shape[0]):
        for c in range(U.shape[1]):
            here = U[j, c]
            U[j, c] = here + length * V[j, c]
            V[j, c] = here
