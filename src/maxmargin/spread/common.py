"""What all estimators on Dask share: fit in words, lazy predictions."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.validation import all_or_nothing
from .extra import some_client
from .inputs import Data, is_dask, spread_out

# What the estimators in memory know of every training row, and these do not.
PER_ROW = (
    "alpha_", "support_", "support_kind_", "slack_", "_codes",
    "_alpha_rows", "_alpha_values", "_alpha_machines",
)  # fmt: skip


class OnDask:
    """Fits Dask arrays and dataframes; predicts lazily for Dask, at once for anything else.

    Per-row attributes (``alpha_``, ``support_``, ``support_kind_``, ``slack_``) stay with the
    partitions and are not offered.  ``traffic_`` counts what was sent, ``where_`` says where.
    """

    _weigh_classes = True

    def fit(self, X, y, sample_weight=None):
        """Fit to a Dask array or dataframe X and labels y, on the current client's cluster.

        Without a client a LocalCluster is started, and closed when the fit is done.
        """
        with all_or_nothing(self), some_client() as (client, where):
            data = spread_out(self, client, X, y, sample_weight, self._weigh_classes)
            with closing(data.parts):
                self._introduce(data)
                self.where_ = f"{data.parts.n_parts} parts on {where}"
                self._fit_parts(data)
                self.traffic_ = data.parts.traffic
        self._farewell()
        return self

    def _introduce(self, data: Data) -> None:
        for name in (*PER_ROW, "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.classes_, self.n_features_in_ = data.classes, data.parts.n_features
        if data.names is not None:
            self.feature_names_in_ = data.names

    def _fit_parts(self, data: Data) -> None:
        raise NotImplementedError

    def _farewell(self) -> None:
        """Warnings, after all is settled."""

    def decision_function(self, X):
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().decision_function, X, np.float64)  # type: ignore[misc]

    def predict(self, X):
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().predict, X, self.classes_.dtype)  # type: ignore[misc]

    def _lazily(self, method: Any, X, dtype):
        check_is_fitted(self)
        if not is_dask(X):
            return method(X)
        import dask.array as da

        X = X.to_dask_array() if hasattr(X, "to_dask_array") else X
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        # A small copy travels with every block, not what the fit has kept.
        plain = _Plain(self, method.__name__)
        wide = plain.width()
        if wide == 1:
            return da.map_blocks(plain, X, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
        meta = np.empty((0, 0), dtype)
        return da.map_blocks(plain, X, dtype=dtype, chunks=(X.chunks[0], (wide,)), meta=meta)


class _Plain:
    """A fitted model's method for one block of rows, without the rest of the model."""

    def __init__(self, model, method: str):
        self.base = next(base for base in type(model).__mro__ if not issubclass(base, OnDask))
        kept = ("coef_", "intercept_", "classes_", "n_features_in_")
        self.state = {name: getattr(model, name) for name in kept} | model.get_params(deep=False)
        self.extra = {
            name: value
            for name in ("means_", "xbar_", "priors_", "scalings_", "_variance", "_log_priors")
            if (value := model.__dict__.get(name)) is not None
        }
        self.method = method

    def width(self) -> int:
        """Columns of the answer."""
        classes = len(self.state["classes_"])
        scores = self.method == "decision_function" and classes == 2
        return 1 if self.method == "predict" or scores else classes

    def __call__(self, X):
        from scipy import sparse

        if X.shape[0] == 0:
            shape = (0,) if self.width() == 1 else (0, self.width())
            kind = self.state["classes_"].dtype if self.method == "predict" else np.float64
            return np.empty(shape, kind)
        model = self.base.__new__(self.base)
        vars(model).update(self.state | self.extra)
        X = X if sparse.issparse(X) else np.asarray(X)
        return getattr(model, self.method)(X)
