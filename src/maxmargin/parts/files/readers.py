"""Chunks of rows from one table, by Arrow, with row numbers.

A chunk that cannot be used is refused with the file and the row at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from ...models.validation import MAX_WEIGHT
from .labels import as_labels, is_counted, label_words, whole_numbers
from .source import Source
from .tables import OddValue, stream_table

# Rows of a table handled at once, at most, and text parsed at once, at least.
MAX_BATCH_ROWS, MIN_PIECE_BYTES = 1 << 16, 1 << 18


class Chunk(NamedTuple):
    """Some rows: features (dense or CSR), labels, weights or None, and where they come from.

    Without features, ``X`` None, it says that all rows of a file have been given.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    file: str
    first: int  # the number of the first row in its file, counted from 1


def end_of(file: str) -> Chunk:
    """No rows, but that a file has ended."""
    return Chunk(None, np.zeros(0), None, file, 0)


class BadData(ValueError):
    """Something in a file that cannot be used; mended, the fit can go on with what was read."""


class BadRow(BadData):
    """A row that cannot be used, named by file and number."""

    def __init__(self, file: str, row: int, what: str):
        super().__init__(f"{file}, row {row}: {what}")


# From a batch of a table to features: a matrix of numbers, or learned columns.
Features = Callable[[pa.RecordBatch, str, int], Any]


def batches(source: Source, types: dict, rows: int, piece: int) -> Iterator[pa.RecordBatch]:
    """Batches with rows in them; a word among numbers is a bad row."""
    try:
        for batch in stream_table(source, types, rows, piece):
            if batch.num_rows:
                yield batch
    except OddValue as odd:
        what = (
            f"the column {odd.column!r} holds {odd.value!r}, which is no number. `maxmargin fit "
            f"--number {odd.column}` takes what is none for missing."
        )
        raise BadRow(odd.file, odd.row, what) from None
    except ValueError as error:
        raise BadData(str(error)) from None


def labels(column: pa.Array, name: str, file: str, first: int) -> np.ndarray:
    """Words, whole numbers or truth values, as they are."""
    if not is_counted(column):
        column = label_words(column, name, file)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise BadRow(file, first + row, f"there is no label in {name!r}.")
    return whole_labels(as_labels(column), file, first)


def whole_labels(y: np.ndarray, file: str, first: int) -> np.ndarray:
    """Labels as they are; numbers must be whole ones."""
    if y.dtype.kind != "f":
        return y
    odd = np.flatnonzero(~np.isfinite(y) | (y != np.round(y)))
    if len(odd):
        raise BadRow(
            file, first + int(odd[0]),
            f"the label {y[odd[0]]:g} is no whole number: is it a measurement? To predict whether "
            "it is above some value, add a column that says so.",
        )  # fmt: skip
    try:
        return whole_numbers(y, "the label")
    except ValueError as error:
        row = first + int(np.abs(y).argmax())
        raise BadRow(file, row, str(error)) from None


def checked_weights(column: pa.Array, name: str, file: str, first: int) -> np.ndarray:
    weight = pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)
    odd = np.flatnonzero(~((weight >= 0) & (weight <= MAX_WEIGHT)))
    if len(odd):
        raise BadRow(
            file, first + int(odd[0]),
            f"the weight in {name!r} must be a number of at least 0, and at most {MAX_WEIGHT:g}.",
        )  # fmt: skip
    return weight


class NumberReader:
    """Columns of numbers as a matrix, row by row in memory; anything else is refused."""

    def __init__(self, names: list[str], dtype):
        self.names, self.dtype = names, np.dtype(dtype)

    def __call__(self, batch: pa.RecordBatch, file: str, first: int) -> np.ndarray:
        across = np.empty((len(self.names), batch.num_rows), self.dtype)
        for j, name in enumerate(self.names):
            column = batch.column(name)
            if pa.types.is_boolean(column.type):
                column = column.cast(pa.int8())
            across[j] = column.to_numpy(zero_copy_only=False)
        X = np.empty((batch.num_rows, len(self.names)), self.dtype)
        transpose(across, X)
        refuse_not_finite(X, self.names, file, first)
        return X


def refuse_not_finite(X, names: list[str] | None, file: str, first: int) -> None:
    """The first row with a value that is missing or infinite, and its column."""
    values = X if isinstance(X, np.ndarray) else X.data
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # what is not finite shows in it, and little else does
    if np.isfinite(total) or np.isfinite(values).all():
        return
    place = np.flatnonzero(~np.isfinite(values).ravel())[0]
    if isinstance(X, np.ndarray):
        row, column = divmod(int(place), X.shape[1])
    else:
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column = int(X.indices[place])
    shown = repr(names[column]) if names else f"number {column}"
    value = float(values.ravel()[place])
    what = "is missing or no number" if np.isnan(value) else "is infinite"
    raise BadRow(file, first + row, f"the value in the column {shown} {what}.")


@njit(cache=True, nogil=True)
def transpose(across, X):
    """X = acrossᵀ, in tiles that fit a cache."""
    d, n = across.shape
    for start in range(0, n, 64):
        stop = min(n, start + 64)
        for j in range(d):
            for i in range(start, stop):
                X[i, j] = across[j, i]
