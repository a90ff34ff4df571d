"""Passes over dense rows that are many, one row after the other, as they lie in memory.

    f_i = x_i · w,        Σ v_i x_i,        √s_i (x_i − μ)

BLAS reads four rows at a time, which the memory serves at half the rate at which it serves one
(160 MB in 14 ms, here in 5.5), converts float32 to float64 in memory, and copies the rows that
count where v is mostly zeros.  In a cache, and with few columns, BLAS adds up float64 rows faster.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Values from which on these are used: they take 0.3 s to compile, and gain 50 µs at this size.
MIN_VALUES = 1 << 18
# Values and columns from which on sums of float64 rows are quicker here.
MIN_SUM_VALUES, MIN_SUM_COLUMNS = 1 << 21, 24


def reads(X: np.ndarray, w: np.ndarray) -> bool:
    """Whether rows are many and lie one after the other."""
    return X.size >= MIN_VALUES and X.flags.c_contiguous and w.ndim == 1


def sums(X: np.ndarray, few: bool) -> bool:
    """Whether sums of rows, or of a few of them, are quicker here."""
    narrow = X.dtype == np.float64 and (X.shape[1] < MIN_SUM_COLUMNS or X.size < MIN_SUM_VALUES)
    return few or not narrow


# Sums in any order, but what is no number stays none: that is how it is noticed.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def row_scores(X, w, f):
    """f = Xw."""
    for i in range(X.shape[0]):
        x = X[i]
        total = 0.0
        for j in range(x.shape[0]):
            total += x[j] * w[j]
        f[i] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def row_sums(X, v, total):
    """total += Xᵀv; rows that count for nothing are not read."""
    for i in range(X.shape[0]):
        if v[i] != 0.0:
            x = X[i]
            for j in range(x.shape[0]):
                total[j] += v[i] * x[j]


@njit(cache=True, nogil=True, fastmath={"contract"})
def weighted(X, index, s, mu, out, h):
    """out = √s (x − μ) of the rows named, and h += Σ s (x − μ)."""
    for t in range(index.shape[0]):
        x, some, weight = X[index[t]], out[t], s[t]
        root = np.sqrt(weight)
        for j in range(x.shape[0]):
            apart = x[j] - mu[j]
            h[j] += weight * apart
            some[j] = root * apart
