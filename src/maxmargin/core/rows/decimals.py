"""Numbers of two hundred digits and any exponent, for what few rows leave open.

Matrices are arrays of ``decimal.Decimal``: sums, products and quotients are within 10^(1 − DIGITS)
of themselves, and float64 becomes a Decimal without rounding.  An operation takes a third of a
microsecond, so only small problems come here, and only after float64 has failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext

import numpy as np

from .double_double import Pair

DIGITS = 200
# What is smaller than this, relative to what it is made of, is rounding: data far from the origin
# under a polynomial lose up to a hundred digits.
NOTHING = Decimal("1e-80")
ZERO, ONE = Decimal(0), Decimal(1)

_decimal = np.frompyfunc(Decimal, 1, 1)
_float = np.frompyfunc(float, 1, 1)


@contextmanager
def many_digits(digits: int = DIGITS) -> Iterator[None]:
    """Inside, Decimals keep so many digits, and neither overflow nor underflow."""
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def decimals(values) -> np.ndarray:
    """Exactly these numbers."""
    return _decimal(np.asarray(values, dtype=np.float64).astype(object))


def floats(values: np.ndarray) -> np.ndarray:
    """The nearest float64."""
    return _float(values).astype(np.float64)


def together(*parts) -> np.ndarray:
    """Vectors of Decimals, or single ones, one after the other."""
    return np.concatenate([np.array(np.atleast_1d(part), dtype=object) for part in parts])


def pairs(values: np.ndarray) -> Pair:
    """hi + lo, within 2⁻¹⁰⁴ of the value."""
    hi = floats(values)
    return Pair(hi, np.where(np.isfinite(hi), floats(values - decimals(hi)), 0.0))


class Deficient(Exception):
    """A matrix has no inverse; ``null`` is a vector that it makes zero."""

    def __init__(self, null: np.ndarray):
        super().__init__("the matrix is singular")
        self.null = null


def solved(M: np.ndarray, B: np.ndarray) -> np.ndarray:
    """M⁻¹B by elimination with row pivots; entries of M are to be of size one."""
    M, B, n = M.copy(), B.copy(), len(M)
    for j in range(n):
        pivot = j + int(np.argmax(np.abs(M[j:, j])))
        if abs(M[pivot, j]) <= NOTHING:
            raise Deficient(_null_vector(M, j))
        M[[j, pivot]], B[[j, pivot]] = M[[pivot, j]], B[[pivot, j]]
        share = M[j + 1 :, j] / M[j, j]
        M[j + 1 :, j + 1 :] -= np.multiply.outer(share, M[j, j + 1 :])
        B[j + 1 :] -= np.multiply.outer(share, B[j])
    return _back(M, B)


def _back(U: np.ndarray, B: np.ndarray) -> np.ndarray:
    """U⁻¹B of an upper triangle."""
    X = B.copy()
    for j in range(len(U) - 1, -1, -1):
        X[j] = X[j] / U[j, j]
        X[:j] -= np.multiply.outer(U[:j, j], X[j])
    return X


def _null_vector(M: np.ndarray, j: int) -> np.ndarray:
    """Of a matrix whose first j columns are eliminated, and whose next depends on them."""
    null = np.full(len(M), ZERO, dtype=object)
    null[j] = ONE
    if j:
        null[:j] = -_back(M[:j, :j], M[:j, j])
    return null


def factor(H: np.ndarray) -> np.ndarray:
    """L with H = LLᵀ, positive semidefinite, but for what digits cannot tell from zero."""
    rest, n = H.copy(), len(H)
    L = np.full((n, n), ZERO, dtype=object)
    nothing = Decimal(10) ** (5 - getcontext().prec)
    for j in range(n):
        if rest[j, j] > nothing * H[j, j]:
            L[j:, j] = rest[j:, j] / rest[j, j].sqrt()
            rest[j:, j:] -= np.multiply.outer(L[j:, j], L[j:, j])
    return L


def independent(A: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows and columns, the first that will do, that make up a regular part of A."""
    A, rows, columns = A.copy(), [], []
    for j in range(A.shape[1]):
        left = [i for i in range(len(A)) if i not in rows]
        if not left:
            break
        pivot = max(left, key=lambda i: abs(A[i, j]))
        if abs(A[pivot, j]) <= NOTHING:
            continue
        rows.append(pivot)
        columns.append(j)
        for i in left:
            if i != pivot and A[i, j] != 0:
                A[i] = A[i] - A[i, j] / A[pivot, j] * A[pivot]
    return rows, columns
