"""``python -m maxmargin.referee MODEL DATA``: is what the model's certificate claims true?

MODEL is a model file, which the library reads, or a proof written by ``certificate_.to_json()``,
which is read here.

Exit code: 0 confirmed, 1 not confirmed or refuted, 2 bad input or beyond what can be checked.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from .check import check
from .machines import rough_seconds
from .proof import is_proof, read_data, read_proof
from .read import Unknown

# Seconds of exact arithmetic per product of two numbers, and most seconds that are worth it.
PER_PRODUCT, PER_EXPONENTIAL = 4e-6, 4e-4
MOST_SECONDS = 600.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m maxmargin.referee",
        description="Check a model's certificate on its training data in exact arithmetic.",
        epilog="Exit code: 0 confirmed, 1 not confirmed or refuted, 2 bad input.",
    )
    parser.add_argument(
        "model",
        help="a file written by `maxmargin fit` or `maxmargin.save`, or a proof written by "
        "`certificate_.to_json()`",
    )
    parser.add_argument(
        "data",
        help="the training data, as `maxmargin fit` reads them; for a proof the numbers that the "
        "estimator was given, as CSV, or as npz with X and y",
    )
    parser.add_argument(
        "--target",
        help="of X.npy the file of the labels; for a proof the column of the labels [default: the "
        "last], for one of a ranker the file of the preferences",
    )
    parser.add_argument("--weights", help="for a proof the column of the weights")
    parser.add_argument(
        "--slack", type=float, default=0.0, help="forgiven, relative to the objective"
    )
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="most that it may take")
    given = parser.parse_args(arguments)
    try:
        if is_proof(given.model):
            proof = read_proof(given.model)
            model, found = proof.model, read_data(proof, given.data, given.target, given.weights)
        else:
            model, *found = read(given.model, given.data, given.target)
        X, y, weight = found
        expected = estimate(model, X)
        if expected > given.seconds:
            raise Unknown(
                f"{X.shape[0]} rows of {X.shape[1]} columns would take some {expected:.0f} s in "
                f"exact arithmetic, and --seconds allows {given.seconds:g}. Check a model of fewer "
                "rows, or allow more."
            )
        further = further_seconds(model, X)
        if expected + further > 2.0:
            print(
                f"this will take some {expected:.0f} s, and where the multipliers do not suffice "
                f"some {further:.0f} s more",
                file=sys.stderr,
            )
        begun = time.monotonic()
        report = check(model, X, y, weight, given.slack, given.seconds)
    except (ValueError, OSError) as failure:
        print(f"referee: {failure}", file=sys.stderr)
        return 2
    print(report)
    print(f"took:     {time.monotonic() - begun:.1f} s")
    return int(report.verdict != "confirmed")


def read(model: str, data: str, target: str | None):
    """The estimator, and the features, labels and weights that it was fitted to."""
    from ..app.store.files import load
    from ..parts.files.model import with_columns
    from ..parts.files.training import read_labelled, without_missing

    fitted = with_columns(load(model))
    own = fitted.target if fitted.is_table else target
    rows = read_labelled(data, own, fitted.summary.get("weights"), fitted.form())
    if fitted.is_table and fitted.preparation.missing == "drop":
        rows = without_missing(rows, list(fitted.preparation.types()))
    trained = fitted.summary.get("rows")
    if trained is not None and trained != len(rows):
        raise ValueError(
            f"{data} has {len(rows)} rows with a label, but the model was fitted to {trained}: a "
            "certificate is about the training data."
        )
    strange = set(np.unique(rows.y).tolist()) - set(fitted.model.classes_.tolist())
    if strange:
        raise ValueError(f"{data} has labels that the model does not know: {sorted(strange)[:3]}.")
    return fitted.model, fitted.features(rows.rows), rows.y, rows.weight


def estimate(model, X) -> float:
    """Rough seconds for primal and dual; the optimum, where it is looked for, has its own."""
    n, d = X.shape
    outputs = max(
        1, np.atleast_2d(model.intercept_).shape[1] if hasattr(model, "intercept_") else 1
    )
    if not hasattr(model, "kernel"):
        return PER_PRODUCT * 6 * n * d * outputs
    exact = model.kernel in ("linear", "poly", "precomputed")
    return n * n * (PER_PRODUCT * (d + 4 * outputs) + (0.0 if exact else PER_EXPONENTIAL))


def further_seconds(model, X) -> float:
    """Rough seconds to find the optimum."""
    n, d = X.shape
    k = len(getattr(model, "classes_", (0, 1)))  # a ranker of items, a regression
    joint = k > 2 and getattr(model, "multiclass", "max") in ("max", "sum")
    classes = k if joint else 1
    return rough_seconds(n * max(1, classes - 1), (n if hasattr(model, "kernel") else d) * classes)


if __name__ == "__main__":
    sys.exit(main())
