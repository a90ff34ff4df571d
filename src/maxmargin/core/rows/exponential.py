"""Exponentials and logarithms of whole arrays inside compiled loops, eight or sixteen at a time.

    exp x = 2^n · exp f,      n = round(x / log 2),      f = x − n log 2,      |f| ≤ ½ log 2
    log(1 + x) = 2 (z + z³/3 + z⁵/5 + …),                z = x / (2 + x),      x in [0, 1]

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

EXP_FASTMATH = {"nsz", "contract"}  # no reordering: x − n log 2 is computed in two parts

# 1 / log 2, log 2 with few digits and the rest of it, and where 2^n ends.
INVERSE_LOG_2, LOG_2, LOG_2_REST = 1.4426950408889634, 0.693145751953125, 1.4286068203094172e-06
MIN_EXPONENT_64, MIN_EXPONENT_32 = -708.0, np.float32(-87.0)
INVERSE_LOG_2_F, LOG_2_F, LOG_2_REST_F = (
    np.float32(INVERSE_LOG_2),
    np.float32(LOG_2),
    np.float32(LOG_2_REST),
)
HALF_F = np.float32(0.5)
# 1 / j!
TAYLOR_64 = tuple(1.0 / math.factorial(j) for j in range(14))
TAYLOR_32 = tuple(np.float32(t) for t in TAYLOR_64)
# 2 / (2j + 1): what is left out is z³² / 33 of the whole, and z at most 1/3.
ARTANH = tuple(2.0 / (2 * j + 1) for j in range(16))


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
    x = max(x, MIN_EXPONENT_64)
    n = np.floor(x * INVERSE_LOG_2 + 0.5)
    f = (x - n * LOG_2) - n * LOG_2_REST
    low = TAYLOR_64[0] + f * (
        TAYLOR_64[1]
        + f
        * (
            TAYLOR_64[2]
            + f * (TAYLOR_64[3] + f * (TAYLOR_64[4] + f * (TAYLOR_64[5] + f * TAYLOR_64[6])))
        )
    )
    high = TAYLOR_64[7] + f * (
        TAYLOR_64[8]
        + f
        * (
            TAYLOR_64[9]
            + f * (TAYLOR_64[10] + f * (TAYLOR_64[11] + f * (TAYLOR_64[12] + f * TAYLOR_64[13])))
        )
    )
    cube = f * f * f
    return (low + cube * cube * f * high) * _power_64(np.int32(n))  # type: ignore[call-arg]


def _exp_32(x):
    x = max(x, MIN_EXPONENT_32)
    n = np.floor(x * INVERSE_LOG_2_F + HALF_F)
    f = (x - n * LOG_2_F) - n * LOG_2_REST_F
    poly = TAYLOR_32[0] + f * (
        TAYLOR_32[1]
        + f
        * (
            TAYLOR_32[2]
            + f * (TAYLOR_32[3] + f * (TAYLOR_32[4] + f * (TAYLOR_32[5] + f * TAYLOR_32[6])))
        )
    )
    return poly * _power_32(np.int32(n))  # type: ignore[call-arg]


def _exp(x):
    return math.exp(x)


@overload(_exp, jit_options={"fastmath": EXP_FASTMATH})
def _choose_exp(x):
    return _exp_32 if x == types.float32 else _exp_64


@njit(cache=True, nogil=True, fastmath=EXP_FASTMATH)
def exponentials(values):
    """values ← exp(values) for a flat array of numbers that are at most zero."""
    for i in range(values.shape[0]):
        values[i] = _exp(values[i])


@njit(cache=True, nogil=True, fastmath=EXP_FASTMATH)
def logarithms(values, out):
    """out ← log(1 + values) for flat arrays of numbers from zero to one, to a few roundings of
    the result, however small."""
    for i in range(values.shape[0]):
        z = values[i] / (2.0 + values[i])
        q = z * z
        low = ARTANH[0] + q * (
            ARTANH[1]
            + q
            * (
                ARTANH[2]
                + q
                * (ARTANH[3] + q * (ARTANH[4] + q * (ARTANH[5] + q * (ARTANH[6] + q * ARTANH[7]))))
            )
        )
        high = ARTANH[8] + q * (
            ARTANH[9]
            + q
            * (
                ARTANH[10]
                + q
                * (
                    ARTANH[11]
                    + q * (ARTANH[12] + q * (ARTANH[13] + q * (ARTANH[14] + q * ARTANH[15])))
                )
            )
        )
        fourth = (q * q) * (q * q)
        out[i] = z * (low + fourth * fourth * high)
