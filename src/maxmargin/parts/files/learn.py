"""How columns become features, learned in one pass over batches; a table in memory is one batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import (
    MARKS,
    READ_AS_TYPES,
    Category,
    Number,
    Text,
    as_numbers,
    as_words,
    kind_of,
    one_array,
)
from .moments import Moments
from .numerals import NOTATIONS, NUMERAL_KINDS, is_stray, notations
from .preparation import Choices, MatrixPreparation, Preparation
from .readers import BadRow
from .row_numbers import RowNumbers

# From this many indicators on features are stored sparsely.
MAX_DENSE_INDICATORS = 300
# A column of words with more levels than this, in more than half of the rows, is a name or a text.
MIN_NAME_LEVELS = 50
# Names that come back in this share of the rows are levels: models of cars, not number plates.
MIN_REPEATED_SHARE = 0.2
MAX_CATEGORY_LEVELS = 10_000
MAX_TEXT_WORDS = 100_000
# Of a column that is meant to hold numbers at most this share are words, and some are numbers.
MAX_STRAY_SHARE, MIN_NUMBERS = 0.1, 3
GLANCE_WORDS = 1_000


class TableBatch(NamedTuple):
    """Some rows of a table, the file they come from, and their numbers in it, counted from 1."""

    rows: pa.Table | pa.RecordBatch
    file: str
    numbers: np.ndarray


@dataclass
class Learned:
    """What makes features, why columns were left out, and how many values the others lack."""

    preparation: Preparation
    rows: int
    left_out: dict[str, str] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)  # what may have been meant otherwise

    def sentences(self) -> list[str]:
        """What was made of the columns, as far as it may surprise."""
        left_out = [
            f"{name or 'a column without a name'} was left out: {why}"
            for name, why in self.left_out.items()
        ]
        kinds = {column.name: column for column in self.preparation.columns}
        return (
            left_out
            + self.doubts
            + [
                f"{name}: {count} missing values, {kinds[name].filling}"
                for name, count in self.missing.items()
            ]
        )


class NumberColumn:
    """Mean, deviation and range of a column of numbers."""

    def __init__(self, name: str, kind: str, numbers: RowNumbers | None = None):
        self.name, self.kind, self.moments = name, kind, Moments()
        self.low, self.high, self.missing = math.inf, -math.inf, 0
        self.row_numbers = numbers  # None: it is no such thing, or was asked for

    def add(self, column: pa.Array) -> None:
        x = as_numbers(one_array(column), self.name, MARKS.get(self.kind))
        if self.row_numbers is not None:
            self.row_numbers.add(x)
        there = ~np.isnan(x)
        self.missing += len(x) - int(there.sum())
        x = x[there]
        if len(x):
            self.moments.add(x)
            self.low, self.high = min(self.low, x.min()), max(self.high, x.max())

    def learned(self, choices: Choices, rows: int) -> Number | str:
        if self.moments.n == 0:
            return "it is empty"
        if self.moments.constant or self.low == self.high:
            return f"it has one value only, {self.low:g}"
        if self.row_numbers is not None and self.row_numbers.found:
            return f"it numbers the rows (--number {self.name or chr(34) * 2} keeps it)"
        mean, std = float(self.moments.mean), float(self.moments.std)
        shift, scale = (mean, std) if choices.scale else (0.0, 1.0)
        return Number(self.name, self.kind, mean, std, shift, scale)

    @property
    def doubt(self) -> str:
        """What was understood of it, where that may be in doubt."""
        return f"{self.name}: understood as dates, in days" if self.kind == "day" else ""


class NumeralColumn(NumberColumn):
    """Numbers in a column of words; the words that are none are missing, and counted."""

    def __init__(self, name: str, mark: str):
        super().__init__(name, NUMERAL_KINDS[mark])
        self.mark, self.strays, self.example = mark, 0, ""

    def add(self, column: pa.Array) -> None:
        super().add(column)
        if kind_of(column.type) == "words":
            words = as_words(one_array(column))
            strays = words.filter(is_stray(words, self.mark))
            self.strays += len(strays)
            self.example = self.example or (strays[0].as_py() if len(strays) else "")

    @property
    def doubt(self) -> str:
        """What was understood of it, where words are among the numbers."""
        if not self.strays:
            return ""
        return f"{self.name}: {_strays(self, self.moments.n + self.missing)}"


def _strays(column: NumeralColumn, values: int) -> str:
    are = "values is no number" if column.strays == 1 else "values are no numbers"
    return f"{column.strays} of {values} {are}, such as {column.example!r}"


class LevelColumn:
    """The different words of a column and how often each occurs; ``most`` are kept.

    Are nearly all of them numbers, something may be wrong with the others: they are counted.
    """

    def __init__(self, name: str, most: float, advice: str, mark: str | None = None):
        self.name, self.most, self.advice = name, most, advice
        self.counts, self.missing, self.too_many = Counter[str](), 0, False
        marks = () if mark is None else dict.fromkeys((mark, ",", *notations(mark)))
        self.readings = [NumeralColumn(name, each) for each in marks]
        self.seen, self.mark, self.repeated = 0, mark, ""
        self.as_numbers: NumeralColumn | None = None  # what is made of it instead of leaving it out

    def add(self, column: pa.Array) -> None:
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            words = as_words(chunk)
            self.missing += words.null_count
            self.seen += len(words) - words.null_count
            self._look_for_numbers(words)
            if self.too_many:
                continue
            for pair in pc.value_counts(words.drop_null()).to_pylist():
                self.counts[pair["values"]] += pair["counts"]
            self.too_many = len(self.counts) > self.most

    def _look_for_numbers(self, words: pa.Array) -> None:
        """As long as most words are numbers, in one notation or the other; a glance at the first
        of them spares most columns more."""
        for numbers in list(self.readings):
            glance = words[:GLANCE_WORDS]
            if 2 * (pc.sum(is_stray(glance, numbers.mark)).as_py() or 0) > len(glance):
                self.readings.remove(numbers)
                continue
            try:
                numbers.add(words)
            except ValueError:  # 1e999 is infinite
                self.readings.remove(numbers)

    @property
    def notation(self) -> NumeralColumn | None:
        """How all numbers of the column are written, if that is not the plain way."""
        found = [each for each in self.readings if each.strays == 0 and each.moments.n]
        other = [each for each in found if each.mark in NOTATIONS]
        plain = any(each.mark == self.mark for each in found)
        return other[0] if other and not plain else None

    @property
    def doubt(self) -> str:
        """What was understood of many names, or of a column of which nearly all are numbers."""
        return self.repeated or self._number_doubt()

    @property
    def nearly(self) -> NumeralColumn | None:
        """The numbers of a column of which few are words; none where it has no words at all, and
        its file tells them as words."""
        plain = [each for each in self.readings if each.mark not in NOTATIONS]
        numbers = min(plain, key=lambda each: each.strays, default=None)
        if numbers is None or numbers.moments.n < MIN_NUMBERS:
            return None
        few = numbers.strays <= MAX_STRAY_SHARE * self.seen
        return numbers if few and (numbers.strays or numbers.mark != self.mark) else None

    def _number_doubt(self) -> str:
        words_are_meant = f"(--category {self.name}: words are meant)"
        if self.notation is not None:
            said = NOTATIONS[self.notation.mark]
            return f"{self.name}: understood as {said} {words_are_meant}"
        numbers = self.nearly
        if numbers is None:
            return ""
        strays = _strays(numbers, self.seen)
        if self.as_numbers is not None:
            return f"{self.name}: understood as numbers, though {strays} {words_are_meant}"
        levels = f"{'more than ' if self.too_many else ''}{len(self.counts)} different words"
        if numbers.mark != self.mark:
            known = self.seen - numbers.strays
            return (
                f"{self.name}: understood as {levels}; {known} of {self.seen} values "
                "are numbers with a decimal comma: --decimal , reads them so"
            )
        return (
            f"{self.name}: understood as {levels}, because {strays}; "
            f"--number {self.name} makes numbers of it, and what is none missing {words_are_meant}"
        )

    def learned(self, choices: Choices, rows: int) -> Category | Number | str:
        if self.notation is not None:
            self.missing = self.notation.missing
            return self.notation.learned(choices, rows)
        if choices.decimal == ",":
            for numbers in self.readings:
                if numbers.mark == "," and numbers.strays == 0 and numbers.moments.n:
                    self.readings, self.missing = [], numbers.missing
                    return numbers.learned(choices, rows)
        found = sorted(self.counts.items())
        if len(found) < 2:
            return f"it has one value only, {found[0][0]!r}" if found else "it is empty"
        much = len(found) > MIN_NAME_LEVELS and len(found) > rows / 2
        if self.too_many or (much and self.name not in choices.category):
            nearly = self.nearly
            if nearly is not None and nearly.mark == self.mark:
                self.as_numbers, self.missing = nearly, nearly.missing
                return nearly.learned(choices, rows)
            more = "more than " if self.too_many else ""
            said = f"it has {more}{len(found)} different values in {rows} rows"
            found = self._repeated(rows)
            if not found:
                return f"{said}{self.advice}"
            self.repeated = (
                f"{self.name}: {said}, the {len(found)} that occur more than once are its levels"
                f"{self.advice.split(',')[0]}, --drop {self.name} leaves it out"
            )
        shares = np.array([count for _, count in found]) / rows
        return Category(self.name, [word for word, _ in found], shares)

    def _repeated(self, rows: int) -> list[tuple[str, int]]:
        """Names that come back, if they do so in many rows and are no numbers gone wrong."""
        found = sorted((word, count) for word, count in self.counts.items() if count > 1)
        many = sum(count for _, count in found) >= MIN_REPEATED_SHARE * rows
        return found if many and not self.too_many and not self._number_doubt() else []


class TextColumn:
    """The words of texts, all of which are kept until they have been counted."""

    def __init__(self, name: str):
        self.name, self.texts, self.missing = name, list[str](), 0

    def add(self, column: pa.Array) -> None:
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            words = as_words(chunk)
            self.missing += words.null_count
            self.texts += pc.fill_null(words, "").to_pylist()

    def learned(self, choices: Choices, rows: int) -> Text:
        from sklearn.feature_extraction.text import CountVectorizer

        rare = 2 if rows >= 100 else 1
        counter = CountVectorizer(min_df=rare, max_features=MAX_TEXT_WORDS)
        try:
            X = counter.fit_transform(self.texts)
        except ValueError:
            raise ValueError(
                f"The column {self.name!r} holds no words of two letters and more that occur "
                f"{rare} times."
            ) from None
        with_word = np.bincount(X.indices, minlength=X.shape[1])
        idf = np.log((1.0 + rows) / (1.0 + with_word)) + 1.0 if choices.tfidf else None
        return Text(self.name, [str(word) for word in counter.get_feature_names_out()], idf)


def column_readings(types: dict[str, pa.DataType], choices: Choices) -> dict[str, pa.DataType]:
    """How the columns that may be features are read: numbers, truth values, days, else words."""
    words = pa.string()
    return {
        name: words
        if name in choices.category or choices.reads_numerals(name, kind_of(type))
        else READ_AS_TYPES.get(kind_of(type), words)
        for name, type in types.items()
    }


def learn_table(
    table: pa.Table, features: list[str], choices: Choices, name: str = "The table", numbers=None
) -> Learned:
    """What to do with these columns of a table in memory, which is one batch."""
    places = np.arange(table.num_rows) if numbers is None else numbers
    types = {feature: table.schema.field(feature).type for feature in features}
    return learn([TableBatch(table, name, places + 1)], types, choices)


def learn(
    batches: Iterable[TableBatch],
    types: dict[str, pa.DataType],
    choices: Choices,
    limited: bool = False,
) -> Learned:
    """Decide for every column what it is, and remember what it takes to repeat that.

    ``types``: the columns that may be features.  ``limited``: memory is, so that levels are
    counted up to a number only, and texts cannot be kept.
    """
    columns: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for place, (name, type) in enumerate(types.items()):
        found = _column(name, type, choices, limited, place == 0 and len(types) > 1)
        if isinstance(found, str):
            left_out[name] = found
        else:
            columns[name] = found
    rows = 0
    for batch in batches:
        for column in columns.values():
            _add(column, batch)
        rows += batch.rows.num_rows
    if rows == 0:
        raise ValueError(
            "No row is left to learn from: each misses its label"
            + (", or a value (--missing drop)." if choices.missing == "drop" else ".")
        )
    return _chosen(columns, left_out, choices, rows)


def _column(
    name: str, type: pa.DataType, choices: Choices, limited: bool, first: bool = False
) -> Any:
    """What will see the values of a column, or why it is left out."""
    kind = kind_of(type)
    if name in choices.text:
        return TextColumn(name)
    if name not in choices.category and choices.reads_numerals(name, kind):
        return NumeralColumn(name, choices.decimal)
    if name in choices.category or kind == "words" or pa.types.is_null(type):
        insisted = name in choices.category and not limited
        other = "" if limited else f"--text {name} reads words, "
        advice = f"; {other}--category {name} insists on levels"
        mark = None if name in choices.category else choices.decimal
        return LevelColumn(name, math.inf if insisted else MAX_CATEGORY_LEVELS, advice, mark)
    if kind == "nothing":
        return f"values of type {type} are neither numbers nor words"
    return NumberColumn(name, kind, RowNumbers(name, first) if kind == "number" else None)


def _add(column, batch: TableBatch) -> None:
    values = batch.rows.column(column.name)
    try:
        column.add(values)
    except ValueError as error:
        what, _, place = str(error).partition(" (row ")
        row = int(place.split()[0]) - 1 if place else 0
        what = what if column.name in what else f"The column {column.name!r}: {what}"
        raise BadRow(batch.file, int(batch.numbers[row]), what.rstrip(".") + ".") from None


def _chosen(columns: dict[str, Any], left_out: dict[str, str], choices: Choices, rows: int):
    kept: list[Any] = []
    doubts: list[str] = []
    for name, column in columns.items():
        found = column.learned(choices, rows)
        if isinstance(found, str):
            left_out[name] = found
        else:
            kept.append(found)
        doubts += [doubt] if (doubt := getattr(column, "doubt", "")) else []
    if not kept:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"No column is left to learn from{': ' + why if why else ''}.")
    missing = {c.name: n for c in kept if (n := columns[c.name].missing)}
    if missing and choices.missing == "refuse":
        lacking = "; ".join(f"{name}: {count} missing" for name, count in missing.items())
        raise ValueError(
            f"Values are missing ({lacking}), and --missing refuse was asked for. Fill them in, "
            "or use --missing fill or --missing drop."
        )
    indicators = sum(column.width for column in kept if isinstance(column, Category))
    sparse = indicators > MAX_DENSE_INDICATORS or any(isinstance(column, Text) for column in kept)
    preparation = Preparation(tuple(kept), sparse, choices.missing)
    return Learned(preparation, rows, left_out, missing, doubts)


def learn_matrix(batches: Iterable[np.ndarray]) -> MatrixPreparation:
    """(x − mean)/deviation for every column of dense rows; constant ones are not divided."""
    moments = Moments()
    for X in batches:
        moments.add(X)
    return MatrixPreparation(
        len(moments.mean), 0, moments.mean, np.where(moments.constant, 1.0, moments.std)
    )
