"""``maxmargin verify``: recompute a model's proof from its training data."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import AsJson, Format, ModelFile
from .run import print_json, reading


def verify(
    model: ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(help="The training data, all files of the fit; - is standard input."),
    ],
    tol: Annotated[
        float | None, typer.Option(help="Relative gap to hold. [default: the model's own]")
    ] = None,
    format: Format = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Of X.npy the file of the labels.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Read DATA in pieces within this limit. [default: that of the fit, if it had one]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the certificate from the data, and say whether the model's claim holds.

    Nothing is taken from the fit but the weights and multipliers in the
    file.  Rows without a label are left out as they were by fit.

        maxmargin verify model.maxmargin training.csv

    A model fitted with --memory is verified within that limit, too; then
    DATA may be a folder or a pattern, as for fit.

    Exit code: 0 the claim holds, 1 it does not, 2 bad input.
    """
    from ...parts.files.form import FileOptions, only
    from ...parts.files.model import with_columns
    from ..store.files import load
    from ..workflow.verify import verify_file

    fitted = with_columns(load(model))
    estimator = fitted.model
    if target is not None and fitted.is_table:
        raise ValueError(f"The model knows its target, {fitted.target!r}: leave --target out.")
    if memory is None and "streamed" in fitted.summary:
        memory = fitted.summary["streamed"]["memory"]
    if memory is not None and len(data) > 1:
        raise ValueError("--memory reads one file or a folder: put several files into a folder.")
    claim = tol if tol is not None else float(getattr(estimator, "tol", None) or 1e-6)
    files = FileOptions(only(data), target, format=format)
    seen = verify_file(fitted, files, claim, memory, reading(as_json))
    result = {
        "data": seen.name,
        "rows": seen.rows,
        "claimed": str(estimator.certificate_),
        "found": seen.found,
        "relative_gap": seen.relative_gap,
        "tol": claim if seen.relative_gap is not None else None,
        "holds": seen.holds,
    }
    if as_json:
        print_json(result)
    else:
        print(f"claimed: {result['claimed']}")
        print(f"found:   {result['found']}")
        print("the claim holds" if seen.holds else _why_not(fitted, seen.rows))
    if not seen.holds:
        raise typer.Exit(1)


def _why_not(fitted, rows: int) -> str:
    trained = fitted.summary.get("rows")
    if trained is not None and trained != rows:
        return (
            f"the claim does not hold for these data: the model was fitted to {trained} rows, "
            f"here are {rows}"
        )
    if fitted.summary.get("proved") is False:
        return (
            "the gap asked for was not proved when the model was fitted, and is not now: what it "
            "claims is what was found (--tol asks for less)"
        )
    return "the claim does not hold for these data: are they the training data?"
