"""Weighted Gram matrices of chosen rows: the curvature that Newton's method needs.

columns:  G = Σ s_i (x_i − μ)(x_i − μ)ᵀ   and   h = Σ s_i (x_i − μ)      (d × d, d)
points:   K = A Aᵀ  with rows  √s_i (x_i − μ)                             (m × m)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from scipy.linalg.blas import dsyrk, ssyrk

from ..team import in_shares
from .dense_passes import reads, weighted
from .pairs import PairRows, differences, laplacian
from .rows import CONVERTED_CHUNK_VALUES, AnyRows, DenseRows, SparseRows, dense, shape

# Columns up to which differences of pairs are formed, however many there are: sorting the entries
# of a sparse L takes longer (at 20 columns and 4,000 pairs of 2,000 items five times as long).
MAX_DIFFERENCE_COLUMNS = 64
# Rows of one product: each reads and writes all of G, which is to take less time than multiplying.
SINGLE_BLOCK_ROWS = 256
# Columns up to which rows are shared among threads: beyond, copies of G take too long.
MAX_SHARED_COLUMNS = 256
# A share of rows has so many for each column at least, and is worth a thread: a quarter of a ms of
# products, of which a value takes as many as there are columns, and as long as these to be read.
SHARE_ROWS_PER_COLUMN, MIN_SHARE_WORK, GATHERED = 4, 1 << 23, 16
# Values multiplied at once: half of an L2 cache.
SHARE_BLOCK_VALUES = 1 << 16


def column_gram(rows: AnyRows, index, s, mu) -> tuple[np.ndarray, np.ndarray]:
    """G (lower triangle valid, Fortran order) and h over the rows named by ``index``.

    Pairs have no bias: their μ is zero, and h is not asked for.
    """
    _, d = shape(rows)
    G = np.zeros((d, d), order="F")
    if isinstance(rows, PairRows):
        return _pair_gram(rows, index, s), np.zeros(d)
    if isinstance(rows, SparseRows):
        h = np.zeros(d)
        _sparse_gram(rows, index, s, G, h)
        total = float(s.sum())
        G -= np.outer(h, mu)
        G -= np.outer(mu, h - total * mu)
        return G, h - total * mu
    if d > MAX_SHARED_COLUMNS:
        h = np.zeros(d)
        add_dense(rows, index, s, mu, (G, h))
        return G, h
    least = max(SHARE_ROWS_PER_COLUMN * d, MIN_SHARE_WORK // (d * (d + GATHERED)))
    shares = in_shares(lambda i, j: _share(rows, index[i:j], s[i:j], mu), len(index), least)
    for square, sums in shares[1:]:
        shares[0][0][:] += square
        shares[0][1][:] += sums
    return shares[0][0].T, shares[0][1]


def add_dense(rows: DenseRows, index, s, mu, to: tuple, times: float = 1.0) -> None:
    """Add G and h of these rows, so many times, to others in place."""
    G, h = to
    for weight, block in _centred(rows, index, s, mu):
        h += times * (weight @ block)
        block *= np.sqrt(weight)[:, None]
        dsyrk(times, block.T, beta=1.0, c=G, lower=1, overwrite_c=1)


def _share(rows: AnyRows, index, s, mu) -> tuple[np.ndarray, np.ndarray]:
    """G and h over a few rows, by NumPy's product: SciPy's lets no other thread run meanwhile."""
    _, d = shape(rows)
    G, h = np.zeros((d, d)), np.zeros(d)
    if isinstance(rows, DenseRows) and reads(rows.X, mu):
        size = max(2 * d, SHARE_BLOCK_VALUES // d)
        room = np.empty((size, d))
        for start in range(0, len(index), size):
            part = index[start : start + size]
            block = room[: len(part)]
            weighted(rows.X, part, s[start : start + size], mu, block, h)
            G += block.T @ block
        return G, h
    for weight, block in _centred(rows, index, s, mu):
        h += weight @ block
        block *= np.sqrt(weight)[:, None]
        G += block.T @ block
    return G, h


def _centred(rows: AnyRows, index, s, mu) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Weights and centred values of the rows named, as many at a time as fit a cache."""
    size = max(64, 2 * CONVERTED_CHUNK_VALUES // max(1, len(mu)))
    for start in range(0, len(index), size):
        block = dense(rows, index[start : start + size]).astype(np.float64, copy=False)
        block -= mu
        yield s[start : start + size], block


def single_gram(X: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G and h of all rows of X, which are float32 and centred; G in float32, at twice the rate."""
    n, d = X.shape
    G, root = np.zeros((d, d), np.float32, order="F"), np.sqrt(s).astype(np.float32)
    size = max(SINGLE_BLOCK_ROWS, d // 2)
    for start in range(0, n, size):
        part = slice(start, start + size)
        block = X[part] * root[part, None]
        G = ssyrk(1.0, block.T, beta=1.0, c=G, lower=1, overwrite_c=1)
    return G, (s.astype(np.float32) @ X).astype(np.float64)


def _pair_gram(rows: PairRows, index, s) -> np.ndarray:
    """Through the items, Xᵀ L X, where pairs outnumber them, else through the differences."""
    n, d = shape(rows.items)
    size = max(64, 2 * CONVERTED_CHUNK_VALUES // max(1, d))
    G = np.zeros((d, d), order="F")
    if isinstance(rows.items, SparseRows) or 2 * len(index) < n or d <= MAX_DIFFERENCE_COLUMNS:
        size = size if d <= MAX_DIFFERENCE_COLUMNS else max(1, len(index))
        for start in range(0, len(index), size):
            block, part = differences(rows, index[start : start + size]), s[start : start + size]
            G += column_gram(block, np.arange(len(part)), part, np.zeros(d))[0]
        return G
    X, L = rows.items.X, laplacian(rows, index, s)
    # L's rows sum to zero, so the origin of X does not matter but for rounding.
    mu = X.mean(axis=0, dtype=np.float64)
    for start in range(0, n, size):
        part = slice(start, start + size)
        G += (X[part] - mu).T @ (L[part] @ X)
    return G


def weighted_rows(rows: AnyRows, index, s, mu) -> np.ndarray:
    """A: the chosen rows, centred, times √s, as a dense float64 block."""
    block = dense(rows, index).astype(np.float64) - mu
    block *= np.sqrt(s)[:, None]
    return block


@njit(cache=True, nogil=True)
def _sparse_gram(rows, index, s, G, h):
    """Lower triangle of Σ s x xᵀ, one outer product of stored values per row."""
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    for t in range(index.shape[0]):
        start, stop = indptr[index[t]], indptr[index[t] + 1]
        for k in range(start, stop):
            value, j = s[t] * data[k], indices[k]
            h[j] += value
            for l in range(start, stop):
                if indices[l] >= j:
                    G[indices[l], j] += value * data[l]
