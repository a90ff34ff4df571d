"""``without`` and ``with_rows``, for the estimators that have them."""

from __future__ import annotations

from typing import Any

from ...core.types import ArrayLike, MatrixLike


class ForgettingMixin:
    """Models of changed data, from the model and the data of its fit."""

    def without(
        self, rows: ArrayLike, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Any:
        """The model of X and y without some ``rows``, numbers counted from 0 or a mask.

        X, y and sample_weight are the data of the fit; other data are refused.  The model itself
        stays as it is.  A search gives the estimator it tuned, with the C that it chose.
        """
        from .changed import without

        return without(self, rows, X, y, sample_weight)

    def with_rows(
        self,
        X_new: MatrixLike,
        y_new: ArrayLike,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        new_weight: ArrayLike | None = None,
    ) -> Any:
        """The model of X and y, the data of the fit, and of some rows more."""
        from .changed import NewRows, with_rows

        return with_rows(self, NewRows(X_new, y_new, new_weight), X, y, sample_weight)
