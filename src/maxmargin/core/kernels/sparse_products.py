"""Inner products of a few sparse rows with a tile of all rows, in strips that stay in the cache.

    V_ji = k_j + k_i + Σ_l z_jl x_il        z_j a few rows, x_i a tile of all rows

Sixty-four rows of the tile become a strip: what they store is written into a small dense matrix,
features down, rows across.  Every value that a z_j stores is multiplied by a row of it, and the
sums of z_j wait in registers meanwhile.  Features are taken a stretch at a time, so that this
part of the strip is read from the first-level cache; from the second it comes half as fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from scipy import sparse

from ..rows.rows import SparseRows

# Rows of a strip: four to eight registers of 64 bytes.
STRIP_ROWS = 64
# Features of a stretch at least: 24 kB of float32.  Values that a row stores in one at least: a
# stretch begins and ends with the sums in memory.
MIN_STRETCH, MIN_STORED_IN_STRETCH = 96, 8
# Values in a row that are written in the time that one here and there takes.
SCATTERED_WRITE = 16


class SparseFew(NamedTuple):
    """A few rows made ready: what they store, and what each adds to its inner products.

    Their features are numbered anew: ``number`` tells how, −1 where none of them stores one.
    """

    rows: SparseRows
    offset: np.ndarray
    number: np.ndarray


def few_sparse(rows: SparseRows, index, factor: float, offset: np.ndarray, dtype) -> SparseFew:
    """Some of these rows times a factor, with their features in order."""
    indptr = np.zeros(len(index) + 1, np.int64)
    lengths = rows.indptr[1:].astype(np.int64) - rows.indptr[:-1]
    np.cumsum(lengths[index], out=indptr[1:])
    indices, data = np.empty(indptr[-1], np.int64), np.empty(indptr[-1], dtype)
    number = np.full(rows.width, -1)
    if not _gather(rows, index, dtype(factor), indptr, indices, data):
        ordered = sparse.csr_array((data, indices, indptr), shape=(len(index), rows.width))
        ordered.sort_indices()
        indices, data = ordered.indices.astype(np.int64), ordered.data
    count = _renumber(indices, number)
    return SparseFew(SparseRows(indptr, indices, data, count), offset.astype(dtype), number)


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(rows, index, factor, indptr, indices, data):
    """What these rows store, times a factor; False if features of a row are in no order."""
    ordered = True
    for j in range(len(index)):
        k, last = indptr[j], np.int64(-1)
        for here in range(np.int64(rows.indptr[index[j]]), np.int64(rows.indptr[index[j] + 1])):
            feature = np.int64(rows.indices[here])
            indices[k], data[k] = feature, data.dtype.type(rows.data[here]) * factor
            if feature <= last:
                ordered = False
            last, k = feature, k + 1
    return ordered


@njit(cache=True, nogil=True, error_model="numpy")
def _renumber(indices, number):
    """Features by their place among those that are stored; returns how many these are."""
    for k in range(len(indices)):
        number[indices[k]] = 0
    count = 0
    for feature in range(len(number)):
        if number[feature] == 0:
            number[feature] = count
            count += 1
    for k in range(len(indices)):
        indices[k] = number[indices[k]]
    return count


def empty_strip(few: SparseFew) -> np.ndarray:
    """Room for a strip, zeros before and after."""
    values = max(1, few.rows.width) * STRIP_ROWS
    room = np.zeros(values + STRIP_ROWS, few.offset.dtype)
    skipped = -room.ctypes.data % 64 // room.itemsize  # registers do not straddle lines of a cache
    return room[skipped : skipped + values].reshape(-1, STRIP_ROWS)


@intrinsic
def _add_stored(typingctx, sums, at, strip, indices, data, k, stop, end):
    """sums[at : at + 64] += Σ data_k strip[indices_k] from k on, as long as k < stop and
    indices_k < end; returns where that was no longer so.  ``sums`` is flat.
    """

    def codegen(context, builder, signature, args):
        kind = ir.FloatType() if data.dtype == types.float32 else ir.DoubleType()
        aligned = data.dtype.bitwidth // 8
        vector, whole, lane = ir.VectorType(kind, STRIP_ROWS), ir.IntType(64), ir.IntType(32)

        def values(place):
            return context.make_array(signature.args[place])(context, builder, args[place]).data

        def row(first, offset):
            return builder.bitcast(builder.gep(first, [offset]), vector.as_pointer())

        strip_values, index_values, data_values = values(2), values(3), values(4)
        target = row(values(0), args[1])
        before = builder.load(target, align=aligned)
        entry = builder.block
        head, look, body, done = map(builder.append_basic_block, ("head", "look", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        here, total = builder.phi(whole), builder.phi(vector)
        builder.cbranch(builder.icmp_signed("<", here, args[6]), look, done)
        builder.position_at_end(look)
        feature = builder.load(builder.gep(index_values, [here]))
        builder.cbranch(builder.icmp_signed("<", feature, args[7]), body, done)
        builder.position_at_end(body)
        value = builder.load(builder.gep(data_values, [here]))
        nothing = ir.Constant(vector, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(lane, STRIP_ROWS), [0] * STRIP_ROWS)
        spread = builder.insert_element(nothing, value, lane(0))
        spread = builder.shuffle_vector(spread, nothing, everywhere)
        other = builder.load(
            row(strip_values, builder.mul(feature, whole(STRIP_ROWS))), align=aligned
        )
        product = builder.fmul(spread, other, flags=("contract",))
        more = builder.fadd(total, product, flags=("contract",))
        following = builder.add(here, whole(1))
        for phi, first, next_one in ((here, args[5], following), (total, before, more)):
            phi.add_incoming(first, entry)
            phi.add_incoming(next_one, body)
        builder.branch(head)
        builder.position_at_end(done)
        builder.store(total, target, align=aligned)
        return here

    number = types.int64
    return number(sums, number, strip, indices, data, number, number, number), codegen


@njit(cache=True, nogil=True, error_model="numpy")
def sparse_products(few, rows, offset, start, strip, out):
    """The tile of rows from ``start`` on; ``out`` (few, rows) is as long as some whole strips."""
    m, n, count = out.shape[0], out.shape[1], len(offset)
    sums, indptr, place = out.reshape(-1), few.rows.indptr, np.empty(m, np.int64)
    thin = MIN_STORED_IN_STRETCH * m * len(strip) // max(1, len(few.rows.data))
    stretch = max(MIN_STRETCH, thin)
    for left in range(0, n, STRIP_ROWS):
        first, end = min(start + left, count), min(start + left + STRIP_ROWS, count)
        _fill(strip, few.number, rows, first, end)
        for j in range(m):
            place[j] = indptr[j]
            _begin(out[j, left : left + STRIP_ROWS], few.offset[j], offset[first:end])
        for feature in range(0, len(strip), stretch):
            for j in range(m):
                place[j] = _add_stored(  # type: ignore[call-arg]
                    sums, j * n + left, strip, few.rows.indices, few.rows.data,
                    place[j], np.int64(indptr[j + 1]), feature + stretch,
                )  # fmt: skip
        _clear(strip, few.number, rows, first, end)


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(strip, number, rows, first, end):
    """Write what these rows store into the strip."""
    for i in range(first, end):
        for k in range(np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])):
            feature = number[rows.indices[k]]
            if feature >= 0:
                strip[feature, i - first] += strip.dtype.type(rows.data[k])


@njit(cache=True, nogil=True, error_model="numpy")
def _clear(strip, number, rows, first, end):
    """Zeros again: everywhere, or, in a strip of many features, where there is something else."""
    if (rows.indptr[end] - rows.indptr[first]) * SCATTERED_WRITE > strip.size:
        strip[:] = 0.0
        return
    for k in range(np.int64(rows.indptr[first]), np.int64(rows.indptr[end])):
        feature = number[rows.indices[k]]
        if feature >= 0:
            strip[feature] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(sums, mine, theirs):
    for i in range(len(theirs)):
        sums[i] = mine + theirs[i]
    for i in range(len(theirs), len(sums)):
        sums[i] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def stored_values(X, indptr, indices, data):
    """What dense rows hold besides zeros, from the first on: where each begins, features, values.

    ``indices`` and ``data`` have room for one value more.
    """
    k = indptr[0]
    for i in range(X.shape[0]):
        x = X[i]
        for j in range(X.shape[1]):
            data[k], indices[k] = x[j], j
            k += x[j] != 0.0
        indptr[i + 1] = k
