"""``maxmargin export``: a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .interrupt import cautiously
from .options import AsJson, ModelFile
from .output import check_outputs
from .run import print_json


def export(
    model: ModelFile,
    onnx: Annotated[Path, typer.Option("--onnx", help="The ONNX file to write.")],
    check: Annotated[
        str | None, typer.Option(help="Rows on which onnxruntime must agree with the model.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a linear model with its preprocessing and basis as ONNX, in float64.

    Every column of the table is an input of its own; outputs are label,
    scores and, where they exist, probabilities.

        maxmargin export model.maxmargin --onnx model.onnx --check data.csv

    Needs the extra onnx: pip install 'maxmargin\\[onnx]'.
    Exit code: 0 written, 1 onnxruntime disagrees with the model, 2 bad input.
    """
    from ...parts.files.model import with_columns
    from ..store.files import load
    from ..store.onnx_graph import compare, write_onnx

    check_outputs({"--onnx": onnx}, {"the model": model, "the data": check})
    fitted = with_columns(load(model))
    rows = None if check is None else _rows(fitted, check)  # what is wrong is said before writing
    with cautiously(onnx):
        path = write_onnx(fitted, onnx)
    result: dict = {"file": str(path), "difference": None, "agrees": None}
    if rows is not None:
        result["difference"] = compare(path, fitted, rows)
        result["agrees"] = result["difference"] < 1e-9
    if as_json:
        print_json(result)
    else:
        print(f"wrote {path}")
        if check is not None:
            print(f"onnxruntime differs from the model by at most {result['difference']:.1e}")
    if result["agrees"] is False:
        raise typer.Exit(1)


def _rows(fitted, data: str):
    """Rows with the columns that the model needs."""
    from ...parts.files.matrices import read_matrix
    from ...parts.files.source import find_source
    from ...parts.files.tables import check_columns, read_table

    source = find_source(data, fitted.form())
    fitted.check_kind(source)
    if not source.is_table:
        return read_matrix(source, fitted.preparation.base)[0]
    table = read_table(source)
    check_columns(fitted.preparation.types(), table.schema.names, source.name)
    return table
