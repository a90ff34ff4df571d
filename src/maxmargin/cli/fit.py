"""``maxmargin fit``: from a file to a model with its proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .bundled import DEMOS
from .run import print_json, use_threads

METHODS = "svm, logistic, least-squares, fisher, perceptron, kernel-svm, kernel-ridge"
COLUMNS, CHOICE, JUDGE, EFFORT = "Columns", "Choice of model", "Judgement", "Effort and output"


def fit(
    data: Annotated[
        str | None,
        typer.Argument(
            help="CSV, TSV, Parquet, Arrow/Feather, svmlight (.gz and .bz2 too) or npz; - is "
            "standard input. Without it bundled data are used.",
            metavar="[DATA]",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column of the labels.", rich_help_panel=COLUMNS),
    ] = None,
    demo: Annotated[
        str, typer.Option(help=f"Bundled data: {', '.join(DEMOS)}.", rich_help_panel=COLUMNS)
    ] = "iris",
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out.", rich_help_panel=COLUMNS)
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="Column to read as categories.", rich_help_panel=COLUMNS),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Column to read as text.", rich_help_panel=COLUMNS)
    ] = None,
    text_as: Annotated[
        str, typer.Option(help="Words as tfidf or as counts.", rich_help_panel=COLUMNS)
    ] = "tfidf",
    missing: Annotated[
        str,
        typer.Option(
            help="Missing values: fill (mean, no level), drop (leave the row out) or refuse.",
            rich_help_panel=COLUMNS,
        ),
    ] = "fill",
    scale: Annotated[
        bool,
        typer.Option(
            help="Numbers minus mean, divided by standard deviation.", rich_help_panel=COLUMNS
        ),
    ] = True,
    weights: Annotated[
        str | None,
        typer.Option(help="Column of weights of the rows.", rich_help_panel=COLUMNS),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, tsv, parquet, arrow, svmlight or npz, where the name does not tell.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help=f"{METHODS}.", rich_help_panel=CHOICE)
    ] = "svm",
    C: Annotated[
        float | None,
        typer.Option("--C", help="Price of slack, inf for a hard margin.", rich_help_panel=CHOICE),
    ] = None,
    tune: Annotated[
        bool, typer.Option(help="Choose C by cross-validation.", rich_help_panel=CHOICE)
    ] = True,
    folds: Annotated[int, typer.Option(help="Folds to choose C.", rich_help_panel=CHOICE)] = 5,
    multiclass: Annotated[
        str | None,
        typer.Option(help="svm: max, sum, rest or pairs.", rich_help_panel=CHOICE),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(help="rbf, poly, linear, laplacian or cosine.", rich_help_panel=CHOICE),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="polar, quadratic, polynomial:DEGREE or radial:CENTRES.", rich_help_panel=CHOICE
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="File to judge the model on.", rich_help_panel=JUDGE)
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(help="Share of the rows to hold out for judgement.", rich_help_panel=JUDGE),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of folds and shares.", rich_help_panel=JUDGE)] = 0,
    tol: Annotated[
        float | None, typer.Option(help="Relative gap to prove.", rich_help_panel=EFFORT)
    ] = None,
    max_seconds: Annotated[
        float, typer.Option(help="Most seconds for choosing and fitting.", rich_help_panel=EFFORT)
    ] = float("inf"),
    threads: Annotated[
        int | None, typer.Option(help="Most threads.", rich_help_panel=EFFORT)
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The model file.", rich_help_panel=EFFORT)
    ] = Path("model.maxmargin"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=EFFORT)
    ] = False,
) -> None:
    """Fit a classifier to a file, prove it, and write a model.

    Columns are typed by what they hold: numbers are scaled, words become
    one indicator for each level. C is chosen by cross-validation unless
    given. The model file holds all of it.

        maxmargin fit                            # on iris
        maxmargin fit --demo circles --basis polar
        maxmargin fit people.csv --target income --holdout 0.2
        maxmargin fit mail.parquet -t spam --text body -m logistic
        maxmargin fit a9a.svm.bz2 --C 1 --test a9a.t.bz2 --json
        zcat rows.csv.gz | maxmargin fit - -t label

    Exit code: 0 proved, 1 the gap asked for was not proved, 2 bad input,
    130 interrupted.
    """
    use_threads(threads)
    from ..data.preparation import Choices
    from ..data.training import read_labelled, read_like
    from ..store.files import save
    from ..train.fit import fit_table, judge_on
    from ..train.methods import Plan, find_method
    from .bundled import bundled
    from .show import check_word, next_steps, report, show_fit

    plan = Plan(method, C, tune, folds, kernel, basis, multiclass, tol, max_seconds, seed)
    find_method(plan)  # what cannot work is said before anything is read
    choices = Choices(
        tuple(drop or ()), tuple(category or ()), tuple(text or ()),
        check_word("--text-as", text_as, ("tfidf", "counts")) == "tfidf", scale,
        check_word("--missing", missing, ("fill", "drop", "refuse")),
    )  # fmt: skip
    if test is not None and holdout:
        raise ValueError("--test and --holdout both say what to judge on. Use one of them.")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise ValueError(f"--out {out} cannot be written: it must be a file in an existing folder.")
    labelled = bundled(demo) if data is None else read_labelled(data, target, weights, format)
    _check_named(labelled, [*choices.drop, *choices.category, *choices.text])
    if test is not None:
        fitted = fit_table(labelled, plan, choices)
        judged = read_like(test, fitted.model, format)
        fitted.test = judge_on(fitted.model, judged, fitted.notes)
        fitted.model.summary["test"] = fitted.test.to_dict()
    else:
        fitted = fit_table(labelled, plan, choices, holdout=holdout)
    if weights is not None:
        fitted.model.summary["weights"] = weights
    written = _write(fitted, out, save)
    if as_json:
        print_json(report(fitted, written))
    else:
        show_fit(fitted, written)
        next_steps(out, data)
    if not fitted.proved:
        raise typer.Exit(1)


def _write(fitted, out: Path, save) -> list[Path]:
    """The files of a fit: the model.  A page to read, report.html, would be written here too."""
    return [save(fitted.model, out)]


def _check_named(labelled, names: list[str]) -> None:
    from ..data.tables import check_columns

    if names and not labelled.is_table:
        raise ValueError("--drop, --category and --text name columns of a table.")
    if names:
        check_columns(names, labelled.rows.schema.names, labelled.name)
