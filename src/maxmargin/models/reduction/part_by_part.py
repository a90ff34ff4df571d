"""``partial_fit`` of reductions: every classifier learns from the rows that concern it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from ..labels import known_codes, stream_classes
from ..routing import Metadata
from .reduction import Reduction, with_checked_weights
from .rows import new_rows

BINARY_CLASSES = np.array([0, 1])


def learn_part(model: Reduction, X: Any, y: Any, classes: Any, given: Metadata) -> None:
    """One part more; the first one names all classes."""
    first = not hasattr(model, "classes_")
    names = stream_classes(model, classes)
    X = new_rows(model, X, reset=first)
    y = column_or_1d(y, warn=True)
    if len(y) != X.shape[0]:
        raise ValueError(f"There are {X.shape[0]} rows in X but {len(y)} labels in y.")
    codes, given = known_codes(y, names), with_checked_weights(X, given)
    model.classes_ = names
    questions = model._questions(codes)
    if first:
        model.estimators_ = [clone(model.estimator) for _ in questions]
    for question, base in zip(questions.values(), model.estimators_, strict=True):
        _learn(base, *model._part_for(question, X, codes, given))


def _learn(base: Any, X: Any, target: np.ndarray, given: Metadata) -> None:
    if len(target):
        base.partial_fit(X, target, classes=BINARY_CLASSES, **given)
