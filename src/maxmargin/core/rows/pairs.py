"""Pairs: rows that are differences of two items, x_winner − x_loser, and never formed.

There may be far more pairs than items.  The score of a pair is the difference of two
scores of items, and what a sum over pairs does to w it does through one number per item:

    Σ_p v_p (x_a − x_b)  =  Σ_i u_i x_i,        u_i = Σ_{p: a=i} v_p − Σ_{p: b=i} v_p

so a pass over the pairs costs a pass over the items and O(1) per pair.  A weighted Gram
matrix of pairs is Xᵀ L X with L the Laplacian of the graph that the pairs draw on the items.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from ..rule import rule
from .prefetch import prefetch
from .rows import (
    CONVERTED_CHUNK_VALUES,
    DenseRows,
    PairRows,
    Rows,
    SparseRows,
    as_csr,
    as_rows,
    combine,
    dense,
    lengths,
    nudge,
    score,
    scores,
    shape,
    size_of,
    spread,
    sqnorms,
    take,
    terms_of,
)

# --- one pair, inside kernels -----------------------------------------------------------


@rule(score, PairRows)
def _(rows, i, w):
    return score(rows.items, rows.winner[i], w) - score(rows.items, rows.loser[i], w)


@rule(nudge, PairRows)
def _(rows, i, step, w):
    nudge(rows.items, rows.winner[i], step, w)
    nudge(rows.items, rows.loser[i], -step, w)


@rule(prefetch, PairRows)
def _(rows, i):
    prefetch(rows.items, rows.winner[i])
    prefetch(rows.items, rows.loser[i])


# --- all pairs at once ------------------------------------------------------------------


@shape.register
def _(rows: PairRows):
    return len(rows.winner), shape(rows.items)[1]


@size_of.register
def _(rows: PairRows) -> int:
    n, _ = shape(rows.items)
    return 2 * len(rows.winner) * size_of(rows.items) // max(1, n)


@take.register
def _(rows: PairRows, index: np.ndarray):
    """The chosen pairs, with only the items they name where those are few."""
    winner, loser = rows.winner[index], rows.loser[index]
    n, _ = shape(rows.items)
    if 2 * (2 * len(winner)) > n and n <= len(winner):
        return PairRows(rows.items, winner, loser)
    named, place = np.unique(np.concatenate([winner, loser]), return_inverse=True)
    if 2 * len(named) > n:
        return PairRows(rows.items, winner, loser)
    return PairRows(take(rows.items, named), place[: len(winner)], place[len(winner) :])


@dense.register
def _(rows: PairRows, index: np.ndarray):
    difference = dense(rows.items, rows.winner[index])
    difference -= dense(rows.items, rows.loser[index])
    return difference


@scores.register
def _(rows: PairRows, w: np.ndarray):
    f = scores(rows.items, w)
    return f[rows.winner] - f[rows.loser]


@combine.register
def _(rows: PairRows, v: np.ndarray):
    return combine(rows.items, by_item(rows, v))


def by_item(rows: PairRows, v: np.ndarray) -> np.ndarray:
    """u_i: what the pairs' v amount to for every item."""
    n, _ = shape(rows.items)
    won = np.bincount(rows.winner, weights=v, minlength=n)
    return won - np.bincount(rows.loser, weights=v, minlength=n)


@lengths.register
def _(rows: PairRows) -> np.ndarray:
    """‖x_a‖ + ‖x_b‖: the two are summed up one by one."""
    each = lengths(rows.items)
    return (each[rows.winner] + each[rows.loser]) * (1.0 + 1e-9)


@terms_of.register
def _(rows: PairRows) -> int:
    return len(rows.winner) + shape(rows.items)[0]


@sqnorms.register
def _(rows: PairRows):
    if isinstance(rows.items, SparseRows):
        return np.concatenate([sqnorms(block) for block in _blocks(rows)])
    out = np.empty(len(rows.winner))
    _square_distances(rows.items.X, rows.winner, rows.loser, out)
    return out


@njit(cache=True, nogil=True, fastmath=True)
def _square_distances(X, winner, loser, out):
    for i in range(out.shape[0]):
        a, b = X[winner[i]], X[loser[i]]
        total = 0.0
        for j in range(a.shape[0]):
            step = np.float64(a[j]) - np.float64(b[j])
            total += step * step
        out[i] = total


@spread.register
def _(rows: PairRows):
    """The standard deviation of every column of the differences."""
    n, d = shape(rows)
    mean = combine(rows, np.full(n, 1.0 / n))
    square = np.zeros(d)
    for block in _blocks(rows):
        square += _square_sums(block)
    deviation = np.sqrt(np.maximum(square / n - mean**2, 0.0))
    return np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300), deviation, 1.0)


def _square_sums(block: Rows) -> np.ndarray:
    """Σ x² of every column."""
    if isinstance(block, DenseRows):
        return np.einsum("ij,ij->j", block.X, block.X, dtype=np.float64)
    return np.asarray(as_csr(block).astype(np.float64).power(2).sum(axis=0)).ravel()


def _blocks(rows: PairRows):
    """The differences, a cache's worth at a time."""
    n, _ = shape(rows)
    size = max(16, CONVERTED_CHUNK_VALUES * n // max(1, size_of(rows)))
    for start in range(0, n, size):
        yield differences(rows, np.arange(start, min(n, start + size)))


def differences(rows: PairRows, index: np.ndarray) -> Rows:
    """The chosen pairs as rows of their own, in the storage of the items."""
    if isinstance(rows.items, DenseRows):
        return DenseRows(dense(rows, index))
    X = as_csr(rows.items)
    return as_rows(sparse.csr_array(X[rows.winner[index]] - X[rows.loser[index]]))


def laplacian(rows: PairRows, index: np.ndarray, s: np.ndarray) -> sparse.csr_array:
    """L with Σ s_p (x_a − x_b)(x_a − x_b)ᵀ = Xᵀ L X."""
    n, _ = shape(rows.items)
    a, b = rows.winner[index], rows.loser[index]
    place = np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a])
    return sparse.csr_array((np.concatenate([s, s, -s, -s]), place), shape=(n, n))
