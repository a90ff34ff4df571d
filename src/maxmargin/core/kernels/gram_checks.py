"""Whether a matrix or a function given from outside is a kernel that a free bias can use.

With a free bias Σ β_i = 0, and only βᵀKβ for such β matters: adding a constant to K changes
nothing, and K need not be positive semidefinite but only its centred form HKH, H = I − 11ᵀ/n.
That is so if and only if K_ii + K_jj − 2K_ij are squared distances of points.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from .features import GRAM_RESIDUAL_TOL, centred, exact_features
from .kernel_block import KernelPoints
from .kernels import KERNEL_TILE_SIZE, check_square

# How far rounding may take K from symmetry and its centred form below zero, relative to size;
# float64 values may have been rounded to float32 on their way here.
GRAM_ROUNDING = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-6}
# The largest k(x, x): products of two such values and a price are numbers.
LARGEST_VALUE = 1e140
# Rows whose kernel matrix is factored to tell whether a kernel is one.
CHECKED_ROWS = 500

_REMEDY = "Check how K was computed, or add a multiple of the identity to it."


def check_gram(K, whole_numbers: bool):
    """K itself if it can be a Gram matrix.

    Entries of an integer type are taken to be rounded: what that alone explains of a negative
    eigenvalue is removed, with a warning.
    """
    check_square(K)
    rounding = GRAM_ROUNDING[K.dtype] * max(1e-300, float(abs(K).max()))
    slack = 2.0 if whole_numbers else rounding
    _refuse_asymmetry(K, slack)
    _refuse_negative_distance(K, 2.0 * slack)
    try:
        _check_sample(K if not sparse.issparse(K) else K.tocsr(), rounding)
    except ValueError:
        if not whole_numbers or K.shape[0] > CHECKED_ROWS:
            raise
        return _nearest(K.toarray() if sparse.issparse(K) else K)
    return K


def check_kernel(points: KernelPoints) -> None:
    """Refuse a function that is no inner product on some of the rows."""
    some = _some(len(points))
    K = points.kernel(points.X[some], points.X[some])
    _refuse_asymmetry(K, GRAM_RESIDUAL_TOL * np.abs(K).max())
    exact_features(centred(0.5 * (K + K.T)))


def check_values(points: KernelPoints) -> None:
    """Refuse rows so long that sums of their kernel values are no numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(points.diagonal).max(initial=0.0))
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"The kernel {points.kernel.name!r} of a row with itself is {largest:g}: sums of such "
            f"values are not finite numbers (the most is {LARGEST_VALUE:g}). Scale the features, "
            "or choose a smaller gamma or degree."
        )


def _some(n: int) -> np.ndarray:
    return np.arange(0, n, max(1, n // CHECKED_ROWS))[:CHECKED_ROWS]


def _check_sample(K, slack: float) -> None:
    some = _some(K.shape[0])
    part = K[some][:, some]
    part = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    part = centred(0.5 * (part + part.T))
    lowest = float(eigh(part, eigvals_only=True, subset_by_index=[0, 0])[0])
    if lowest < -slack:
        raise ValueError(
            f"The precomputed kernel matrix is not positive semidefinite, nor is it after "
            f"centring: its smallest eigenvalue is {lowest:.3g}. {_REMEDY}"
        )


def _nearest(K: np.ndarray) -> np.ndarray:
    """The nearest centred positive semidefinite matrix."""
    size, vectors = eigh(centred(0.5 * (K + K.T)))
    if size[0] < -len(K):  # entries that are off by one each can do no more
        raise ValueError(
            f"The precomputed kernel matrix is not positive semidefinite: its smallest eigenvalue "
            f"is {size[0]:.3g}, more than the rounding of whole numbers explains. {_REMEDY}"
        )
    warnings.warn(
        f"The precomputed kernel matrix, of whole numbers, has an eigenvalue of {size[0]:.3g}: its "
        "entries seem to be rounded. What is negative is left out, and the certificate is of the "
        "matrix that remains. Pass K in floating point.",
        UserWarning,
        stacklevel=5,
    )
    return (vectors * np.maximum(size, 0.0)) @ vectors.T


def _blocks(K):
    """Row numbers with K there and K mirrored, as dense float64 blocks."""
    mirrored = K.T.tocsr() if sparse.issparse(K) else K.T
    for start in range(0, K.shape[0], KERNEL_TILE_SIZE):
        part = slice(start, start + KERNEL_TILE_SIZE)
        pair = (K[part], mirrored[part])
        yield start, *(np.asarray(_full(A), dtype=np.float64) for A in pair)


def _full(A):
    return A.toarray() if sparse.issparse(A) else A


def _refuse_asymmetry(K, slack: float) -> None:
    for start, there, back in _blocks(K):
        off = np.abs(there - back)
        if off.max(initial=0.0) > slack:
            i, j = np.unravel_index(int(off.argmax()), off.shape)
            raise ValueError(
                f"The kernel is not symmetric: K[{start + i}, {j}] is {there[i, j]:g} but "
                f"K[{j}, {start + i}] is {back[i, j]:g}. An inner product does not depend on the "
                "order of its two points; check how the values were computed."
            )


def _refuse_negative_distance(K, slack: float) -> None:
    diagonal = np.asarray(K.diagonal(), dtype=np.float64)
    for start, there, _ in _blocks(K):
        own = diagonal[start : start + KERNEL_TILE_SIZE, None]
        square = own + diagonal - 2.0 * there
        if square.min(initial=0.0) < -slack:
            i, j = np.unravel_index(int(square.argmin()), square.shape)
            raise ValueError(
                f"The precomputed kernel matrix is not positive semidefinite, nor is it after "
                f"centring: points {start + i} and {j} would have the squared distance "
                f"K[{start + i}, {start + i}] + K[{j}, {j}] − 2K[{start + i}, {j}] = "
                f"{square[i, j]:g}. {_REMEDY}"
            )
