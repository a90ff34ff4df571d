"""The target column: labels, checked; and which column is likely to hold them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from .columns import as_words, kind_of, one_array
from .tables import check_columns

TARGET_NAMES = ("target", "label", "labels", "class", "y", "species", "diagnosis", "outcome")
# A column with more different numbers than this is a measurement rather than a label.
MAX_NUMBER_LABELS = 50
MAX_DIFFERENT_LABELS = 5_000
MAX_LABEL_CHARACTERS = 1_000
# Whole numbers up to here are told apart by float64.
MAX_EXACT_FLOAT = 2.0**53
# A whole number as it is written: 001, +1 and 1e3 are other words for one.
_WHOLE = re.compile(r"0|-?[1-9]\d*|(0|-?[1-9]\d*)\.0*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE)


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
    if not is_counted(values):
        values = label_words(values, name, where)
    there = np.flatnonzero(~np.asarray(absent(values)))
    if len(there) < len(values):
        values = values.take(pa.array(there))
    y = as_labels(values)
    check_classes(np.unique(y), len(y), name, where, lambda: _hint(table, name))
    if y.dtype.kind == "f":
        return whole_numbers(y, f"{where}: the target {name!r}"), there
    return y.astype(np.int64) if y.dtype.kind in "iu" else y, there


def is_counted(column: pa.Array) -> bool:
    """Whether labels of this type are numbers or truth values that NumPy holds exactly."""
    type = column.type
    if kind_of(type) not in ("number", "truth") or pa.types.is_decimal(type):
        return False
    if pa.types.is_uint64(type):
        most = pc.max(column).as_py()
        return most is None or most <= np.iinfo(np.int64).max
    return True


def label_words(column: pa.Array, name: str, where: str) -> pa.Array:
    """Labels as words; refused where they are none, as lists and records are."""
    try:
        return as_words(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(
            f"{where}: the target {name!r} holds values of type {column.type}, which are no "
            "labels. Name a column of words, whole numbers or truth values."
        ) from None


def whole_numbers(y: np.ndarray, where: str) -> np.ndarray:
    """Whole floating-point numbers as integers, as long as none of them can be another."""
    if len(y) and np.abs(y).max() > MAX_EXACT_FLOAT:
        raise ValueError(
            f"{where} holds {y[np.abs(y).argmax()]:.0f} as a floating-point number, which cannot "
            "be told from its neighbours. Store such labels as integers or as words."
        )
    return y.astype(np.int64)


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
        words = not is_counted(y) or classes.dtype.kind in "USO"
        y = as_labels(pc.fill_null(label_words(y, "y", "The data"), "") if words else y)
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
    """Different words that are all whole numbers, or all truth values, as these.

    No two words become one value, and none a value that is written otherwise: 001 stays a word.
    """
    words = [label.strip() for label in labels.tolist()]
    if {word.lower() for word in words} <= {"true", "false"}:
        values = np.array([word.lower() == "true" for word in words])
    elif all(_WHOLE.fullmatch(word) for word in words):
        numbers = [int(word.split(".")[0]) for word in words]
        if max(map(abs, numbers)) > np.iinfo(np.int64).max:
            return labels
        values = np.array(numbers, dtype=np.int64)
    else:
        return labels
    return values if len(np.unique(values)) == len(set(words)) else labels


def typed_labels(column: pa.ChunkedArray) -> pa.Array:
    """Labels of a CSV file, read as words: numbers or truth values where all of them are; then
    what stands for a missing number is missing."""
    coded = one_array(column).dictionary_encode()
    words = coded.dictionary.to_pylist()
    holes = set(csv.ConvertOptions().null_values)
    there = [place for place, word in enumerate(words) if word is not None and word not in holes]
    if not there:
        return pa.nulls(len(coded))
    levels = np.array([words[place] for place in there], dtype=object)
    values = words_as_values(levels)
    if values is levels:
        if not _measured(levels):
            return coded.dictionary_decode()
        values = levels.astype(np.float64)
    found = np.zeros(len(words), dtype=values.dtype)
    found[there] = values
    missing = np.ones(len(words), dtype=bool)
    missing[there] = False
    return pa.array(found, mask=missing).take(coded.indices)


def _measured(levels: np.ndarray) -> bool:
    """Numbers, not all of them whole."""
    if not all(_NUMBER.fullmatch(word.strip()) for word in levels.tolist()):
        return False
    numbers = levels.astype(np.float64)
    return not (np.isfinite(numbers) & (numbers == np.round(numbers))).all()


def absent(column: pa.ChunkedArray | pa.Array):
    """Which values are missing: null, not a number, or no word."""
    hole = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        hole = pc.or_(hole, pc.fill_null(pc.equal(column, ""), True))
    return hole


def as_labels(column: pa.Array) -> np.ndarray:
    """Words by way of the few different ones; numbers and truth values as they are."""
    if is_counted(column):
        if isinstance(column.type, pa.DictionaryType):
            column = column.dictionary_decode()
        return column.to_numpy(zero_copy_only=False)
    coded = column.dictionary_encode()
    _check_length(coded.dictionary)
    levels = coded.dictionary.to_numpy(zero_copy_only=False).astype(str)
    return levels[coded.indices.to_numpy()] if len(column) else np.empty(0, dtype="U1")


def _check_length(words: pa.Array) -> None:
    """Every label takes as much memory as the longest."""
    for word in words.filter(pc.greater(pc.utf8_length(words), MAX_LABEL_CHARACTERS)).to_pylist():
        raise ValueError(
            f"A label has {len(word)} characters, {word[:40]!r} and so on; labels have at most "
            f"{MAX_LABEL_CHARACTERS}. This looks like a text: name another column."
        )


def _hint(table: pa.Table, besides: str | None = None) -> str:
    """Columns with few different values."""
    few = [
        name
        for name in table.schema.names[:200]
        if name != besides and 2 <= _different(table.column(name)) <= 20
    ]
    return f" Columns with few values: {', '.join(few[:8])}." if few else ""


def _different(column: pa.ChunkedArray) -> int:
    """How many different values there are; none that could be labels in lists and records."""
    try:
        return pc.count_distinct(column).as_py()
    except pa.ArrowNotImplementedError:
        return 0
