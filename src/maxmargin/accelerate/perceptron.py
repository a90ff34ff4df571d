"""Perceptron: the same updates in the same order are all there is; they are recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from .case import recorded

LEFT_ALONE_REASON = "its answer is its sequence of updates, which scikit-learn's loop already makes"


def wrap(original: Callable) -> Callable:
    """In place of ``BaseSGDClassifier._fit``, which Perceptron inherits."""

    @wraps(original)
    def fit(self, X, y, *args, **kwargs):
        if not any(kind.__name__ == "Perceptron" for kind in type(self).__mro__):
            return original(self, X, y, *args, **kwargs)
        run = lambda: original(self, X, y, *args, **kwargs)  # noqa: E731
        return recorded("Perceptron", X.shape, LEFT_ALONE_REASON, run)

    return fit
