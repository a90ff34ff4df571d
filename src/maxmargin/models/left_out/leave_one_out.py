"""leave_one_out: for every row, what the model that never saw it would say of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.types import ArrayLike, MatrixLike
from ..reduction.votes import votes
from ..validation import check_known
from .result import LeaveOneOutResult
from .same_data import check_rows_of_each_class

# Which function knows how to leave rows out of which estimator; searches are what they tune.
LEAVING = {
    "LinearSVM": ("linear", "leave_out_svm"),
    "LogisticRegression": ("linear", "leave_out_logistic"),
    "KernelSVM": ("kernel", "leave_out_kernel"),
    "LeastSquaresClassifier": ("closed_forms", "leave_out_least_squares"),
    "FisherDiscriminant": ("closed_forms", "leave_out_fisher"),
}


def leave_one_out(
    model: Any, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> LeaveOneOutResult:
    """For every row the score and the label of the optimum without it, without a fit for each.

    ``X``, ``y`` and ``sample_weight`` are the data that ``model`` was fitted to; other data are
    recognised and refused.  C, the weights of classes and a kernel's γ stay what they were with
    all rows; of a search it is the C that it chose.  A linear machine, a kernel machine, logistic
    regression, least squares and Fisher's discriminant can be asked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, leave_one_out
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVM().fit(X[50:], y[50:])
    >>> print(f"{leave_one_out(model, X[50:], y[50:]).error:.0%}")
    3%
    """
    check_is_fitted(model)
    leave_out = _way_of(model)
    X, codes, weight = check_known(model, X, y, sample_weight)
    check_rows_of_each_class(codes, weight, model.classes_)
    found = leave_out(model, X, codes, weight)
    scores = found.scores
    if scores.ndim > 1 and getattr(model, "multiclass", None) == "pairs":
        scores = votes(scores, len(model.classes_))
    told = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    mass = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    ways, counts = np.unique(found.way.astype(str), return_counts=True)
    return LeaveOneOutResult(
        labels=model.classes_[told],
        scores=scores,
        tolerance=found.tolerance,
        error=float(np.average(told != codes, weights=mass)),
        settled=dict(zip(ways.tolist(), counts.tolist(), strict=True)),
    )


def _way_of(model) -> Callable:
    """The function for the kind of model, or a sentence."""
    for kind in type(model).__mro__:
        if kind.__name__ in LEAVING and kind.__module__.startswith("maxmargin."):
            module, name = LEAVING[kind.__name__]
            return getattr(import_module(f".{module}", __package__), name)
    raise TypeError(
        f"leave_one_out knows {', '.join(LEAVING)} and their CV forms, got {type(model).__name__}."
    )
