"""``maxmargin path``: the same model for ever larger C."""

from __future__ import annotations

from typing import Annotated

import typer

from .interrupt import cautiously
from .options import AsJson, Basis, Format, Rows, Target
from .run import print_json, reading

SHOWN = ("C", "training_error", "n_support", "margin", "norm", "objective", "gap", "seconds")


def path(
    data: Rows,
    target: Target = None,
    method: Annotated[str, typer.Option("--method", "-m", help="svm or logistic.")] = "svm",
    scale: Annotated[bool, typer.Option(help="Divide numbers by their deviation.")] = True,
    basis: Basis = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """One line for every C: training error, support vectors, margin, gap, time.

    maxmargin path iris.csv --target species
    maxmargin path people.csv -t income --method logistic --json
    """
    from rich.console import Console
    from rich.table import Table

    from ..data.preparation import Choices
    from ..data.training import read_labelled
    from ..train.fit import features_of
    from ..train.methods import Plan
    from ..train.path import follow
    from .show import check_word

    check_word("--method", method, ("svm", "logistic"))
    rows = read_labelled(data, target, None, format, reading(as_json))
    X, y, notes = features_of(rows, Plan(basis=basis), Choices(scale=scale))
    with cautiously():
        lines, ending = follow(method, X, y)
    if as_json:
        print_json({"data": rows.name, "rows": lines, "ending": ending, "notes": notes})
        return
    table = Table(title=f"{method} on {rows.name}", box=None)
    for name in SHOWN:
        table.add_column(name.replace("_", " "), justify="right")
    for line in lines:
        table.add_row(*(_cell(line.get(name)) for name in SHOWN))
    console = Console()
    console.print(table, highlight=False)
    console.print(ending, highlight=False)


def _cell(value) -> str:
    return "" if value is None else f"{value:.3g}"
