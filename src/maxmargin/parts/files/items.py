"""Tables of named things: columns of names, and the features of every item."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import UnexpectedValues, as_words
from .learn import learn_table
from .preparation import Choices
from .source import find_source
from .tables import check_columns, read_header, read_table


@dataclass
class Items:
    """Names of the items, names of their features, the features, and what there is to tell."""

    names: list[str]
    features: list[str]
    X: np.ndarray
    notes: list[str] = field(default_factory=list)


def read_words(path, wanted: tuple[str, ...]) -> list[list[str]]:
    """The columns of these names as words, without spaces around them; missing ones are empty."""
    table = read_table(find_source(path), words=wanted)
    check_columns(wanted, table.schema.names, str(path))
    return [_words(table.column(name)) for name in wanted]


def read_items(path, name: str | None) -> Items:
    """The items of a table: one column of names, by default the first, the others features.

    Numbers stay as they are, words become one indicator for each level.
    """
    source = find_source(path)
    key = read_header(source)[0] if name is None else name
    table = read_table(source, words=(key,))
    check_columns([key], table.schema.names, str(path))
    names = _words(table.column(key))
    _check_different(names, path)
    table = table.drop_columns([key])
    if not table.schema.names:
        raise ValueError(
            f"{path} has no column besides {key!r}: there are no features to learn from."
        )
    _check_complete(table, path)
    learned = learn_table(table, table.schema.names, Choices(scale=False, missing="refuse"))
    X = learned.preparation(table, UnexpectedValues())
    notes = [f"{column} was left out: {why}" for column, why in learned.left_out.items()]
    X = X.toarray() if hasattr(X, "toarray") else X
    return Items(names, learned.preparation.names(), X, notes)


def _words(column: pa.ChunkedArray) -> list[str]:
    words = pa.chunked_array([as_words(chunk) for chunk in column.chunks], pa.string())
    return pc.fill_null(pc.utf8_trim_whitespace(words), "").to_pylist()


def _check_different(names: list[str], path) -> None:
    seen: dict[str, int] = {}
    for line, item in enumerate(names, start=2):
        if item in seen:
            raise ValueError(f"{path}, line {line}: {item!r} was on line {seen[item]} already.")
        seen[item] = line


def _check_complete(table: pa.Table, path) -> None:
    for feature in table.schema.names:
        column = table.column(feature)
        if pa.types.is_string(column.type):
            column = pa.chunked_array([as_words(chunk) for chunk in column.chunks], pa.string())
        if column.null_count:
            line = 2 + int(np.flatnonzero(np.asarray(column.is_null()))[0])
            raise ValueError(
                f"{path}, line {line}: {feature} is empty. Fill it in, or remove the row or the "
                "column."
            )
