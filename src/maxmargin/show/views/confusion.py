"""The confusion matrix: which class was taken for which, counted by scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Cells, Scene

# Beyond this many classes numbers no longer fit their cells.
MAX_NUMBERED_CLASSES = 25


@dataclass(frozen=True)
class Confusion:
    """``counts[i, j]``: points of class ``labels[i]`` that were called ``labels[j]``."""

    counts: np.ndarray
    labels: tuple[str, ...]

    @property
    def right(self) -> float:
        return float(np.trace(self.counts))

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def scene(self) -> Scene:
        size = self.counts.sum(axis=1, keepdims=True)
        shade = self.counts / np.where(size > 0, size, 1.0)
        readable = len(self.labels) <= MAX_NUMBERED_CLASSES
        words = tuple(
            tuple(f"{n:.6g}" if readable else "" for n in row) for row in self.counts.tolist()
        )
        ticks = tuple(enumerate(self.labels))
        share = f"{self.right / self.total:.1%}" if self.total > 0 else "none to judge"
        return Scene(
            f"{self.right:.6g} of {self.total:.6g} right ({share})",
            Axis("predicted", ticks=ticks), Axis("true", ticks=ticks),
            (Cells(shade, words),), self.words(), legend=False,
        )  # fmt: skip

    def words(self) -> str:
        text = f"{self.right:.6g} of {self.total:.6g} points are predicted right."
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:3]
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True):
            if wrong[i, j]:
                told = f"class {self.labels[i]} are taken for class {self.labels[j]}"
                text += f" {wrong[i, j]:.6g} of {told}."
        return text


def confusion_view(y_true, y_pred, labels=None, sample_weight=None) -> Confusion:
    """Counts of true against predicted classes."""
    from sklearn.metrics import confusion_matrix
    from sklearn.utils.multiclass import unique_labels

    shown = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
    counts = confusion_matrix(y_true, y_pred, labels=shown, sample_weight=sample_weight)
    return Confusion(counts, tuple(map(str, shown)))


class ConfusionDisplay(Display):
    """Counts of true against predicted classes; shades are shares of the true class.

    scikit-learn's own picture of the same numbers, for matplotlib only, is
    ``sklearn.metrics.ConfusionMatrixDisplay.from_estimator(model, X, y)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import ConfusionDisplay, LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> print(ConfusionDisplay.from_estimator(LinearSVM().fit(X, y), X, y).view.words())
    148 of 150 points are predicted right. 2 of class 1 are taken for class 2.
    """

    view: Confusion

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        labels: Any = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Predict X and count."""
        return cls.of(confusion_view(y, estimator.predict(X), labels, sample_weight), ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Any = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Count predictions that are there; ``labels`` choose and order the classes."""
        return cls.of(confusion_view(y_true, y_pred, labels, sample_weight), ax)
