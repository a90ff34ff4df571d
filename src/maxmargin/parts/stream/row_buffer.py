"""Some of the rows of a stream, kept in memory up to a limit.

Rows lie in arrays that are set aside once; memory is used as they are filled.  With every row
go its label, its cost and its number in the stream.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from ...core.rows.rows import Rows, as_rows
from ...models.bias_column import with_ones

# Bytes that go with a row besides its features: label, cost, number and slack, and the vectors of
# that length which a solver makes.
OVERHEAD_BYTES_PER_ROW = 160
# Values of dense rows moved at once.
MOVE_BLOCK_VALUES = 1 << 20


class RowBuffer:
    """Room for rows of ``width`` features in ``size`` bytes."""

    def __init__(self, size: int, width: int, dtype, is_sparse: bool):
        self.sparse, self.width, self.dtype, self.size = is_sparse, width, np.dtype(dtype), size
        self.count = self.stored = 0
        self.below = 1.0  # of a sample: all rows with a smaller priority z are here
        rows = max(
            1, size // (OVERHEAD_BYTES_PER_ROW + (8 if is_sparse else width * self.dtype.itemsize))
        )
        if is_sparse:
            values = max(1, size // (self.dtype.itemsize + 4))
            self.data, self.indices = np.empty(values, self.dtype), np.empty(values, np.int32)
            self.indptr = np.zeros(rows + 1, dtype=np.int32)
        else:
            self.X = np.empty((rows, width), self.dtype)
        self.y, self.c, self.z = np.empty(rows), np.empty(rows), np.empty(rows)
        self.ids = np.empty(rows, dtype=np.int64)

    @property
    def each(self) -> float:
        """Bytes of a row, on average."""
        if not self.sparse:
            return OVERHEAD_BYTES_PER_ROW + self.width * self.dtype.itemsize
        return (
            OVERHEAD_BYTES_PER_ROW
            + 8
            + self.stored * (self.dtype.itemsize + 4) / max(1, self.count)
        )

    def fits(self, X) -> bool:
        """Whether these rows have room beside those that are there."""
        if not self.sparse:
            return self.count + X.shape[0] <= len(self.X)
        values, rows = self.stored + X.nnz, self.count + X.shape[0]
        used = values * (self.dtype.itemsize + 4) + rows * (OVERHEAD_BYTES_PER_ROW + 8)
        return used <= self.size and rows < len(self.indptr)

    def put(self, X, y, c, ids, z=None) -> None:
        n = X.shape[0]
        new = slice(self.count, self.count + n)
        if self.sparse:
            values = slice(self.stored, self.stored + X.nnz)
            self.data[values], self.indices[values] = X.data, X.indices
            self.indptr[self.count + 1 : self.count + n + 1] = X.indptr[1:] + self.stored
            self.stored = values.stop
        else:
            self.X[new] = X
        self.y[new], self.c[new], self.ids[new] = y, c, ids
        self.z[new] = 0.0 if z is None else z
        self.count += n

    def keep(self, index: np.ndarray) -> None:
        """Only these rows, by their place, ascending: none is overwritten before it is moved."""
        m = len(index)
        if self.sparse:
            self.stored = _compact(self.data, self.indices, self.indptr, index)
        else:
            step = max(1, MOVE_BLOCK_VALUES // max(1, self.width))
            for start in range(0, m, step):
                part = index[start : start + step]
                self.X[start : start + len(part)] = self.X[part]
        for values in (self.y, self.c, self.z, self.ids):
            values[:m] = values[index]
        self.count = m

    def matrix(self):
        """The rows kept, dense or CSR, where they lie."""
        if not self.sparse:
            return self.X[: self.count]
        parts = (self.data[: self.stored], self.indices[: self.stored],
                 self.indptr[: self.count + 1])  # fmt: skip
        return sparse.csr_matrix(parts, shape=(self.count, self.width), copy=False)

    def rows(self) -> Rows:
        return as_rows(self.matrix())

    def with_ones(self) -> RowBuffer:
        """The same rows with one more column, which is 1; these here are let go."""
        m, size = self.count, self.size + self.count * (self.dtype.itemsize + 4)
        more = RowBuffer(size, self.width + 1, self.dtype, self.sparse)
        X = with_ones(self.matrix())
        more.put(X, self.y[:m], self.c[:m], self.ids[:m], self.z[:m])
        more.below = self.below
        self.drop()
        return more

    def clear(self) -> None:
        self.count = self.stored = 0

    def drop(self) -> None:
        """Give the memory back."""
        self.__init__(0, self.width, self.dtype, self.sparse)  # type: ignore[misc]


@njit(cache=True, nogil=True)
def _compact(data, indices, indptr, index):
    """Move the rows named to the front; returns how many values they have."""
    at = 0
    for new in range(index.shape[0]):
        start, stop = indptr[index[new]], indptr[index[new] + 1]
        for k in range(start, stop):
            data[at], indices[at] = data[k], indices[k]
            at += 1
        indptr[new + 1] = at  # row index[new] ≥ new has been read
    return at
