"""One row against all k classes at once.

The weights of all classes lie side by side, W of shape (d, width) with ``width`` the number
of classes rounded up to whole vectors of VECTOR_LANES numbers, so that one entry of a row meets k
contiguous weights.  A row's k scores then stay in vector registers while the row is read.
Compilers do not find this by themselves (they would gather along the row), hence a little
LLVM: vectors of eight numbers, which every machine splits or joins to its own width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from scipy import sparse

from ..team import in_stretches
from .rows import (
    MIN_THREAD_VALUES,
    STRETCH_UNIT,
    DenseRows,
    Rows,
    SparseRows,
    as_csr,
    shape,
    size_of,
)

VECTOR_LANES = 8
# Numbers of one chunk when all rows meet all classes.
SCORE_CHUNK_VALUES = 1 << 19
# Multiplications of stored values and classes that are worth a thread: 0.3 ms.
MIN_THREAD_MULTIPLICATIONS = 1 << 21
# OpenBLAS has faster kernels for products of at most so many multiplications.
MAX_SMALL_PRODUCT = 1_000_000
# Share of non-zeros up to which dense rows are read faster as sparse ones.
MAX_SPARSE_DENSITY = 0.4


def padded(k: int) -> int:
    """k rounded up to whole vectors."""
    return -(-k // VECTOR_LANES) * VECTOR_LANES


def class_scores(rows, i, W, out):
    """out = Wᵀ x_i for all classes, in the precision of W."""
    columns, values = _entries(rows, i)
    out[:] = values.astype(W.dtype) @ W[columns]


def class_nudge(rows, i, step, W):
    """W += x_i stepᵀ: every class's weights move along the row by its own step."""
    columns, values = _entries(rows, i)
    W[columns] += np.outer(values, step).astype(W.dtype)


def _entries(rows: Rows, i: int):
    if isinstance(rows, DenseRows):
        return slice(None), rows.X[i]
    part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    return rows.indices[part], rows.data[part]


# --- the compiled forms ----------------------------------------------------------------


class _Row:
    """Code for the loop over one row's entries: (column, value) pairs, value as a vector."""

    def __init__(self, context, builder, signature, args, lanes_type):
        self.builder, self.lanes_type = builder, lanes_type
        # Kernels that use it should call this code, not each hold (and compile) a copy of it.
        builder.function.attributes.add("noinline")
        index, data, self.start, self.stop, weights, first, k_vector = args
        make = context.make_array
        self.data_type = signature.args[1]
        self.data = make(signature.args[1])(context, builder, data)
        self.index_type = signature.args[0]
        self.index = None
        if isinstance(self.index_type, types.Array):
            self.index = make(self.index_type)(context, builder, index)
        self.weights = make(signature.args[4])(context, builder, weights)
        self.row_bytes = builder.extract_value(self.weights.strides, 0)
        self.data_bytes = builder.extract_value(self.data.strides, 0)
        self.first_bytes = builder.mul(first, ir.Constant(first.type, _size(signature.args[4])))
        self.vector = make(signature.args[6])(context, builder, k_vector)
        self.vector_at = self._offset(self.vector.data, self.first_bytes)

    def entry(self, k):
        """The address of the weights that entry k meets, and its value in every lane."""
        builder = self.builder
        column = k
        if self.index is not None:
            column = builder.load(builder.gep(self.index.data, [k]))
            wide = ir.IntType(64)
            if column.type.width < 64:
                column = builder.zext(column, wide)
        value = builder.load(self._typed(self.data.data, builder.mul(k, self.data_bytes)))
        scalar = self.lanes_type.element
        if value.type != scalar:
            grow = isinstance(scalar, ir.DoubleType)
            value = builder.fpext(value, scalar) if grow else builder.fptrunc(value, scalar)
        lone = builder.insert_element(
            ir.Constant(self.lanes_type, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR_LANES), None)
        spread = builder.shuffle_vector(lone, ir.Constant(self.lanes_type, ir.Undefined), zeros)
        place = builder.add(builder.mul(column, self.row_bytes), self.first_bytes)
        return self._offset(self.weights.data, place), spread

    def _typed(self, base, offset):
        byte = ir.IntType(8).as_pointer()
        place = self.builder.gep(self.builder.bitcast(base, byte), [offset])
        return self.builder.bitcast(place, base.type)

    def _offset(self, base, offset):
        byte = ir.IntType(8).as_pointer()
        return self.builder.gep(self.builder.bitcast(base, byte), [offset])

    def lanes(self, base, q):
        """The q-th vector from an address."""
        step = q * VECTOR_LANES * (8 if isinstance(self.lanes_type.element, ir.DoubleType) else 4)
        place = self.builder.gep(base, [ir.Constant(ir.IntType(64), step)])
        return self.builder.bitcast(place, self.lanes_type.as_pointer())

    def load(self, base, q):
        vector = self.builder.load(self.lanes(base, q))
        vector.align = _alignment(self.lanes_type)
        return vector

    def store(self, value, base, q):
        self.builder.store(value, self.lanes(base, q), align=_alignment(self.lanes_type))

    def fma(self, a, b, c):
        """a·b + c, fused where the machine can."""
        product = self.builder.fmul(a, b, flags=["contract"])
        return self.builder.fadd(product, c, flags=["contract"])


def _size(array_type) -> int:
    return 8 if array_type.dtype == types.float64 else 4


def _alignment(lanes_type) -> int:
    return 8 if isinstance(lanes_type.element, ir.DoubleType) else 4


def _lanes_type(weights) -> ir.VectorType:
    scalar = ir.DoubleType() if weights.dtype == types.float64 else ir.FloatType()
    return ir.VectorType(scalar, VECTOR_LANES)


def _make_dot(count: int):
    """out[first : first + 8·count] = Σ data[k] · W[index[k], same]."""

    @intrinsic
    def dot(typingctx, index, data, start, stop, W, first, out):
        def codegen(context, builder, signature, args):
            row = _Row(context, builder, signature, args, _lanes_type(signature.args[4]))
            # Two sets of sums, used in turn: one would wait for each addition to finish.
            sums = [
                cgutils.alloca_once_value(builder, ir.Constant(row.lanes_type, None))
                for _ in range(2 * count)
            ]
            one = ir.Constant(row.start.type, 1)
            even = builder.and_(builder.sub(row.stop, row.start), ir.Constant(one.type, -2))
            middle = builder.add(row.start, even)
            for begin, end, pair in ((row.start, middle, True), (middle, row.stop, False)):
                step = ir.Constant(one.type, 2 if pair else 1)
                with cgutils.for_range_slice(builder, begin, end, step) as (k, _):
                    for u in range(2 if pair else 1):
                        at, value = row.entry(builder.add(k, ir.Constant(k.type, u)))
                        for q in range(count):
                            place = sums[u * count + q]
                            total = row.fma(row.load(at, q), value, builder.load(place))
                            builder.store(total, place)
            for q in range(count):
                both = builder.fadd(builder.load(sums[q]), builder.load(sums[count + q]))
                row.store(both, row.vector_at, q)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(index, data, whole, whole, W, whole, out), codegen

    return dot


def _make_axpy(count: int):
    """W[index[k], first : first + 8·count] += data[k] · step[same]."""

    @intrinsic
    def axpy(typingctx, index, data, start, stop, W, first, step):
        def codegen(context, builder, signature, args):
            row = _Row(context, builder, signature, args, _lanes_type(signature.args[4]))
            steps = [row.load(row.vector_at, q) for q in range(count)]
            one = ir.Constant(row.start.type, 1)
            with cgutils.for_range_slice(builder, row.start, row.stop, one) as (k, _):
                at, value = row.entry(k)
                for q in range(count):
                    row.store(row.fma(steps[q], value, row.load(at, q)), at, q)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(index, data, whole, whole, W, whole, step), codegen

    return axpy


_dot4, _dot2, _dot1 = _make_dot(4), _make_dot(2), _make_dot(1)
_axpy4, _axpy2, _axpy1 = _make_axpy(4), _make_axpy(2), _make_axpy(1)


@njit
def _row_scores(index, data, start, stop, W, out):
    width, c = W.shape[1], 0
    while c + 4 * VECTOR_LANES <= width:
        _dot4(index, data, start, stop, W, c, out)
        c += 4 * VECTOR_LANES
    if c + 2 * VECTOR_LANES <= width:
        _dot2(index, data, start, stop, W, c, out)
        c += 2 * VECTOR_LANES
    if c < width:
        _dot1(index, data, start, stop, W, c, out)


@njit
def _row_nudge(index, data, start, stop, W, step):
    width, c = W.shape[1], 0
    while c + 4 * VECTOR_LANES <= width:
        if _moves(step, c, 4 * VECTOR_LANES):  # of many classes, most stay where they are
            _axpy4(index, data, start, stop, W, c, step)
        c += 4 * VECTOR_LANES
    if c + 2 * VECTOR_LANES <= width:
        _axpy2(index, data, start, stop, W, c, step)
        c += 2 * VECTOR_LANES
    if c < width:
        _axpy1(index, data, start, stop, W, c, step)


@njit
def _moves(step, first, count):
    c = first
    while c < first + count and step[c] == 0.0:
        c += 1
    return c < first + count


@overload(class_scores)
def _class_scores(rows, i, W, out):
    if rows.instance_class is DenseRows:
        return lambda rows, i, W, out: _row_scores(None, rows.X[i], 0, rows.X.shape[1], W, out)
    return lambda rows, i, W, out: _row_scores(
        rows.indices, rows.data, np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1]), W, out
    )


@overload(class_nudge)
def _class_nudge(rows, i, step, W):
    if rows.instance_class is DenseRows:
        return lambda rows, i, step, W: _row_nudge(None, rows.X[i], 0, rows.X.shape[1], W, step)
    return lambda rows, i, step, W: _row_nudge(
        rows.indices, rows.data, np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1]), W, step
    )


# --- one pass over all rows, in float64 -------------------------------------------------


def chunks(rows: Rows, k: int) -> Iterator[slice]:
    """Slices of rows whose values, and whose k scores, fit a cache as float64."""
    n, d = shape(rows)
    width = max(d, k) if isinstance(rows, DenseRows) else k
    size = max(64, SCORE_CHUNK_VALUES // max(1, width))
    small = MAX_SMALL_PRODUCT // max(1, d * k) // 32 * 32
    size = min(size, small) if isinstance(rows, DenseRows) and small >= 64 else size
    return (slice(start, min(n, start + size)) for start in range(0, n, size))


def score_chunks(rows: Rows, W: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Slices of rows with their scores X Wᵀ, for W of shape (k, d)."""
    k, d = W.shape
    if isinstance(rows, DenseRows):
        for part in chunks(rows, k):
            yield part, rows.X[part].astype(np.float64, copy=False) @ W.T
        return
    side_by_side = np.zeros((d, padded(k)))
    side_by_side[:, :k] = W.T
    for part in chunks(rows, k):
        out = np.empty((part.stop - part.start, padded(k)))
        _shared_scores(rows, part.start, side_by_side, out)
        yield part, np.ascontiguousarray(out[:, :k])  # one layout: kernels compile for each


def _shared_scores(rows: Rows, start: int, W: np.ndarray, out: np.ndarray) -> None:
    """``_chunk_scores`` by as many threads as there are."""
    work = max(1, size_of(rows) * W.shape[1] // shape(rows)[0])

    def some(i: int, j: int) -> None:
        _chunk_scores(rows, start + i, W, out[i:j])

    in_stretches(some, len(out), STRETCH_UNIT, max(1, MIN_THREAD_MULTIPLICATIONS // work))


def class_combine(rows: Rows, k: int, steps: Callable[[slice], np.ndarray]) -> np.ndarray:
    """Σ_i a_i x_iᵀ as (k, d), where ``steps(part)`` gives the (m, k) rows a_i of a slice."""
    _, d = shape(rows)
    if isinstance(rows, DenseRows):
        W = np.zeros((k, d))
        for part in chunks(rows, k):
            a = steps(part)
            some = np.flatnonzero(a.any(axis=1))
            X = rows.X[part]
            X, a = (X[some], a[some]) if 2 * len(some) < len(a) else (X, a)
            W += a.T @ X.astype(np.float64, copy=False)
        return W
    side_by_side = np.zeros((d, padded(k)))
    for part in chunks(rows, k):
        a = steps(part)
        wide = np.zeros((len(a), padded(k)))
        wide[:, :k] = a
        _chunk_nudge(rows, part.start, wide, side_by_side)
    return side_by_side[:, :k].T


def sums_by_class(rows: Rows, y: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Σ c_i x_i of the rows of each class, (k, d)."""
    n, _ = shape(rows)
    members = sparse.csr_array((c, (y, np.arange(n))), shape=(k, n))
    sums = members @ (rows.X if isinstance(rows, DenseRows) else as_csr(rows))
    return sums.toarray() if sparse.issparse(sums) else sums


@njit(cache=True, nogil=True)
def _chunk_scores(rows, start, W, out):
    for i in range(out.shape[0]):
        class_scores(rows, start + i, W, out[i])


@njit(cache=True, nogil=True)
def _chunk_nudge(rows, start, steps, W):
    for i in range(steps.shape[0]):
        some = False
        for c in range(steps.shape[1]):
            some |= steps[i, c] != 0.0
        if some:
            class_nudge(rows, start + i, steps[i], W)


def compressed(rows: Rows, most: float = MAX_SPARSE_DENSITY) -> Rows:
    """Dense rows that are mostly zeros (images, counts) as sparse ones; others as they are."""
    if not isinstance(rows, DenseRows):
        return rows
    sample = rows.X[:: max(1, len(rows.X) // 256)]
    if np.count_nonzero(sample) > most * sample.size:
        return rows
    n, d = rows.X.shape
    indptr = np.zeros(n + 1, dtype=np.int64)
    counts, least = indptr[1:], max(1, MIN_THREAD_VALUES // max(1, d))

    def count(i: int, j: int) -> None:
        _count_nonzeros(rows.X[i:j], counts[i:j])

    in_stretches(count, n, STRETCH_UNIT, least)
    np.cumsum(counts, out=counts)
    if indptr[-1] > most * rows.X.size or indptr[-1] >= 2**31:
        return rows
    indices = np.empty(indptr[-1], dtype=np.uint32)
    data = np.empty(indptr[-1], dtype=rows.X.dtype)

    def fill(i: int, j: int) -> None:
        part = slice(indptr[i], indptr[j])
        _fill(rows.X[i:j], indices[part], data[part])

    in_stretches(fill, n, STRETCH_UNIT, least)
    return SparseRows(indptr.astype(np.uint32), indices, data, d)


@njit(cache=True, nogil=True)
def _count_nonzeros(X, counts):
    for i in range(X.shape[0]):
        count = 0
        for j in range(X.shape[1]):
            count += X[i, j] != 0.0
        counts[i] = count


@njit(cache=True, nogil=True)
def _fill(X, indices, data):
    at = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                indices[at], data[at] = j, X[i, j]
                at += 1
