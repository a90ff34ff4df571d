"""How columns become features, learned in one pass over files: what ``parts/files/preparation.py``
learns from a whole table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..stream.memory_limit import MemoryLimit
from ..stream.rows import Told
from .columns import READ_AS, Category, Notes, Number, as_numbers, as_words, kind_of
from .preparation import (
    MANY_INDICATORS,
    MANY_LEVELS,
    MOST_LEVELS,
    Choices,
    Learned,
    Preparation,
)
from .readers import MOST_ROWS, BadData, BadRow, batches
from .source import Source

# Where the number of a row stands in a batch: a name no file has.
PLACE = "\0row"


class NumberStatistics:
    """Mean and deviation of a column, a batch at a time [Chan, Golub and LeVeque 1983]."""

    def __init__(self, name: str, kind: str):
        self.name, self.kind = name, kind
        self.n, self.mean, self.squares = 0, 0.0, 0.0
        self.low, self.high, self.missing = math.inf, -math.inf, 0

    def add(self, column: pa.Array) -> None:
        x = as_numbers(column, self.name)
        there = ~np.isnan(x)
        self.missing += len(x) - int(there.sum())
        x = x[there]
        if len(x) == 0:
            return
        mean, n = float(x.mean()), self.n + len(x)
        apart = mean - self.mean
        self.squares += float(((x - mean) ** 2).sum()) + apart**2 * self.n * len(x) / n
        self.mean += apart * len(x) / n
        self.n, self.low, self.high = n, min(self.low, x.min()), max(self.high, x.max())

    def learned(self, choices: Choices, rows: int) -> Number | str:
        if self.n == 0:
            return "it is empty"
        deviation = math.sqrt(self.squares / self.n)
        if deviation <= 1e-14 * abs(self.mean) or self.low == self.high:
            return f"it has one value only, {self.low:g}"
        shift, scale = (self.mean, deviation) if choices.scale else (0.0, 1.0)
        return Number(self.name, self.kind, self.mean, deviation, shift, scale)


class Levels:
    """The different words of a column and how often each occurs, unless they are too many."""

    def __init__(self, name: str):
        self.name, self.counts, self.too_many = name, Counter[str](), False
        self.missing = 0

    def add(self, column: pa.Array) -> None:
        if self.too_many:
            return
        words = as_words(column)
        self.missing += words.null_count
        found = pc.value_counts(words.drop_null())
        for pair in found.to_pylist():
            self.counts[pair["values"]] += pair["counts"]
        self.too_many = len(self.counts) > MOST_LEVELS

    def learned(self, choices: Choices, rows: int) -> Category | str:
        found = sorted(self.counts.items())
        if len(found) < 2:
            return f"it has one value only, {found[0][0]!r}" if found else "it is empty"
        insisted = self.name in choices.category
        much = len(found) > MANY_LEVELS and len(found) > rows / 2
        if self.too_many or (much and not insisted):
            more = "more than " if self.too_many else ""
            return f"it has {more}{len(found)} different values in {rows} rows"
        shares = np.array([count for _, count in found]) / rows
        return Category(self.name, [word for word, _ in found], shares)


def column_readings(types: dict[str, pa.DataType], choices: Choices) -> dict[str, pa.DataType]:
    """How the columns that may be features are read: numbers, truth values, days, else words."""
    read = {}
    for name, type in types.items():
        kind = kind_of(type)
        as_kind = READ_AS.get(kind, pa.string())
        read[name] = pa.string() if name in choices.category else as_kind
    return read


class LearnedColumns(NamedTuple):
    """What to do with every column, how many values each column used lacks, and the rows."""

    learned: Learned
    missing: dict[str, int]
    rows: int


def learn_streamed(
    files: list[Source],
    types: dict[str, pa.DataType],
    besides: list[str],
    choices: Choices,
    memory: MemoryLimit,
    told: Told,
    sift: Callable[[pa.RecordBatch], pa.RecordBatch],
    draw: Callable[[pa.RecordBatch, np.ndarray], None],
) -> LearnedColumns:
    """What to do with every column.

    ``types``: the columns that may be features; ``besides``: others that must be there.  Rows
    that ``sift`` leaves out are not learned from; ``draw`` sees the others, with their numbers
    among all rows of all files.
    """
    read = column_readings(types, choices)
    columns: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, type in types.items():
        kind = kind_of(type)
        if name in choices.category or kind == "words" or pa.types.is_null(type):
            columns[name] = Levels(name)
        elif kind == "nothing":
            left_out[name] = f"values of type {type} are neither numbers nor words"
        else:
            columns[name] = NumberStatistics(name, kind)
    wanted = read | {name: pa.string() for name in besides}
    size = int(np.clip(memory.read // (8 * max(1, len(wanted))), 16, MOST_ROWS))
    rows = every = 0
    for file in files:
        first = 1
        for batch in batches(file, wanted, size, memory.read // 2):
            numbers = pa.array(np.arange(every, every + batch.num_rows))
            some = sift(batch.append_column(PLACE, numbers))
            draw(some.drop_columns([PLACE]), some.column(PLACE).to_numpy())
            for name, column in columns.items():
                _add(column, some.column(name), file.name, first)
            rows, first = rows + some.num_rows, first + batch.num_rows
            every += batch.num_rows
            told(0, rows, 0)
    if rows == 0:
        raise ValueError(
            "No row is left to learn from: each misses its label"
            + (", or a value (--missing drop)." if choices.missing == "drop" else ".")
        )
    learned = _chosen(columns, left_out, choices, rows)
    used = [column.name for column in learned.preparation.columns]
    return LearnedColumns(learned, {name: columns[name].missing for name in used}, rows)


def _add(column, values: pa.Array, file: str, first: int) -> None:
    try:
        column.add(values)
    except ValueError as error:
        infinite = np.flatnonzero(np.isinf(values.to_numpy(zero_copy_only=False)))
        row = first + (int(infinite[0]) if len(infinite) else 0)
        raise BadRow(file, row, str(error).split(" (row")[0].rstrip(".") + ".") from None


def _chosen(columns: dict[str, Any], left_out: dict[str, str], choices: Choices, rows: int):
    kept = []
    for name, column in columns.items():
        found = column.learned(choices, rows)
        if isinstance(found, str):
            left_out[name] = found
        else:
            kept.append(found)
    if not kept:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"No column is left to learn from{': ' + why if why else ''}.")
    sparse = sum(c.width for c in kept if isinstance(c, Category)) > MANY_INDICATORS
    return Learned(Preparation(tuple(kept), sparse, choices.missing), left_out)


class Prepared:
    """The features of a batch by what was learned; oddities are counted."""

    def __init__(self, preparation: Preparation):
        self.preparation, self.notes = preparation, Notes()

    def __call__(self, batch: pa.RecordBatch, file: str, first: int):
        try:
            return self.preparation(batch, self.notes)
        except ValueError as error:
            last = first + batch.num_rows - 1
            raise BadData(f"{file}, rows {first} to {last}: {error}") from None
