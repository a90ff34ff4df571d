"""Rows for the classifiers of a reduction: checked here, or handed on to bases that prepare them.

A pipeline that fills in missing values, reads columns of a table by name or turns texts into
numbers must be given them as they are; what it cannot take, it says itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from ..validation import check_classes, check_rows, check_training, refuse_masked


def prepares_rows(estimator: Any) -> bool:
    """Whether a base takes more than matrices of numbers: a pipeline, or one whose tags say so."""
    tags = get_tags(estimator).input_tags
    return hasattr(estimator, "steps") or tags.string or tags.categorical or not tags.two_d_array


def training_rows(model: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows, the sorted classes, and each label's index among them."""
    if not prepares_rows(model.estimator):
        return check_training(model, X, y, **accepts(model.estimator))
    X = _handed_on(model, X, reset=True)
    refuse_masked(y=y)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    check_consistent_length(X, y)
    return X, *check_classes(model, y)


def new_rows(model: Any, X: Any, reset: bool = False) -> Any:
    """Rows to be answered for, or (``reset``) to begin with."""
    if prepares_rows(model.estimator):
        return _handed_on(model, X, reset)
    return check_rows(model, X, reset=reset, **accepts(model.estimator))


def some_rows(X: Any, rows: np.ndarray) -> Any:
    """Of a matrix, a table or a list."""
    plain = isinstance(X, np.ndarray) or sparse.issparse(X)
    return X[rows] if plain else _safe_indexing(X, rows)


def _handed_on(model: Any, X: Any, reset: bool) -> Any:
    """X as it is; names and number of its columns, where it has some, are noted or compared."""
    refuse_masked(X=X)
    validate_data(model, X, reset=reset, skip_check_array=True)
    return X


def accepts(estimator: Any) -> dict:
    """How scikit-learn is to check data that a base will be given."""
    tags = get_tags(estimator).input_tags
    return {
        "accept_sparse": "csr" if tags.sparse else False,
        "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
    }
