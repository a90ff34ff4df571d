"""Kernel ridge regression: the "other" normal equations with K in place of XXᵀ.

    min over f   ½ Σ s_i ‖f(x_i) − y_i‖² + ½ α‖f‖²,      f = Σ_j k(·, x_j) u_j
    (K + α S⁻¹) u = y      solved as      (√S K √S + αI) z = √S y,   u = √S z

A Cholesky factor, in float32 where α is large enough to allow it, corrected by refinement with
K in float64; eigenvalues where K + αI is singular in float64, and for all α of a path at once.
Where float64 leaves more than is asked, refinement goes on with residuals in twice its digits, and
few rows are solved in many (``exact_ridge.py``).

For v = αu the dual  Σ v_i y_i − ½ Σ v_i²/s_i − vᵀKv/2α  falls short of the objective by exactly
½‖ρ‖², ρ = √S (y − Ku − α S⁻¹u) the residual: whatever K is, if only it is positive semidefinite.
Coefficients that say the function but do not solve the equations are given the residual that would
leave as much, √(2 excess).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm

from ...certify.normal_equations import FEW, UNDERFLOW, NormalEquations, System
from ...kernels.enclosed import STEPS, Enclosed
from ...rows.double_double import OUTWARDS, Pair, U, gamma, over, plus, single, times
from .exact_ridge import ExactRidge, digits_for
from .factorisation import Cholesky, Singular, Spectrum, spectrum_of_gram
from .least_squares import MIN_SINGLE_SIZE, no
from .refine import best_of, refined
from .ridge_path import LeaveOneOut, left_out

# A residual that needs no more digits; steps of refinement with all factors.
ENOUGH, MAX_STEPS = 1e-9, 40
# A residual with which a fit is called proved: for less, other coefficients are sought.
PROVED = 1e-6
# Said where that is so.
COEFFICIENT_LIMIT = "the exact coefficients are known, but no float64 found near them are better"
NO_COEFFICIENTS = f"{COEFFICIENT_LIMIT}: none at all are within {PROVED:g}, which is proved"
# The largest ‖K‖/α for which a float32 factor is worth trying.
MAX_SINGLE_CONDITION = 1e6


class RidgeSolution(NamedTuple):
    """u (n, targets) and the proof."""

    u: np.ndarray
    certificate: NormalEquations


def _rank(proof: NormalEquations) -> tuple[bool, float]:
    """What is proved comes first, then what is off by least."""
    return not proof.holds(PROVED), proof.relative_residual


class KernelSystem:
    """√S K √S, both triangles; rows of weight zero take no part.  Overwrites K.

    ``off``: how far the values of K may be from the true ones, as a share of their bounds b_i b_j
    (``reach``); ``exact`` gives sums K u in twice the digits with bounds on their errors, and
    ``digits`` all of K in so many digits, or None where it is too large for that.
    """

    def __init__(
        self,
        K: np.ndarray,
        Y: np.ndarray,
        weight,
        off: float = 0.0,
        reach=None,
        exact=None,
        digits=None,
    ):
        self.off, self.exact, self.digits = off, exact, digits
        largest = 1.0 if reach is not None else np.sqrt(np.abs(K).max(initial=0.0))
        self.reach = np.full(len(K), largest) if reach is None else reach
        self.weight, self.Y = weight, Y
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

    def solve(self, alpha: float, factors=None) -> RidgeSolution:
        def attempt(factor):
            def look(Z):
                left = self.B - self.times(Z) - alpha * Z
                return left, self.size(left, factor), None

            return refined(factor, self.B, look)

        factor, found = best_of(factors or self.factors(alpha), attempt)
        u = np.ascontiguousarray(found.X if self.root is None else self.root * found.X)
        left, doubt = self.residual(u, alpha)
        steps = found.steps
        while self.worst(left, doubt, factor) > ENOUGH and steps < MAX_STEPS:
            # √S u is what the factor solves for; its residual is known better than it was.
            step = factor.solve(np.asfortranarray(left))
            better = u + (step if self.root is None else self.root * step)
            now, unsure = self.residual(better, alpha, sharp=True)
            if not self.worst(now, unsure, factor) < 0.5 * self.worst(left, doubt, factor):
                break
            u, left, doubt, steps = better, now, unsure, steps + 1
        if alpha > 0.0 and self.worst(left, doubt, factor) > ENOUGH and self.digits is not None:
            return self._in_many_digits(u, left, doubt, alpha, factor, steps)
        return RidgeSolution(u, self.certify(u, left, doubt, alpha, factor, steps))

    def _in_many_digits(self, u, left, doubt, alpha: float, factor, steps: int) -> RidgeSolution:
        """What the exact solution gives, rounded; or no coefficients, where all else is worse."""
        exact = self._exactly(alpha)
        some = [] if exact is None else exact.rounded(ENOUGH)
        for tried in (np.zeros_like(u), *some) if some else ():
            now, unsure = self.residual(tried, alpha, sharp=True)
            if self.worst(now, unsure, factor) < self.worst(left, doubt, factor):
                u, left, doubt = tried, now, unsure
        found = RidgeSolution(u, self.certify(u, left, doubt, alpha, factor, steps))
        if exact is not None and not found.certificate.holds(PROVED):
            found = self._function(exact, some, found)
        if len(some) > 1 and not found.certificate.holds(PROVED):  # rounded together, too
            assert exact is not None
            limit = NO_COEFFICIENTS if exact.no_floats(PROVED) else COEFFICIENT_LIMIT
            method = f"{found.certificate.method}; {limit}"
            found = found._replace(certificate=replace(found.certificate, method=method))
        return found

    def _exactly(self, alpha: float) -> ExactRidge | None:
        """The equations in many digits, or None where there are none, or too many."""
        count = digits_for(float(self.reach.max(initial=0.0)) ** 2, alpha)
        if (K := self.digits(count)) is None:
            return None
        try:
            return ExactRidge(K, count, self.Y, self.weight, alpha, self.length)
        except ArithmeticError:  # K is not positive semidefinite, or no number
            return None

    def _function(self, exact: ExactRidge, some, found: RidgeSolution) -> RidgeSolution:
        """The coefficients, of these and of others, whose function is proved best."""
        for u in chain((found.u, *some), exact.of_the_same_function(PROVED)):
            proof = exact.proof(u, found.certificate)
            if _rank(proof) < _rank(found.certificate):
                found = RidgeSolution(u, proof)
            if found.certificate.relative_residual <= PROVED:
                break
        return found

    def prove(self, u, alpha: float) -> NormalEquations:
        """The certificate of these coefficients, whoever found them."""
        left, doubt = self.residual(u, alpha)
        found = self.certify(u, left, doubt, alpha, next(self.factors(alpha)), 0)
        if alpha == 0.0 or found.holds(PROVED) or self.digits is None:
            return found
        exact = self._exactly(alpha)
        sharper = found if exact is None else exact.proof(u, found)
        return min(found, sharper, key=_rank)

    def residual(self, u, alpha: float, sharp: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """√S (y − Ku − α S⁻¹ u), and bounds on its errors; sharp where rounding is in the way."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not sharp:
                left, doubt = self._residual(u, alpha)
                most = float((np.abs(left) + doubt).max(initial=0.0))
                if self.exact is None or most <= ENOUGH * self.length:
                    return left, doubt
            found = None if self.exact is None else self.exact(u)
            return self._residual(u, alpha) if found is None else self._sharp(u, alpha, found)

    def _residual(self, u, alpha: float):
        """In float64: every value of K is known up to a share, and a sum is rounded n times."""
        n, root = len(u), 1.0 if self.root is None else self.root
        Z = u / np.where(root > 0, root, 1.0) if self.root is not None else u
        left = self.B - self.times(Z) - alpha * Z
        whole = self.reach[:, None] * (self.reach @ np.abs(u))
        size = np.abs(self.B) + root * whole + 2.0 * alpha * np.abs(Z)
        doubt = gamma(n + FEW) * size + self.off * root * whole
        return left, OUTWARDS * doubt + UNDERFLOW

    def _sharp(self, u, alpha: float, found: Enclosed):
        """The same from sums in twice the digits."""
        ridge = times(Pair(u, np.zeros_like(u)), single(alpha))
        if self.weight is not None:
            s = np.where(self.weight > 0, self.weight, 1.0)[:, None]
            ridge = over(ridge, Pair(s, np.zeros_like(s)))
        first = plus(Pair(np.asarray(self.Y, dtype=np.float64), np.zeros_like(u)),
                     Pair(-found.hi, -found.lo))  # fmt: skip
        left = plus(first, Pair(-ridge.hi, -ridge.lo)).value
        size = np.abs(self.Y) + np.abs(found.hi) + np.abs(ridge.hi)
        doubt = found.error + STEPS * size + 2.0 * U * np.abs(left)
        root = 1.0 if self.root is None else self.root
        return root * left, OUTWARDS * root * (doubt + 2.0 * U * np.abs(left)) + UNDERFLOW

    def worst(self, left, doubt, factor) -> float:
        """The largest residual, with what rounding may hide of it, relative to ‖y‖."""
        most = float((np.abs(factor.reachable(left)) + doubt).max(initial=0.0)) / self.length
        return most if most < np.inf else np.inf

    def size(self, left, factor) -> float:
        """The largest residual, of what K can do something about, relative to ‖y‖."""
        return float(np.abs(factor.reachable(left)).max(initial=0.0)) / self.length

    def certify(self, u, left, doubt, alpha: float, factor, steps: int) -> NormalEquations:
        """Objective, residual and the bound ½‖ρ‖² of what is to be gained, ρ the residual."""
        n, k = self.B.shape
        root = 1.0 if self.root is None else self.root
        with np.errstate(over="ignore", invalid="ignore"):
            misfit = left + alpha * (u if self.root is None else u / np.where(root > 0, root, 1.0))
            fitted = self.B - misfit  # √S K u
            norm = float(np.vdot(u, fitted / np.where(root > 0, root, 1.0)))
            objective = 0.5 * float(np.vdot(misfit, misfit)) + 0.5 * alpha * norm
            worst = np.abs(left) + doubt
            excess = OUTWARDS * 0.5 * float(np.vdot(worst, worst)) + UNDERFLOW
            if alpha == 0.0:  # no dual without a ridge; but no objective is below zero
                size = np.abs(misfit) + doubt
                excess = OUTWARDS * 0.5 * float(np.vdot(size, size)) + UNDERFLOW
        residual = self.worst(left, doubt, factor)
        sure = residual + excess + abs(objective) < np.inf
        size = n if self.root is None else int((self.root > 0).sum())
        told = System("rows", factor.name, size, min(size, factor.rank), factor.condition, steps, 0)
        return NormalEquations(
            objective=objective,
            relative_residual=residual if sure else np.inf,
            excess=excess if sure else np.inf,
            null_objective=0.5 * self.length**2,
            alpha=alpha,
            problem=f"kernel ridge, {n} rows, {k} targets, alpha={alpha:g}",
            rounding=float(doubt.max(initial=0.0)) / self.length if sure else np.inf,
            **told.told(),
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
