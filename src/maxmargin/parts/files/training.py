"""Data to fit or to judge a model with: features, labels, weights, and what to tell of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from .form import FileForm
from .labels import choose_name, choose_target, labels_like, labels_of, typed_labels
from .matrices import read_matrix, vector_beside
from .prepared import complete, incomplete, unlabelled
from .source import ReadCallback, Source, find_source
from .tables import check_columns, read_table


@dataclass
class Labelled:
    """Rows with labels; ``rows`` is an Arrow table or a matrix, ``numbers`` their places in it
    before any were left out."""

    name: str
    rows: Any
    y: np.ndarray
    target: str = ""
    weight: np.ndarray | None = None
    base: int = 0
    notes: list[str] = field(default_factory=list)
    numbers: np.ndarray | None = None
    form: dict[str, Any] = field(default_factory=dict)  # how a text file was written

    @property
    def is_table(self) -> bool:
        return isinstance(self.rows, pa.Table)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, some: np.ndarray) -> Labelled:
        """Some of the rows, by number."""
        rows = self.rows.take(pa.array(some)) if self.is_table else self.rows[some]
        weight = None if self.weight is None else self.weight[some]
        numbers = some if self.numbers is None else self.numbers[some]
        return Labelled(
            self.name, rows, self.y[some], self.target, weight, self.base, self.notes, numbers,
            self.form,
        )  # fmt: skip


def read_labelled(
    path,
    target: str | None,
    weights: str | None,
    format: str | FileForm | None,
    on_read: ReadCallback | None = None,
) -> Labelled:
    """Training data from one file or several; rows without a label are left out, and counted."""
    if isinstance(path, list):
        from .several import read_several

        return read_several(path, target, weights, format, on_read)
    source = find_source(path, format, on_read)
    if source.is_table:
        table = with_labels(source, lambda names: likely(names, target))
        data = label_table(table, target, weights, source.name)
        data.notes = [*source.sentences, *data.notes]
        data.form = form_of(source)
        return data
    own = source.format == "npy"  # whose labels and weights are files
    if not own and (weights is not None or target is not None):
        raise ValueError(
            "--target and --weights name columns of a table; svmlight and npz files have none. "
            "Their labels are known: leave --target out."
        )
    X, y, base = read_matrix(source)
    if own:
        y = vector_beside(source, target)
    if y is None:
        raise ValueError(f"{source.name} has no labels: an npz file needs an array y.")
    if y.ndim != 1:
        raise ValueError(f"{source.name}: y must be one-dimensional, it has shape {y.shape}.")
    column = pa.table({"y": pa.array(y.tolist() if y.dtype.kind in "OU" else y)})
    y, there = labels_of(column.column("y"), "y", source.name, column)
    X = X[there] if len(there) < X.shape[0] else X
    data = Labelled(source.name, X, y, "y", base=base, numbers=there)
    if own and weights is not None:
        data.weight = _weights(pa.chunked_array([vector_beside(source, weights)[there]]), weights)
    return data


def likely(names: list[str], target: str | None) -> list[str]:
    """The column of the labels, if there is one; else whoever looks for it says so."""
    with suppress(ValueError):
        return [choose_name(names, target, "", "")]
    return []


def with_labels(source: Source, chosen: Callable[[list[str]], list[str]]) -> pa.Table:
    """A table whose labels are as they are written: text files do not say what is a number, and
    Arrow takes 001 for one."""
    table = read_table(source, words=chosen)
    if source.format not in ("csv", "tsv"):
        return table
    for name in chosen(table.schema.names):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, typed_labels(table.column(name)))
    return table


def label_table(table: pa.Table, target, weights, name: str) -> Labelled:
    """The labels and weights of a table, apart from its other columns."""
    target = choose_target(table, target, name)
    y, there = labels_of(table.column(target), target, name, table)
    data = Labelled(name, table, y, target, numbers=there)
    data.notes += unlabelled(table.num_rows - len(there), target)
    if data.notes:
        table = table.take(pa.array(there))
    if weights is not None:
        check_columns([weights], table.schema.names, name)
        data.weight = _weights(table.column(weights), weights)
        table = table.drop_columns([weights])
    data.rows = table.drop_columns([target])
    return data


def form_of(source: Source) -> dict[str, Any]:
    """What a model must remember of how its file was written."""
    written: dict[str, Any] = {} if source.decimal == "." else {"decimal": source.decimal}
    if source.missing is not None:
        written["missing"] = list(source.missing)
    if source.names is not None:
        written["names"] = list(source.names)
    return written


def read_like(path, model, format: str | None, on_read: ReadCallback | None = None) -> Labelled:
    """Data with labels for a model that exists: its target, its classes."""
    source = find_source(path, model.form(format), on_read)
    classes = model.model.classes_
    model.check_kind(source)
    if not source.is_table:
        X, y, _ = read_matrix(source, model.preparation.base)
        if source.format == "npy":
            y = vector_beside(source, None)
        if y is None:
            raise ValueError(f"{source.name} has no labels: an npz file needs an array y.")
        return Labelled(source.name, X, np.asarray(y), "y")
    table = with_labels(source, lambda names: [name for name in names if name == model.target])
    check_columns([model.target, *model.preparation.types()], table.schema.names, source.name)
    return Labelled(
        source.name, table, labels_like(table.column(model.target), classes), model.target
    )


def without_missing(data: Labelled, features: list[str]) -> Labelled:
    """Only rows in which every feature is there."""
    kept = np.flatnonzero(np.asarray(complete(data.rows, features)))
    if len(kept) == len(data):
        return data
    if len(kept) == 0:
        raise ValueError(
            "Every row misses a value; --missing drop leaves none. Use --missing fill."
        )
    some = data.take(kept)
    some.notes = data.notes + incomplete(len(data) - len(kept))
    return some


def _weights(column: pa.ChunkedArray, name: str) -> np.ndarray:
    from .columns import as_numbers

    weight = as_numbers(column.combine_chunks(), name)
    if np.isnan(weight).any() or weight.min() < 0:
        raise ValueError(f"The weights in {name!r} must be numbers of at least 0, none missing.")
    return weight
