"""Several labels a row: y is a table of zeros and ones, dense or sparse, one column per label.

One against the rest needs no more than that: the classifiers answer for themselves, and a row has
every label whose classifier says yes.  A label that all rows have, or none, has nothing to learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_array

from ..stored import SEEN

INDICATOR = "multilabel-indicator"


def is_table(y: Any) -> bool:
    """Whether y is a table of labels rather than a column of classes."""
    if sparse.issparse(y):
        return True
    try:
        table = np.asarray(y)
    except ValueError:  # rows of different lengths are not ours to judge
        return False
    return table.ndim == 2 and type_of_target(table) == INDICATOR


def check_table(rows: int, y: Any) -> sparse.csc_array:
    """The labels of so many rows, by columns."""
    table = sparse.csc_array(check_array(y, accept_sparse=True, dtype=None))
    if table.shape[0] != rows:
        raise ValueError(f"There are {rows} rows in X but {table.shape[0]} rows of labels in y.")
    strange = table.data[(table.data != 0) & (table.data != 1)]
    if len(strange):
        raise ValueError(
            f"A table of labels holds 0 and 1, one column per label; y holds {strange[0]!r}. "
            "Make it with sklearn.preprocessing.MultiLabelBinarizer."
        )
    return table


def refuse_undecided(model: Any, guess: Any) -> None:
    """Rows without a label, and with several, are what such tables are about."""
    if model.unknown is not guess or model.rest is not None:
        raise ValueError(
            "y is a table of labels, where a row may have none or several; unknown and rest are "
            f"for exactly one class a row. Leave them out, got unknown={model.unknown!r} and "
            f"rest={model.rest!r}."
        )


class ConstantLabel(ClassifierMixin, BaseEstimator):
    """A label that all rows had in training, or none."""

    _stored = {"classes_": "labels k !"} | SEEN

    def __init__(self, present: bool = False):
        self.present = present

    def fit(self, X: Any, y: Any = None) -> ConstantLabel:
        self.classes_ = np.array([0, 1])
        if len(getattr(X, "shape", ())) == 2:
            self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.full(_num_samples(X), 1.0 if self.present else -1.0)

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.tile([0.0, 1.0] if self.present else [1.0, 0.0], (_num_samples(X), 1))

    def predict(self, X: Any) -> np.ndarray:
        return np.full(_num_samples(X), int(self.present))
