"""Columns of a table as features: numbers, categories and text.

A column knows what it must to treat new rows as it treated the training rows; all of it is
numbers and words, so that it can be stored in a model file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .numerals import NUMERAL_KINDS, numerals

SECONDS_PER_DAY = 86_400.0
DAY_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")


@dataclass(frozen=True)
class Number:
    """x ↦ (x − mean)/scale; a missing value becomes the mean.

    ``deviation`` is the standard deviation of the training values; ``scale`` is that, or 1 where
    the column is left as it is (then ``shift`` is 0, else the mean).
    """

    name: str
    read_as: str
    mean: float
    deviation: float
    shift: float
    scale: float

    def __post_init__(self):
        values = (self.mean, self.deviation, self.shift, self.scale)
        if not np.isfinite(values).all() or self.scale <= 0 or self.read_as not in READ_AS_TYPES:
            raise ValueError(f"the column {self.name!r} has no usable mean and deviation")

    @property
    def width(self) -> int:
        return 1

    def names(self) -> list[str]:
        return [self.name]

    @property
    def filling(self) -> str:
        """What becomes of a missing value."""
        return f"filled with the mean, {self.mean:.4g}"

    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """How much one original unit, and one standard deviation, moves the feature."""
        return np.array([1.0 / self.scale]), np.array([self.deviation / self.scale])

    def values(self, column: pa.Array) -> np.ndarray:
        """The numbers of a column, NaN where they are missing."""
        return as_numbers(column, self.name, MARKS.get(self.read_as))

    def fill(self, column: pa.Array, out: np.ndarray, unexpected: UnexpectedValues) -> None:
        """Write the features of some rows into ``out`` (rows, 1)."""
        words = kind_of(column.type) == "words" and self.read_as not in MARKS
        if words and not unexpected.strict:
            column = unexpected.among_numbers(column, self.name, self.read_as)
        x = self.values(column)
        hole = np.isnan(x)
        if hole.any():
            unexpected.missing[self.name] = unexpected.missing.get(self.name, 0) + int(hole.sum())
            x = np.where(hole, self.mean, x)
        out[:, 0] = (x - self.shift) / self.scale  # one pass over memory that is far apart


@dataclass(frozen=True)
class Category:
    """One indicator for each level seen in training; a new or missing value has none."""

    name: str
    levels: list
    shares: np.ndarray

    def __post_init__(self):
        words = isinstance(self.levels, list) and all(isinstance(v, str) for v in self.levels)
        if not words or np.shape(self.shares) != (len(self.levels),):
            raise ValueError(f"the column {self.name!r} has no usable levels")

    @property
    def width(self) -> int:
        return len(self.levels)

    def names(self) -> list[str]:
        return [f"{self.name}={level}" for level in self.levels]

    filling = "which count as none of its levels"

    def units(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(self.width), np.sqrt(self.shares * (1.0 - self.shares))

    def codes(self, column: pa.Array, unexpected: UnexpectedValues) -> np.ndarray:
        """The place of each row's level, −1 where it has none."""
        words = as_words(column)
        place = pc.fill_null(pc.index_in(words, value_set=pa.array(self.levels, pa.string())), -1)
        place = place.to_numpy(zero_copy_only=False)
        if words.null_count:
            unexpected.missing[self.name] = unexpected.missing.get(self.name, 0) + words.null_count
        none = int((place < 0).sum()) - words.null_count
        if none:
            new = pc.unique(words.filter(pa.array(place < 0))).drop_null().to_pylist()
            unexpected.new_level(self.name, none, new)
        return place

    def fill(self, column: pa.Array, out: np.ndarray, unexpected: UnexpectedValues) -> None:
        place = self.codes(column, unexpected)
        out[:] = 0.0
        rows = np.flatnonzero(place >= 0)
        out[rows, place[rows]] = 1.0


@dataclass(frozen=True)
class Text:
    """Words of a text, counted; with ``idf`` the counts times it, and every row of length one."""

    name: str
    words: list
    idf: Any = None

    def __post_init__(self):
        words = isinstance(self.words, list) and all(isinstance(v, str) for v in self.words)
        same = self.idf is None or np.shape(self.idf) == (len(self.words),)
        if not words or not same or not self.words:
            raise ValueError(f"the column {self.name!r} has no usable words")

    @property
    def width(self) -> int:
        return len(self.words)

    def names(self) -> list[str]:
        return [f"{self.name}:{word}" for word in self.words]

    filling = "which count as none of its levels"

    def units(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(self.width), np.ones(self.width)

    def matrix(self, column: pa.Array, unexpected: UnexpectedValues):
        """(rows, words) as CSR."""
        from scipy import sparse
        from sklearn.feature_extraction.text import CountVectorizer

        texts = as_words(column)
        if texts.null_count:
            unexpected.missing[self.name] = unexpected.missing.get(self.name, 0) + texts.null_count
        counter = CountVectorizer(vocabulary=self.words, dtype=np.float64)
        X = counter.transform(pc.fill_null(texts, "").to_pylist())
        if self.idf is None:
            return X
        X = X @ sparse.diags_array(np.asarray(self.idf))
        length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sparse.csr_matrix(sparse.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ X)


@dataclass
class UnexpectedValues:
    """What was not as expected in the rows seen so far."""

    strict: bool = True  # a word among numbers is refused, and else missing
    missing: dict[str, int] = field(default_factory=dict)
    strays: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    new_levels: dict[str, list] = field(default_factory=dict)
    new_rows: dict[str, int] = field(default_factory=dict)

    def new_level(self, name: str, rows: int, levels: list[str]) -> None:
        known = self.new_levels.setdefault(name, [])
        known += [level for level in levels if level not in known][: 5 - len(known)]
        self.new_rows[name] = self.new_rows.get(name, 0) + rows

    def among_numbers(self, column: pa.Array, name: str, read_as: str) -> pa.Array:
        """Words as the numbers that they are; those that are none are missing, and counted.

        A column that is words for the most part is another one than in training.
        """
        words = as_words(column)
        found = read_words(words, read_as)
        stray = pc.and_(pc.is_valid(words), pc.is_null(found))
        count = pc.sum(stray).as_py() or 0
        if 2 * count > len(words) - words.null_count:
            return column  # which is then refused
        if count:
            self.strays[name] = self.strays.get(name, 0) + count
            self.missing[name] = self.missing.get(name, 0) - count  # told as strays
            self.examples.setdefault(name, words.filter(stray)[0].as_py())
        return found

    def sentences(self) -> Iterator[str]:
        for name, count in self.missing.items():
            if count:
                yield f"{name}: {count} missing"
        for name, count in self.strays.items():
            are = "value is no number" if count == 1 else "values are no numbers"
            yield f"{name}: {count} {are}, such as {self.examples[name]!r}: taken for missing"
        for name, levels in self.new_levels.items():
            shown = ", ".join(repr(level) for level in levels)
            rows = self.new_rows[name]
            have, they = ("row has", "it counts") if rows == 1 else ("rows have", "they count")
            yield (
                f"{name}: {rows} {have} a level that is not in the model ({shown}); {they} as none "
                "of its levels"
            )


# Numerals are numbers read as words, since words that are none may be among them.
READ_AS_TYPES = {
    "number": pa.float64(),
    "truth": pa.bool_(),
    "day": pa.timestamp("us"),
    **dict.fromkeys(NUMERAL_KINDS.values(), pa.string()),
}
MARKS = {kind: mark for mark, kind in NUMERAL_KINDS.items()}


def kind_of(type: pa.DataType) -> str:
    """What a column of this type can be: a number, a truth value, a day, words, or nothing."""
    t = pa.types
    if isinstance(type, pa.DictionaryType):
        return kind_of(type.value_type)
    if t.is_integer(type) or t.is_floating(type) or t.is_decimal(type):
        return "number"
    if t.is_boolean(type):
        return "truth"
    if t.is_timestamp(type) or t.is_date(type):
        return "day"
    if t.is_string(type) or t.is_large_string(type) or t.is_string_view(type):
        return "words"
    return "nothing"


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunks, or too long for one
        column = pa.concat_arrays(column.chunks)
    return column


def as_numbers(column: pa.Array, name: str, mark: str | None = None) -> np.ndarray:
    """float64 with NaN for missing; days since 1970 for dates.  With a decimal ``mark`` words are
    read too, and are missing where they are no numbers."""
    kind = kind_of(column.type)
    if isinstance(column.type, pa.DictionaryType):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if kind == "day":
        fine = pa.types.is_timestamp(column.type) and column.type.unit == "ns"  # than is told here
        seconds = column.cast(pa.timestamp("us"), safe=not fine).cast(pa.int64()).cast(pa.float64())
        x = seconds.to_numpy(zero_copy_only=False) / (SECONDS_PER_DAY * 1e6)
    elif kind in ("number", "truth"):
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        if not pa.types.is_float64(column.type):
            column = column.cast(pa.float64())
        x = column.to_numpy(zero_copy_only=False)
    elif kind == "words" and mark is not None:
        x = numerals(as_words(column), mark)
    else:
        raise ValueError(
            f"The column {name!r} held numbers when the model was fitted, but here it is of type "
            f"{column.type}."
        )
    if not np.isfinite(np.abs(x).max(initial=0.0)) and np.isinf(x).any():
        row = int(np.flatnonzero(np.isinf(x))[0])
        raise ValueError(
            f"The column {name!r} holds an infinite value (row {row + 1} of its block)."
        )
    return x


def read_words(words: pa.Array, read_as: str) -> pa.Array:
    """Words as numbers, days or truth values; null where they are none."""
    if read_as == "truth":
        low = pc.utf8_lower(pc.utf8_trim_whitespace(words))
        known = pc.is_in(low, value_set=pa.array(["true", "false"]))
        return pc.if_else(known, pc.equal(low, "true"), None)
    if read_as == "day":
        parsed = [
            pc.strptime(words, format=form, unit="us", error_is_null=True) for form in DAY_FORMS
        ]
        return pc.coalesce(*parsed)
    return pa.array(numerals(words, "."), from_pandas=True)


def as_words(column: pa.Array) -> pa.Array:
    """Words with empty ones missing; numbers written out."""
    if isinstance(column.type, pa.DictionaryType):
        column = column.dictionary_decode()
    if column.type != pa.string():
        column = column.cast(pa.string())
    if pc.any(pc.equal(column, "")).as_py():
        column = pc.if_else(pc.equal(column, ""), None, column)
    return column
