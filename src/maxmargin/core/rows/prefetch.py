"""Reading ahead: rows in random order are asked for before they are used."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ..rule import rule, verb
from .rows import DenseRows, SparseRows

# Entries of a row fetched ahead of their use; the hardware follows a longer row by itself.
PREFETCHED_ENTRIES = 128
CACHE_LINE_BYTES = 64


@verb
def prefetch(rows, i):
    """Ask the memory for the first entries of row i, to be used shortly."""


@rule(prefetch, DenseRows)
def _(rows, i):
    x = rows.X[i]
    stride = CACHE_LINE_BYTES // x.itemsize
    for j in range(0, min(x.shape[0], PREFETCHED_ENTRIES), stride):
        touch(x, j)


@rule(prefetch, SparseRows)
def _(rows, i):
    indices, data = rows.indices, rows.data
    start, stop = np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])
    stop = min(stop, start + PREFETCHED_ENTRIES)
    for k in range(start, stop, CACHE_LINE_BYTES // indices.itemsize):
        touch(indices, k)
    for k in range(start, stop, CACHE_LINE_BYTES // data.itemsize):
        touch(data, k)


def touch(array, k):
    """Bring array[k] of a one-dimensional array into the cache; plain Python has no use for it."""


@intrinsic
def _prefetch_address(typingctx, array, k):
    """LLVM's prefetch of &array[k]: for reading, to stay in every cache level, data."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        stride = builder.extract_value(view.strides, 0)
        base = builder.ptrtoint(view.data, ir.IntType(64))
        place = builder.add(base, builder.mul(args[1], stride))
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        builder.call(fetch, [builder.inttoptr(place, byte), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@overload(touch)
def _touch(array, k):
    return lambda array, k: _prefetch_address(array, k)  # type: ignore[call-arg]
