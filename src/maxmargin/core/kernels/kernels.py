"""Kernels: inner products k(x, z) = φ(x)·φ(z) in a basis that is never formed.

    linear      x·z
    poly        (γ x·z + coef0)^degree
    rbf         exp(−γ‖x − z‖²)
    laplacian   exp(−γ‖x − z‖₁)
    sigmoid     tanh(γ x·z + coef0)          no inner product of any basis, in general
    cosine      x·z / ‖x‖‖z‖

A ``Kernel`` is a checked name with checked parameters; calling it gives the matrix of values in
float64 whatever the data, computed tile by tile so that float32 data are never converted whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.metrics.pairwise import pairwise_kernels

from .variance import plain_variance

KERNELS = ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "precomputed"]

# Rows and columns computed together: the tile and its operands stay in the cache.
KERNEL_TILE_SIZE = 256
# How far rounding may take K from symmetry, and a 2 × 2 minor below zero, relative to K's size.
ASYMMETRY_TOL = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}
# Variances below have no inverse in float64.
SMALLEST_VARIANCE = 1e-307
# Largest values of rows that are divided by their length as they are: squares of others may not be
# numbers, and lengths below 2e-15 are taken for zero.
ORDINARY = (1e-3, 1e100)
# γ(‖x‖² + ‖z‖²) up to which rbf is taken from inner products.
MAX_CANCELLED_EXPONENT = 64.0
# Lanczos steps in search of a negative eigenvalue, and its share of the largest to be one.
MAX_LANCZOS_STEPS, NEGATIVE_EIGENVALUE_SHARE = 40, 1e-6


INNER_PRODUCT_KERNELS = ("linear", "poly", "rbf")


@dataclass(frozen=True)
class Kernel:
    """One kernel with its parameters; ``kernel(A, B)`` is the matrix of values in float64.

    ``kernel(A)`` is the Gram matrix of A, exactly symmetric.  A callable takes two rows, or two
    matrices (``pairs`` tells which).  With "precomputed" the values are the data.
    """

    name: str | Callable
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    pairs: bool = True

    @property
    def by_products(self) -> bool:
        """Whether its values follow from inner products of rows."""
        return isinstance(self.name, str) and self.name in INNER_PRODUCT_KERNELS

    @property
    def precomputed(self) -> bool:
        return isinstance(self.name, str) and self.name == "precomputed"

    def __call__(self, A, B=None) -> np.ndarray:
        if self.precomputed:
            K = (A.toarray() if sparse.issparse(A) else np.asarray(A)).astype(np.float64)
        elif callable(self.name):
            K = _called(self.name, A, A if B is None else B, self.pairs)
        else:
            K = _tiled(self, A, B)
        # A sum is not finite if one of its terms is not; only then is every term looked at.
        if not np.isfinite(K.sum()) and not np.isfinite(K).all():
            raise ValueError(
                f"The kernel {self.name!r} returned a value that is not a finite number. It must "
                "map two rows to a number; check its parameters and the scale of the features."
            )
        return K

    def diagonal(self, X) -> np.ndarray:
        """k(x, x) of every row."""
        if self.precomputed:
            return np.asarray(X.diagonal(), dtype=np.float64)
        if self.name in ("rbf", "laplacian"):
            return np.ones(X.shape[0])
        if self.name in ("linear", "poly", "sigmoid"):
            return _shape_values(self, squares(X))
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        return np.array([float(self(x, x)[0, 0]) for x in rows])


def kernel_for(X, kernel, gamma="scale", degree=3, coef0=1.0, weight=None) -> Kernel:
    """The kernel asked for, its parameters checked, and γ worked out from X (with weights)."""
    if callable(kernel):
        return Kernel(kernel, pairs=_takes_pairs(kernel, X))
    if not isinstance(kernel, str) or kernel not in KERNELS:
        names = ", ".join(repr(name) for name in KERNELS)
        raise ValueError(f"kernel must be one of {names} or a callable, got kernel={kernel!r}.")
    if kernel == "precomputed":
        check_square(X)
        return Kernel(kernel)
    needed = kernel not in ("linear", "cosine")
    scale = resolve_gamma(X, gamma, weight, needed)
    return Kernel(kernel, scale, _check_degree(degree), _check_coef0(coef0, kernel))


def resolve_gamma(X, gamma, weight=None, needed=True) -> float:
    """γ as a number: 1/(d · variance of X) for "scale", 1/d for "auto".

    A row counts in the variance with its weight: twice the weight is the row twice.  Where γ is not
    ``needed`` it may be any number.
    """
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise ValueError(
                f"gamma must be one of 'scale', 'auto' or a positive number, got gamma={gamma!r}."
            )
        if gamma == "auto":
            return 1.0 / X.shape[1]
        with np.errstate(over="ignore", under="ignore"):
            variance = X.shape[1] * _variance(X, weight)
        if not variance < np.inf or (variance < SMALLEST_VARIANCE and _varies(X)):
            if not needed:
                return 1.0
            raise ValueError(
                "gamma='scale' is 1/(d · variance of X), and that variance is too large or too "
                "small to be a number. Give gamma a number, or scale the features."
            )
        return 1.0 / variance if variance > 0 else 1.0
    number = isinstance(gamma, Real) and not isinstance(gamma, bool)
    if not number or not 0 < gamma < np.inf:
        raise ValueError(
            f"gamma must be a positive, finite number, 'scale' or 'auto', got gamma={gamma!r}."
        )
    return float(gamma)


def _varies(X) -> bool:
    values = X.data if sparse.issparse(X) else X
    some = values.size > 0 and bool(values.min() != values.max())
    return some or 0 < values.size < X.shape[0] * X.shape[1]


def _check_degree(degree) -> int:
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 1:
        raise ValueError(f"degree must be a whole number of at least 1, got degree={degree!r}.")
    return int(degree)


def _check_coef0(coef0, kernel: str) -> float:
    if not isinstance(coef0, Real) or isinstance(coef0, bool) or not np.isfinite(float(coef0)):
        raise ValueError(f"coef0 must be a finite number, got coef0={coef0!r}.")
    if kernel == "poly" and coef0 < 0:
        raise ValueError(
            f"coef0 must not be negative with kernel='poly', got coef0={coef0!r}: such a kernel "
            "is no inner product of any basis. Use coef0=0 or more."
        )
    return float(coef0)


def _variance(X, weight) -> float:
    """Variance of all entries of X, in float64."""
    n, d = X.shape
    if weight is None and not sparse.issparse(X):
        return plain_variance(X)
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    mean = float((share @ X).mean())
    if sparse.issparse(X):
        Z = X.astype(np.float64)
        stored = np.diff(Z.indptr)
        Z.data = (Z.data - mean) ** 2
        return float((share @ Z).sum() / d + mean**2 * (1.0 - share @ stored / d))
    return float(share @ np.einsum("ij,ij->i", X - mean, X - mean, dtype=np.float64) / d)


# --- matrices given -------------------------------------------------------------------


def check_square(K) -> None:
    """A Gram matrix of the training points has as many columns as rows."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            'kernel="precomputed" needs the square Gram matrix of the training points, '
            f"got shape {K.shape}. Pass K with K[i, j] = k(x_i, x_j)."
        )


def check_precomputed(K) -> None:
    """Refuse a matrix that is no Gram matrix: not square, not symmetric, or with k(x, z)² >
    k(x, x) k(z, z), which no inner product allows.

    Passing does not prove that K is positive semidefinite; see ``check_definite``.
    """
    check_square(K)
    diagonal = np.asarray(K.diagonal(), dtype=np.float64)
    tolerance = ASYMMETRY_TOL.get(np.dtype(K.dtype), 1e-8)
    if diagonal.min(initial=0.0) < -tolerance * np.abs(diagonal).max():
        i = int(diagonal.argmin())
        raise ValueError(
            f"The precomputed kernel matrix is not positive semidefinite: K[{i}, {i}] is "
            f"{diagonal[i]:g}, but a squared length cannot be negative. {_REMEDY}"
        )
    for i, j, there, back in _entries(K):
        size = tolerance * max(1e-300, float(np.abs(there).max(initial=0.0)), diagonal.max())
        _refuse(np.abs(there - back) > size, i, j, there, back, _NOT_SYMMETRIC)
        limit = np.sqrt(np.maximum(diagonal[i], 0)) * np.sqrt(np.maximum(diagonal[j], 0))
        _refuse(np.abs(there) > limit + size, i, j, there, limit, _TOO_LARGE)


_REMEDY = "Check how K was computed, or add a multiple of the identity to it."
_NOT_SYMMETRIC = (
    "The precomputed kernel matrix is not symmetric: K[{i}, {j}] is {a:g} but K[{j}, {i}] is "
    "{b:g}. Pass K with K[i, j] = k(x_i, x_j) of the training points on both sides."
)
_TOO_LARGE = (
    "The precomputed kernel matrix is not positive semidefinite: |K[{i}, {j}]| is {a:g}, but "
    "inner products are at most √(K[{i}, {i}] K[{j}, {j}]) = {b:g}. " + _REMEDY
)


def _entries(K) -> Iterator[tuple]:
    """Row numbers, column numbers, K there and K mirrored, a block of rows at a time."""
    if sparse.issparse(K):
        K, mirrored = K.tocoo(), K.T.tocsr()
        back = np.asarray(mirrored[K.row, K.col], dtype=np.float64).ravel()
        yield K.row, K.col, K.data.astype(np.float64), back
        return
    columns = np.arange(K.shape[0])[None, :]
    for start in range(0, K.shape[0], KERNEL_TILE_SIZE):
        part = slice(start, start + KERNEL_TILE_SIZE)
        yield columns.T[part], columns, K[part].astype(np.float64), K[:, part].T


def _refuse(bad, i, j, a, b, words: str) -> None:
    if not bad.any():
        return
    i, j, a, b = (np.broadcast_to(v, bad.shape)[bad][0] for v in (i, j, a, b))
    raise ValueError(words.format(i=int(i), j=int(j), a=abs(a) if words is _TOO_LARGE else a, b=b))


def check_definite(K: np.ndarray) -> None:
    """Refuse a symmetric matrix with a negative eigenvalue, as far as some steps of Lanczos's
    method show one: each costs a product with K, and what they find is there."""
    lowest, highest = _extreme_eigenvalues(K)
    if lowest < -NEGATIVE_EIGENVALUE_SHARE * max(abs(highest), abs(lowest)):
        refuse_indefinite(lowest, highest)


def refuse_indefinite(lowest: float, highest: float) -> None:
    """Raise, for a matrix found to have the eigenvalue ``lowest`` below zero."""
    raise ValueError(
        f"The kernel matrix is not positive semidefinite: it has an eigenvalue of {lowest:.3g} "
        f"or less, its largest is {highest:.3g}. {_REMEDY}"
    )


def _extreme_eigenvalues(K: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest Ritz value: both are attained, xᵀKx for unit vectors x."""
    n = len(K)
    steps = min(n, MAX_LANCZOS_STEPS)
    Q = np.zeros((steps, n))
    T = np.zeros((steps, steps))
    q = np.random.default_rng(0).standard_normal(n)
    for i in range(steps):
        q -= Q.T @ (Q @ q)
        q -= Q.T @ (Q @ q)  # twice is enough
        length = float(np.linalg.norm(q))
        if length <= np.finfo(float).eps * n * max(1.0, float(np.abs(T).max())):
            T = T[:i, :i]
            break
        Q[i] = q / length
        q = K @ Q[i]
        T[: i + 1, i] = T[i, : i + 1] = Q[: i + 1] @ q
    values = np.linalg.eigvalsh(T)
    return float(values[0]), float(values[-1])


# --- matrices computed ----------------------------------------------------------------


def _tiled(kernel: Kernel, A, B) -> np.ndarray:
    """Tile after tile; of a symmetric matrix the lower ones, each mirrored."""
    symmetric, B = B is None, A if B is None else B
    centre = _centre(B) if kernel.name == "rbf" else 0.0
    K = np.empty((A.shape[0], B.shape[0]))
    wide = (
        KERNEL_TILE_SIZE
        if symmetric
        else max(KERNEL_TILE_SIZE, KERNEL_TILE_SIZE * KERNEL_TILE_SIZE // max(1, A.shape[0]))
    )
    for columns in _parts(B, wide):
        right = _tile(kernel, B[columns], centre)
        for rows in _parts(A, KERNEL_TILE_SIZE):
            if symmetric and rows.start < columns.start:
                continue
            left = right if symmetric and rows == columns else _tile(kernel, A[rows], centre)
            block = _values(kernel, left, right)
            if left is right:
                block = 0.5 * (block + block.T)  # rounding is not symmetric by itself
            K[rows, columns] = block
            if symmetric:
                K[columns, rows] = block.T
    if symmetric and kernel.name == "rbf":
        np.fill_diagonal(K, 1.0)
    return K


def _parts(X, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, X.shape[0], size))


def _centre(X) -> np.ndarray | float:
    """Distances do not depend on where the origin is, their rounding does."""
    return 0.0 if sparse.issparse(X) else X.mean(axis=0, dtype=np.float64)


def _tile(kernel: Kernel, X, centre):
    """Some rows in float64 about the centre, their squared lengths where the kernel needs them,
    and the rows as they are."""
    block = X.astype(np.float64, copy=False)
    if kernel.name == "cosine":
        block = unit_rows(block)
    if kernel.name != "rbf":
        return block, None, block
    about = block if sparse.issparse(block) else block - centre
    return about, squares(about), block


def unit_rows(X):
    """Rows times powers of two that bring their largest value near one: no square of theirs under-
    or overflows, and their directions are the same."""
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
    else:
        largest = np.abs(X).max(axis=1, initial=0.0)
    if not len(largest) or (largest.min() > ORDINARY[0] and largest.max() < ORDINARY[1]):
        return X
    scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0.0, largest, 1.0))[1])
    return (
        sparse.csr_array(X.multiply(scale[:, None])) if sparse.issparse(X) else X * scale[:, None]
    )


def squares(X) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _values(kernel: Kernel, left, right) -> np.ndarray:
    (A, a, X), (B, b, Z) = left, right
    if kernel.name in ("laplacian", "cosine"):
        with config_context(assume_finite=True):  # checked at the door already
            return pairwise_kernels(A, B, metric=kernel.name, filter_params=True, **_named(kernel))
    if kernel.name == "rbf" and kernel.gamma * (a.max() + b.max()) > MAX_CANCELLED_EXPONENT:
        return direct_values(kernel, X, Z)
    K = A @ B.T
    K = K.toarray() if sparse.issparse(K) else np.asarray(K)
    if kernel.name != "rbf":
        return _shape_values(kernel, K)
    K *= 2 * kernel.gamma
    K -= kernel.gamma * a[:, None]
    K -= kernel.gamma * b
    return np.exp(np.minimum(K, 0.0, out=K), out=K)


def direct_values(kernel: Kernel, A, B) -> np.ndarray:
    """rbf by differences, which do not cancel: slower, and right however far the rows are."""
    A, B = (X.toarray() if sparse.issparse(X) else X for X in (A, B))
    with np.errstate(over="ignore"):
        return np.exp(-kernel.gamma * cdist(A.astype(np.float64), B, "sqeuclidean"))


def _named(kernel: Kernel) -> dict:
    return {"gamma": kernel.gamma}


def _shape_values(kernel: Kernel, K: np.ndarray) -> np.ndarray:
    """What the kernel makes of the inner products K, in place."""
    if kernel.name == "linear":
        return K
    K *= kernel.gamma
    K += kernel.coef0
    if kernel.name == "sigmoid":
        return np.tanh(K, out=K)
    base = K.copy()
    for bit in bin(kernel.degree)[3:]:  # squaring and multiplying: much quicker than a power
        K *= K
        if bit == "1":
            K *= base
    return K


# --- callables ------------------------------------------------------------------------


def _called(k: Callable, A, B, pairs: bool) -> np.ndarray:
    if not pairs:
        return np.array(_dense(k(A, B)), dtype=np.float64)
    with config_context(assume_finite=True):
        return np.asarray(pairwise_kernels(A, B, metric=k), dtype=np.float64)


def _dense(K):
    """Products of sparse rows are sparse: ``lambda A, B: A @ B.T``."""
    return K.toarray() if sparse.issparse(K) else K


def _takes_pairs(k: Callable, X) -> bool:
    """Whether ``k`` wants two rows rather than two matrices; asked with a few rows of X.

    Two matrices are the faster way, so it is taken where both agree.
    """
    A, B = X[:2], X[:3]
    try:
        one_by_one = _called(k, A, B, pairs=True)
    except Exception as failure:
        if _matrix(k, A, B) is None:
            raise ValueError(
                f"The kernel {k!r} failed on two rows of X, and on two matrices: {failure}. It "
                "must map two rows to a number, or an (m, d) and an (n, d) matrix to an (m, n) one."
            ) from failure
        return False
    together = _matrix(k, A, B)
    same = together is not None and np.allclose(together, one_by_one, rtol=1e-9, atol=0.0)
    return not (same and np.ptp(one_by_one) > 0)


def _matrix(k: Callable, A, B) -> np.ndarray | None:
    """k of two matrices, or None where it does not take them."""
    try:
        K = np.asarray(_dense(k(A, B)), dtype=np.float64)
    except Exception:
        return None
    return K if K.shape == (A.shape[0], B.shape[0]) else None
