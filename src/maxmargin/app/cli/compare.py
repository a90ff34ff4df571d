"""``maxmargin compare``: the methods of the lectures side by side on a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .fit_options import Category, Decimal, Drop, Header, MissingWords, Number, Text
from .interrupt import cautiously, leave
from .options import AsJson, Budget, Format, Report, Rows, Target
from .output import check_outputs, write_page
from .run import check_named, command_line, print_json, reading, said_of

CONSOLE_WIDTH = 130
# After the method, its basis and the score that it is ranked by.
COMPARISON_COLUMNS = {
    "standard_error": "±",
    "p_value": "p to best",
    "log_loss": "log-loss",
    "fit_seconds": "fit, s",
    "size": "size",
    "gap": "gap",
    "separable": "separable",
}


def compare(
    data: Rows,
    target: Target = None,
    methods: Annotated[
        str, typer.Option(help="all, or names with commas: svm,logistic,fisher,kernel-svm…")
    ] = "all",
    bases: Annotated[
        str, typer.Option(help="all, or names with commas: as given,polar,quadratic,radial.")
    ] = "as given",
    folds: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 5,
    score: Annotated[
        str | None,
        typer.Option(
            help="Rank methods and choose their C by accuracy, balanced_accuracy, f1_macro, … "
            "[default: as fit does: accuracy, with a rare class balanced_accuracy]"
        ),
    ] = None,
    drop: Drop = None,
    category: Category = None,
    text: Text = None,
    number: Number = None,
    decimal: Decimal = "auto",
    na: MissingWords = None,
    header: Header = None,
    format: Format = None,
    budget: Budget = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Scores with their uncertainty, times and proofs of many methods, each tuned inside the folds.

        maxmargin compare iris.csv --target species
        maxmargin compare people.csv -t income --methods svm,logistic --bases all
        maxmargin compare iris.csv -t species --report compared.html
        maxmargin compare faces.csv -t person --budget 5m
        maxmargin compare fraud.csv -t fraud --score f1_macro

    Rows are told on stderr as they are finished; Ctrl-C keeps those, and
    ends at once. With --budget the quick methods come first, each may take
    its share of the time left, and those that need more are named.
    """
    from rich.console import Console
    from rich.table import Table

    from ...models.tune.compare import Comparing
    from ...models.tune.scoring import in_words
    from ...parts.files.preparation import Choices
    from ...parts.files.training import read_labelled
    from ..workflow.budget import parse_budget
    from ..workflow.rows import MemoryRows
    from ..workflow.tuning import SCORES, score_for
    from .show import check_word

    if score is not None:
        check_word("--score", score, SCORES)
    seconds = parse_budget(budget)
    check_outputs({"--report": report}, {"the data": data})
    rows = read_labelled(data, target, None, said_of(format, na, header), reading(as_json))
    named = tuple(drop or ()), tuple(category or ()), tuple(text or ())
    numbers = tuple(number or ())
    check_named(rows, [name for names in (*named, numbers) for name in names])
    choices = Choices(*named, scale=False, number=numbers, decimal=decimal)
    trained = MemoryRows(rows, choices)
    X, y, notes = trained.X, trained.data.y, trained.notes
    work = Comparing(
        X, y, _names(methods), _names(bases), cv=folds, verbose=int(not as_json),
        max_seconds=seconds, scoring=score or score_for(y),
    )  # fmt: skip
    whole = _run(work, seconds)
    if not whole and not work.done:
        typer.echo(f"maxmargin: Nothing was compared in --budget {budget}. Give more.", err=True)
        leave(2)
        raise typer.Exit(2)
    found = work.result()
    if not whole:
        notes = [*notes, f"ended early, at {work.at}: what is shown is what was done by then"]
    if report is not None:
        _write(report, found, rows, X, notes)
    if as_json:
        print_json(
            {
                "data": rows.name,
                "score": found.score,
                "rows": found.rows,
                "recommendation": found.recommendation,
                "recommended": {name: found.recommended[name] for name in ("method", "basis")},
                "notes": [*notes, *found.skipped],
                "interrupted": found.interrupted,
                "files": [] if report is None else [str(report)],
            }
        )
        return None if whole else leave(0)
    table = Table(title=f"{rows.name}: {len(y)} rows, {folds} folds", box=None)
    columns = {found.score: in_words(found.score), **COMPARISON_COLUMNS}
    for title in ("method", "basis", *columns.values()):
        table.add_column(title, justify="left" if title in ("method", "basis") else "right")
    for row in found.rows:
        table.add_row(*(_cell(row[name]) for name in ("method", "basis", *columns)))
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no edge
        console = Console(width=CONSOLE_WIDTH)
    console.print(table, highlight=False)
    for note in [*notes, *found.skipped]:
        typer.echo(f"note: {note}", err=True)
    console.print(found.recommendation, highlight=False)
    if report is not None:
        typer.echo(f"wrote {report}")
    if not whole:
        leave(0)


def _run(work, seconds: float) -> bool:
    """Whether it came to its end; Ctrl-C keeps what is done, if anything is."""
    from ..workflow.budget import work_within

    def tell() -> None:
        if sys.stderr.isatty():
            typer.echo(f"[maxmargin] {work.progress}", err=True)

    try:
        with cautiously():
            return work_within(seconds, work.run, tell)
    except KeyboardInterrupt:
        if not work.done:
            raise
        return False


def _write(path: Path, found, rows, X, notes: list[str]) -> None:
    from ..report.compare import compare_report
    from ..report.data import about

    text = compare_report(found, about(rows, X, notes), command_line())
    write_page(path, text)


def _names(text: str) -> str | list[str]:
    return "all" if text == "all" else [name.strip() for name in text.split(",") if name.strip()]


def _cell(value) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
