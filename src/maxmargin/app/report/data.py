"""What data a result is about: rows, classes, columns and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...parts.files.columns import Category, Number
from ...parts.files.training import Labelled
from ..workflow.fit import Fitted
from ..workflow.rows import counted_classes
from .page import Html, bullets, joined, name, names, paragraph, table, tag
from .words import count, percent

# What is shown of things that may be many; how many there are is said beside them.
MAX_LISTED_CLASSES = 30
MAX_COLUMN_NOTES = 40
MAX_NOTE_LENGTH = 400


@dataclass(frozen=True)
class About:
    """The data of a comparison or a path, which keep none themselves."""

    name: str
    target: str
    features: int
    classes: list[list]
    notes: Sequence[str] = ()

    @property
    def rows(self) -> int:
        return sum(number for _, number in self.classes)


def about(data: Labelled, X, notes: Sequence[str]) -> About:
    return About(data.name, data.target, X.shape[1], counted_classes(data.y), list(notes))


def data_section(data: About) -> list:
    """The data in a sentence, by class, and what there is to know of them."""
    text = f": {count(data.rows, 'row')} with {count(data.features, 'feature')}."
    return [
        paragraph(name(data.name, MAX_NOTE_LENGTH), text),
        class_table(data.target, data.classes),
        *worth_knowing(data.notes),
    ]


def class_table(target: str, classes: Sequence[list]) -> Html:
    rows = sum(number for _, number in classes)
    shown = [
        [name(label), f"{c:,}", percent(c / rows)] for label, c in classes[:MAX_LISTED_CLASSES]
    ]
    if len(classes) > MAX_LISTED_CLASSES:
        rest = sum(number for _, number in classes[MAX_LISTED_CLASSES:])
        more = f"… {len(classes) - MAX_LISTED_CLASSES:,} more"
        shown.append([more, f"{rest:,}", percent(rest / rows)])
    return table([name(target or "label"), "rows", "share"], shown)


def worth_knowing(notes: Sequence[str]) -> list:
    if not notes:
        return []
    shown = [name(note, MAX_NOTE_LENGTH) for note in notes[:MAX_COLUMN_NOTES]]
    if len(notes) > MAX_COLUMN_NOTES:
        shown.append(joined(f"… and {len(notes) - MAX_COLUMN_NOTES:,} more"))
    return [tag("h3", "Worth knowing"), bullets(shown)]


def fitted_data(fitted: Fitted) -> list:
    """The data of a fit, with what was made of its columns."""
    summary, weights = fitted.model.summary, fitted.weights
    text = (
        f": {count(summary['rows'], 'row')}, {count(summary['features'], 'feature')} in the model."
    )
    if weights is not None:
        text += f" Rows are weighted, from {weights[0]:.4g} to {weights[1]:.4g}."
    if "streamed" in summary:
        limit, passes = summary["streamed"]["memory"], summary["streamed"]["passes"]
        text += (
            f" They were read in pieces within {limit / 1e6:,.0f} MB and passed over "
            f"{passes:,} times. All numbers on this page are of all rows, except where it says "
            "that rows were drawn by lot."
        )
    return [
        paragraph(name(fitted.data.name, MAX_NOTE_LENGTH), text),
        class_table(fitted.model.target, summary["classes"]),
        *_columns(fitted),
        *worth_knowing(fitted.notes),
    ]


def _columns(fitted: Fitted) -> list:
    model, data = fitted.model, fitted.data
    if not data.is_table:
        kind = "sparse" if hasattr(data.rows, "tocsr") else "dense"
        scaled = getattr(model.preparation, "scale", None) is not None
        how = "less their mean, divided by their standard deviation" if scaled else "as they are"
        return [paragraph(f"A {kind} matrix; its columns are taken {how}."), _basis(fitted)]
    columns = model.preparation.columns
    rows = []
    for column in columns[:MAX_COLUMN_NOTES]:
        missing = f"{fitted.missing.get(column.name, 0):,}"
        rows.append([name(column.name), *_prepared(column), missing])
    cut = f" {len(rows)} of {len(columns):,} are shown." if len(columns) > len(rows) else ""
    policy = {
        "fill": "A missing number becomes the mean, a missing word none of the levels.",
        "drop": "Rows with missing values are left out.",
        "refuse": "Missing values are refused.",
    }[model.preparation.missing]
    return [
        tag("h3", "Columns"),
        paragraph(policy + cut),
        table(["column", "read as", "made into", "missing"], rows, words=(0, 1, 2)),
        _basis(fitted),
    ]


def _prepared(column) -> tuple:
    """The kind of a column, and what became of it."""
    if isinstance(column, Number):
        kind = {"truth": "truth value", "day": "date (days)"}.get(column.read_as, "number")
        if column.scale == 1.0 and column.shift == 0.0:
            return kind, "itself"
        shift = f"{abs(column.shift):.4g}"
        sign = "+" if column.shift < 0 else "−"
        return kind, f"(x {sign} {shift}) / {column.scale:.4g}"
    if isinstance(column, Category):
        return "category", joined(f"{column.width:,} indicators: ", names(column.levels, 6))
    weights = "counted" if column.idf is None else "tf-idf, every row of length 1"
    return "text", f"{column.width:,} words, {weights}"


def _basis(fitted: Fitted) -> Html | None:
    basis = fitted.model.basis
    if basis is None:
        return None
    return paragraph(
        f"These {basis.width:,} features were then changed to the {basis.name} basis of "
        f"{basis.outputs:,}, in which the model is linear."
    )
