"""LeastSquaresClassifier and FisherDiscriminant on Dask: sums over parts, then small systems."""

from __future__ import annotations

import numpy as np

from ..estimators import fisher, least_squares
from ..estimators.least_squares import ENOUGH
from ..estimators.validation import at_least_zero, one_of
from ..parts.closed_forms import solve_fisher, solve_least_squares
from ..solve.threads import one_blas_thread
from .common import OnDask
from .inputs import Data


class LeastSquaresClassifier(OnDask, least_squares.LeastSquaresClassifier):
    """``maxmargin.LeastSquaresClassifier`` on a cluster; ``alphas`` is not offered."""

    def _fit_parts(self, data: Data) -> None:
        if self.alphas is not None:
            raise ValueError(
                f"alphas={self.alphas!r} asks for leave-one-out errors, which need all rows in "
                "one place. Give one alpha, or choose it on validation rows."
            )
        alpha = at_least_zero("alpha", self.alpha)
        with one_blas_thread():
            k, free = len(data.classes), bool(self.fit_intercept)
            found = solve_least_squares(data.parts, k, alpha, free)
        self.alpha_ = alpha
        self.coef_, self.intercept_ = found.coef, found.intercept
        self.certificate_ = found.certificate

    def _farewell(self) -> None:
        if not self.certificate_.holds(ENOUGH):
            self._warn()


class FisherDiscriminant(OnDask, fisher.FisherDiscriminant):
    """``maxmargin.FisherDiscriminant`` on a cluster; ``shrinkage="auto"`` is not offered."""

    def _fit_parts(self, data: Data) -> None:
        one_of("covariance", self.covariance, ["within", "none"])
        one_of("threshold", self.threshold, ["priors", "midpoint"])
        if self.shrinkage == "auto":
            raise ValueError(
                "shrinkage='auto' needs whole classes in one place. Give it a number from 0 to 1."
            )
        given = None
        if self.priors is not None:
            given = self._check_priors(np.zeros(0, dtype=int), None)
        most = self._check_components(np.empty((0, data.parts.n_features)))
        self._check_shrinkage(None)
        plain, shrinkage = self.covariance == "none", float(self.shrinkage or 0.0)
        with one_blas_thread():
            found, means, share = solve_fisher(
                data.parts, len(data.classes), given, plain, shrinkage, most
            )
        self.priors_, self.means_, self.xbar_ = share, means, share @ means
        self._keep(found, (means - self.xbar_).T)

    def predict_proba(self, X):
        return self._lazily(super().predict_proba, X, np.float64)

    def predict_log_proba(self, X):
        return self._lazily(super().predict_log_proba, X, np.float64)

    def transform(self, X):
        """Coordinates along the discriminant directions, at once for data in memory."""
        return super().transform(X)
