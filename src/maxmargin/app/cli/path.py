"""``maxmargin path``: the same model for ever larger C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .fit_options import Decimal, Header, MissingWords, Number
from .interrupt import cautiously
from .options import AsJson, Basis, Format, Report, Rows, Target
from .output import check_outputs, write_page
from .run import check_named, command_line, print_json, reading, said_of

PATH_COLUMNS = ("C", "training_error", "n_support", "margin", "norm", "objective", "gap", "seconds")


def path(
    data: Rows,
    target: Target = None,
    method: Annotated[str, typer.Option("--method", "-m", help="svm or logistic.")] = "svm",
    scale: Annotated[bool, typer.Option(help="Divide numbers by their deviation.")] = True,
    basis: Basis = None,
    number: Number = None,
    decimal: Decimal = "auto",
    na: MissingWords = None,
    header: Header = None,
    format: Format = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """One line for every C: training error, support vectors, margin, gap, time.

    maxmargin path iris.csv --target species
    maxmargin path people.csv -t income --method logistic --json
    maxmargin path iris.csv -t species --report path.html
    """
    from rich.console import Console
    from rich.table import Table

    from ...models.registry import METHODS
    from ...models.tune.path import c_path
    from ...parts.files.preparation import Choices
    from ...parts.files.training import read_labelled
    from ..workflow.rows import MemoryRows
    from .show import check_word

    check_word("--method", method, ("svm", "logistic"))
    check_outputs({"--report": report}, {"the data": data})
    rows = read_labelled(data, target, None, said_of(format, na, header), reading(as_json))
    choices = Choices(scale=scale, number=tuple(number or ()), decimal=decimal)
    check_named(rows, list(choices.number))
    trained = MemoryRows(rows, choices, basis)
    X, y, notes = trained.X, trained.data.y, trained.notes
    with cautiously():
        found = c_path(METHODS[method].estimator_class()(), X, y)
    if report is not None:
        _write(report, found, rows, X, notes)
    if as_json:
        files = [] if report is None else [str(report)]
        result = {"data": rows.name, "rows": found.rows, "ending": found.ending, "notes": notes}
        print_json(result | {"files": files})
        return
    table = Table(title=f"{method} on {rows.name}", box=None)
    for name in PATH_COLUMNS:
        table.add_column(name.replace("_", " "), justify="right")
    for line in found.rows:
        table.add_row(*(_cell(line.get(name)) for name in PATH_COLUMNS))
    console = Console()
    console.print(table, highlight=False)
    console.print(found.ending, highlight=False)
    if report is not None:
        typer.echo(f"wrote {report}")


def _write(path: Path, found, rows, X, notes: list[str]) -> None:
    from ..report.data import about
    from ..report.path import path_report

    text = path_report(found, about(rows, X, notes), command_line())
    write_page(path, text)


def _cell(value) -> str:
    return "" if value is None else f"{value:.3g}"
