"""``maxmargin separable``: is there a plane between the classes? A margin, or a proof of none."""

from __future__ import annotations

from typing import Annotated

import typer

from .fit_options import Decimal, Header, MissingWords, Number
from .options import AsJson, Basis, Format, Rows, Target
from .run import check_named, print_json, reading, said_of


def separable(
    data: Rows,
    target: Target = None,
    scale: Annotated[bool, typer.Option(help="Measure the margin in standard deviations.")] = True,
    basis: Basis = None,
    number: Number = None,
    decimal: Decimal = "auto",
    na: MissingWords = None,
    header: Header = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """The exact maximum margin between the classes, or a proof that no plane separates them.

        maxmargin separable iris.csv --target species
        maxmargin separable circles.csv -t label --basis quadratic

    Exit code: 0 separable, 1 not separable, 2 bad input.
    """
    from ...models.separate import separability
    from ...parts.files.preparation import Choices
    from ...parts.files.training import read_labelled
    from ..workflow.rows import MemoryRows

    rows = read_labelled(data, target, None, said_of(format, na, header), reading(as_json))
    choices = Choices(scale=scale, number=tuple(number or ()), decimal=decimal)
    check_named(rows, list(choices.number))
    trained = MemoryRows(rows, choices, basis)
    X, y, notes = trained.X, trained.data.y, trained.notes
    found = separability(X, y)
    result = {
        "data": rows.name,
        "rows": len(y),
        "separable": bool(found.separable),
        "margin": float(found.margin),
        "residual": found.residual,
        "answer": str(found),
        "notes": notes,
    }
    if as_json:
        print_json(result)
    else:
        print(found)
        for note in notes:
            typer.echo(f"note: {note}", err=True)
    if not found.separable:
        raise typer.Exit(1)
