"""The estimators of ``maxmargin`` on Dask: the same parameters, optimum and certificate."""

from __future__ import annotations

from contextlib import closing
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.solve.closed_form.ridge_path import LeaveOneOut
from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ...models.perceptron import perceptron
from ...models.regression import fisher, least_squares, logistic_regression
from ...models.svm import linear_svm
from ...models.validation import check_alphas
from ..solve.closed_form.ridge_path import leave_one_out_parts
from .common import OnDask
from .inputs import is_dask, spread_out
from .optional_dask import some_client


class LinearSVM(OnDask, linear_svm.LinearSVM):
    """``maxmargin.LinearSVM`` on a cluster: the same parameters, optimum and certificate.

    At C = ∞ the few rows that decide the hard margin travel to the driver.  With
    ``warm_start=True`` rows and multipliers stay on the cluster after a fit, until the model is
    gone or is fitted to other data, and the next fit to the same collections goes on from them,
    with another ``C`` or ``tol`` too.
    """

    _goes_on = True


class LogisticRegression(OnDask, logistic_regression.LogisticRegression):
    """``maxmargin.LogisticRegression`` on a cluster: the same optimum and certificate.

    A sample of the rows of bounded size is fetched once: its optimum is the start, its Hessian
    the model that all steps share.
    """


class LeastSquaresClassifier(OnDask, least_squares.LeastSquaresClassifier):
    """``maxmargin.LeastSquaresClassifier`` on a cluster; ``alphas`` for up to 2,000 features."""

    def leave_one_out(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        alphas: ArrayLike | None = None,
    ) -> LeaveOneOut:
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


class FisherDiscriminant(OnDask, fisher.FisherDiscriminant):
    """``maxmargin.FisherDiscriminant`` on a cluster."""

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Coordinates along the directions; for a Dask collection a Dask array."""
        return self._lazily(super().transform, X)


class Perceptron(OnDask, perceptron.Perceptron):
    """``maxmargin.Perceptron`` on a cluster: the updates of one machine, part after part.

    The rule is sequential, so parts do not work side by side.  ``order="cycle"`` makes exactly
    the updates of one machine; ``"shuffle"`` shuffles the rows of every part.
    """

    _weigh_classes = False

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:  # type: ignore[override]
        """Fit to a Dask array or dataframe X and labels y; there are no weights of rows."""
        return super().fit(X, y)
