"""Explicit features for a kernel: exact ones from a factor of K, or a few by Nyström's method.

    exact       K = Z Zᵀ          Z (n, rank) by Cholesky's method with pivots, to rounding
    Nyström     K ≈ Z Zᵀ          Z = K_nL T,  T Tᵀ = K_LL⁻¹,  L a few of the rows (landmarks)

In either case z_i·z_j stands for k(x_i, x_j), so that a linear machine on Z is the kernel
machine: the exact one, or the one of the approximated kernel.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf

from ..rows.double_double import Pair, plus
from .enclosed import MAX_TWOFOLD_VALUES, TWOFOLD_KERNELS, twofold_values
from .kernel_block import KernelPoints, values
from .kernels import refuse_indefinite

# What the pivots leave of K, relative to its size, above which K is no Gram matrix: values may
# have been rounded to float32 on their way here.
GRAM_RESIDUAL_TOL = 1e-5
# Lengths beyond that of most rows, squared, and shares of K that centring leaves, from which on K
# is taken in twice the digits about one of the rows.
GRADED, CANCELLED = 1e4, 1e-3
# Eigenvalues of K_LL below this share of the largest are rounding.
EIGENVALUE_ROUNDING = 1e-12
# What enters the lots of a row beside the seed: a large odd number spreads them.
PRIORITY_MULTIPLIER = 0x9E3779B1


def exact_features(K: np.ndarray, sure: bool = False) -> np.ndarray:
    """Z with K = Z Zᵀ to rounding; refuses a K that has a negative eigenvalue, unless it is
    ``sure`` that only rounding can have made one."""
    n, size = len(K), float(K.diagonal().max(initial=0.0))
    if size <= 0.0:
        if np.any(K != 0.0) and not sure:
            _refuse(K)
        return np.zeros((n, 1))
    if size > GRADED * float(np.median(K.diagonal())):  # each row to rounding of its own length
        unit = np.sqrt(np.maximum(K.diagonal(), np.finfo(float).eps ** 2 * size))
        return unit[:, None] * _features(K / unit / unit[:, None], 1.0, sure)
    return _features(K, size, sure)


def _features(K: np.ndarray, size: float, sure: bool) -> np.ndarray:
    n = len(K)
    C, pivots, rank, _ = dpstrf(K, lower=1, tol=n * np.finfo(float).eps * size)
    order = pivots - 1
    Z = np.zeros((n, rank))
    Z[order] = np.tril(C)[:, :rank]
    rest = order[rank:]
    if len(rest) and not sure:
        left = K[np.ix_(rest, rest)] - Z[rest] @ Z[rest].T
        if np.abs(left).max() > GRAM_RESIDUAL_TOL * size:
            _refuse(K)
    return Z


def _refuse(K: np.ndarray) -> None:
    size = eigh(K, eigvals_only=True)
    refuse_indefinite(float(size[0]), float(size[-1]))


def centred(K: np.ndarray) -> np.ndarray:
    """HKH with H = I − 11ᵀ/n: all of K that multipliers with Σβ = 0 can see."""
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def gram(points: KernelPoints, index: np.ndarray) -> np.ndarray:
    """K of the rows named, exactly symmetric, in float64."""
    K = np.empty((len(index), len(points)))
    for start in range(0, len(index), points.together):
        some = slice(start, start + points.together)
        for part, V in values(points, index[some], points, np.float64):
            K[some, part] = V
    K = K[:, index]
    return 0.5 * (K + K.T)


def centred_features(points: KernelPoints, index: np.ndarray) -> np.ndarray:
    """Z with ‖z_i − z_j‖ = ‖φ(x_i) − φ(x_j)‖, which is all that a machine with a free bias sees.

    Where rows are far from the origin of the kernel's space, or one is far from the others,
    centring would cancel: then distances are those from one of the rows, in twice the digits.
    """
    K = gram(points, index)
    H, sure = centred(K), points.kernel.name in TWOFOLD_KERNELS
    size = float(H.diagonal().max(initial=0.0))
    cancels = size < CANCELLED * float(np.abs(K).max(initial=0.0))
    cancels = cancels or size > GRADED * float(np.median(H.diagonal()))
    if cancels and sure and len(index) ** 2 <= MAX_TWOFOLD_VALUES:
        H = _about_one(points, index, H)
    return exact_features(H, sure)


def _about_one(points: KernelPoints, index: np.ndarray, H: np.ndarray) -> np.ndarray:
    """K_ij − K_ib − K_bj + K_bb for the row b that most others are near to."""
    apart = H.diagonal()[:, None] + H.diagonal() - 2.0 * H
    b = int(np.median(apart, axis=1).argmin())
    some = KernelPoints(points.X[index], points.kernel, like=points)
    K = twofold_values(points, index, some, slice(0, len(index)))[0]
    off = plus(K, Pair(-K.hi[:, b, None], -K.lo[:, b, None]))
    off = plus(off, Pair(-off.hi[b], -off.lo[b]))
    H = off.value
    return 0.5 * (H + H.T)


class Landmarks(NamedTuple):
    """The rows ``places`` of ``points``, and the map T from kernel values with them to features."""

    points: KernelPoints
    places: np.ndarray
    features: np.ndarray


def lots(X, seed: int) -> np.ndarray:
    """A number for every row that depends on its values and the seed, not on its place."""
    start = (seed * PRIORITY_MULTIPLIER) & 0xFFFFFFFF
    if sparse.issparse(X):
        rows = ((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in pairwise(X.indptr))
        return np.array([crc32(values, crc32(places, start)) for places, values in rows])
    return np.array([crc32(row.tobytes(), start) for row in X])


def landmarks(points: KernelPoints, rank: int, seed: int, weight=None) -> Landmarks:
    """At most ``rank`` rows drawn by lot, and the map that K_LL asks for.

    Equal rows have equal lots and enter once, rows of weight zero not at all, so that neither
    the order of the rows nor their repetition matters.
    """
    alive = np.arange(len(points)) if weight is None else np.flatnonzero(weight > 0)
    _, first = np.unique(lots(points.X[alive], seed), return_index=True)
    index = np.sort(alive[first[:rank]])
    chosen = KernelPoints(points.X[index], points.kernel, like=points)
    K = np.empty((len(index), len(index)))
    for part, V in values(points, index, chosen, np.float64):
        K[:, part] = V
    K = 0.5 * (K + K.T)
    size, vectors = eigh(K)
    if size[0] < -GRAM_RESIDUAL_TOL * max(size[-1], 0.0):
        refuse_indefinite(float(size[0]), float(size[-1]))
    kept = size > EIGENVALUE_ROUNDING * size[-1]
    return Landmarks(points, index, vectors[:, kept] / np.sqrt(size[kept]))


def nystrom_features(marks: Landmarks, others: KernelPoints, dtype) -> np.ndarray:
    """Z (n, rank) of any rows, in the precision asked for."""
    Z = np.zeros((len(others), marks.features.shape[1]), dtype)
    T, step = marks.features.astype(dtype), marks.points.together
    for start in range(0, len(marks.places), step):
        some = slice(start, start + step)
        for part, V in values(marks.points, marks.places[some], others, dtype):
            Z[part] += V.T @ T[some]
    return Z
