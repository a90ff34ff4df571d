"""The report of a comparison: which method to use, and how sure the folds are of it."""

from __future__ import annotations

from ...models.tune.comparison import SIGNIFICANCE_LEVEL, Comparison
from ...models.tune.scoring import in_words
from . import pictures
from .data import About, data_section, worth_knowing
from .figures import figures
from .page import Html, Section, cards, heading, joined, name, page, paragraph, table, tag
from .reproduce import reproduce
from .words import count, percent, tiny

# After the method, its basis and the score that it is ranked by.
COMPARISON_HEADINGS = ["± se", "p to best", "log-loss", "fit", "size", "gap", "separable"]
# Scores that are means over classes, however many rows each has.
PER_CLASS = ("balanced_accuracy", "f1_macro", "precision_macro", "recall_macro")


def compare_report(found: Comparison, data: About | None = None, command: str | None = None) -> str:
    """The whole page."""
    title = "comparison" if data is None else data.name
    return page(
        f"maxmargin: {title}",
        _lead(found, title),
        [
            Section("What data", [] if data is None else data_section(data)),
            Section("What was compared", _compared(found)),
            Section("How good", _good(found)),
            Section("How to reproduce", reproduce(command)),
        ],
    )


def _lead(found: Comparison, title: str) -> Html:
    best, chosen, score = found.best, found.recommended, in_words(found.score)
    return joined(
        heading(title),
        paragraph(f"{count(len(found.rows), 'method')} compared on the same folds", class_="sub"),
        paragraph(tag("strong", found.recommendation)),
        cards(
            [
                ("recommended", name(chosen["method"]), _basis(chosen)),
                (f"its {score}", percent(chosen[found.score]),
                 f"± {percent(chosen['standard_error'])}, a standard error over the folds"),
                ("the best", percent(best[found.score]),
                 joined(name(best["method"]), ", ", _basis(best))),
            ]
        ),
    )  # fmt: skip


def _basis(row) -> Html:
    basis = str(row["basis"])
    return joined("features as given") if basis == "as given" else joined(name(basis), " basis")


def _compared(found: Comparison) -> list:
    folds = len(found.folds[0])
    return [
        paragraph(
            f"Every method was fitted to all but one of {folds} parts of the rows and judged on "
            "that part, for each part in turn. Whatever it chooses, such as C, it chose by cross-"
            "validation inside the rows it was fitted to, so the scores are honest: no method has "
            f"seen what it is judged on. They are ranked by {in_words(found.score)}"
            + (", in which every class counts the same." if found.score in PER_CLASS else ".")
        ),
        paragraph("The comparison was interrupted: some methods are missing.", class_="bad")
        if found.interrupted
        else None,
        *worth_knowing(found.skipped),
    ]


def _good(found: Comparison) -> list:
    rows = [
        [
            name(row["method"]),
            name(row["basis"]),
            percent(row[found.score]),
            percent(row["standard_error"]),
            f"{row['p_value']:.2g}",
            "–" if row["log_loss"] is None else f"{row['log_loss']:.3f}",
            f"{row['fit_seconds']:.2g} s",
            "–" if row["size"] is None else f"{row['size']:,}",
            "–" if row["gap"] is None else tiny(row["gap"]),
            {True: "yes", False: "no", None: "–"}[row["separable"]],
        ]
        for row in found.rows
    ]
    return [
        *figures(pictures.comparison(found)),
        table(["method", "basis", in_words(found.score), *COMPARISON_HEADINGS], rows, words=(0, 1)),
        paragraph(
            "p is that of the difference to the best over the folds, by the t-test corrected for "
            "folds that share training rows [Nadeau and Bengio 2003]; below "
            f"{SIGNIFICANCE_LEVEL:g} a "
            "method is called worse. Size is the number of coefficients, or of support vectors "
            "for kernels. Gap is the largest proved relative distance to the optimum, or the "
            "residual of a closed form, over the folds; separable, whether some plane divides all "
            "rows in that basis without an error.",
            class_="sub",
        ),
    ]
