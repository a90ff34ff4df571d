"""Factorisations of M + α I, for M = AᵀA or AAᵀ: what solves a system, once or many times.

``Cholesky`` scales M to unit diagonal first, which makes it indifferent to the units of the
features.  ``Spectrum`` knows all eigenvalues, hence the rank, and serves every α at once.

A Cholesky factor of M − σI that exists proves that M's smallest eigenvalue is at least σ − δ, if M
is known and factored to within δ.  [Rump 2006]
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import eigh, lapack, qr, svd

from ...rows.double_double import SINGLE_U, U, gamma

# What is taken from a unit diagonal to prove that no eigenvalue is smaller.
PROOF_SHIFT = 1e-9
# The same of a factor in float32, as a multiple of what rounding may have done to it.
SINGLE_PROOF_SHIFT = 1.25
# Columns of a matrix looked at together when its norm is taken.
NORM_BLOCK_COLUMNS = 256


class Singular(Exception):
    """The factorisation broke down: M is not positive definite in this precision."""


class Cholesky:
    """D (M + αI) D = L Lᵀ with unit diagonal; overwrites M.  ``dead`` unknowns stay zero.

    ``doubt`` bounds how far D M D is from the true one; ``least`` is then a lower bound of the
    smallest eigenvalue of that, or zero.
    """

    def __init__(self, M: np.ndarray, alpha: float, dead: np.ndarray, doubt: float = np.inf):
        single = M.dtype == np.float32
        self.name = "Cholesky in float32" if single else "Cholesky"
        self.rank = int((~dead).sum())
        diagonal = M.diagonal().astype(np.float64) + alpha
        alive = ~dead & (diagonal > 0)
        self.D = np.zeros(len(dead))
        self.D[alive] = 1.0 / np.sqrt(diagonal[alive])
        with np.errstate(over="ignore", invalid="ignore"):  # in float32; the norm tells
            scale = self.D.astype(M.dtype)
            M *= scale
            M *= scale[:, None]
            np.fill_diagonal(M, 1.0)  # α is in it, to full precision
            norm = _one_norm(M)
        if not np.isfinite(norm):
            raise Singular
        self.least = _smallest_eigenvalue(M, doubt)
        potrf, pocon = (lapack.spotrf, lapack.spocon) if single else (lapack.dpotrf, lapack.dpocon)
        self.L, failed = potrf(M, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise Singular
        rcond, _ = pocon(self.L, norm, uplo="L")
        self.condition = 1.0 / max(float(rcond), np.finfo(np.float64).tiny)
        self._potrs = lapack.spotrs if single else lapack.dpotrs

    def reachable(self, B: np.ndarray) -> np.ndarray:
        """All of B: M + αI has full rank."""
        return B

    def solve(self, B: np.ndarray) -> np.ndarray:
        """(M + αI)⁻¹ B."""
        D = self.D[:, None]
        size = np.abs(B).max(initial=0.0) or 1.0  # keeps small residuals away from underflow
        right = np.asfortranarray((D * (B / size)), dtype=self.L.dtype)
        x, _ = self._potrs(self.L, right, lower=1, overwrite_b=1)
        return D * x.astype(np.float64) * size


def _smallest_eigenvalue(M: np.ndarray, doubt: float) -> float:
    """A lower bound, or zero, for any matrix within ``doubt`` of M, which has unit diagonal."""
    single = M.dtype == np.float32
    doubt += len(M) * gamma(len(M) + 2, SINGLE_U if single else U)
    shift = SINGLE_PROOF_SHIFT * doubt if single else PROOF_SHIFT
    if not doubt < shift < 1.0:
        return 0.0
    shifted = M.copy(order="F")
    np.fill_diagonal(shifted, 1.0 - shift)
    potrf = lapack.spotrf if single else lapack.dpotrf
    _, failed = potrf(shifted, lower=1, clean=0, overwrite_a=1)
    return 0.0 if failed else shift - doubt


def _one_norm(M: np.ndarray) -> float:
    """The largest column sum of |M|, M symmetric with its lower triangle given."""
    total = np.zeros(len(M))
    for start in range(0, len(M), NORM_BLOCK_COLUMNS):
        end = min(len(M), start + NORM_BLOCK_COLUMNS)
        corner, below = np.abs(np.tril(M[start:end, start:end])), np.abs(M[end:, start:end])
        total[start:end] += corner.sum(axis=0) + corner.sum(axis=1) + below.sum(axis=0)
        total[end:] += below.sum(axis=1)
    return float((total - np.abs(M.diagonal())).max())


class Spectrum:
    """M = V diag(λ) Vᵀ with the eigenvalues above rounding only; ``alpha`` may be changed."""

    least = 0.0  # nothing is proved about the smallest of them

    def __init__(self, V: np.ndarray, values: np.ndarray, limit: float, name: str):
        keep = values > limit
        self.V, self.values = V[:, keep], values[keep]
        # A ridge lifts the others too: known all, they leave no space beside them.
        self._all = (V, np.maximum(values, 0.0)) if V.shape[0] == V.shape[1] else None
        self.name = name
        self.rank = int(keep.sum())
        self.alpha = 0.0

    @property
    def condition(self) -> float:
        if self.rank == 0:  # there is nothing to solve for
            return 1.0
        return float((self.values.max() + self.alpha) / (self.values.min() + self.alpha))

    def solve(self, B: np.ndarray) -> np.ndarray:
        """(M + αI)⁻¹ B; for α = 0 the pseudo-inverse."""
        if self.alpha > 0 and self._all is not None:
            V, values = self._all
            return V @ ((V.T @ B) / (values + self.alpha)[:, None])
        beta = self.V.T @ B
        X = self.V @ (beta / (self.values + self.alpha)[:, None])
        return X + (B - self.V @ beta) / self.alpha if self.alpha > 0 else X

    def reachable(self, B: np.ndarray) -> np.ndarray:
        """The part of B that some M X can equal."""
        return B if self.alpha > 0 else self.V @ (self.V.T @ B)


def spectrum_of_gram(M: np.ndarray) -> Spectrum:
    """Eigenvalues of M itself: known to rounding of the largest, hence √rounding in A."""
    values, V = eigh(M, lower=True, overwrite_a=True, check_finite=False)
    limit = len(M) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    return Spectrum(V, values, limit, "eigenvalues")


def spectrum_of_blocks(blocks: Iterable[np.ndarray], width: int, length: int) -> Spectrum:
    """Of M = BᵀB without forming it: QR of the blocks of B, one below the other, SVD of R."""
    R = np.zeros((0, width))
    for block in blocks:
        R = qr(np.vstack([R, block]), mode="r", overwrite_a=True, check_finite=False)[0][:width]
    _, s, Vt = svd(R, full_matrices=False, check_finite=False)
    limit = (max(width, length) * np.finfo(np.float64).eps * float(s.max(initial=0.0))) ** 2
    return Spectrum(Vt.T, s**2, limit, "QR and SVD")
