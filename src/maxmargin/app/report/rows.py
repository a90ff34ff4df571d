"""Rows worth a look: the worst errors, then the rows nearest to being errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...parts.files.columns import Number
from ..workflow.fit import Fitted
from .page import MAX_VALUE_LENGTH, Html, name, paragraph, table, tag
from .words import count

MAX_REPORTED_ROWS = 15
MAX_REPORTED_COLUMNS = 8


def leads(model, f, y) -> tuple[np.ndarray, bool]:
    """For every row how far its own class is ahead of the best other one by the scores f, and
    whether that is a true distance to the boundary (else it is a difference of scores)."""
    codes = np.searchsorted(model.classes_, y)
    W = getattr(model, "coef_", None)
    if f.ndim == 1:
        norm = 0.0 if W is None else float(np.linalg.norm(W))
        return np.where(codes == 1, f, -f) / (norm or 1.0), norm > 0
    own = f[np.arange(len(f)), codes]
    f = f.copy()
    f[np.arange(len(f)), codes] = -np.inf
    rival = f.argmax(axis=1)
    lead = own - f[np.arange(len(f)), rival]
    if W is None or len(W) != f.shape[1] or getattr(model, "multiclass", "") == "pairs":
        return lead, False
    length = _lengths(np.asarray(W), codes, rival)
    return lead / np.where(length > 0, length, 1.0), True


def _lengths(W: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """‖w_a − w_b‖ for every row, each pair computed once."""
    pairs, which = np.unique(a * len(W) + b, return_inverse=True)
    each = [np.linalg.norm(W[p // len(W)] - W[p % len(W)]) for p in pairs.tolist()]
    return np.array(each)[which]


def worth_a_look(fitted: Fitted) -> list[Html]:
    """A table of the rows with the smallest lead."""
    model, data = fitted.model.model, fitted.data
    f = model.decision_function(fitted.X)
    predicted = model.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
    lead, true = leads(model, f, data.y)
    wrong = predicted != data.y
    order = np.lexsort((lead, ~wrong))[:MAX_REPORTED_ROWS]
    if len(order) == 0:
        return []
    columns = _columns(fitted)
    head = ["row", f"{data.target or 'label'}", "prediction", "distance" if true else "lead"]
    rows = []
    for i in order.tolist():
        said = name(predicted[i])
        rows.append(
            [
                f"{int(data.numbers[i]) + 1:,}" if data.numbers is not None else f"{i + 1:,}",
                name(data.y[i]),
                tag("strong", said, class_="bad") if wrong[i] else said,
                f"{lead[i]:+.3g}".replace("-", "−"),
                *(_value(fitted, column, i) for column in columns),
            ]
        )
    mistaken = int(wrong.sum())
    drawn = len(wrong) < fitted.rows
    among = f"Of {len(wrong):,} of {fitted.rows:,} training rows, drawn by lot, " if drawn else ""
    some = f"{mistaken:,}" if drawn else f"{count(mistaken, 'training row')} of {len(wrong):,}"
    sentence = (
        f"{among}{some} {'is' if mistaken == 1 else 'are'} misclassified; the worst come first"
        if mistaken
        else f"{among}{'none' if drawn else 'No training row'} is misclassified; these are the "
        "nearest to it"
    )
    if 0 < mistaken < len(order):
        sentence += ", then the rows nearest to being misclassified"
    if mistaken > len(order):
        sentence += f", {len(order)} are shown"
    measure = (
        " Distance is how far a row is from the boundary of its own class, in the units the model "
        "sees, negative on the wrong side."
        if true
        else " Lead is by how much the score of the row's own class exceeds the best other one."
    )
    numbered = (
        " Rows are counted from 1, the first row of data in the file"
        + (", through all files in the order of their names." if drawn else ".")
        if data.numbers is not None
        else ""
    )
    heads = [*head, *(name(column) for column in columns)]
    note = _left_out(fitted, len(columns))
    return [
        paragraph(sentence + "." + measure + numbered + note),
        table(heads, rows, words=_words(fitted, columns)),
    ]


def _columns(fitted: Fitted) -> list[str]:
    """The columns to show: those that count most, in a linear model; else the first."""
    model, data = fitted.model, fitted.data
    if not data.is_table:
        return ["values"]
    known = [column.name for column in model.preparation.columns]
    if (
        len(known) <= MAX_REPORTED_COLUMNS
        or model.basis is not None
        or not hasattr(model.model, "coef_")
    ):
        return known[:MAX_REPORTED_COLUMNS]
    W = np.atleast_2d(model.model.coef_)
    strength = np.abs(W * model.preparation.units()[1]).max(axis=0)
    widths = np.cumsum([0, *(column.width for column in model.preparation.columns)])
    best = np.maximum.reduceat(strength, widths[:-1])
    chosen = np.sort(np.argsort(-best, kind="stable")[:MAX_REPORTED_COLUMNS])
    return [known[j] for j in chosen.tolist()]


def _words(fitted: Fitted, columns: list[str]) -> list[int]:
    """Which columns of the table are words: the first three, and those of words in the file."""
    if not fitted.data.is_table:
        return [0, 1, 2, 4]
    kinds = {column.name: isinstance(column, Number) for column in fitted.model.preparation.columns}
    return [0, 1, 2, *(4 + j for j, column in enumerate(columns) if not kinds[column])]


def _left_out(fitted: Fitted, shown: int) -> str:
    if not fitted.data.is_table:
        return ""
    more = len(fitted.model.preparation.columns) - shown
    return f" Of {shown + more:,} columns the {shown} that count most are shown." if more else ""


def _value(fitted: Fitted, column: str, i: int) -> Any:
    """What the file says in this row and column."""
    rows = fitted.data.rows
    if not fitted.data.is_table:
        return name(_entries(rows, fitted.data.base, i), MAX_VALUE_LENGTH)
    value = rows.column(column)[i].as_py()
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}".replace("-", "−", value < 0)
    return name(value, MAX_VALUE_LENGTH)


def _entries(X, base: int, i: int) -> str:
    """The largest values of a row of a matrix."""
    row = X[[i]]
    if hasattr(row, "tocsr"):
        row = row.tocsr()
        places, values = row.indices, row.data
    else:
        places, values = np.arange(X.shape[1]), np.asarray(row).ravel()
    order = np.argsort(-np.abs(values), kind="stable")[:MAX_REPORTED_COLUMNS]
    shown = [f"x{places[j] + base}={values[j]:.4g}" for j in np.sort(order)]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f", and {more:,} more" if more > 0 else "")
