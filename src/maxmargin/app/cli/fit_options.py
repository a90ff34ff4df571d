"""The options of ``maxmargin fit``, in the order of its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...models.registry import METHODS
from .bundled import DEMOS

COLUMNS_PANEL, CHOICE_PANEL, JUDGEMENT_PANEL, EFFORT_PANEL = (
    "Columns",
    "Choice of model",
    "Judgement",
    "Effort and output",
)

Data = Annotated[
    list[str] | None,
    typer.Argument(
        help="CSV, TSV, Excel, ARFF, Parquet, Arrow/Feather, svmlight (.gz and .bz2 too), npz or "
        "npy; - is standard input. Several tables of the same columns are read as one. Without "
        "any, bundled data are used.",
        metavar="DATA",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column of the labels; of X.npy the file of them.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Demo = Annotated[
    str, typer.Option(help=f"Bundled data: {', '.join(DEMOS)}.", rich_help_panel=COLUMNS_PANEL)
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Column to leave out.", rich_help_panel=COLUMNS_PANEL)
]
Category = Annotated[
    list[str] | None,
    typer.Option(help="Column to read as categories.", rich_help_panel=COLUMNS_PANEL),
]
Text = Annotated[
    list[str] | None, typer.Option(help="Column to read as text.", rich_help_panel=COLUMNS_PANEL)
]
Number = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to read as numbers; what is none is missing.", rich_help_panel=COLUMNS_PANEL
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        help="Decimal mark of numbers: . or a comma; auto looks.", rich_help_panel=COLUMNS_PANEL
    ),
]
MissingWords = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        help="Word for a missing value, instead of ?, -, NA, N/A, null, nan. An empty cell always "
        "is one.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="The first line names the columns, or is a row. [default: as it looks]",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
TextAs = Annotated[
    str, typer.Option(help="Words as tfidf or as counts.", rich_help_panel=COLUMNS_PANEL)
]
Missing = Annotated[
    str,
    typer.Option(
        help="Missing values: fill (mean, no level), drop (leave the row out) or refuse.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Scale = Annotated[
    bool,
    typer.Option(
        help="Numbers minus mean, divided by standard deviation.", rich_help_panel=COLUMNS_PANEL
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column of weights of the rows; of X.npy the file of them. balanced: every class "
        "weighs the same; none: every row does. [default: balanced with --score balanced_accuracy, "
        "and where it finds a rare class that is missed without]",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="csv, tsv, parquet, arrow, svmlight, npz or npy, where the name does not tell.",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help=f"{', '.join(METHODS)}; auto: svm, or logistic where svm misses most of a class "
        "and the folds say that it is better.",
        rich_help_panel=CHOICE_PANEL,
    ),
]
Price = Annotated[
    float | None,
    typer.Option(
        "--C", help="Price of slack, inf for a hard margin.", rich_help_panel=CHOICE_PANEL
    ),
]
Tune = Annotated[
    bool, typer.Option(help="Choose C by cross-validation.", rich_help_panel=CHOICE_PANEL)
]
Folds = Annotated[int, typer.Option(help="Folds to choose C.", rich_help_panel=CHOICE_PANEL)]
Score = Annotated[
    str | None,
    typer.Option(
        help="Choose C by accuracy, balanced_accuracy, f1_macro, roc_auc, average_precision, … "
        "[default: accuracy, with a rare class balanced_accuracy]",
        rich_help_panel=CHOICE_PANEL,
    ),
]
Multiclass = Annotated[
    str | None,
    typer.Option(help="svm: max, sum, rest or pairs.", rich_help_panel=CHOICE_PANEL),
]
Kernel = Annotated[
    str | None,
    typer.Option(help="rbf, poly, linear, laplacian or cosine.", rich_help_panel=CHOICE_PANEL),
]
Basis = Annotated[
    str | None,
    typer.Option(
        help="polar, quadratic, polynomial:DEGREE or radial:CENTRES.", rich_help_panel=CHOICE_PANEL
    ),
]
Test = Annotated[
    str | None, typer.Option(help="File to judge the model on.", rich_help_panel=JUDGEMENT_PANEL)
]
Holdout = Annotated[
    float,
    typer.Option(
        help="Share of the rows to hold out for judgement.", rich_help_panel=JUDGEMENT_PANEL
    ),
]
CostsOption = Annotated[
    Path | None,
    typer.Option(
        "--costs",
        help="CSV of what each action (columns) costs for each true class (rows); predict and "
        "evaluate then decide by it.",
        rich_help_panel=JUDGEMENT_PANEL,
    ),
]
Seed = Annotated[int, typer.Option(help="Of folds and shares.", rich_help_panel=JUDGEMENT_PANEL)]
Tol = Annotated[
    float | None, typer.Option(help="Relative gap to prove.", rich_help_panel=EFFORT_PANEL)
]
MaxSeconds = Annotated[
    float, typer.Option(help="Most seconds for choosing and fitting.", rich_help_panel=EFFORT_PANEL)
]
Budget = Annotated[
    str | None,
    typer.Option(
        help="Most time for choosing and fitting, such as 60s, 5m or 1h: C is then chosen among "
        "those that were tried, and a gap that is not proved is told. [default: no limit]",
        rich_help_panel=EFFORT_PANEL,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Most threads, to read, to compute and over folds. [default: one a core]",
        rich_help_panel=EFFORT_PANEL,
    ),
]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="The model file.", rich_help_panel=EFFORT_PANEL)
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="The page about the fit.",
        show_default="report.html beside the model",
        rich_help_panel=EFFORT_PANEL,
    ),
]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Write no page.", rich_help_panel=EFFORT_PANEL)
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Read DATA, a file or a folder of files, in pieces within this limit: 600MB, 2GB.",
        rich_help_panel=EFFORT_PANEL,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="With --memory: go on where a fit was killed.",
                 rich_help_panel=EFFORT_PANEL),
]  # fmt: skip
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=EFFORT_PANEL)
]
