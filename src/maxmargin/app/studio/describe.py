"""What a file holds: columns and what they seem to be, the first rows, a likely target.

Run in a process of its own: ``python -m maxmargin.app.studio.describe FILE`` prints JSON.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

# What is told of a file: a page is for people.
PREVIEW_ROWS = 20
MAX_DESCRIBED_COLUMNS = 1000
MAX_PREVIEW_COLUMNS = 40
MAX_WORD_LENGTH = 80
# A column with no more different values than this may well be the target.
MAX_TARGET_VALUES = 20


def describe(path: str) -> dict:
    """Everything the page shows of a file before anything is fitted to it."""
    from ...parts.files.form import MISSING_WORDS, FileForm
    from ...parts.files.matrices import read_matrix
    from ...parts.files.source import find_source
    from ...parts.files.tables import read_table

    source = find_source(path, FileForm(missing=MISSING_WORDS))  # as fit reads it
    described: dict[str, Any] = {"format": source.format, "table": source.is_table}
    if not source.is_table:
        X, y, _ = read_matrix(source)
        if y is None:
            raise ValueError("The file has no labels: an npz file needs an array y.")
        return described | _matrix(X, y)
    table = read_table(source)
    columns = _columns(table)
    shown = table.slice(0, PREVIEW_ROWS).select(table.schema.names[:MAX_PREVIEW_COLUMNS])
    rows = zip(*(shown.column(j).to_pylist() for j in range(shown.num_columns)), strict=True)
    return described | {
        "rows": table.num_rows,
        "width": table.num_columns,
        "columns": columns,
        "preview": [[word(value) for value in row] for row in rows],
        "target": suggested(columns),
    }


def _columns(table) -> list[dict]:
    """Every column with what it seems to be: what ``fit`` would make of it."""
    import pyarrow.compute as pc

    names = table.schema.names
    if len(names) > MAX_DESCRIBED_COLUMNS:  # labels are often in the last
        names = [*names[: MAX_DESCRIBED_COLUMNS - 1], names[-1]]
    learned, left_out = _learned(table, names)
    described = []
    for name in names:
        column = table.column(name)
        try:
            distinct = pc.count_distinct(column).as_py()
        except (NotImplementedError, ValueError):  # lists and the like
            distinct = None
        kind = learned.get(name, "left out")
        described.append(
            {
                "name": name,
                "kind": kind,
                "why": left_out.get(name, ""),
                "distinct": distinct,
                "missing": column.null_count,
            }
        )
    return described


def _learned(table, names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The kind of each column that can be learned from, and why the others cannot."""
    from ...parts.files.learn import learn_table
    from ...parts.files.preparation import Choices

    kinds, left_out = {}, {}
    for name in names:
        try:
            found = learn_table(table, [name], Choices())
            kinds[name] = type(found.preparation.columns[0]).__name__.lower()
        except ValueError as error:
            why = str(error).removeprefix(f"No column is left to learn from: {name}: ")
            left_out[name] = why.partition("; --text")[0].rstrip(".")
    return kinds, left_out


def suggested(columns: list[dict]) -> str | None:
    """The column with a usual name; else, from the last on, one of few words or few numbers."""
    from ...parts.files.labels import TARGET_NAMES

    few = [
        c for c in columns if c["distinct"] is not None and 2 <= c["distinct"] <= MAX_TARGET_VALUES
    ]
    usual = [c["name"] for c in few if c["name"].lower() in TARGET_NAMES]
    words = [c["name"] for c in few if c["kind"] == "category"]
    ends = [columns[at]["name"] for at in (-1, 0) if columns[at] in few]
    found = [*usual, *ends, *reversed(words), *(c["name"] for c in reversed(few))]
    return found[0] if found else None


def _matrix(X, y) -> dict:
    import numpy as np

    labels, counts = np.unique(y, return_counts=True)
    first = [[word(label), int(count)] for label, count in zip(labels, counts, strict=True)]
    return {"rows": int(X.shape[0]), "width": int(X.shape[1]), "columns": [], "preview": [],
            "target": None, "classes": first[:MAX_TARGET_VALUES]}  # fmt: skip


def word(value: Any) -> str:
    """A value as the page shows it; what is missing is nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_WORD_LENGTH else text[: MAX_WORD_LENGTH - 1] + "…"


def answer(make, *arguments: str) -> int:
    """Print what ``make`` returns as JSON; what is wrong is said as the command line says it."""
    try:
        print(json.dumps(make(*arguments), allow_nan=False))
    except (ValueError, OSError, EOFError, ArithmeticError, NotImplementedError) as error:
        text = " ".join(str(error).split())
        print(f"maxmargin: {text}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(answer(describe, *sys.argv[1:]))
