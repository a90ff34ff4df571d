"""Kernel ridge regression: the "other" normal equations with K in place of XXᵀ.

    min over f   ½ Σ s_i ‖f(x_i) − y_i‖² + ½ α‖f‖²,      f = Σ_j k(·, x_j) u_j
    (K + α S⁻¹) u = y      solved as      (√S K √S + αI) z = √S y,   u = √S z

A Cholesky factor, in float32 where α is large enough to allow it, corrected by refinement with
K in float64; eigenvalues where K + αI is singular in float64, and for all α of a path at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm

from ...certify.normal_equations import NormalEquations, System
from .factorisation import Cholesky, Singular, Spectrum, spectrum_of_gram
from .least_squares import MIN_SINGLE_SIZE, no
from .refine import best_of, refined
from .ridge_path import LeaveOneOut, left_out

# The largest ‖K‖/α for which a float32 factor is worth trying.
MAX_SINGLE_CONDITION = 1e6


class Fit(NamedTuple):
    """u (n, targets) and the proof."""

    u: np.ndarray
    certificate: NormalEquations


class KernelSystem:
    """√S K √S, both triangles; rows of weight zero take no part.  Overwrites K."""

    def __init__(self, K: np.ndarray, Y: np.ndarray, weight):
        self.root = None if weight is None else np.sqrt(weight)[:, None]
        self.B = np.array(Y, dtype=np.float64, order="F")
        self.K = K
        if self.root is not None:
            K *= self.root
            K *= self.root.T
            self.B *= self.root
        self.length = float(np.linalg.norm(self.B)) or 1.0

    def times(self, Z) -> np.ndarray:
        """√S K √S Z; one triangle is read."""
        return dsymm(1.0, self.K.T, np.asfortranarray(Z), lower=1)

    def factors(self, alpha: float):
        """Factors of K + αI, the quickest first and the surest last."""
        n = len(self.K)
        mild = alpha > 0 and float(np.linalg.norm(self.K)) < MAX_SINGLE_CONDITION * alpha
        precisions = (np.float32, np.float64) if n >= MIN_SINGLE_SIZE and mild else (np.float64,)
        for dtype in precisions:
            try:
                M: np.ndarray = np.array(self.K.T, dtype=dtype, order="F")
                yield Cholesky(M, alpha, M.diagonal() <= 0 if alpha == 0 else no(n))
            except Singular:
                continue
        spectrum = self.spectrum()
        spectrum.alpha = alpha
        yield spectrum

    def spectrum(self) -> Spectrum:
        return spectrum_of_gram(np.array(self.K.T, order="F"))

    def solve(self, alpha: float, factors=None) -> Fit:
        def attempt(factor):
            def look(Z):
                left = self.B - self.times(Z) - alpha * Z
                return left, self.size(left, factor), None

            return refined(factor, self.B, look)

        factor, found = best_of(factors or self.factors(alpha), attempt)
        u = found.X if self.root is None else self.root * found.X
        proof = self.certify(found.X, found.left, alpha, factor, found.steps)
        return Fit(np.ascontiguousarray(u), proof)

    def size(self, left, factor) -> float:
        """The largest residual, of what K can do something about, relative to ‖y‖."""
        return float(np.abs(factor.reachable(left)).max(initial=0.0)) / self.length

    def certify(self, Z, left, alpha: float, factor, steps: int) -> NormalEquations:
        """Objective, residual and the bound ½ ρᵀKρ/α of what is to be gained, ρ the residual."""
        n, k = self.B.shape
        misfit = left + alpha * Z
        norm = float(np.vdot(Z, self.B - misfit))
        excess = 0.5 * float(np.vdot(left, self.times(left))) / alpha if alpha > 0 else np.nan
        size = n if self.root is None else int((self.root > 0).sum())
        told = System("rows", factor.name, size, min(size, factor.rank), factor.condition, steps, 0)
        return NormalEquations(
            objective=0.5 * float(np.vdot(misfit, misfit)) + 0.5 * alpha * norm,
            relative_residual=self.size(left, factor),
            excess=max(0.0, excess) if alpha > 0 else 0.5 * float(np.vdot(left, left)),
            null_objective=0.5 * self.length**2,
            alpha=alpha,
            problem=f"kernel ridge, {n} rows, {k} targets, alpha={alpha:g}",
            **{name: value for name, value in told._asdict().items() if name != "least"},
        )

    def leave_one_out(self, targets, alphas, spectrum: Spectrum, keep=True) -> LeaveOneOut:
        """Every row's error without itself: u_i / P_ii with P = (K + αI)⁻¹; NaN without weight."""
        n = len(self.B)
        whole, T = slice(0, n), targets.block(slice(0, n))
        root = np.ones((n, 1)) if self.root is None else self.root
        beta, s = spectrum.V.T @ self.B, (root**2)[:, 0]
        squared, wrong, scores = [], [], []
        for alpha in alphas:
            E = left_out(spectrum.V, spectrum.values, beta, self.B, np.zeros(n), alpha)
            E = E / np.where(root > 0, root, 1.0)
            squared.append(float(s @ (E * E).sum(axis=1) / s.sum()))
            if hasattr(targets, "mistakes_of"):
                wrong.append(float(s @ targets.mistakes_of(whole, T - E) / s.sum()))
            if keep:  # a row without weight is in no system, and its score in none of these
                scores.append(np.where(root > 0, T - E, np.nan))
        return LeaveOneOut(
            np.asarray(alphas, dtype=float), np.array(squared),
            np.array(wrong) if wrong else None, np.array(scores) if keep else None,
        )  # fmt: skip
