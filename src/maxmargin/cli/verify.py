"""``maxmargin verify``: recompute a model's proof from its training data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .run import print_json, reading


def verify(
    model: Annotated[Path, typer.Argument(help="A file written by `maxmargin fit`.")],
    data: Annotated[str, typer.Argument(help="The training data; - is standard input.")],
    tol: Annotated[
        float | None, typer.Option(help="Relative gap to hold. [default: the model's own]")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of DATA where its name does not tell.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Recompute the certificate from the data, and say whether the model's claim holds.

    Nothing is taken from the fit but the weights and multipliers in the
    file.  Rows without a label are left out as they were by fit.

        maxmargin verify model.maxmargin training.csv

    Exit code: 0 the claim holds, 1 it does not, 2 bad input.
    """
    from .. import verify as recompute
    from ..data.model import with_columns
    from ..data.training import read_labelled, without_missing
    from ..store.files import load

    fitted = with_columns(load(model))
    estimator = fitted.model
    target = fitted.target if fitted.is_table else None
    weights = fitted.summary.get("weights")
    rows = read_labelled(data, target, weights, format, reading(as_json))
    if fitted.is_table and fitted.preparation.missing == "drop":
        rows = without_missing(rows, list(fitted.preparation.types()))
    claim = tol if tol is not None else float(getattr(estimator, "tol", None) or 1e-6)
    certificate = None
    if hasattr(estimator.certificate_, "separates"):
        found, holds = _count(estimator, fitted, rows)
    else:
        certificate = recompute(estimator, fitted.features(rows.rows), rows.y, rows.weight)
        found, holds = str(certificate), certificate.holds(claim)
    told = {
        "data": rows.name,
        "rows": len(rows),
        "claimed": str(estimator.certificate_),
        "found": found,
        "relative_gap": getattr(certificate, "relative_gap", None),
        "tol": claim if certificate is not None else None,
        "holds": bool(holds),
    }
    if as_json:
        print_json(told)
    else:
        print(f"claimed: {told['claimed']}")
        print(f"found:   {told['found']}")
        print("the claim holds" if holds else _why_not(fitted, rows))
    if not holds:
        raise typer.Exit(1)


def _count(estimator, fitted, rows) -> tuple[str, bool]:
    """A perceptron claims a number of training errors, no optimum."""
    wrong = int((estimator.predict(fitted.features(rows.rows)) != rows.y).sum())
    claimed = estimator.certificate_
    holds = wrong == claimed.wrong and len(rows) == claimed.points
    return f"{wrong} of {len(rows)} points wrong", holds


def _why_not(fitted, rows) -> str:
    trained = fitted.summary.get("rows")
    if trained is not None and trained != len(rows):
        return (
            f"the claim does not hold for these data: the model was fitted to {trained} rows, "
            f"here are {len(rows)}"
        )
    return "the claim does not hold for these data: are they the training data?"
