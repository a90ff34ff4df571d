"""What C is chosen by and methods are ranked by: accuracy, or a score as scikit-learn knows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def scorer_of(scoring: Any) -> Callable:
    """``scorer(model, X, y, sample_weight=None)``; None means accuracy."""
    if scoring is None or scoring == "accuracy":
        return accuracy
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer

        return get_scorer(scoring)
    if not callable(scoring):
        raise ValueError(
            f"scoring must be None, the name of a scorer or a callable, got {scoring!r}. "
            "sklearn.metrics.get_scorer_names() lists the names."
        )
    return scoring


def sklearn_scorer(scoring: Any) -> Any:
    """The scorer as scikit-learn's metadata routing knows it; None for plain accuracy."""
    from sklearn.metrics import get_scorer

    return get_scorer(scoring) if isinstance(scoring, str) else scoring


def name_of_score(scoring: Any) -> str:
    """What a table of results calls it."""
    return "accuracy" if scoring is None else scoring if isinstance(scoring, str) else "score"


def in_words(score: str) -> str:
    return score.replace("_", " ")


def constant_score(score: str, y) -> float | None:
    """Of always giving the commonest answer, for the scores of which that is plain."""
    counts = np.unique(y, return_counts=True)[1]
    plain = {"accuracy": counts.max() / counts.sum(), "balanced_accuracy": 1.0 / len(counts)}
    return float(plain[score]) if score in plain else None


def accuracy(model, X, y, sample_weight=None) -> float:
    return float(np.average(model.predict(X) == np.asarray(y), weights=sample_weight))
