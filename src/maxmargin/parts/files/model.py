"""A model together with what makes features of a table: what `maxmargin fit` stores."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .basis import Basis
from .columns import Number, UnexpectedValues
from .form import FileForm
from .preparation import MatrixPreparation, Preparation
from .source import Source
from .tables import check_columns

# A weight below this share of the largest is what float64 left of nothing.
ROUNDING_SHARE = 1e-12


@dataclass(frozen=True)
class TableModel:
    """Columns, a change of basis, and an estimator, as one object that predicts from tables.

    ``preparation`` makes features of a table's columns, ``basis`` may change them, ``model`` is
    the fitted estimator; ``target`` is the name of the column it learned, and ``summary`` what
    was told about the fit.

    ``predict`` takes what ``maxmargin fit`` can read: the path of a file, an Arrow table, a
    pandas or polars frame, or a matrix where the model was fitted to one.
    """

    model: Any
    preparation: Any
    basis: Any
    target: str
    summary: dict

    def __post_init__(self):
        known = isinstance(self.preparation, Preparation | MatrixPreparation)
        if not known or not (self.basis is None or isinstance(self.basis, Basis)):
            raise ValueError("the preparation is not what it should be")
        if not isinstance(self.summary, dict) or not hasattr(self.model, "n_features_in_"):
            raise ValueError("the model is not what it should be")
        width = self.preparation.width
        if self.basis is not None:
            width = self.basis.outputs if self.basis.width == width else -1
        if width != self.model.n_features_in_:
            raise ValueError("the columns do not fit the model")

    @property
    def is_table(self) -> bool:
        return isinstance(self.preparation, Preparation)

    def check_kind(self, source: Source) -> None:
        """Refuse a table where the model was fitted to a matrix, and the other way round."""
        if source.is_table != self.is_table:
            here, there = ("table", "matrix") if source.is_table else ("matrix", "table")
            raise ValueError(f"{source.name} is a {here}, but the model was fitted to a {there}.")

    def form(self, format: str | None = None) -> FileForm:
        """How a text file like that of the training data is written."""
        if not self.is_table:
            return FileForm(format)
        written = self.summary.get("form", {})
        missing = written.get("missing")
        return FileForm(
            format,
            None if missing is None else tuple(missing),
            names=tuple(written.get("names", ())),
            known=frozenset(self.preparation.types()),
            target=self.target,
        )

    @cached_property
    def feature_names(self) -> list[str]:
        names = self.preparation.names()
        return names if self.basis is None else self.basis.names(names)

    def features(self, data, notes: UnexpectedValues | None = None):
        """The matrix the estimator sees; oddities of the data are added to ``notes``."""
        X = self.prepared(data, notes)
        return X if self.basis is None else self.basis(X)

    def prepared(self, data, notes: UnexpectedValues | None = None):
        """The columns as numbers, before any change of basis."""
        rows = _as_data(data, self)
        if self.is_table:
            check_columns(self.preparation.types(), rows.schema.names, "The table")
        return self.preparation(rows, UnexpectedValues() if notes is None else notes)

    def predict(self, data) -> np.ndarray:
        return self.model.predict(self.features(data))

    def decision_function(self, data) -> np.ndarray:
        return self.model.decision_function(self.features(data))

    def predict_proba(self, data) -> np.ndarray:
        return self.model.predict_proba(self.features(data))

    def coefficients(self) -> Iterator[tuple[str, list[dict]]]:
        """For every row of weights its name, and its coefficients, strongest first: per standard
        deviation and per original unit of the column.  What is rounding beside them is 0."""
        W = np.atleast_2d(self.model.coef_)
        per_unit, per_deviation = np.ones(W.shape[1]), np.ones(W.shape[1])
        if self.basis is None:
            per_unit, per_deviation = self.preparation.units()
        names = self.feature_names
        W = np.where(np.abs(W * per_deviation) > self._rounding(W * per_deviation), W, 0.0)
        for title, w in zip(row_titles(self.model, len(W)), W, strict=True):
            order = np.argsort(-np.abs(w * per_deviation), kind="stable")
            yield (
                title,
                [
                    {
                        "feature": names[j],
                        "per_deviation": float(w[j] * per_deviation[j]),
                        "per_unit": float(w[j] * per_unit[j]),
                    }
                    for j in order.tolist()
                ],
            )

    def _rounding(self, W: np.ndarray) -> float:
        """What is nothing beside the largest weight; beside a score of 1, too, which is at the
        margin, where features are in standard deviations."""
        scaled = bool((self.preparation.units()[0] != 1.0).any())
        return ROUNDING_SHARE * max(float(np.abs(W).max(initial=0.0)), float(scaled))


def with_columns(model) -> TableModel:
    """An estimator stored by itself, as a model of tables: columns by name, else by number."""
    if isinstance(model, TableModel):
        return model
    if not hasattr(model, "classes_"):
        raise ValueError(f"This command needs a classifier, the file holds {type(model).__name__}.")
    names = getattr(model, "feature_names_in_", None)
    preparation: Any = MatrixPreparation(int(model.n_features_in_))
    if names is not None:
        columns = [Number(str(name), "number", 0.0, 1.0, 0.0, 1.0) for name in names]
        model = copy(model)
        del model.feature_names_in_  # they are compared here already
        preparation = Preparation(tuple(columns), missing="refuse")
    return TableModel(model, preparation, None, "y", {})


def row_titles(model, rows: int) -> list[str]:
    """What each row of weights speaks for."""
    from itertools import combinations

    from ...models.reduction.one_vs_one import OneVsOne

    classes = [str(label) for label in getattr(model, "classes_", [])]
    if rows == 1 and len(classes) == 2:
        return [f"{classes[1]} rather than {classes[0]}"]
    # Three classes have three pairs: the number of rows does not tell.
    duel = isinstance(model, OneVsOne) or getattr(model, "multiclass", None) == "pairs"
    if rows == len(classes) and not duel:
        return classes
    duels = [f"{a} rather than {b}" for a, b in combinations(classes, 2)]
    return duels if len(duels) == rows else [str(row) for row in range(rows)]


def _as_data(data, model: TableModel):
    """An Arrow table, or a matrix, from whatever the user has."""
    import os

    import pyarrow as pa

    if isinstance(data, pa.Table | pa.RecordBatch):
        return data
    if isinstance(data, str | os.PathLike):
        from .matrices import read_matrix
        from .source import find_source
        from .tables import read_table

        source = find_source(os.fspath(data), model.form())
        base = getattr(model.preparation, "base", None)
        return read_table(source) if source.is_table else read_matrix(source, base)[0]
    if not model.is_table:
        return data
    if hasattr(data, "to_arrow"):
        return data.to_arrow()
    if type(data).__module__.startswith("pandas"):
        return pa.Table.from_pandas(data, preserve_index=False)
    return pa.table(data)
