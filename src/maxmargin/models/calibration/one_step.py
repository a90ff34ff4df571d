"""What a linear model would say of a row it had not seen, by one Newton step from the optimum.

    min over W, b   ½ r‖W‖² + Σ ℓᵢ(sᵢ),   sᵢ = W xᵢ + b

Without row j the optimum moves, to first order, by H⁻¹ times the slope gⱼ that the row no longer
exerts, H being the curvature that is left; for the scores of the row itself

    sⱼ without j  =  sⱼ + Aⱼ (1 − Dⱼ Aⱼ)⁻¹ gⱼ,     Aⱼ = x̃ⱼ H⁻¹ x̃ⱼᵀ,   Dⱼ = ℓⱼ″(sⱼ)

with one factorisation of H for all rows.  For squares this is leave-one-out itself, for smooth
losses the approximation of Rad and Maleki; ``slopes.py`` says what the curvature of a hinge is.
Exact answers cost more (``leave_one_out``); to calibrate with, these are as good.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...core.solve.threads import one_blas_thread
from .long_steps import LONG_STEP, LongSteps, shares
from .slopes import Slopes

# What keeps H regular where nothing holds a bias, relative to the largest curvature.
LEAST_CURVATURE = 1e-9
# Products up to which OpenBLAS itself takes one thread: to ask it for that takes 40 µs,
# a tenth of a fit to a hundred rows.
FEW_PRODUCTS = 1 << 18


def one_step(X, parts: Slopes, ridge: float, bias: bool, some: np.ndarray) -> np.ndarray:
    """The scores of the rows ``some``, each as if it had not been there."""
    with one_blas_thread() if X.shape[0] * (X.shape[1] + 1) ** 2 > FEW_PRODUCTS else nullcontext():
        A = _with_ones(X) if bias else X
        H = _curvature(A, parts.curvature, ridge, bias)
        out = parts.scores[some].copy()
        moving = parts.slope[some].any(axis=1)  # a row without a slope changes nothing
        slope, curvature = parts.of_one(some[moving])
        leverage = _leverages(A[some[moving]], H)
        step = _moved(slope, curvature, leverage)
        cut(step, slope, parts, LinearDirections(A, H, ridge, bias), some[moving])
        out[moving] += step
        return out


def cut(step, slope, parts: Slopes, directions, rows: np.ndarray) -> None:
    """Steps of hinges that are long, in place."""
    if parts.kinks is None:
        return
    long = np.flatnonzero(np.abs(step[:, 0]) > LONG_STEP)
    if len(long):
        moved, norms = directions(rows[long])
        factor = step[long, 0] / moved[np.arange(len(long)), rows[long]]
        taken = LongSteps(rows[long], factor[:, None] * moved, factor**2 * norms)
        step[long, 0] *= shares(taken, parts.scores[:, 0], slope[long, 0], parts.kinks)


class LinearDirections(NamedTuple):
    """Where H⁻¹x̃ of some rows leads: the scores of all rows, and the norm of the weights."""

    A: Any
    H: np.ndarray
    ridge: float
    bias: bool

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = self.A[rows].toarray() if sparse.issparse(self.A) else self.A[rows]
        V = np.linalg.solve(self.H, here.T)
        weights = V[:-1] if self.bias else V
        return (self.A @ V).T, self.ridge * np.sum(weights**2, axis=0)


def _moved(slope, curvature, leverage) -> np.ndarray:
    """A (1 − DA)⁻¹ g of every row; with one score these are numbers."""
    if slope.shape[1] == 1:
        return slope * leverage[:, 0] / (1.0 - curvature[:, 0] * leverage[:, 0])
    rest = np.eye(slope.shape[1]) - curvature @ leverage
    return (leverage @ np.linalg.solve(rest, slope[:, :, None]))[:, :, 0]


def _with_ones(X):
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((X.shape[0], 1))], format="csr", dtype=np.float64)
    out = np.ones((X.shape[0], X.shape[1] + 1))
    out[:, :-1] = X
    return out


def _curvature(A, D, ridge: float, bias: bool) -> np.ndarray:
    """H, (m·d, m·d), with the columns of each score side by side."""
    m, d = D.shape[1], A.shape[1]
    curved = np.flatnonzero(D[:, 0, 0] if m == 1 else D.any(axis=(1, 2)))
    part, D = A[curved], D[curved]
    H = np.empty((m, d, m, d))
    for a in range(m):
        for b in range(a, m):
            H[a, :, b] = _weighted_gram(part, D[:, a, b])
            if a < b:
                H[b, :, a] = H[a, :, b].T
    H = H.reshape(m * d, m * d)
    diagonal = H.reshape(-1)[:: m * d + 1]  # where an H with no negative direction is largest
    largest = max(float(diagonal.max(initial=0.0)), ridge)
    penalty = np.full((m, d), ridge)
    if bias:  # one number added to all biases changes no loss of k classes
        penalty[:, -1] = 0.0
    diagonal += penalty.reshape(-1) + LEAST_CURVATURE * largest
    return H


def _weighted_gram(A, weight) -> np.ndarray:
    if sparse.issparse(A):
        return (A.T @ sparse.diags_array(weight) @ A).toarray()
    return (A * weight[:, None]).T @ A


def _leverages(A, H) -> np.ndarray:
    """x̃ H⁻¹ x̃ᵀ of every row: (n, m, m)."""
    d = A.shape[1]
    m = len(H) // d
    inverse = np.linalg.inv(H).reshape(m, d, m, d)
    out = np.empty((A.shape[0], m, m))
    for a in range(m):
        for b in range(a, m):
            out[:, a, b] = out[:, b, a] = _row_products(A, A @ inverse[a, :, b])
    return out


def _row_products(A, B) -> np.ndarray:
    """a·b of every row."""
    if sparse.issparse(A):
        return np.asarray(A.multiply(B).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, B)
