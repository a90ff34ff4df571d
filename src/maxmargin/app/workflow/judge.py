"""Errors with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

# Normal quantile of a 95 % interval.
INTERVAL_QUANTILE = 1.959963984540054
# Of more classes than this nobody looks at a table, which has their square in cells.
MAX_CONFUSION_CLASSES = 300


@dataclass(frozen=True)
class Errors:
    """Wrong ones among n rows, and Wilson's 95 % interval for the share on new rows.

    ``table`` counts them by true and predicted class, where these are known and not too many.
    """

    rows: int
    wrong: int
    table: np.ndarray | None = field(default=None, compare=False, repr=False)

    @property
    def share(self) -> float:
        return self.wrong / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        n, p = self.rows, self.share
        middle = (p + INTERVAL_QUANTILE * INTERVAL_QUANTILE / (2 * n)) / (
            1 + INTERVAL_QUANTILE * INTERVAL_QUANTILE / n
        )
        half = (
            INTERVAL_QUANTILE
            * np.sqrt(p * (1 - p) / n + INTERVAL_QUANTILE * INTERVAL_QUANTILE / (4 * n * n))
            / (1 + INTERVAL_QUANTILE * INTERVAL_QUANTILE / n)
        )
        return max(0.0, float(middle - half)), min(1.0, float(middle + half))

    def __add__(self, other: Errors) -> Errors:
        both = self.table is not None and other.table is not None
        table = self.table + other.table if both else None  # type: ignore[operator]
        return Errors(self.rows + other.rows, self.wrong + other.wrong, table)

    def to_dict(self) -> dict:
        low, high = self.interval
        return {
            "rows": self.rows,
            "wrong": self.wrong,
            "error": self.share,
            "low": low,
            "high": high,
        }

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.share:.2%} ({self.wrong} of {self.rows}; 95 % interval {low:.2%} to {high:.2%})"
        )


def judge(estimator, batches: Iterable[tuple[Any, np.ndarray]]) -> Errors:
    """Errors on features and labels, some rows at a time; rows in memory are one batch."""
    found = [count_errors(estimator.predict(X), y, estimator.classes_) for X, y in batches]
    if not found:
        raise ValueError("There are no rows with labels to judge on.")
    return reduce(add, found)


def count_errors(predicted: np.ndarray, y: np.ndarray, classes=None) -> Errors:
    """Errors, and where they are if the classes are given and y has no others."""
    few = classes is not None and len(classes) <= MAX_CONFUSION_CLASSES
    known = few and bool(np.isin(y, classes).all())
    table = confusion(predicted, y, classes) if known else None
    return Errors(len(y), int((predicted != y).sum()), table)


def confusion(predicted: np.ndarray, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(k, k) counts: the true class by row, the predicted by column."""
    true, said = np.searchsorted(classes, y), np.searchsorted(classes, predicted)
    table = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(table, (true, said), 1)
    return table


def log_loss(probabilities: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """Mean of −log p of the true class."""
    p = probabilities[np.arange(len(y)), np.searchsorted(classes, y)]
    return float(-np.log(np.maximum(p, np.finfo(float).tiny)).mean())
