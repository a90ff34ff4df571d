"""The target column: labels, checked; and which column is likely to hold them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import as_words, kind_of
from .tables import check_columns

USUAL = ("target", "label", "labels", "class", "y", "species", "diagnosis", "outcome")
# A column with more different numbers than this is a measurement rather than a label.
MOST_NUMBERS = 50
MOST_LABELS = 5_000


def choose_target(table: pa.Table, target: str | None, where: str) -> str:
    """The column asked for, or the one with a usual name."""
    try:
        return choose_name(table.schema.names, target, where, "with --target")
    except UnnamedTarget as error:
        raise ValueError(f"{error}{_hint(table)}") from None


class UnnamedTarget(ValueError):
    """Nobody said which column holds the labels, and no name tells."""


def choose_name(names: list[str], target: str | None, where: str, how: str) -> str:
    """The name asked for, or the usual one; ``how`` a user names it."""
    if target is not None:
        check_columns([target], names, where)
        return target
    usual = [name for name in names if name.lower() in USUAL]
    if len(usual) == 1:
        return usual[0]
    raise UnnamedTarget(
        f"Which column of {where} holds the labels? Name it {how}. "
        f"It has: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}."
    )


def labels_of(column: pa.ChunkedArray, name: str, table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that have one, as words, whole numbers or truth values; and which rows
    these are."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):  # of no chunks, or too long for one
        column = pa.concat_arrays(column.chunks)
    kind = kind_of(column.type)
    if kind in ("words", "day", "nothing"):
        column = as_words(column)
        y = _words(column.drop_null())
    else:
        y = column.drop_null().to_numpy(zero_copy_only=False)
        if y.dtype.kind == "f":
            y = _whole(y, name, table)
        y = y.astype(np.int64) if y.dtype.kind in "iu" else y
    there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    _check_labels(y, name, table)
    return y, there


def labels_like(column, classes: np.ndarray) -> np.ndarray:
    """Labels of the type the model knows; a missing one is a label it does not know."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if classes.dtype.kind in "UO":
        return _words(pc.fill_null(as_words(column), ""))
    if kind_of(column.type) == "words":
        raise ValueError(
            f"The labels are words here, but the model knows the labels {classes[:5].tolist()}."
        )
    return column.to_numpy(zero_copy_only=False)


def _words(column: pa.Array) -> np.ndarray:
    """An array of words, by way of the few different ones."""
    coded = column.dictionary_encode()
    levels = coded.dictionary.to_numpy(zero_copy_only=False).astype(str)
    return levels[coded.indices.to_numpy()] if len(column) else np.empty(0, dtype="U1")


def _whole(y: np.ndarray, name: str, table: pa.Table) -> np.ndarray:
    if np.isfinite(y).all() and (y == np.round(y)).all() and len(np.unique(y)) <= MOST_NUMBERS:
        return y.astype(np.int64)
    raise ValueError(
        f"The column {name!r} looks like a measurement, not like a label: it has "
        f"{len(np.unique(y))} different values such as {y[0]:g}.{_hint(table, name)} "
        "To predict whether it is above some value, add a column that says so."
    )


def _check_labels(y: np.ndarray, name: str, table: pa.Table) -> None:
    if len(y) == 0:
        raise ValueError(f"The column {name!r} is empty: there are no labels to learn.")
    count = len(np.unique(y))
    if count == 1:
        raise ValueError(
            f"The column {name!r} holds one class only, {y[0]!s}: there is nothing to tell apart."
            f"{_hint(table, name)}"
        )
    numbers = y.dtype.kind in "iu" and count > MOST_NUMBERS and count > len(y) / 10
    if numbers or (count > MOST_LABELS and count > len(y) / 10) or count > 0.9 * len(y) > 10:
        raise ValueError(
            f"The column {name!r} has {count} different values in {len(y)} rows, which are not "
            f"labels.{_hint(table, name)}"
        )


def _hint(table: pa.Table, besides: str | None = None) -> str:
    """Columns with few different values."""
    few = [
        name
        for name in table.schema.names[:200]
        if name != besides and 2 <= pc.count_distinct(table.column(name)).as_py() <= 20
    ]
    return f" Columns with few values: {', '.join(few[:8])}." if few else ""
