"""How a text file is written: its delimiter, its header if it has one, its words for "missing".

A text file says none of this itself.  What a user or a model says goes first; the rest is seen in
its first lines, and told.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

# What people and programs write where they know nothing.
MISSING_WORDS = (
    "", "?", "-", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "nan", "NaN", "-nan",
    "-NaN", "NULL", "null", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
DELIMITERS = ",;\t"
_NUMERAL = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*")
_COMMA_NUMERAL = re.compile(r"\s*[-+]?\d+,\d+\s*")


@dataclass(frozen=True)
class FileForm:
    """What is said of a file: its format, where its name does not tell, and how text is written.

    ``missing``: words that stand for no value; None: only among numbers, and as Arrow has it.
    ``header``: whether the first line names the columns; None: see for yourself.  ``names``: those
    that columns without a header had in training; ``known``: names that a header would hold;
    ``target``: the one that may be left out.
    """

    format: str | None = None
    missing: tuple[str, ...] | None = None
    header: bool | None = None
    names: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    target: str = ""


class FileOptions(NamedTuple):
    """What was said about files: of X.npy target and weights are files, else names of columns."""

    data: Any  # a path, a pattern, a folder, or a list of several paths
    target: str | None = None
    weights: str | None = None
    format: str | FileForm | None = None
    test: str | None = None

    @property
    def several(self) -> bool:
        return isinstance(self.data, list)

    def read(self) -> dict[str, str | None]:
        """The files that are read."""
        if self.several:
            return {f"the data ({file})": file for file in self.data} | {"the test data": self.test}
        own = self.data is not None and self.data.endswith(".npy")
        beside = {"the labels": self.target, "the weights": self.weights} if own else {}
        return {"the data": self.data, "the test data": self.test, **beside}


def only(files: list[str] | None) -> Any:
    """The one of a list of one; several stay a list, and none is None."""
    return files[0] if files and len(files) == 1 else files or None


def as_form(said: str | FileForm | None) -> FileForm:
    return said if isinstance(said, FileForm) else FileForm(said)


def delimiter_of(glance: bytes) -> str:
    """Comma, or the semicolon or tab that the first line uses instead."""
    first = re.sub(rb'"[^"]*"', b"", glance.split(b"\n", 1)[0])
    return max(DELIMITERS, key=lambda mark: (first.count(mark.encode()), -DELIMITERS.index(mark)))


def first_cells(glance: bytes, delimiter: str, whole: bool) -> list[list[str]]:
    """The cells of the lines at the beginning of a file; the last may be cut off."""
    lines = glance.decode("utf-8-sig", errors="replace").splitlines()
    if not whole and len(lines) > 1:
        lines.pop()
    try:
        return [cells for cells in csv.reader(lines, delimiter=delimiter) if cells]
    except csv.Error:  # a zero byte, or a cell of a megabyte: whoever reads it says so
        return []


def column_names(form: FileForm, rows: list[list[str]]) -> list[str] | None:
    """Names for columns whose file has none; None where the first line has them."""
    if not rows or form.header:
        return None
    first = [cell.strip() for cell in rows[0]]
    if form.header is None:
        if form.known and form.known <= {*first, *rows[0]}:
            return None
        if not form.names and not looks_like_data(rows):
            return None
    if len(first) == len(form.names) - 1:
        return [name for name in form.names if name != form.target]
    return [f"x{number}" for number in range(1, len(first) + 1)]


def looks_like_data(rows: list[list[str]]) -> bool:
    """Whether the first line is one of the rows: numbers where numbers are, and known words.

    Numbers that count up, 0, 1, 2 …, are names that a program gave.
    """
    width = len(rows[0])
    others = [row for row in rows[1:] if len(row) == width]
    if len(others) < 2 or _counts_up(rows[0]):
        return False
    numbers = words = familiar = 0
    for cell, *column in zip(rows[0], *others, strict=True):
        values = [value for value in column if value.strip() not in MISSING_WORDS]
        if cell.strip() in MISSING_WORDS or not values:
            continue
        if all(map(_NUMERAL.fullmatch, values)):
            if not _NUMERAL.fullmatch(cell):
                return False
            numbers += 1
        else:
            words += 1
            familiar += cell in values
    if numbers:
        return words == 0 or 2 * familiar >= words
    return words > 1 and familiar == words


def _counts_up(cells: list[str]) -> bool:
    whole = [int(cell) for cell in cells if re.fullmatch(r"\s*\d+\s*", cell)]
    return len(whole) > 2 and all(b == a + 1 for a, b in pairwise(whole))


def missing_words(form: FileForm, rows: list[list[str]]) -> tuple[str, ...] | None:
    """The words that stand for no value here; where there is a plus, a minus means something."""
    if form.missing is not MISSING_WORDS:
        return form.missing
    signs = any(cell.strip() == "+" for row in rows for cell in row)
    return tuple(word for word in MISSING_WORDS if word != "-") if signs else MISSING_WORDS


def has_decimal_commas(rows: list[list[str]], delimiter: str) -> bool:
    """Whether numbers are written with a comma, and none with a point."""
    cells = [cell for row in rows for cell in row]
    with_comma = any(map(_COMMA_NUMERAL.fullmatch, cells))
    return delimiter != "," and with_comma and not any(
        re.fullmatch(r"\s*[-+]?\d+\.\d+\s*", cell) for cell in cells
    )  # fmt: skip
