"""Arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[Path, typer.Argument(help="A file written by `maxmargin fit`.")]
Rows = Annotated[str, typer.Argument(help="Rows with labels; - is standard input.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column of the labels.")]
Basis = Annotated[
    str | None, typer.Option(help="polar, quadratic, polynomial:DEGREE or radial:CENTRES.")
]
Format = Annotated[str | None, typer.Option(help="Format of DATA where its name does not tell.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Report = Annotated[
    Path | None, typer.Option(help="Write a page about the result, in HTML, to this file.")
]
Budget = Annotated[
    str | None,
    typer.Option(
        help="Most time for all of it, such as 60s, 5m or 1h; what is there by then is shown. "
        "[default: no limit]"
    ),
]
CostsFile = Annotated[
    Path | None,
    typer.Option(
        "--costs", help="CSV of what each action costs for each true class. [default: the model's]"
    ),
]


def costs_for(model, path: Path | None):
    """The prices of a file, else those the model was fitted with; None where there are none."""
    from ...models.calibration.costs import costs_of, read_costs

    given = model.summary.get("costs")
    if path is None and given is None:
        return None
    found = costs_of(given) if path is None else read_costs(path)
    found.prices(model.model.classes_)  # refuses other classes before anything is read
    return found
