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
