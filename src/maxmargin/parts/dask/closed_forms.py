"""LeastSquaresClassifier and FisherDiscriminant on Dask: sums over parts, then small systems."""

from __future__ import annotations

from contextlib import closing

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.solve.closed_form.ridge_path import LeaveOneOut
from ...core.solve.threads import one_blas_thread
from ...models.regression import fisher, least_squares
from ...models.regression.least_squares import ENOUGH
from ...models.validation import at_least_zero, check_alphas, one_of
from ..solve.closed_forms import solve_least_squares
from ..solve.fisher import solve_fisher
from ..solve.ridge_path import leave_one_out_parts, solve_ridge_path
from .common import OnDask
from .inputs import DaskData, is_dask, spread_out
from .optional_dask import some_client


class LeastSquaresClassifier(OnDask, least_squares.LeastSquaresClassifier):
    """``maxmargin.LeastSquaresClassifier`` on a cluster; ``alphas`` for up to 2,000 features."""

    def _fit_parts(self, data: DaskData) -> None:
        alpha = at_least_zero("alpha", self.alpha)
        k, free = len(data.classes), bool(self.fit_intercept)
        self.__dict__.pop("path_", None)
        with one_blas_thread():
            if self.alphas is None:
                found = solve_least_squares(data.parts, k, alpha, free)
            else:
                alphas = check_alphas(self.alphas)
                alpha, found, self.path_ = solve_ridge_path(data.parts, k, alphas, free)
        self.alpha_ = alpha
        self.coef_, self.intercept_ = found.coef, found.intercept
        self.certificate_ = found.certificate

    def leave_one_out(self, X, y, sample_weight=None, alphas=None) -> LeaveOneOut:
        """As in memory; of Dask collections, without the ``scores`` of single rows."""
        if not is_dask(X):
            return super().leave_one_out(X, y, sample_weight, alphas)
        check_is_fitted(self)
        alphas = np.array([self.alpha_]) if alphas is None else check_alphas(alphas)
        self._known_rows(X)
        with some_client() as (client, _):
            data = spread_out(self, client, X, y, sample_weight)
            if not np.array_equal(data.classes, self.classes_):
                raise ValueError(
                    f"leave_one_out is about the training rows, of classes "
                    f"{self.classes_.tolist()}, but y holds {data.classes.tolist()}."
                )
            with closing(data.parts), one_blas_thread():
                k, free = len(data.classes), bool(self.fit_intercept)
                return leave_one_out_parts(data.parts, k, alphas, free)

    def _farewell(self) -> None:
        if not self.certificate_.holds(ENOUGH):
            self._warn()


class FisherDiscriminant(OnDask, fisher.FisherDiscriminant):
    """``maxmargin.FisherDiscriminant`` on a cluster."""

    def _fit_parts(self, data: DaskData) -> None:
        one_of("covariance", self.covariance, ["within", "none"])
        one_of("threshold", self.threshold, ["priors", "midpoint"])
        given = None
        if self.priors is not None:
            given = self._check_priors(np.zeros(0, dtype=int), None)
        most = self._check_components(np.empty((0, data.parts.n_features)))
        self._check_shrinkage(None if np.array_equal(data.mass, data.counts) else data.mass)
        plain, shrinkage = self.covariance == "none", self.shrinkage or 0.0
        with one_blas_thread():
            found, means, share = solve_fisher(
                data.parts, len(data.classes), given, plain, shrinkage, most
            )
        self.priors_, self.means_, self.xbar_ = share, means, share @ means
        self._keep(found, (means - self.xbar_).T)

    def predict_proba(self, X):
        return self._lazily(super().predict_proba, X)

    def predict_log_proba(self, X):
        return self._lazily(super().predict_log_proba, X)

    def transform(self, X):
        """Coordinates along the directions; for a Dask collection a Dask array."""
        return self._lazily(super().transform, X)
