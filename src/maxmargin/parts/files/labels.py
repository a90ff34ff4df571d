"""The target column: labels, checked; and which column is likely to hold them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import as_words, kind_of, one_array
from .tables import check_columns

TARGET_NAMES = ("target", "label", "labels", "class", "y", "species", "diagnosis", "outcome")
# A column with more different numbers than this is a measurement rather than a label.
MAX_NUMBER_LABELS = 50
MAX_DIFFERENT_LABELS = 5_000


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
    usual = [name for name in names if name.lower() in TARGET_NAMES]
    if len(usual) == 1:
        return usual[0]
    raise UnnamedTarget(
        f"Which column of {where} holds the labels? Name it {how}. "
        f"It has: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}."
    )


def labels_of(
    column: pa.ChunkedArray, name: str, where: str, table: pa.Table
) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that have one, as words, whole numbers or truth values; and which rows
    these are."""
    values = one_array(column)
    if kind_of(values.type) in ("words", "day", "nothing"):
        values = as_words(values)
    there = np.flatnonzero(~np.asarray(absent(values)))
    if len(there) < len(values):
        values = values.take(pa.array(there))
    y = as_labels(values)
    check_classes(np.unique(y), len(y), name, where, lambda: _hint(table, name))
    return y.astype(np.int64) if y.dtype.kind in "iuf" else y, there


def check_classes(
    classes: np.ndarray, rows: int, name: str, where: str, hint: Callable[[], str] = str
) -> None:
    """Refuse a target that holds no labels: the sorted values that so many rows have."""
    k = len(classes)
    if k == 0:
        raise ValueError(f"{where}: the target {name!r} is empty: there are no labels to learn.")
    if k == 1:
        raise ValueError(
            f"{where}: the target {name!r} holds only one class, {classes[0]}: there is nothing "
            f"to tell apart.{hint()}"
        )
    numbers = classes.dtype.kind in "iuf"
    broken = numbers and not (np.isfinite(classes) & (classes == np.round(classes))).all()
    measured = broken or (numbers and k > MAX_NUMBER_LABELS and k > rows / 10)
    if measured or (k > MAX_DIFFERENT_LABELS and k > rows / 10) or k > 0.9 * rows > 10:
        found = (
            f"{where}: the target {name!r} has {k} different values in {rows} rows, such as "
            f"{classes[0]}, which are not labels"
        )
        if not measured:
            raise ValueError(f"{found}.{hint()}")
        raise ValueError(
            f"{found}: it looks like a measurement.{hint()} To predict whether it is above some "
            "value, add a column that says so."
        )


def labels_like(y, classes: np.ndarray) -> np.ndarray:
    """Labels of other rows as the classes that a model knows; missing ones are no class."""
    if isinstance(y, pa.ChunkedArray | pa.Array):
        y = one_array(y)
        words = kind_of(y.type) in ("words", "day", "nothing") or classes.dtype.kind in "USO"
        y = as_labels(pc.fill_null(as_words(y), "") if words else y)
    if classes.dtype.kind in "USO":
        return y.astype(str)
    if y.dtype.kind not in "USO":
        return y
    levels, place = np.unique(y.astype(str), return_inverse=True)
    values = words_as_values(levels)
    if values.dtype.kind not in "bi":
        raise ValueError(
            f"The labels are words here, such as {str(levels[-1])!r}, but the model knows the "
            f"labels {classes[:5].tolist()}."
        )
    return values[place]


def words_as_values(labels: np.ndarray) -> np.ndarray:
    """Different words that are all whole numbers, or all truth values, as these."""
    if {label.lower() for label in labels.tolist()} <= {"true", "false"}:
        return np.array([label.lower() == "true" for label in labels.tolist()])
    with suppress(ValueError):
        numbers = labels.astype(np.float64)
        whole = numbers.astype(np.int64)
        if (whole == numbers).all() and len(np.unique(whole)) == len(whole):
            return whole
    return labels


def absent(column: pa.ChunkedArray | pa.Array):
    """Which values are missing: null, not a number, or no word."""
    hole = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        hole = pc.or_(hole, pc.fill_null(pc.equal(column, ""), True))
    return hole


def as_labels(column: pa.Array) -> np.ndarray:
    """Words by way of the few different ones; numbers and truth values as they are."""
    if kind_of(column.type) in ("number", "truth"):
        return column.to_numpy(zero_copy_only=False)
    coded = column.dictionary_encode()
    levels = coded.dictionary.to_numpy(zero_copy_only=False).astype(str)
    return levels[coded.indices.to_numpy()] if len(column) else np.empty(0, dtype="U1")


def _hint(table: pa.Table, besides: str | None = None) -> str:
    """Columns with few different values."""
    few = [
        name
        for name in table.schema.names[:200]
        if name != besides and 2 <= pc.count_distinct(table.column(name)).as_py() <= 20
    ]
    return f" Columns with few values: {', '.join(few[:8])}." if few else ""
