"""Rows of results as text, HTML or a frame."""

from __future__ import annotations

import html
from collections.abc import Sequence
from numbers import Integral, Real

Record = dict[str, object]


def as_text(records: Sequence[Record]) -> str:
    """Columns of equal width, numbers to the right."""
    cells = [list(records[0]), *([_cell(value) for value in row.values()] for row in records)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(lines)


def as_html(records: Sequence[Record], caption: str) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in records[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in row.values()) + "</tr>"
        for row in records
    )
    caption = html.escape(caption)
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"


def as_frame(records: Sequence[Record]):
    """A pandas DataFrame."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas, which is not installed. Use .rows, a list of dictionaries."
        ) from error
    return pandas.DataFrame(list(records))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.4g}"
    return str(value)
