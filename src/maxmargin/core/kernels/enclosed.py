"""Kernel sums with bounds on their errors: F_i = Σ_j k(x_i, z_j) β_j, and how far it may be off.

In float64, where K̂ are the values of ``kernel_block``, with sums rounded at most m times:

    linear, poly    |K̂ − K| ≤ p γ_d (γ‖x‖‖z‖ + coef0)^p                       p the degree
    rbf             |K̂ − K| ≤ K̂ (2 γ_d (γ‖x − μ‖² + γ‖z − μ‖²) + 8u)         matrix product
    rbf, laplacian  |K̂ − K| ≤ γ_d                                              differences
    cosine          |K̂ − K| ≤ γ_2d

since t e^−t < 1.  In float32 the same with its own u, for rbf by matrix products (``rough_sums``).
Where float64 is too little, in twice the digits: differences and products are exact,
and a value is off by a few u² of what it is made of.  A matrix given, or what a function returns,
is what it is.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..rows.decimals import decimals, floats, many_digits, pairs
from ..rows.double_double import (
    EXP_ERROR,
    OUTWARDS,
    SINGLE_U,
    Pair,
    U,
    exp,
    gamma,
    over,
    pair_product,
    plus,
    product,
    root,
    single,
    times,
    two_product,
    two_sum,
)
from .decimal_values import DECIMAL_ERROR, decimal_values, few_enough
from .kernel_block import KernelPoints, kernel_sums, values
from .kernels import MAX_CANCELLED_EXPONENT, Kernel, squares, unit_rows

# Roundings of a value beside those of the sums it is made of; units in the last place of an exp.
FEW, EXP_UNITS = 12, 8.0
# The same of float32, whose exponentials are our own; what their end, e^−87, leaves of a value.
ROUGH_EXP_UNITS, ROUGH_UNDERFLOW = 16.0, 1e-37
# What rounding may do to the argument of an exp, and coefficients in float32, at most.
MAX_ARGUMENT_ERROR, MAX_ROUGH_COEFFICIENT = 1e-2, 1e30
# Arguments below which e^t is nothing, and more than what that and underflow leave.
NOTHING, UNDERFLOW = -600.0, 1e-250
# Kernel values that are computed in twice the digits at most, and at a time.
MAX_TWOFOLD_VALUES, TWOFOLD_TILE = 1 << 20, 1 << 16
# Steps with pairs that a value takes; each is within 8u² of its result.
STEPS = 16.0 * 8.0 * U * U
# Errors of pairs, as a share of the sums, above which so much cancels that more digits are tried;
# what two float64 leave of a number.
CANCELLED, PAIR_ERROR = 1e-24, 4.0 * U * U


class Enclosed(NamedTuple):
    """Sums hi + lo, and bounds on what they are off by."""

    hi: np.ndarray
    lo: np.ndarray
    error: np.ndarray


def enclosed_sums(
    points: KernelPoints, index, coefficients, others: KernelPoints | None = None, sharp=False
) -> Enclosed:
    """(n, p): Σ_j k(x_i, z_j) coefficients_jp over the rows named, n of all others.

    ``sharp``: in twice the digits, where they are not too many.  Coefficients may be sums of p
    terms themselves, rounded: that is counted, too.
    """
    others = points if others is None else others
    if sharp and len(index) * len(others) <= MAX_TWOFOLD_VALUES:
        return _twofold_sums(points, index, coefficients, others)
    name, size = points.kernel.name, np.abs(coefficients)
    summed = gamma(1.1 * len(index) + FEW + coefficients.shape[1])  # a sum over the rows named
    with np.errstate(over="ignore", invalid="ignore"):
        if name in ("linear", "poly"):
            F = kernel_sums(points, index, coefficients, others)
            error = _polynomial_error(points, index, size, others, summed)
        elif name == "rbf" and points.quick:
            F, error = _product_sums(points, index, coefficients, others, summed)
        elif name in ("rbf", "laplacian", "cosine"):
            F = kernel_sums(points, index, coefficients, others)
            error = np.full(F.shape, gamma(2 * points.X.shape[1] + FEW) + EXP_UNITS * U + summed)
            error *= size.sum(axis=0)
        else:
            F, whole = _given_sums(points, index, coefficients, others)
            error = summed * whole
        error = OUTWARDS * error + UNDERFLOW
    return Enclosed(F, np.zeros_like(F), np.where(np.isnan(error), np.inf, error))


def value_error(kernel: Kernel, X, K: np.ndarray) -> tuple[float, np.ndarray]:
    """For K = ``kernel(X)``: a share and b with |K̂ − K| ≤ share · b_i b_j and |K| ≤ b_i b_j."""
    d, n = X.shape[1], len(K)
    if kernel.name in ("linear", "poly"):
        p, scale, shift = 1, 1.0, 0.0
        if kernel.name == "poly":
            p, scale, shift = kernel.degree, kernel.gamma, kernel.coef0
        size = scale * squares(X) + shift  # by Cauchy and Schwarz, of [√γ x, √coef0]
        return 1.01 * p * gamma(d + FEW), 1.001 * np.sqrt(np.maximum(size, 0.0)) ** p
    if kernel.name == "rbf":
        return 4.0 * MAX_CANCELLED_EXPONENT * gamma(d + FEW) + EXP_UNITS * U, np.ones(n)
    if kernel.name in ("laplacian", "cosine", "sigmoid"):
        return gamma(2 * d + FEW) + EXP_UNITS * U, np.ones(n)
    largest = np.sqrt(np.abs(K).max(axis=0, initial=0.0).max(initial=0.0))
    return 0.0, np.full(n, 1.001 * largest)


def _polynomial_error(points, index, size, others, summed: float) -> np.ndarray:
    """(ab + c)^p ≤ 2^(p−1) ((ab)^p + c^p) for lengths a and b."""
    kernel, p = points.kernel, 1
    scale, shift = 1.0, 0.0
    if kernel.name == "poly":
        p, scale, shift = kernel.degree, kernel.gamma, kernel.coef0
    each = p * gamma(points.X.shape[1] + FEW) + summed
    root = np.sqrt(abs(scale))  # of each side its share: γ and lengths may be far from one
    own, theirs = (root * others.sizes) ** p, (root * points.sizes[index]) ** p
    whole = own[:, None] * (theirs @ size) + np.float64(abs(shift)) ** p * size.sum(axis=0)
    return 2.0 ** (p - 1) * 1.01 * each * whole


def _product_sums(points, index, coefficients, others, summed: float):
    """The sums, and their errors from sums with |β| and with |β| γ‖z − μ‖²."""
    size, width = np.abs(coefficients), coefficients.shape[1]
    weighed = size * points.sizes[index, None]
    sums = kernel_sums(points, index, np.hstack([coefficients, size, weighed]), others)
    F, whole, moved = sums[:, :width], sums[:, width : 2 * width], sums[:, 2 * width :]
    argument = 2.0 * gamma(points.X.shape[1] + FEW)
    if argument * (others.sizes.max(initial=0.0) + points.sizes[index].max(initial=0.0)) > 1e-3:
        return F, np.full(F.shape, np.inf)
    error = 1.01 * argument * (others.sizes[:, None] * whole + moved)
    return F, error + (EXP_UNITS * U + summed) * 1.01 * whole


def rough_sums(points: KernelPoints, index, coefficients, rows: np.ndarray) -> Enclosed | None:
    """The sums with one column of coefficients at some rows, of rbf values in float32, from the
    points' cache as far as it has them; None where their bounds would say nothing.

    A dot product is rounded as often as z_j stores values: its share of the argument's error is
    counted row by row.
    """
    size = np.abs(coefficients)
    if not (points.quick and points.kernel.name == "rbf") or size.max() > MAX_ROUGH_COEFFICIENT:
        return None
    own, theirs = points.sizes[index], points.sizes[rows]
    each = 2.02 * (points.stored[index] + FEW) * SINGLE_U  # 2γ_m for m u up to 0.0099
    largest = own + max(0.5, theirs.max(initial=0.0))
    if (each * largest).max(initial=0.0) > MAX_ARGUMENT_ERROR:
        return None
    fixed = ROUGH_EXP_UNITS * SINGLE_U + gamma(points.together + FEW, SINGLE_U)
    weights = np.column_stack([coefficients, size * (each * own + fixed), size * each])
    known = np.zeros(len(index), bool) if points.cache is None else points.cache.known(index)
    F = np.zeros((len(rows), 3))
    if known.any():
        F += points.cache.sums(index[known], weights[known])[rows]
    if not known.all():
        others = points.taken(rows)
        F += kernel_sums(points, index[~known], weights[~known], others, np.float32)
    error = 1.03 * (F[:, 1] + theirs * F[:, 2]) + ROUGH_UNDERFLOW * (float(size.sum()) + len(size))
    error = np.where(np.isfinite(F[:, 0]), error, np.inf)
    return Enclosed(np.where(error < np.inf, F[:, 0], 0.0), np.zeros(len(F)), error)


def _given_sums(points, index, coefficients, others):
    """The sums, and those of absolute values."""
    F, whole = np.zeros((2, len(others), coefficients.shape[1]))
    for start in range(0, len(index), points.together):
        some = slice(start, start + points.together)
        for part, V in values(points, index[some], others, np.float64):
            F[part] += V.T @ coefficients[some]
            whole[part] += np.abs(V).T @ np.abs(coefficients[some])
    return F, whole


# --- twice the digits ---------------------------------------------------------------------


def _twofold_sums(points, index, coefficients, others) -> Enclosed:
    n, size = len(others), np.abs(coefficients)
    hi, lo, error = (np.empty((n, coefficients.shape[1])) for _ in range(3))
    rows = max(1, TWOFOLD_TILE // max(1, len(index)))
    for start in range(0, n, rows):
        part = slice(start, min(start + rows, n))
        K, off = twofold_values(points, index, others, part)
        hi[part], lo[part] = pair_product(K, coefficients)
        rounded = 4.0 * gamma(len(index) + FEW + size.shape[1]) ** 2
        error[part] = OUTWARDS * ((off + rounded * np.abs(K.hi)) @ size) + UNDERFLOW
    found = Enclosed(hi, lo, np.where(np.isnan(error), np.inf, error))
    lost = not (found.error <= CANCELLED * np.abs(hi).max(initial=0.0)).all()
    if lost and few_enough(points, index, others):
        return _decimal_sums(points, index, coefficients, others)
    return found


def _decimal_sums(points, index, coefficients, others) -> Enclosed:
    """The same in two hundred digits, where sums cancel most of thirty-two."""
    K = decimal_values(points, index, others)
    with many_digits():
        F, whole = K.dot(decimals(coefficients)), abs(K).dot(decimals(np.abs(coefficients)))
        hi, lo = pairs(F)
        with np.errstate(over="ignore", invalid="ignore"):
            error = PAIR_ERROR * np.abs(hi) + floats(whole * Decimal(DECIMAL_ERROR)) + UNDERFLOW
    return Enclosed(hi, lo, np.where(np.isfinite(hi), error, np.inf))


def twofold_values(points: KernelPoints, index, others: KernelPoints, part: slice):
    """K between a part of others and the rows named, and bounds on its errors."""
    kernel = points.kernel
    if kernel.precomputed:
        V = kernel(others.X[part])[:, index]
    elif kernel.name not in TWOFOLD_KERNELS:
        V = kernel(points.X[index], others.X[part]).T
    else:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return TWOFOLD_KERNELS[kernel.name](
                kernel, _full(others.X[part]), _full(points.X[index])
            )
    return Pair(V, np.zeros_like(V)), np.zeros_like(V)


def _full(X) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _inner(A, B) -> tuple[Pair, np.ndarray]:
    """A Bᵀ, and its error."""
    size = np.abs(A) @ np.abs(B).T
    return product(A, B.T), 2.0 * gamma(A.shape[1] + FEW) ** 2 * size


def _linear(kernel: Kernel, A, B):
    return _inner(A, B)


def _poly(kernel: Kernel, A, B):
    """s = γ x·z + coef0, multiplied by itself."""
    s, off = _inner(A, B)
    scaled = times(s, single(kernel.gamma))
    s = plus(scaled, single(kernel.coef0))
    off = kernel.gamma * off + STEPS * (np.abs(scaled.hi) + abs(kernel.coef0))
    power = s
    for _ in range(kernel.degree - 1):
        power = times(power, s)
    most, p = np.abs(s.hi) + off, kernel.degree
    return power, 1.01 * p * (most ** (p - 1) * off + STEPS * most**p)


def _rbf(kernel: Kernel, A, B):
    t = Pair(np.zeros((len(A), len(B))), np.zeros((len(A), len(B))))
    for j in range(A.shape[1]):
        gap = Pair(*two_sum(A[:, j, None], -B[:, j]))
        t = plus(t, times(gap, gap))
    return _decay(kernel, t, A.shape[1])


def _laplacian(kernel: Kernel, A, B):
    t = Pair(np.zeros((len(A), len(B))), np.zeros((len(A), len(B))))
    for j in range(A.shape[1]):
        gap = Pair(*two_sum(A[:, j, None], -B[:, j]))
        sign = np.where(gap.hi < 0.0, -1.0, 1.0)
        t = plus(t, Pair(sign * gap.hi, sign * gap.lo))
    return _decay(kernel, t, A.shape[1])


def _decay(kernel: Kernel, t: Pair, d: int):
    """e^(−γt), t a sum of d terms."""
    t = times(t, single(-kernel.gamma))
    far = ~(t.hi > NOTHING)
    K = exp(Pair(np.where(far, 0.0, t.hi), np.where(far, 0.0, t.lo)))
    K = Pair(np.where(far, 0.0, K.hi), np.where(far, 0.0, K.lo))
    argument = np.where(far, 0.0, -t.hi) * (16.0 * (d + 4) * U * U)
    return K, 1.01 * K.hi * (argument + EXP_ERROR) + UNDERFLOW


def _cosine(kernel: Kernel, A, B):
    A, B = unit_rows(A), unit_rows(B)
    s, off = _inner(A, B)
    own, theirs = _squares(A), _squares(B)
    length = times(root(Pair(own.hi[:, None], own.lo[:, None])), root(theirs))
    none = (own.hi[:, None] == 0.0) | (theirs.hi == 0.0)
    length = Pair(np.where(none, 1.0, length.hi), np.where(none, 0.0, length.lo))
    q = over(s, length)
    few = 8.0 * gamma(A.shape[1] + FEW) ** 2 + STEPS
    return q, 1.01 * (off / length.hi + few * np.abs(q.hi))


def _squares(A) -> Pair:
    hi, lo = np.zeros(len(A)), np.zeros(len(A))
    for j in range(A.shape[1]):
        p, e = two_product(A[:, j], A[:, j])
        hi, rest = two_sum(hi, p)
        lo = lo + (e + rest)
    return Pair(hi, lo)


TWOFOLD_KERNELS = {
    "linear": _linear,
    "poly": _poly,
    "rbf": _rbf,
    "laplacian": _laplacian,
    "cosine": _cosine,
}
