"""Rows to train on, as features: all of them in memory, or in pieces (``stream_rows.py``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...parts.files.basis import Basis, learn_basis
from ...parts.files.columns import UnexpectedValues
from ...parts.files.learn import learn_matrix, learn_table
from ...parts.files.preparation import Choices, MatrixPreparation
from ...parts.files.training import Labelled, without_missing
from .judge import Errors, LeftOutErrors, count_errors, left_out
from .tuning import fit_quietly


class TuningRows(NamedTuple):
    """Rows to choose C on, and which they are, in words."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    which: str


class TrainingRows(ABC):
    """What a fit needs to know of its rows.

    ``data`` and ``X`` are the rows at hand and their features: all of them if ``whole``.
    """

    whole: bool
    data: Labelled
    X: Any
    preparation: Any
    basis: Basis | None = None
    notes: list[str]
    missing: dict[str, int]  # values that columns lack, in all rows
    weights: tuple[float, float] | None = None  # the smallest and the largest of all rows

    @abstractmethod
    def tuning_rows(self, seed: int) -> TuningRows:
        """Rows to choose C on."""

    @abstractmethod
    def fit(self, estimator) -> list[str]:
        """Fit to all rows; returns the warnings."""

    @abstractmethod
    def errors(self, estimator) -> Errors:
        """Of the estimator, once it is fitted, on all rows."""

    def left_out(self, estimator) -> LeftOutErrors:
        """What these tell of the estimator on new rows."""
        return LeftOutErrors()

    @abstractmethod
    def classes(self) -> list[list]:
        """Pairs of label, as a word, and number of rows."""

    def summary(self) -> dict:
        """What else there is to tell, once the fit has ended."""
        return {}


class MemoryRows(TrainingRows):
    """All rows at once."""

    whole = True

    def __init__(self, data: Labelled, choices: Choices, basis: str | None = None):
        self.missing = {}
        learned: list[str] = []
        choices = choices.for_decimal(data.form.get("decimal", "."))
        if data.is_table:
            features = [name for name in data.rows.schema.names if name not in choices.drop]
            if choices.missing == "drop":
                data = without_missing(data, features)
            found = learn_table(data.rows, features, choices, data.name, data.numbers)
            self.preparation, self.missing = found.preparation, found.missing
            learned = found.sentences()
        elif choices.scale and not hasattr(data.rows, "tocsr"):
            self.preparation = learn_matrix([data.rows])  # dense: scaled like tables
        else:
            self.preparation = MatrixPreparation(data.rows.shape[1], data.base)
        self.data, self.notes = data, [*data.notes, *learned]
        self.X = self.preparation(data.rows, UnexpectedValues())
        if basis is not None:
            self.basis = learn_basis(basis, self.X)
            self.X = self.basis(self.X)
        if data.weight is not None:
            self.weights = float(data.weight.min()), float(data.weight.max())

    def tuning_rows(self, seed: int) -> TuningRows:
        return TuningRows(self.X, self.data.y, self.data.weight, "all rows")

    def fit(self, estimator) -> list[str]:
        weight = self.data.weight
        given = {} if weight is None else {"sample_weight": weight}
        return fit_quietly(estimator, self.X, self.data.y, **given)

    def errors(self, estimator) -> Errors:
        found = count_errors(estimator.predict(self.X), self.data.y, estimator.classes_)
        return replace(found, seen=True)

    def left_out(self, estimator) -> LeftOutErrors:
        return left_out(estimator, self.X, self.data.y, self.data.weight)

    def classes(self) -> list[list]:
        return counted_classes(self.data.y)


def counted_classes(y) -> list[list]:
    """Pairs of label, as a word, and number of rows."""
    labels, counts = np.unique(y, return_counts=True)
    return [[str(label), int(n)] for label, n in zip(labels, counts, strict=True)]
