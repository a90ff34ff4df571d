"""The report of a path over C: what the price of slack does to margin, errors and proofs."""

from __future__ import annotations

from ...models.tune.path import CPath
from . import pictures
from .data import About, data_section
from .figures import figures
from .page import Html, Section, cards, heading, joined, page, paragraph, table, tag
from .reproduce import reproduce
from .words import count, objective, percent, tiny

# Columns of the table: what they are called, and how their values are written.
PATH_TABLE_COLUMNS = {
    "C": ("C", "{:.4g}"),
    "training_error": ("training error", "{:.2%}"),
    "n_support": ("support vectors", "{:,}"),
    "on_margin": ("on the margin", "{:,}"),
    "inside": ("inside", "{:,}"),
    "misclassified": ("misclassified", "{:,}"),
    "margin": ("margin", "{:.4g}"),
    "objective": ("objective", "{:.6g}"),
    "gap": ("relative gap", "{:.1e}"),
    "seconds": ("seconds", "{:.2g}"),
}


def path_report(path: CPath, data: About | None = None, command: str | None = None) -> str:
    """The whole page."""
    title = "path over C" if data is None else data.name
    return page(
        f"maxmargin: {title}",
        _lead(path, title),
        [
            Section("What data", [] if data is None else data_section(data)),
            Section("What was done", _done(path)),
            Section("What C does", _does(path)),
            Section("How to reproduce", reproduce(command)),
        ],
    )


def _lead(path: CPath, title: str) -> Html:
    best, worst = path.best, float(path.column("gap").max())
    error = float(path.column("training_error").min())
    model = type(path.models[0]).__name__
    return joined(
        heading(title),
        paragraph(f"{model} along {count(len(path), 'value')} of C", class_="sub"),
        cards(
            [
                ("C", f"{path.Cs[0]:.3g} … {path.Cs[-1]:.3g}", path.ending),
                ("lowest training error", percent(error), f"first at C = {best.C:.4g}"),
                ("largest gap", tiny(worst), "relative, of all fits: proved"),
            ]
        ),
    )


def _done(path: CPath) -> list:
    sentence, formula = objective(path.models[0], False)
    trivial = None
    if path.trivial_until is not None:
        trivial = paragraph(
            f"Up to C = {path.trivial_until:.4g} the weights only grow in proportion to C: every "
            "row counts alike, and nothing is decided yet."
        )
    return [
        paragraph(sentence),
        tag("div", formula, class_="formula") if formula else None,
        paragraph(
            "Every fit starts from the last, and is proved by itself. A small C buys a wide margin "
            "with many errors inside it, a large C the opposite. " + path.ending
        ),
        trivial,
        paragraph(
            "The training error is no guide to C: to choose it for new rows use maxmargin fit, "
            "which does so by cross-validation.",
            class_="sub",
        ),
    ]


def _does(path: CPath) -> list:
    shown = [key for key in PATH_TABLE_COLUMNS if path.rows[0].get(key) is not None]
    rows = [[_cell(row[key], PATH_TABLE_COLUMNS[key][1]) for key in shown] for row in path.rows]
    return [
        *figures(pictures.path(path)),
        table([PATH_TABLE_COLUMNS[key][0] for key in shown], rows, words=()),
    ]


def _cell(value, form: str) -> str:
    return "–" if value is None else form.format(value).replace("%", " %")
