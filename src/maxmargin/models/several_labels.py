"""Several labels a row: y with columns of 0 and 1, one problem of two classes for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.certify.conclude import sum_of
from ..core.solve.contract import Ending
from .device.tensors import is_tensor
from .fitting import make_monitor, note, warn_unless_reached
from .validation import all_or_nothing, check_rows, check_sample_weight


def has_columns(y: Any) -> bool:
    """Whether y holds several labels a row."""
    shape: tuple = np.shape(y) if isinstance(y, list | tuple) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1 and not hasattr(y, "toarray")


def fit_columns(model, X, y, sample_weight=None) -> Any:
    """Fit every column by itself, on the same rows; ``model._fit_column`` solves one."""
    with all_or_nothing(model):
        X = check_rows(model, X, reset=True)
        Y = check_label_columns(y, X.shape[0])
        if getattr(model, "class_weight", None) is not None:
            raise ValueError("class_weight is for one label a row, got y with several columns.")
        weight = check_sample_weight(X, sample_weight)
        found = [
            model._fit_column(X, column.astype(np.intp), weight, make_monitor(model))
            for column in Y.T
        ]
        model.classes_, model.n_labels_ = np.array([0, 1]), Y.shape[1]
        model.coef_ = np.vstack([solution.point.W for solution in found])
        model.intercept_ = np.concatenate([solution.point.b for solution in found])
        certificate = sum_of([each.certificate for each in found], _told(found))
        ending = next((s.ending for s in found if s.ending is not Ending.REACHED), Ending.REACHED)
        steps = sum(solution.n_iter for solution in found)
        note(model, found[0]._replace(n_iter=steps), certificate)
    warn_unless_reached(model, ending, certificate)
    return model


def check_label_columns(y: Any, n: int) -> np.ndarray:
    """Columns of 0 and 1, each with both."""
    Y = np.asarray(y.cpu() if is_tensor(y) else y)
    if len(Y) != n:
        raise ValueError(f"There are {n} rows in X but {len(Y)} rows of labels in y.")
    if not np.isin(Y, (0, 1)).all():
        raise ValueError(
            "y with several columns must hold 0 and 1 only, one label a column, got other values."
        )
    ones = Y.astype(bool).sum(axis=0)
    if len(lone := np.flatnonzero((ones == 0) | (ones == n))):
        raise ValueError(
            f"Every column of y must hold both 0 and 1, but column {lone[0]} does not. Leave "
            "such labels out."
        )
    return Y


def _told(found: list) -> str:
    return f"{len(found)} labels, each {found[0].certificate.problem}"
