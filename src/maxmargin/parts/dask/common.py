"""What all estimators on Dask share: fit in words, lazy predictions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ...core.types import ArrayLike, MatrixLike
from ...models.validation import all_or_nothing
from ..fit import OF_EVERY_ROW, check_possible, fit_estimator, warn
from .inputs import DaskData, is_dask, labels, matched, numbers, spread_out, whole_rows
from .optional_dask import need_dask, some_client
from .scoring import Judge, hear, judge_of, verdict
from .traffic import Traffic

# What only these know, and what a block of rows need not be told of the fit.
CLUSTER_ATTRIBUTES = ("where_", "traffic_", "_kept")
FIT_ATTRIBUTES = ("certificate_", "history_", "path_")


class KeptParts(NamedTuple):
    """Parts for the next fit, and the name of the data they hold."""

    name: str
    data: DaskData


def _in_memory(method: str) -> Callable[[Any], bool]:
    """Whether the estimator offers a method in memory, with its parameters."""
    return lambda model: hasattr(super(OnDask, model), method)


class OnDask:
    """Fits Dask arrays and dataframes; predicts lazily for Dask, at once for anything else.

    Per-row attributes (``alpha_``, ``support_``, ``support_kind_``, ``slack_``) stay with the
    partitions and are not offered.  ``traffic_`` counts what was sent, ``where_`` says where.
    """

    _weigh_classes = True
    _goes_on = False  # whether a warm start needs what the parts remember
    warm_start: bool
    class_weight: Any

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to a Dask array or dataframe X and labels y, on the current client's cluster.

        Without a client a LocalCluster is started, and closed when the fit is done.
        """
        check_possible(self, DaskData.where)
        with all_or_nothing(self), some_client() as (client, where):
            data = self._spread_out(client, X, y, sample_weight)
            # What a later fit goes on from stays with the model.
            with nullcontext() if "_kept" in vars(self) else closing(data.parts):
                self.where_ = f"{data.parts.n_parts} parts on {where}"
                try:
                    result = fit_estimator(self, data)
                except KeyboardInterrupt:
                    raise KeyboardInterrupt(
                        f"{type(self).__name__} was interrupted before it had a model to keep; it "
                        "is as it was before this fit."
                    ) from None
                self.traffic_ = data.parts.traffic
        warn(self, result)
        return self

    def _spread_out(self, client, X, y, sample_weight) -> DaskData:
        """The parts of an earlier fit, with their states, where ``warm_start`` goes on from
        them; else new ones."""
        kept: KeptParts | None = self.__dict__.pop("_kept", None)
        if not (self._goes_on and self.warm_start):
            return spread_out(self, client, X, y, sample_weight, self._weigh_classes)
        dask, _ = need_dask()
        column = getattr(self, "_bias_column", False)  # what parts know of x is not so of (x, 1)
        name = dask.base.tokenize(X, y, sample_weight, self.class_weight, column)
        if kept is not None and kept.name == name and kept.data.parts.alive(client):
            data = kept.data
            data.parts.traffic = Traffic(data.parts.n_parts)
        else:
            data = spread_out(self, client, X, y, sample_weight, self._weigh_classes)
        self._kept = KeptParts(name, data)
        return data

    def __getattr__(self, name: str):
        """Only asked for what is not there."""
        kind = type(self).__name__
        if name in OF_EVERY_ROW and "classes_" in vars(self):
            raise AttributeError(
                f"{name} is known of every row and stays with the partitions; {kind} of "
                f"maxmargin.spread does not have it. Fit maxmargin.{kind} to rows in memory."
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def __getstate__(self):
        """Futures stay with the client; a copy of the model starts afresh."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}

    def _proved(self) -> Any:
        """A copy: a certificate somebody keeps must not keep rows on the cluster."""
        return copy(self) if "_kept" in vars(self) else self

    def plain(self) -> Any:
        """The estimator of ``maxmargin`` that this one is on a cluster, as fitted.

        Parameters, coefficients, certificate, history and names are the same; it knows nothing of
        Dask.  What it would know of every row had it been fitted in memory is not there.
        """
        check_is_fitted(self)
        base = next(base for base in type(self).__mro__ if not issubclass(base, OnDask))
        given = self.get_params(deep=False)
        model = base(**given)
        left = {*given, *CLUSTER_ATTRIBUTES}
        vars(model).update({k: v for k, v in vars(self).items() if k not in left})
        return model

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, as in memory; of a Dask collection only numbers of each class come here."""
        if not is_dask(X):
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        return self._judged("accuracy", X, y, sample_weight)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().decision_function, X)  # type: ignore[misc]

    def predict(self, X: MatrixLike) -> np.ndarray:
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().predict, X)  # type: ignore[misc]

    @available_if(_in_memory("predict_proba"))
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().predict_proba, X)  # type: ignore[misc]

    @available_if(_in_memory("predict_log_proba"))
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        return self._lazily(super().predict_log_proba, X)  # type: ignore[misc]

    @available_if(_in_memory("predict_set"))
    def predict_set(self, X: MatrixLike, alpha: float = 0.1, per_class: bool = False) -> np.ndarray:
        """As in memory; for a Dask collection a Dask array, computed when asked."""
        given = {"alpha": alpha, "per_class": per_class}
        return self._lazily(super().predict_set, X, **given)  # type: ignore[misc]

    def _lazily(self, method: Any, X, **given: Any):
        check_is_fitted(self)
        if not is_dask(X):
            return method(X, **given)
        import dask.array as da

        X = self._known_rows(X)
        block = OneBlock(self, method.__name__, **given)
        empty = block.nothing()
        if empty.ndim == 1:
            return da.map_blocks(block, X, dtype=empty.dtype, drop_axis=1, meta=empty)
        chunks = X.chunks[0], empty.shape[1:]
        return da.map_blocks(block, X, dtype=empty.dtype, chunks=chunks, meta=empty)

    def _known_rows(self, X):
        """A Dask array of whole rows, with the names and as many features as those of the fit."""
        if hasattr(X, "columns"):
            _check_feature_names(self, X._meta, reset=False)
        X = whole_rows(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _judged(self, scoring, X, y, sample_weight) -> float:
        """The score of Dask collections; every block tells what it adds to it."""
        dask, _ = need_dask()
        check_is_fitted(self)
        judge = judge_of(scoring, self)
        rows = matched(X, y, sample_weight, self._known_rows(X))
        witness = dask.delayed(OneBlock(self, judge.method).hear, pure=False)
        said = dask.compute(*[witness(judge, *each) for each in zip(*rows, strict=True)])
        return verdict(judge, self.classes_, said)


class OneBlock:
    """A fitted model's method for one block of rows, without what the fit tells of itself."""

    def __init__(self, model, method: str, **given: Any):
        self.model, self.method, self.given = model.plain(), method, given
        self.__name__ = f"{type(model).__name__}.{method}"  # what Dask calls its tasks
        for name in FIT_ATTRIBUTES:
            vars(self.model).pop(name, None)
        # Names were compared when the collection came; blocks have none.
        vars(self.model).pop("feature_names_in_", None)

    def nothing(self) -> np.ndarray:
        """The answer to no rows: its width and dtype are those of the answer to a row of zeros."""
        return self(np.zeros((1, self.model.n_features_in_)))[:0]

    def __call__(self, X) -> np.ndarray:
        if X.shape[0] == 0:
            return self.nothing()
        return np.asarray(getattr(self.model, self.method)(numbers(X), **self.given))

    def hear(self, judge: Judge, X, y, weight):
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        y = labels(y)
        return hear(judge, self.model, numbers(X), y, weight) if len(y) else None
