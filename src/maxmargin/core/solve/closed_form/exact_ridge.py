"""Kernel ridge with few rows, where float64 loses its residual: two hundred digits, then rounded.

    (K + α S⁻¹) u = y

Where K is large beside α, rounding u to the nearest float64 moves Ku by more than y.  Rounded
together (``rows/lattice.py``) the coefficients may differ from u as far as α allows, and Ku stays.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ...rows.decimals import Deficient, decimals, floats, many_digits, solved
from ...rows.lattice import MAX_LATTICE, nearest


def exact_ridge(K: np.ndarray, Y, weight, alpha: float, demand: float) -> list[np.ndarray]:
    """u (n, targets) rounded one by one, then together so that residuals are within ``demand``;
    K of Decimals."""
    s = np.ones(len(Y)) if weight is None else weight
    alive = np.flatnonzero(s > 0)
    with many_digits():
        M = K[np.ix_(alive, alive)] + np.diag(Decimal(alpha) / decimals(s[alive]))
        size = np.array([m.sqrt() for m in M.diagonal()], dtype=object)
        y = decimals(np.asarray(Y, dtype=np.float64)[alive])
        try:
            u = solved(M / size / size[:, None], y / size[:, None]) / size[:, None]
        except Deficient:
            return []
        one_by_one = _whole(floats(u), alive, Y)
        if len(alive) > MAX_LATTICE:
            return [one_by_one]
        asked = Decimal(demand) / decimals(np.sqrt(s[alive]))
        columns = [_together(M, column, asked, Decimal(alpha)) for column in u.T]
        return [one_by_one, _whole(np.column_stack(columns), alive, Y)]


def _together(M: np.ndarray, u: np.ndarray, asked: np.ndarray, alpha: Decimal) -> np.ndarray:
    """Float64 near u with M times them near Mu."""
    begin = floats(u)
    units = decimals(np.spacing(np.abs(begin)))
    effect = units[:, None] * M / asked
    moves = np.diag(units * alpha / asked)
    z = nearest(effect, moves, M.dot(decimals(begin) - u) / asked, lambda: True)
    return begin if z is None else floats(decimals(begin) + z * units)


def _whole(u: np.ndarray, alive: np.ndarray, Y) -> np.ndarray:
    """With zeros for rows without weight."""
    whole = np.zeros((len(Y), u.shape[1]))
    whole[alive] = u
    return whole
