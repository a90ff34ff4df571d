"""Rows worth a look: the worst errors, the least sure, typical and influential ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...parts.files.columns import Number
from ..workflow.fit import Fitted
from .page import MAX_VALUE_LENGTH, Html, folded, name, paragraph, table, tag
from .words import count, percent

MAX_REPORTED_ROWS = 15
MAX_REPORTED_COLUMNS = 8
# Rows of the tables that are folded, classes that have a typical row, and rows up to which the
# influence of each is computed.
MAX_FOLDED_ROWS, MAX_TYPICAL_CLASSES, MAX_INFLUENCE_ROWS = 5, 10, 20_000


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
    """The rows with the smallest lead; then, folded, the least sure, the most typical and the most
    influential."""
    if not np.isfinite(fitted.model.summary.get("margin", 0.0)):
        return [
            paragraph(
                "All weights are zero, and every row gets the same answer: no row is nearer to a "
                "boundary than another, for there is none."
            )
        ]
    seen = Looked.at(fitted)
    if not len(seen.lead):
        return []
    order = np.lexsort((seen.lead, ~seen.wrong))[:MAX_REPORTED_ROWS]
    mistaken = int(seen.wrong.sum())
    said = _worst_words(fitted, seen, mistaken, len(order))
    return [
        paragraph(said + _meaning(fitted, seen)),
        seen.table(fitted, order),
        folded("The least sure rows, right or wrong", seen.table(fitted, seen.least_sure())),
        *_typical(fitted, seen),
        *_influential(fitted, seen),
    ]


class Looked(NamedTuple):
    """Every row as the model sees it."""

    predicted: np.ndarray
    wrong: np.ndarray
    lead: np.ndarray
    true: bool  # leads are distances

    @classmethod
    def at(cls, fitted: Fitted) -> Looked:
        model, y = fitted.model.model, fitted.data.y
        f = model.decision_function(fitted.X)
        predicted = model.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
        return cls(predicted, predicted != y, *leads(model, f, y))

    def least_sure(self) -> np.ndarray:
        return np.argsort(np.abs(self.lead), kind="stable")[:MAX_FOLDED_ROWS]

    def table(self, fitted: Fitted, order: np.ndarray, title="", more=()) -> Html:
        """These rows; ``more`` are values of one more column of this title."""
        data, columns = fitted.data, _columns(fitted)
        measure = "distance" if self.true else "lead"
        head = [
            "row",
            f"{data.target or 'label'}",
            "prediction",
            measure,
            *([title] if title else []),
        ]
        rows = [
            [*self._first(fitted, i), *more[k : k + 1], *(_value(fitted, c, i) for c in columns)]
            for k, i in enumerate(order.tolist())
        ]
        words = _words(fitted, columns, bool(title))
        return table([*head, *(name(column) for column in columns)], rows, words=words)

    def _first(self, fitted: Fitted, i: int) -> list:
        data, said = fitted.data, name(self.predicted[i])
        number = i if data.numbers is None else int(data.numbers[i])
        return [
            f"{number + 1:,}",
            name(data.y[i]),
            tag("strong", said, class_="bad") if self.wrong[i] else said,
            f"{self.lead[i]:+.3g}".replace("-", "−"),
        ]


def _worst_words(fitted: Fitted, seen: Looked, mistaken: int, shown: int) -> str:
    drawn, n = len(seen.wrong) < fitted.rows, len(seen.wrong)
    among = f"Of {n:,} of {fitted.rows:,} training rows, drawn by lot, " if drawn else ""
    some = f"{mistaken:,}" if drawn else f"{count(mistaken, 'training row')} of {n:,}"
    sentence = (
        f"{among}{some} {'is' if mistaken == 1 else 'are'} misclassified; the worst come first"
        if mistaken
        else f"{among}{'none' if drawn else 'No training row'} is misclassified; these are the "
        "nearest to it"
    )
    if 0 < mistaken < shown:
        sentence += ", then the rows nearest to being misclassified"
    return sentence + (f", {shown} are shown." if mistaken > shown else ".")


def _meaning(fitted: Fitted, seen: Looked) -> str:
    drawn = len(seen.wrong) < fitted.rows
    measure = (
        " Distance is how far a row is from the boundary of its own class, in the units the model "
        "sees, negative on the wrong side."
        if seen.true
        else " Lead is by how much the score of the row's own class exceeds the best other one."
    )
    numbered = (
        " Rows are counted from 1, the first row of data in the file"
        + (", through all files in the order of their names." if drawn else ".")
        if fitted.data.numbers is not None
        else ""
    )
    return measure + numbered + _left_out(fitted, len(_columns(fitted)))


def _typical(fitted: Fitted, seen: Looked) -> list[Html]:
    """Of each class the row nearest to its mean, in the units the model sees."""
    classes, X, y = fitted.model.model.classes_, fitted.X, fitted.data.y
    if len(classes) > MAX_TYPICAL_CLASSES:
        return []
    found = []
    for label in classes:
        own = np.flatnonzero(y == label)
        if len(own):
            part = X[own]
            centre = np.asarray(part.mean(axis=0)).ravel()
            squares = (
                part.multiply(part).sum(axis=1)
                if hasattr(part, "multiply")
                else (np.einsum("ij,ij->i", part, part))
            )
            far = np.asarray(squares).ravel() - 2.0 * np.asarray(part @ centre).ravel()
            found.append(own[far.argmin()])
    return [
        folded(
            "The most typical row of each class",
            paragraph(
                "Of all rows of its class it is nearest to their mean, as the model sees it."
            ),
            seen.table(fitted, np.array(found, dtype=int)),
        )
    ]


def _influential(fitted: Fitted, seen: Looked) -> list[Html]:
    """The rows that pull hardest at the weights, of models whose weights are sums over rows."""
    from ...models.left_out.influence import influence

    if fitted.streamed or len(fitted.data.y) > MAX_INFLUENCE_ROWS:
        return []
    try:
        told = influence(fitted.model.model, fitted.X, fitted.data.y, fitted.data.weight)
    except (TypeError, ValueError, AttributeError):  # no such sum, or not to be recomputed here
        return []
    most = told.most(MAX_FOLDED_ROWS)
    share = told.pull / max(float(told.pull.sum()), np.finfo(float).tiny)
    return [
        folded(
            "The most influential rows",
            paragraph(
                "The weights are a sum over rows; these have the longest terms. Pull is their "
                "share of the lengths of all terms. A row that is wrong and pulls hard is worth "
                "checking first."
            ),
            seen.table(fitted, most, "pull", [percent(share[i]) for i in most.tolist()]),
        )
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


def _words(fitted: Fitted, columns: list[str], more: bool) -> list[int]:
    """Which columns of the table are words: the first three, and those of words in the file."""
    if not fitted.data.is_table:
        return [0, 1, 2, 4 + more]
    kinds = {column.name: isinstance(column, Number) for column in fitted.model.preparation.columns}
    return [0, 1, 2, *(4 + more + j for j, column in enumerate(columns) if not kinds[column])]


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
