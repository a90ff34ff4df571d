"""``maxmargin forget``: a model of the same data without some rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from .interrupt import cautiously
from .options import AsJson, Format, ModelFile
from .output import check_outputs
from .run import print_json, reading


def forget(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="The training data; - is standard input.")],
    rows: Annotated[str, typer.Option(help="Rows of DATA, counted from 1: 3,17-20.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where the new model is written. [default: over MODEL]"),
    ] = None,
    format: Format = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Of X.npy the file of the labels.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Forget rows of the training data: write the model that never saw them, with its proof.

    The new model is the optimum of the rows that are left, and its
    certificate is about these alone; `maxmargin verify` on them recomputes
    it.  How columns become numbers (means, scales, categories) stays as it
    was learned from all rows.

        maxmargin forget model.maxmargin training.csv --rows 17,40-42

    Exit code: 0 forgotten and proved, 1 not proved, 2 bad input.
    """
    from ...parts.files.form import FileOptions
    from ...parts.files.model import with_columns
    from ..store.files import load, save
    from ..workflow.fit import is_proved
    from ..workflow.forget import forget_rows, parse_rows

    place = model if out is None else out
    check_outputs({"--out": place}, {"the data": data})
    fitted = with_columns(load(model))
    if target is not None and fitted.is_table:
        raise ValueError(f"The model knows its target, {fitted.target!r}: leave --target out.")
    files = FileOptions(data, target, format=format)
    found = forget_rows(fitted, files, parse_rows(rows), reading(as_json))
    with cautiously(place):
        save(found.model, place)
    proved = is_proved(found.model.model)
    result = {
        "file": str(place),
        "forgotten": found.gone,
        "rows": found.rest,
        "certificate": str(found.model.model.certificate_),
        "proved": proved,
        "weights_moved": found.moved,
        "labels_changed": found.changed,
    }
    if as_json:
        print_json(result)
    else:
        print(f"forgot {found.gone} rows; {found.rest} are left")
        print(f"proof:   {result['certificate']}")
        if not math.isnan(found.moved):
            print(f"weights: moved by {found.moved:.1e} of their length")
        print(f"labels:  {found.changed} of the rows left are given another one")
        print(f"wrote {place}")
    if not proved:
        raise typer.Exit(1)
