"""Exponentials of whole arrays inside compiled loops, eight or sixteen at a time.

    exp x = 2^n · exp f,      n = round(x / log 2),      f = x − n log 2,      |f| ≤ ½ log 2

numba calls a library for every single exponential, which takes ten times longer than a
polynomial that the compiler can lay out in vectors.  Errors are a few roundings of x and of the
result, in float32 and in float64.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

EXACT = {"nsz", "contract"}  # no reordering: x − n log 2 is computed in two parts

# 1 / log 2, log 2 with few digits and the rest of it, and where 2^n ends.
PER_LOG_2, LOG_2, REST = 1.4426950408889634, 0.693145751953125, 1.4286068203094172e-06
LOWEST_64, LOWEST_32 = -708.0, np.float32(-87.0)
PER_LOG_2_F, LOG_2_F, REST_F = np.float32(PER_LOG_2), np.float32(LOG_2), np.float32(REST)
HALF_F = np.float32(0.5)
# 1 / j!
T = tuple(1.0 / math.factorial(j) for j in range(14))
F = tuple(np.float32(t) for t in T)


@intrinsic
def _power_64(typingctx, n):
    """2^n for a whole number n, from its bits."""

    def codegen(context, builder, signature, args):
        wide = builder.sext(args[0], ir.IntType(64))
        bits = builder.shl(builder.add(wide, wide.type(1023)), wide.type(52))
        return builder.bitcast(bits, ir.DoubleType())

    return types.float64(types.int32), codegen


@intrinsic
def _power_32(typingctx, n):
    def codegen(context, builder, signature, args):
        whole = args[0].type
        bits = builder.shl(builder.add(args[0], whole(127)), whole(23))
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.int32), codegen


def _exp_64(x):
    x = max(x, LOWEST_64)
    n = np.floor(x * PER_LOG_2 + 0.5)
    f = (x - n * LOG_2) - n * REST
    low = T[0] + f * (T[1] + f * (T[2] + f * (T[3] + f * (T[4] + f * (T[5] + f * T[6])))))
    high = T[7] + f * (T[8] + f * (T[9] + f * (T[10] + f * (T[11] + f * (T[12] + f * T[13])))))
    cube = f * f * f
    return (low + cube * cube * f * high) * _power_64(np.int32(n))  # type: ignore[call-arg]


def _exp_32(x):
    x = max(x, LOWEST_32)
    n = np.floor(x * PER_LOG_2_F + HALF_F)
    f = (x - n * LOG_2_F) - n * REST_F
    poly = F[0] + f * (F[1] + f * (F[2] + f * (F[3] + f * (F[4] + f * (F[5] + f * F[6])))))
    return poly * _power_32(np.int32(n))  # type: ignore[call-arg]


def _exp(x):
    return math.exp(x)


@overload(_exp, jit_options={"fastmath": EXACT})
def _choose_exp(x):
    return _exp_32 if x == types.float32 else _exp_64


@njit(cache=True, nogil=True, fastmath=EXACT)
def exponentials(values):
    """values ← exp(values) for a flat array of numbers that are at most zero."""
    for i in range(values.shape[0]):
        values[i] = _exp(values[i])
