"""Errors with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ...models.calibration.calibration import count_pairs
from ...models.calibration.costs import Costs
from ...models.calibration.error_estimate import ErrorEstimate, wilson
from ...models.deadline import time_left

# Of more classes than this nobody looks at a table, which has their square in cells.
MAX_CONFUSION_CLASSES = 300
# Where an error on rows that had no part in a fit comes from, in a word.
HELD_OUT = "hold-out"
# Rows up to which every one is left out exactly to judge a model whose C was given.
MAX_EXACT_ROWS = 1_000


@dataclass(frozen=True)
class Errors:
    """Wrong ones among n rows; of rows the model has not ``seen`` Wilson's 95 % interval, too.

    ``table`` counts them by true and predicted class, where these are known and not too many.
    """

    rows: int
    wrong: int
    table: np.ndarray | None = field(default=None, compare=False, repr=False)
    seen: bool = False

    @property
    def share(self) -> float:
        return self.wrong / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """For the share on new rows; of those it was trained on nothing follows for others."""
        if self.seen:
            raise ValueError("the error on training rows has no interval")
        return wilson(self.share, self.rows)

    @property
    def estimate(self) -> ErrorEstimate:
        """The same of rows held out, as an error on new rows."""
        return ErrorEstimate(self.share, *self.interval, self.rows, HELD_OUT)

    def __add__(self, other: Errors) -> Errors:
        both = self.table is not None and other.table is not None
        table = self.table + other.table if both else None  # type: ignore[operator]
        return Errors(self.rows + other.rows, self.wrong + other.wrong, table, self.seen)

    def to_dict(self) -> dict:
        plain = {"rows": self.rows, "wrong": self.wrong, "error": self.share}
        if self.seen:
            return plain
        low, high = self.interval
        return plain | {"low": low, "high": high, "way": HELD_OUT}

    def __str__(self) -> str:
        if self.seen:
            return f"{self.share:.2%} ({self.wrong} of {self.rows})"
        low, high = self.interval
        return (
            f"{self.share:.2%} ({self.wrong} of {self.rows}; 95 % interval {low:.2%} to "
            f"{high:.2%}; {HELD_OUT})"
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


class LeftOutErrors(NamedTuple):
    """The error on new rows as the training rows tell it, each judged by a model that had not seen
    it, and how many of each class were taken for which."""

    error: ErrorEstimate | None = None
    table: np.ndarray | None = None


def left_out(estimator, X, y, weight=None) -> LeftOutErrors:
    """By the answers that calibrated the estimator, or, of few rows and a C that was given, by
    leaving out each of them exactly."""
    known = getattr(estimator, "calibration_", None)
    if known is None:
        return LeftOutErrors()
    soon = len(y) <= MAX_EXACT_ROWS and time_left() > 0.0
    if known.way == "approximate leave-one-out" and soon:
        exact = _exactly(estimator, X, y, weight)
        if exact is not None:
            return exact
    return LeftOutErrors(known.error, left_out_counts(estimator))


def left_out_counts(estimator) -> np.ndarray | None:
    """By true and predicted class, the answers that calibrated the estimator; None of too many."""
    known = getattr(estimator, "calibration_", None)
    if known is None or known.classes > MAX_CONFUSION_CLASSES or not known.rows:
        return None
    return known.counts()


def _exactly(estimator, X, y, weight) -> LeftOutErrors | None:
    from ...models.calibration.error_estimate import counted
    from ...models.left_out.leave_one_out import leave_one_out

    try:
        found = leave_one_out(estimator, X, y, weight)
    except ValueError:  # a class with one row, or a fit that was not proved
        return None
    table = count_errors(found.labels, y, estimator.classes_).table
    return LeftOutErrors(counted(found.labels != y, "leave-one-out"), table)


def confusion(predicted: np.ndarray, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(k, k) counts: the true class by row, the predicted by column."""
    true, said = np.searchsorted(classes, y), np.searchsorted(classes, predicted)
    return count_pairs(true, said, len(classes))


def mean_costs(costs: Costs, estimator, X, y, predicted) -> dict[str, float]:
    """What was paid a row, by what was done: the cheapest action, or the label predicted."""
    out = {}
    if hasattr(estimator, "predict_proba"):
        decided = costs.decide(estimator.predict_proba(X), estimator.classes_)
        out["of the cheapest decisions"] = float(costs.paid(y, decided, estimator.classes_).mean())
    if set(map(str, estimator.classes_)) <= set(costs.actions):
        out["of the labels predicted"] = float(costs.paid(y, predicted, estimator.classes_).mean())
    return out


def log_loss(probabilities: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """Mean of −log p of the true class."""
    p = probabilities[np.arange(len(y)), np.searchsorted(classes, y)]
    return float(-np.log(np.maximum(p, np.finfo(float).tiny)).mean())
