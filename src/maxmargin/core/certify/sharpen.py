"""Slacks near zero in extended precision: a large C multiplies their rounding.

1 − y(w·x + b) cancels on the margin, and what rounding leaves is charged C times each.  Kernels
are left out: their values are rounded themselves, and more digits of a sum of them mean nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.multiclass import MulticlassProblem
from ..rows.rows import dense

EPSILON = float(np.finfo(float).eps)
# Slacks this near to zero are computed afresh where C makes them count: where one rounding per
# row, times C, could be this share of ½‖w‖².
NEAR_MARGIN_WIDTH = 1e-6
ROUNDING_NORM_SHARE = 1e-10
# Multiplications in extended precision, at most, for some rows at a time.
MAX_SHARPENED_VALUES = 2_000_000


def rounding_counts(c: np.ndarray, n: int, square: float) -> bool:
    """Whether a rounding for each of n rows with costs like c is much to ½‖w‖²."""
    return float(c.max(initial=0.0)) * n * EPSILON > ROUNDING_NORM_SHARE * (0.5 * square)


def near_margin(z: np.ndarray, c: np.ndarray, width: int) -> np.ndarray:
    """The rows with a slack near zero; none if they are too many."""
    near = np.flatnonzero((np.abs(z) <= NEAR_MARGIN_WIDTH) & (c > 0))
    return near if len(near) * width <= MAX_SHARPENED_VALUES else near[:0]


def sharpen_classes(problem: MulticlassProblem, part: slice, W, b, s: np.ndarray) -> None:
    """The scores s = Wx + b of a part of the rows, in place, if a slack of theirs is near zero.

    All scores of a row are shifted alike, such that s_y = 1: 1 − s_y + s_c then has no rounding.
    """
    y = problem.y[part]
    near = np.flatnonzero(_near_classes(s, y, problem.c[part], NEAR_MARGIN_WIDTH))
    if len(near) == 0 or len(near) * W.size > MAX_SHARPENED_VALUES:
        return
    X = dense(problem.rows, part.start + near).astype(np.longdouble)
    f = X @ W.T.astype(np.longdouble) + b
    own = f[np.arange(len(near)), y[near]]
    s[near] = f - own[:, None] + 1.0


@njit(cache=True, nogil=True)
def _near_classes(s, y, c, near):
    """Whether a row that counts has a slack near zero."""
    out = np.zeros(s.shape[0], dtype=np.bool_)
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            if j != y[i] and c[i] > 0.0 and abs(1.0 - s[i, y[i]] + s[i, j]) <= near:
                out[i] = True
    return out
