"""Kernel values of all rows with a few of them, tile by tile, as fast as the storage allows.

    V_ji = k(z_j, x_i)        z_j a few rows, x_i a tile of all rows

linear, poly and rbf need inner products only.  Dense rows get them from a matrix product of

    [2γ(z − μ), −γ‖z − μ‖², 1]  and  [x − μ, 1, −γ‖x − μ‖²]        (rbf; then exp in place)

in float32 or float64, rows that are mostly zeros from sums over what they store
(``sparse_products.py``).  X itself is never converted: a tile is, when its turn comes.  All other
kernels are called as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..rows.exponential import exponentials
from ..rows.rows import SparseRows, as_rows, sqnorms
from ..team import in_stretches
from .kernels import Kernel, direct_values, squares
from .sparse_products import (
    STRIP_ROWS,
    SparseFew,
    empty_strip,
    few_sparse,
    sparse_products,
    stored_values,
)

# Rows in a tile: it stays in the second-level cache with the few rows it meets.
DENSE_TILE_ROWS, SPARSE_TILE_ROWS = 512, 256
# Values of all rows made ready that are kept: 16 MB.
MAX_PREPARED_VALUES = 2_000_000
# Kernel values that are worth a thread: half a millisecond of them, ten times what its start takes.
MIN_THREAD_VALUES = 1 << 20
# Few rows that meet a tile together.
DENSE_BATCH_ROWS = 512
# The same of sparse rows, at most; and what they store together, which is read for every strip.
SPARSE_BATCH_ROWS, STORED_TOGETHER = 256, 40_000
# Share of values other than zero up to which dense rows are read as sparse ones.
MAX_SPARSE_DENSITY = 0.35
# Rows looked at to tell; rows read at a time.
DENSITY_SAMPLE_ROWS, CONVERTED_ROWS = 1000, 1024

# γ‖x − μ‖² from which distances are sums of differences: among so few rows, and among more.
MAX_EXPONENT_OF_FEW, FEW_ROWS, MAX_EXPONENT = 1e2, 1000, 1e6


class DenseFew(NamedTuple):
    """A few rows made ready."""

    ready: np.ndarray


class KernelPoints:
    """Rows under a kernel: what is needed to compute its values quickly, and no copy of X.

    Rows that are mostly zeros but stored densely are the exception: their other values are
    stored once more.  Points that are to meet others must be made ``like`` them.
    """

    def __init__(self, X, kernel: Kernel, like: KernelPoints | None = None):
        self.X, self.kernel = X, kernel
        self.cache: Any = None  # of rows of K, kept here by those who share these points
        self._ready: dict = {}
        self.quick = kernel.by_products
        if like is None:
            self.csr = _stored(X) if self.quick else None
            self.centre = self._centre()
        else:
            self.csr = None if like.csr is None else sparse.csr_array(X)
            self.centre, self.quick = like.centre, like.quick
            return
        if self.kernel.name == "rbf" and self.sizes.max(initial=0.0) > self._largest_exponent():
            self.quick, self.csr = False, None  # ‖x‖² + ‖z‖² − 2x·z would cancel

    def __len__(self) -> int:
        return self.X.shape[0]

    def taken(self, index) -> KernelPoints:
        """Some of these rows, under the same kernel and centre."""
        X = self.X if self.csr is None else self.csr
        part = KernelPoints(X[index], self.kernel, like=self)
        part.offset = self.offset[index]
        return part

    def _largest_exponent(self) -> float:
        few = len(self) <= FEW_ROWS
        return MAX_EXPONENT_OF_FEW if few else MAX_EXPONENT

    @cached_property
    def sizes(self) -> np.ndarray:
        """γ‖x − μ‖² for rbf, else ‖x‖: what the rounding of inner products is measured by."""
        if self.kernel.name == "rbf":
            return -self.offset
        return np.sqrt(squares(self.X)) * (1.0 + 1e-9)

    @property
    def stored(self) -> np.ndarray:
        """How many values of each row enter an inner product."""
        if self.csr is None:
            return np.full(len(self), self.X.shape[1])
        return np.diff(self.csr.indptr)

    def _centre(self) -> np.ndarray | float:
        """Distances do not depend on where the origin is, their rounding does."""
        if self.csr is not None or self.kernel.name != "rbf":
            return 0.0
        return self.X.mean(axis=0, dtype=np.float64)

    @cached_property
    def rows(self) -> SparseRows:
        rows = as_rows(self.csr)
        assert isinstance(rows, SparseRows)
        return rows

    @cached_property
    def offset(self) -> np.ndarray:
        """What every row adds to its inner products: −γ‖x − μ‖² for rbf, nothing otherwise."""
        if self.kernel.name != "rbf":
            return np.zeros(len(self))
        if self.csr is not None:
            return -self.kernel.gamma * sqnorms(self.rows)
        lengths = np.empty(len(self))
        for start in range(0, len(self), DENSE_TILE_ROWS):
            part = _dense(self.X[start : start + DENSE_TILE_ROWS]) - self.centre
            lengths[start : start + DENSE_TILE_ROWS] = np.einsum("ij,ij->i", part, part)
        return -self.kernel.gamma * lengths

    @cached_property
    def diagonal(self) -> np.ndarray:
        return self.kernel.diagonal(self.X)

    @property
    def together(self) -> int:
        """How many rows to ask for at a time."""
        if self.csr is None:
            return DENSE_BATCH_ROWS
        stored = self.csr.nnz // max(1, len(self)) + 1
        return int(np.clip(STORED_TOGETHER // stored // 32 * 32, 32, SPARSE_BATCH_ROWS))

    def few(self, index, dtype) -> DenseFew | SparseFew:
        """Some of these rows, to be met by others under the same kernel and centre."""
        scale = {"linear": 1.0, "poly": self.kernel.gamma, "rbf": 2.0 * self.kernel.gamma}
        factor = scale[str(self.kernel.name)]
        if self.csr is not None:
            return few_sparse(self.rows, index, factor, self._added(index), dtype)
        Z = (_dense(self.X[index]).astype(np.float64, copy=False) - self.centre) * factor
        ready = np.column_stack([Z, self._added(index), np.ones(len(Z))])
        return DenseFew(ready.astype(dtype, copy=False))

    def _added(self, index) -> np.ndarray:
        if self.kernel.name == "poly":
            return np.full(len(index), self.kernel.coef0)
        return self.offset[index]

    @property
    def tile_rows(self) -> int:
        return SPARSE_TILE_ROWS if self.csr is not None else min(DENSE_TILE_ROWS, len(self))

    def tiles(self, few, dtype, first: int, end: int) -> Iterator[tuple[slice, np.ndarray]]:
        """(part of these rows, V of the few rows with that part); V is overwritten by the next.

        Parts are the same for all stretches from ``first`` to ``end`` that begin with a tile.
        """
        if isinstance(few, DenseFew):
            yield from self._dense_tiles(few, dtype, first, end)
            return
        strips = -(-min(SPARSE_TILE_ROWS, end - first) // STRIP_ROWS)
        out = np.empty((len(few.offset), strips * STRIP_ROWS), dtype)
        strip = empty_strip(few)
        for start in range(first, end, SPARSE_TILE_ROWS):
            part = slice(start, min(start + SPARSE_TILE_ROWS, end))
            sparse_products(few, self.rows, self.offset, start, strip, out)
            yield part, _shaped(self.kernel, out)[:, : part.stop - part.start]

    def _dense_tiles(self, few: DenseFew, dtype, first: int, end: int) -> Iterator:
        size, kept = self.tile_rows, self._kept(dtype)
        out = np.empty((len(few.ready), size), dtype)
        A = np.empty((size, self.X.shape[1] + 2), dtype)
        for start in range(first, end, size):
            part = slice(start, min(start + size, end))
            rows = self._augmented(part, A) if kept is None else kept[part]
            V = np.matmul(few.ready, rows.T, out=out if len(rows) == size else None)
            yield part, _shaped(self.kernel, V)

    def prepare(self, dtype) -> None:
        """Compute what all tiles need, before several threads ask for it."""
        if self.csr is None:
            self._kept(dtype)
        elif len(self.offset):
            _ = self.rows

    def _kept(self, dtype) -> np.ndarray | None:
        """All rows made ready, where that takes little memory; they are then made so once."""
        n, d = self.X.shape
        if n * (d + 2) > MAX_PREPARED_VALUES:
            return None
        if dtype not in self._ready:
            whole = slice(0, n)
            self._ready[dtype] = self._augmented(whole, np.empty((n, d + 2), dtype))
        return self._ready[dtype]

    def _augmented(self, part: slice, out: np.ndarray) -> np.ndarray:
        """Rows [x − μ, 1, offset]."""
        d, A = self.X.shape[1], out[: part.stop - part.start]
        np.subtract(_dense(self.X[part]), self.centre, out=A[:, :d], casting="same_kind")
        A[:, d], A[:, d + 1] = 1.0, self.offset[part]
        return A


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def _shaped(kernel: Kernel, V: np.ndarray) -> np.ndarray:
    """What the kernel makes of its inner products, in place."""
    if kernel.name == "rbf":
        return _decayed(V)
    if kernel.name == "poly" and kernel.degree > 1:
        base = V.copy()
        for bit in bin(kernel.degree)[3:]:
            V *= V
            if bit == "1":
                V *= base
    return V


def _decayed(V: np.ndarray) -> np.ndarray:
    """e^V in place; float32 by a loop of our own, which takes less than half of numpy's time."""
    if V.dtype != np.float32 or not V.flags.c_contiguous:
        return np.exp(V, out=V)
    exponentials(V.reshape(-1))
    return V


def _stored(X) -> sparse.csr_array | None:
    """X as sparse rows: if it is so already, or if it is mostly zeros."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    some = X[:: max(1, len(X) // DENSITY_SAMPLE_ROWS)]
    if np.count_nonzero(some) > MAX_SPARSE_DENSITY * some.size:
        return None
    count = np.count_nonzero(X)
    width = np.int32 if count < np.iinfo(np.int32).max else np.int64
    indptr = np.zeros(len(X) + 1, width)
    indices, data = np.empty(count + 1, width), np.empty(count + 1, X.dtype)
    for start in range(0, len(X), CONVERTED_ROWS):
        part = slice(start, start + CONVERTED_ROWS)
        stored_values(np.ascontiguousarray(X[part]), indptr[start:], indices, data)
    return sparse.csr_array((data[:count], indices[:count], indptr), shape=X.shape)


# --- values of every kind ---------------------------------------------------------------


def values(points: KernelPoints, index: np.ndarray, others: KernelPoints, dtype) -> Iterator:
    """(part, V) with V_ji = k(points[index[j]], others[i]) for all ``others``, in tiles.

    With "precomputed", ``others`` hold rows of kernel values with the training points.
    """
    if points.quick:
        yield from others.tiles(points.few(index, dtype), dtype, 0, len(others))
        return
    kernel, n = points.kernel, len(others)
    size = max(DENSE_TILE_ROWS, (1 << 22) // max(1, len(index)))
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        if kernel.precomputed:
            V = kernel(others.X[part])[:, index].T
        elif kernel.name == "rbf":
            V = direct_values(kernel, points.X[index], others.X[part])
        else:
            V = kernel(points.X[index], others.X[part])
        yield part, V.astype(dtype, copy=False)


def each_tile(
    points: KernelPoints, index: np.ndarray, others: KernelPoints, dtype, use: Callable, begin=0
) -> None:
    """use(part, V) for all of ``values``, in as many threads as there are: parts do not overlap.

    Where there are quick ones, others before ``begin`` may be left out.
    """
    if not points.quick:
        for part, V in values(points, index, others, dtype):
            use(part, V)
        return
    few = points.few(index, dtype)
    others.prepare(dtype)

    def stretch(first: int, end: int) -> None:
        for part, V in others.tiles(few, dtype, begin + first, begin + end):
            use(part, V)

    least = MIN_THREAD_VALUES // max(1, len(index))
    in_stretches(stretch, len(others) - begin, others.tile_rows, least)


def kernel_sums(
    points: KernelPoints, index, coefficients, others: KernelPoints | None = None, dtype=np.float64
) -> np.ndarray:
    """(n, p): Σ_j k(x_i, z_j) coefficients_jp over the rows named, n of all others.

    Values are of ``dtype``, and so are the sums over rows that are computed together.
    """
    others = points if others is None else others
    if points.quick and others is points and np.array_equal(index, np.arange(len(points))):
        return _symmetric_sums(points, coefficients.astype(dtype, copy=False))
    F = np.zeros((len(others), coefficients.shape[1]))
    coefficients = coefficients.astype(dtype, copy=False)
    for start in range(0, len(index), points.together):
        some = slice(start, start + points.together)

        def add(part: slice, V: np.ndarray, some: slice = some) -> None:
            F[part] += V.T @ coefficients[some]

        each_tile(points, index[some], others, dtype, add)
    return F


def _symmetric_sums(points: KernelPoints, coefficients: np.ndarray) -> np.ndarray:
    """Those over all rows: K_ij is computed once, for j up to i, and serves both of them."""
    n, dtype = len(points), coefficients.dtype.type
    F = np.zeros(coefficients.shape)
    for start in range(0, n, points.together):
        stop = min(start + points.together, n)
        mine: dict[int, np.ndarray] = {}

        def add(part: slice, V: np.ndarray, start=start, stop=stop, mine=mine) -> None:
            F[part] += V.T @ coefficients[start:stop]
            beyond = max(part.start, stop)
            if beyond < part.stop:
                mine[beyond] = V[:, beyond - part.start :] @ coefficients[beyond : part.stop]

        each_tile(points, np.arange(start, stop), points, dtype, add, start)
        for beyond in sorted(mine):  # in one order, however many threads there were
            F[start:stop] += mine[beyond]
    return F
