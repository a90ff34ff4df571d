"""Rows: the training points, dense or sparse, never copied and never centred in memory.

Verbs for one row run inside numba kernels (``score``, ``nudge``, ``sqnorm``); functions
for all rows at once (``scores``, ``combine``) are one pass over the data and always
accumulate in float64, whatever the storage.  ``pairs.py`` adds a third storage: differences
of rows that are never formed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from ..rule import rule, verb
from ..team import in_shares, in_stretches
from .dense_passes import reads, row_scores, row_sums, sums

# Rows converted to float64 at a time when the data are float32: about one L2 cache.
CONVERTED_CHUNK_VALUES = 1 << 17

# Values that are worth a thread of their own: 0.15 ms, where its start takes 0.05.  Stretches of
# rows begin at multiples of so many.
MIN_THREAD_VALUES, STRETCH_UNIT = 1 << 19, 64
# A share of a sum over rows has so many values for each column at least: room for the sums of all
# shares is then a part of what the data take.
SHARE_VALUES_PER_COLUMN = 16

# Rows whose mean tells where the data lie.
ANCHOR_ROWS = 64

# Rounding of a length, with rows of 10⁸ columns; √d times this is no less than the length of what
# is lost where squares underflow.
LENGTH_SPARE, UNDERFLOW_LENGTH = 1.0 + 1e-7, 2.3e-162

# Dense values up to which lengths are NumPy's: it takes 20 µs longer, compiling takes 0.2 s.
MAX_NUMPY_LENGTHS = 40_000

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class DenseRows(NamedTuple):
    """An (n, d) array, C- or F-ordered, float32 or float64."""

    X: np.ndarray


class SparseRows(NamedTuple):
    """Compressed sparse rows, float32 or float64, with 32- or 64-bit indices.

    32-bit indices are viewed as unsigned: numba then needs no wrap-around test for negative
    ones, which makes the gather about twice as fast.  (Unsigned 64-bit ones would turn into
    floats when numba adds a signed number to them.)
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    width: int


Rows = DenseRows | SparseRows


class PairRows(NamedTuple):
    """x_winner − x_loser of two items each, never formed; ``pairs.py`` tells how."""

    items: Rows
    winner: np.ndarray
    loser: np.ndarray


AnyRows = Rows | PairRows


class _Lent:
    """Memory of an array under a flag of our own; the array lives as long as what views it."""

    def __init__(self, owner: np.ndarray):
        self.owner = owner
        facts = owner.__array_interface__
        self.__array_interface__ = {**facts, "data": (facts["data"][0], False)}


def _of_one_type(array: np.ndarray) -> np.ndarray:
    """The array, seen as one that may be written to.

    numba's types tell read-only arrays (memory maps, joblib's memory, columns of frames) from
    others, and would compile every kernel once more, for nothing: no kernel writes to rows.
    """
    return array if array.flags.writeable else np.asarray(_Lent(array))


def as_rows(X) -> Rows:
    """View a validated float array or CSR matrix as rows, without copying it."""
    if not sparse.issparse(X):
        return DenseRows(_of_one_type(X))
    indptr, indices, data = map(_of_one_type, (X.indptr, X.indices, X.data))
    if indices.dtype.itemsize == 4:
        return SparseRows(indptr.view(np.uint32), indices.view(np.uint32), data, X.shape[1])
    return SparseRows(indptr, indices, data, X.shape[1])


def as_csr(rows: SparseRows) -> sparse.csr_array:
    """The scipy view of sparse rows, without a copy."""
    signed = np.int32 if rows.indices.dtype.itemsize == 4 else np.int64
    parts = (rows.data, rows.indices.view(signed), rows.indptr.view(signed))
    return sparse.csr_array(parts, shape=shape(rows))


@singledispatch
def shape(rows: Any) -> tuple[int, int]:
    if isinstance(rows, DenseRows):
        return rows.X.shape
    return len(rows.indptr) - 1, rows.width


@singledispatch
def take(rows: Any, index: np.ndarray) -> Rows:
    """A copy of the rows named by ``index``, in the same storage and precision."""
    if not isinstance(rows, DenseRows):
        return as_rows(as_csr(rows)[index])
    X, d = rows.X, shape(rows)[1]
    if index.dtype.kind != "i" or len(index) * d < 2 * MIN_THREAD_VALUES:
        taken = X.take(index, axis=0) if index.dtype.kind == "i" else X[index]
        return DenseRows(np.ascontiguousarray(taken))
    out = np.empty((len(index), d), X.dtype)

    def copy(i: int, j: int) -> None:
        np.take(X, index[i:j], axis=0, out=out[i:j], mode="wrap")

    in_stretches(copy, len(index), STRETCH_UNIT, MIN_THREAD_VALUES // max(1, d))
    return DenseRows(out)


@singledispatch
def dense(rows: Any, index: np.ndarray) -> np.ndarray:
    """A copy of the rows named by ``index`` as a dense array, in their own precision."""
    return rows.X[index] if isinstance(rows, DenseRows) else as_csr(rows)[index].toarray()


@singledispatch
def size_of(rows: Any) -> int:
    """Number of stored values."""
    return rows.X.size if isinstance(rows, DenseRows) else len(rows.data)


# --- verbs for one row, used inside kernels -------------------------------------------


@verb
def score(rows, i, w):
    """x_i · w."""


@verb
def nudge(rows, i, step, w):
    """w += step · x_i."""


@verb
def sqnorm(rows, i):
    """‖x_i‖²."""


@rule(score, DenseRows, fastmath=True)
def _(rows, i, w):
    x = rows.X[i]
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * w[j]
    return total


@rule(score, SparseRows, fastmath={"contract"})
def _(rows, i, w):
    # Four running sums, for a single one would wait for each addition to finish.  Unsigned
    # throughout, for a signed index would be tested for being negative.  What is left after
    # groups of four is one more group that repeats the row's last entry with weight zero: a
    # second loop would end unpredictably, which costs as much as twenty entries.
    indices, data = rows.indices, rows.data
    k, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    if k == stop:
        return 0.0
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    while k + FOUR <= stop:
        one += data[k] * w[indices[k]]
        two += data[k + ONE] * w[indices[k + ONE]]
        three += data[k + TWO] * w[indices[k + TWO]]
        four += data[k + THREE] * w[indices[k + THREE]]
        k += FOUR
    last = stop - ONE
    p, q, r = min(k, last), min(k + ONE, last), min(k + TWO, last)
    one += data[p] * w[indices[p]] * (p == k)
    two += data[q] * w[indices[q]] * (q == k + ONE)
    three += data[r] * w[indices[r]] * (r == k + TWO)
    return (one + two) + (three + four)


@rule(nudge, DenseRows, fastmath=True)
def _(rows, i, step, w):
    x = rows.X[i]
    for j in range(x.shape[0]):
        w[j] += step * x[j]


@rule(nudge, SparseRows)
def _(rows, i, step, w):
    indices, data = rows.indices, rows.data
    for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        w[indices[k]] += step * data[k]


@rule(sqnorm, DenseRows, fastmath=True)
def _(rows, i):
    x = rows.X[i]
    total = 0.0
    for j in range(x.shape[0]):
        value = np.float64(x[j])
        total += value * value
    return total


@rule(sqnorm, SparseRows, fastmath=True)
def _(rows, i):
    data = rows.data
    total = 0.0
    for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        value = np.float64(data[k])
        total += value * value
    return total


# --- one pass over all rows -----------------------------------------------------------


@njit(cache=True, nogil=True)
def _sparse_scores(rows, w, out):
    for i in range(out.shape[0]):
        out[i] = score(rows, i, w)


@njit(cache=True, nogil=True)
def _sparse_combine(rows, v, out):
    for i in range(v.shape[0]):
        if v[i] != 0.0:
            nudge(rows, i, v[i], out)


@njit(cache=True, nogil=True)
def _sparse_sqnorms(rows, out):
    for i in range(out.shape[0]):
        out[i] = sqnorm(rows, i)


def _chunks(X: np.ndarray):
    """Slices of rows, and these in float64, few enough to fit a cache.

    All share one buffer: where an allocator gives memory back at once, as on Dask's workers, a new
    one for each would cost more in page faults than the pass itself.
    """
    size = max(16, CONVERTED_CHUNK_VALUES // max(1, X.shape[1]))
    buffer = np.empty((min(size, X.shape[0]), X.shape[1]))
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        some = buffer[: min(size, X.shape[0] - start)]
        np.copyto(some, X[part])
        yield part, some


def stretch(rows: Rows, start: int, stop: int) -> Rows:
    """Some rows side by side, without a copy."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.X[start:stop])
    return rows._replace(indptr=rows.indptr[start : stop + 1])


def _stretched(rows: Rows, work: Callable, start: int, stop: int) -> Any:
    return work(stretch(rows, start, stop), slice(start, stop))


def in_row_stretches(rows: Rows, work: Callable[[Any, slice], None]) -> None:
    """work(some rows, where they are) for all rows, by as many threads as there are."""
    n, values = shape(rows)[0], size_of(rows)
    if values < 2 * MIN_THREAD_VALUES:
        return work(rows, slice(n))
    share = partial(_stretched, rows, work)
    in_stretches(share, n, STRETCH_UNIT, max(1, MIN_THREAD_VALUES * n // values))


def in_row_shares(rows: Rows, work: Callable[[Any, slice], np.ndarray]) -> np.ndarray:
    """The sum of work(some rows, where they are) for all rows, by as many threads as there are."""
    (n, d), values = shape(rows), size_of(rows)
    enough = max(MIN_THREAD_VALUES, SHARE_VALUES_PER_COLUMN * d)
    if values < 2 * enough:
        return work(rows, slice(n))
    parts = in_shares(partial(_stretched, rows, work), n, max(1, enough * n // values))
    return sum(parts[1:], parts[0])


@singledispatch
def scores(rows: Any, w: np.ndarray) -> np.ndarray:
    """X w, in float64."""
    out = np.empty(shape(rows)[0])
    if isinstance(rows, SparseRows):
        in_row_stretches(rows, lambda some, at: _sparse_scores(some, w, out[at]))
    elif reads(rows.X, w):
        w = np.ascontiguousarray(w, dtype=np.float64)
        in_row_stretches(rows, lambda some, at: row_scores(some.X, w, out[at]))
    elif rows.X.dtype == np.float64:
        return rows.X @ w
    else:
        for part, some in _chunks(rows.X):
            out[part] = some @ w
    return out


@singledispatch
def combine(rows: Any, v: np.ndarray) -> np.ndarray:
    """Xᵀ v, in float64; when most of v is zero only the other rows are read."""
    n, d = shape(rows)
    if isinstance(rows, SparseRows):
        return in_row_shares(rows, lambda some, at: _added(_sparse_combine, some, v[at]))
    X = rows.X
    few = bool(np.count_nonzero(v) < n // 4)
    if reads(X, v) and sums(X, few):
        v = np.ascontiguousarray(v, dtype=np.float64)
        return in_row_shares(rows, lambda some, at: _added(row_sums, some.X, v[at]))
    out = np.zeros(d)
    if few:
        some = np.flatnonzero(v)
        size = max(16, CONVERTED_CHUNK_VALUES // max(1, d))
        for start in range(0, len(some), size):
            part = some[start : start + size]
            out += v[part] @ X[part].astype(np.float64, copy=False)
        return out
    if X.dtype == np.float64:
        return v @ X
    for part, some in _chunks(X):
        out += v[part] @ some
    return out


def _added(kernel: Callable, rows: Any, v: np.ndarray) -> np.ndarray:
    """What a kernel adds to zeros."""
    out = np.zeros(shape(rows)[1] if isinstance(rows, SparseRows) else rows.shape[1])
    kernel(rows, v, out)
    return out


@njit(cache=True, nogil=True)
def repeats(rows):
    """Whether some sparse row stores a column twice."""
    last = np.full(rows.width, -1, dtype=np.int64)
    for i in range(rows.indptr.shape[0] - 1):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            if last[rows.indices[k]] == i:
                return True
            last[rows.indices[k]] = i
    return False


def anchor(rows: Any) -> np.ndarray:
    """The mean of some rows: a place among the data, however far they are from the origin."""
    n, _ = shape(rows)
    some = np.arange(0, n, max(1, n // ANCHOR_ROWS))
    if isinstance(rows, DenseRows):
        return rows.X[some].astype(np.float64).mean(axis=0)
    share = np.zeros(n)
    share[some] = 1.0 / len(some)
    return combine(rows, share)


@singledispatch
def spread(rows: Any) -> np.ndarray:
    """The standard deviation of every column; 1 where the column is constant."""
    n, d = shape(rows)
    share = np.full(n, 1.0 / n)
    mean = combine(rows, share)
    if isinstance(rows, DenseRows):
        variance = np.zeros(d)
        for _, block in _chunks(rows.X):
            block -= mean
            variance += np.einsum("ij,ij->j", block, block) / n
    else:
        squared = rows._replace(data=rows.data.astype(np.float64) ** 2)
        variance = np.maximum(combine(squared, share) - mean**2, 0.0)
    deviation = np.sqrt(variance)
    return np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300), deviation, 1.0)


@singledispatch
def sqnorms(rows: Any) -> np.ndarray:
    """‖x_i‖² of every row, in float64."""
    n, _ = shape(rows)
    out = np.empty(n)
    if isinstance(rows, DenseRows):
        blocks = [(slice(n), rows.X)] if rows.X.dtype == np.float64 else _chunks(rows.X)
        for part, block in blocks:
            np.einsum("ij,ij->i", block, block, out=out[part])
    else:
        in_row_stretches(rows, lambda some, at: _sparse_sqnorms(some, out[at]))
    return out


@singledispatch
def lengths(rows: Any) -> np.ndarray:
    """‖x_i‖ of every row, or a little more: what rounding of a sum over the row is bounded by."""
    n, _ = shape(rows)
    out = np.empty(n)
    few = size_of(rows) <= MAX_NUMPY_LENGTHS
    if isinstance(rows, DenseRows) and (few or not rows.X.flags.c_contiguous):
        np.sqrt(sqnorms(rows), out=out)
        out *= LENGTH_SPARE
        out += UNDERFLOW_LENGTH * np.sqrt(rows.X.shape[1])
    else:
        in_row_stretches(rows, lambda some, at: _lengths(some, out[at]))
    return out


@njit(cache=True, nogil=True)
def _lengths(rows, out):
    for i in range(out.shape[0]):
        lost = UNDERFLOW_LENGTH * np.sqrt(entries(rows, i))
        out[i] = np.sqrt(sqnorm(rows, i)) * LENGTH_SPARE + lost


@verb
def entries(rows, i):
    """How many values row i stores."""


@rule(entries, DenseRows)
def _(rows, i):
    return rows.X.shape[1]


@rule(entries, SparseRows)
def _(rows, i):
    return np.int64(rows.indptr[i + 1]) - np.int64(rows.indptr[i])


@singledispatch
def terms_of(rows: Any) -> int:
    """How many roundings a sum over all rows has at most, at one column."""
    return shape(rows)[0]
