"""Folds that lack a class: what their models and scorers are told of the classes of all rows.

A model that has never seen a class gives it probability 0, no score and NaN weights.  A scorer of
probabilities is given all labels, as it cannot read them off rows that lack some.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if


def _has(name: str) -> Callable:
    return available_if(lambda self: hasattr(self.model, name))


class WithAllClasses(ClassifierMixin, BaseEstimator):
    """A fitted classifier, with the columns of classes that it has never seen."""

    def __init__(self, model: Any, classes: np.ndarray):
        self.model, self.classes_ = model, classes

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        return self._columns(self.model.predict_proba(X), 0.0)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        return self._columns(self.model.predict_log_proba(X), -np.inf)

    @_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        s = self.model.decision_function(X)
        S = np.column_stack([-s, s]) / 2.0 if s.ndim == 1 else s
        return self._columns(S, S.min() - 1.0)

    def _columns(self, S: np.ndarray, unseen: float) -> np.ndarray:
        full = np.full((len(S), len(self.classes_)), unseen)
        full[:, np.searchsorted(self.classes_, self.model.classes_)] = S
        return full


def told_labels(scorer: Callable, classes: np.ndarray) -> Callable:
    """The scorer; one of probabilities that takes ``labels`` is given them."""
    measure, asks = getattr(scorer, "_score_func", None), getattr(scorer, "_response_method", ())
    known = getattr(scorer, "_kwargs", {})
    if measure is None or "predict_proba" not in asks or "labels" in known:
        return scorer
    if "labels" not in signature(measure).parameters:
        return scorer
    from sklearn.metrics import make_scorer  # 0.7 s, and few searches come here

    better = scorer._sign > 0  # type: ignore[attr-defined]
    return make_scorer(
        measure, response_method=asks, greater_is_better=better, labels=classes, **known
    )


def weights_of_all(found: dict[str, Any], classes: np.ndarray, rows: int) -> np.ndarray:
    """Weights and biases (rows, d + 1) of a fold; NaN for what it has never seen."""
    W = np.column_stack([found["coef_"], found["intercept_"]])
    own, k = found["classes_"], len(classes)
    if len(own) == k:
        return W
    full = np.full((rows, W.shape[1]), np.nan)
    if len(own) == 2 and rows == k:
        W = np.vstack([-W, W]) / 2.0  # of two classes W₁ = −W₂ = w/2
    if len(W) == len(own) and rows == k:
        full[np.searchsorted(classes, own)] = W
    return full
