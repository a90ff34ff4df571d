"""Long tables of preferences: lists of tuples, arrays, frames or streams, checked row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from ..validation import refuse_huge


def one_per_row(y) -> bool:
    """Whether y holds one grade or label per row, as opposed to rows of a table or a stream."""
    if isinstance(y, Iterator):
        return False
    if hasattr(y, "__array__") and not hasattr(y, "shape"):
        y = np.asarray(y)
    if hasattr(y, "shape"):
        return len(y.shape) == 1 or (len(y.shape) == 2 and y.shape[1] == 1)
    y = list(y)
    return bool(y) and (isinstance(y[0], str) or not np.iterable(y[0]))


def as_table(table, widths: tuple[int, ...], name: str, form: str) -> tuple[np.ndarray, ...]:
    """The columns of a table with one of the given numbers of columns, at least one row."""
    if hasattr(table, "to_numpy") and hasattr(table, "columns"):  # pandas, polars
        columns = [np.asarray(table[column]) for column in table.columns]
    elif isinstance(table, np.ndarray) and table.ndim == 2:
        columns = list(table.T)
    else:
        columns = _from_rows(table, name, form)
    if not columns or len(columns[0]) == 0:
        raise ValueError(
            f"{name} is empty: there is no preference to learn from. Give rows {form}."
        )
    if len(columns) not in widths:
        raise ValueError(f"{name} must have rows {form}, but the rows have {len(columns)} entries.")
    return tuple(columns)


def _from_rows(table, name: str, form: str) -> list[np.ndarray]:
    """Columns of any iterable of rows, a stream for instance; all of one length."""
    rows = [
        tuple(row) if np.iterable(row) and not isinstance(row, str) else (row,) for row in table
    ]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            found = f"has {len(row)} entries, the first has {len(rows[0])}"
            refuse_row(name, i, found, f"give every row as {form}")
    return [np.asarray(column) for column in zip(*rows, strict=True)]


def whole_numbers(name: str, what: str, column) -> np.ndarray:
    """A column of whole numbers, as int64."""
    column = np.asarray(column)
    if column.dtype.kind in "iub":
        return column.astype(np.int64)
    numbers = as_numbers(column)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers == np.round(numbers))))
    if len(bad):
        row = int(bad[0])
        advice = f"give the row number of the {what} in X, counted from 0"
        refuse_row(name, row, f"names {what} {column.tolist()[row]!r}", advice)
    return numbers.astype(np.int64)


def weights(name: str, column) -> np.ndarray:
    """A column of finite weights, none of them negative."""
    column = np.asarray(column)
    numbers = as_numbers(column)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0.0)))
    if len(bad):
        row = int(bad[0])
        found = f"has weight {column.tolist()[row]!r}"
        refuse_row(name, row, found, "use a finite weight of at least 0")
    refuse_huge(f"The weight of {name}", numbers)
    return numbers


def refuse_ambiguous(sample_weight, pair_weight: np.ndarray, n: int) -> None:
    """As many weights as there are rows and listed pairs may be meant for either."""
    if sample_weight is not None and len(pair_weight) == n and (pair_weight == 1.0).all():
        raise ValueError(
            f"sample_weight holds weights of the {n} rows of X, and there are as many pairs: which "
            "of them are meant? Give weights of pairs as the last column of y; into that, multiply "
            "those of rows, too."
        )


def as_numbers(column: np.ndarray) -> np.ndarray:
    """float64, NaN in place of what is no number."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return np.array([_number(value) for value in column.tolist()])


def _number(value) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def within(name: str, what: str, column: np.ndarray, n: int) -> None:
    """Refuse a row number that X does not have."""
    bad = np.flatnonzero((column < 0) | (column >= n))
    if len(bad):
        row = int(bad[0])
        found = f"names {what} {int(column[row])}, but X has {n} rows"
        refuse_row(name, row, found, f"use numbers from 0 to {n - 1}")


def refuse_row(name: str, row: int, found: str, advice: str) -> NoReturn:
    raise ValueError(f"Row {row} of {name} {found}: {advice}.")
