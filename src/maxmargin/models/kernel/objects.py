"""Rows that are no numbers: words, sets, graphs, whatever a callable kernel compares.

They are kept as one column of objects, which every verb of kernels can slice; the callable is given
the objects themselves, all of two sides at once if it takes them so, and else two at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..labels import label_codes

# Kinds of arrays that hold no numbers: objects, words and bytes.
OBJECT_KINDS = "OUS"


class ObjectKernel:
    """A callable on objects, as one on columns of them."""

    def __init__(self, kernel: Callable):
        self.kernel = kernel

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        a, b = A[:, 0], B[:, 0]
        try:
            K = np.asarray(self.kernel(a, b), dtype=np.float64)
        except Exception:  # it may take two objects
            K = np.empty(0)
        if K.shape == (len(a), len(b)):
            return K
        return np.array([[float(self.kernel(x, z)) for z in b] for x in a], dtype=np.float64)

    def __repr__(self) -> str:
        return repr(self.kernel)


def are_objects(kernel: Any, X: Any) -> bool:
    """Whether X is a list or a one-dimensional array of what is no number, for a callable."""
    if not callable(kernel) or not isinstance(X, list | tuple | np.ndarray) or not len(X):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in OBJECT_KINDS
    return not isinstance(X[0], list | tuple | np.ndarray | float | int | np.number)


def as_objects(X: Any) -> np.ndarray:
    """One column of objects."""
    column = np.empty((len(X), 1), dtype=object)
    for i, x in enumerate(X):
        column[i, 0] = x
    return column


def check_objects(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The column, the sorted classes, and each label's index among them."""
    y = column_or_1d(y, warn=True)
    if len(X) != len(y):
        raise ValueError(f"X holds {len(X)} objects and y {len(y)} labels: give one for each.")
    check_classification_targets(y)
    classes, codes = label_codes(y)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes, but y holds only one class: "
            f"{classes[0]}. Check that the labels are right."
        )
    estimator.n_features_in_ = 1
    estimator.__dict__.pop("feature_names_in_", None)
    return as_objects(X), classes, codes
