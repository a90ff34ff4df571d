"""Kernel values in two hundred digits, where rows are few."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from scipy import sparse

from ..rows.decimals import DIGITS, ONE, ZERO, decimals, many_digits
from .kernel_block import KernelPoints
from .kernels import Kernel

# Values, and products that they are made of: about half a second, with exponentials two.
MAX_DECIMAL_VALUES, MAX_DECIMAL_PRODUCTS = 1 << 15, 1 << 20
# Bounds the error of a value, relative to the size of what it is made of: far more than 200 digits
# lose in any of the steps below.
DECIMAL_ERROR = 1e-150

_exp = np.frompyfunc(lambda t: t.exp(), 1, 1)
_root = np.frompyfunc(lambda t: t.sqrt(), 1, 1)


def few_enough(points: KernelPoints, index, others: KernelPoints) -> bool:
    """Whether there is time for so many values."""
    many = len(index) * len(others)
    return many <= MAX_DECIMAL_VALUES and many * points.X.shape[1] <= MAX_DECIMAL_PRODUCTS


def decimal_values(
    points: KernelPoints, index, others: KernelPoints, digits: int = DIGITS
) -> np.ndarray:
    """k(x_i, z_j) of all others and the rows named."""
    kernel = points.kernel
    with many_digits(digits):
        if kernel.precomputed:
            return decimals(kernel(others.X)[:, index])
        if kernel.name not in DECIMAL_KERNELS:
            return decimals(kernel(points.X[index], others.X).T)
        A, B = decimals(_full(others.X)), decimals(_full(points.X[index]))
        return DECIMAL_KERNELS[kernel.name](kernel, A, B)


def _full(X) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _linear(kernel: Kernel, A, B):
    return A.dot(B.T)


def _poly(kernel: Kernel, A, B):
    return (Decimal(float(kernel.gamma)) * A.dot(B.T) + Decimal(float(kernel.coef0))) ** int(
        kernel.degree
    )


def _rbf(kernel: Kernel, A, B):
    return _decay(kernel, sum((a[:, None] - b) ** 2 for a, b in zip(A.T, B.T, strict=True)))


def _laplacian(kernel: Kernel, A, B):
    return _decay(kernel, sum(abs(a[:, None] - b) for a, b in zip(A.T, B.T, strict=True)))


def _decay(kernel: Kernel, t):
    return _exp(-Decimal(float(kernel.gamma)) * t)


def _cosine(kernel: Kernel, A, B):
    own, theirs = (np.array([row.dot(row) for row in each], dtype=object) for each in (A, B))
    size = np.multiply.outer(own, theirs)
    none = size == 0
    size[none] = ONE
    values = A.dot(B.T) / _root(size)
    values[none] = ZERO
    return values


DECIMAL_KERNELS = {
    "linear": _linear, "poly": _poly, "rbf": _rbf, "laplacian": _laplacian, "cosine": _cosine,
}  # fmt: skip
