"""Multipliers whose free rows are independent, of equal weights and equal value.

Where free rows y(x, 1) are dependent (repeated rows, tables of categories) a combination of them is
zero, and multipliers can move along it without moving w.  Each row outside a basis of the free
rows is moved so until it meets a bound, or a row of the basis does, whose place it then takes.
``two_class/vertex.py`` does this with fewer rows and more care for ties.  [Carathéodory]
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

# Diagonal entries of R below this share of the first mean dependence.
DEPENDENCE_TOL = 1e-9
# A share of a row of the basis below this is rounding, and no pivot.
PIVOT_ROUNDING = 1e-9


def independent(points: np.ndarray, alpha: np.ndarray, cap: np.ndarray) -> np.ndarray:
    """The multipliers of some free rows, as ``points`` y(x − μ, 1), at a vertex."""
    _, R, order = qr(points.T, mode="economic", pivoting=True)
    size = np.abs(R.diagonal())
    rank = int(np.count_nonzero(size > DEPENDENCE_TOL * size.max(initial=0.0)))
    alpha = alpha.copy()
    if rank == len(alpha):
        return alpha
    basis, others = order[:rank].copy(), order[rank:]
    T = solve_triangular(R[:rank, :rank], R[:rank, rank:])  # others in terms of the basis
    for k, j in enumerate(others):
        _to_a_bound(alpha, cap, basis, T, k, j)
    return alpha


def _to_a_bound(alpha, cap, basis, T, k: int, j: int) -> None:
    """Move α_j, and the basis against it; what meets its bound first is free no more."""
    share = T[:, k]
    far, who = min(
        (_first_bound(alpha, cap, basis, share, j, sign) for sign in (-1.0, 1.0)),
        key=lambda way: way[1] >= 0,
    )
    alpha[j] += far
    alpha[basis] -= far * share
    if who < 0:
        alpha[j] = 0.0 if far < 0.0 or alpha[j] < 0.5 * cap[j] else cap[j]
        return
    out = basis[who]
    alpha[out] = 0.0 if alpha[out] < 0.5 * cap[out] else cap[out]
    pivot = share[who]
    T[who] /= pivot
    rest = np.arange(len(basis)) != who
    T[rest] -= np.outer(share[rest], T[who])
    basis[who] = j


def _first_bound(alpha, cap, basis, share, j: int, sign: float) -> tuple[float, int]:
    """How far α_j can go in a direction, and which row of the basis stops it; −1: its own bound."""
    own = alpha[j] if sign < 0.0 else cap[j] - alpha[j]
    rate = -sign * share
    moving = np.abs(rate) > PIVOT_ROUNDING
    room = np.where(rate > 0.0, cap[basis] - alpha[basis], alpha[basis])
    steps = np.where(moving, np.maximum(room, 0.0) / np.where(moving, np.abs(rate), 1.0), np.inf)
    who = int(steps.argmin()) if len(steps) else -1
    if who < 0 or own <= steps[who]:
        return sign * own, -1
    return sign * float(steps[who]), who
