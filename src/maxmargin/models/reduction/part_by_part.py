"""``partial_fit`` of reductions: every classifier learns from the rows that concern it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from ..labels import known_codes, stream_classes
from ..validation import check_rows
from .reduction import Reduction, accepts, check_base, weights_for

BINARY_CLASSES = np.array([0, 1])


def learn_part(model: Reduction, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """One part more; the first one names all classes."""
    first = not hasattr(model, "classes_")
    check_base(model)
    names = stream_classes(model, classes)
    X = check_rows(model, X, reset=first, **accepts(model.estimator))
    y = column_or_1d(y, warn=True)
    if len(y) != X.shape[0]:
        raise ValueError(f"There are {X.shape[0]} rows in X but {len(y)} labels in y.")
    codes, weight = known_codes(y, names), weights_for(model, X, sample_weight)
    model.classes_ = names
    questions = model._questions(codes)
    if first:
        model.estimators_ = [clone(model.estimator) for _ in questions]
    for question, base in zip(questions.values(), model.estimators_, strict=True):
        _learn(base, *model._part_for(question, X, codes, weight))


def _learn(base: Any, X: Any, target: np.ndarray, weight: np.ndarray | None) -> None:
    if len(target):
        given = {} if weight is None else {"sample_weight": weight}
        base.partial_fit(X, target, classes=BINARY_CLASSES, **given)
