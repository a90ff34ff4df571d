"""Whether data are those that a model was fitted to.

A model keeps no rows.  But it keeps its objective on the rows it was fitted to, and that of other
rows, of other labels or of other weights is another one.
"""

from __future__ import annotations

import numpy as np

# Objectives that agree this well are of the same data: sums over parts of a file or on a cluster
# are added up in another order.
SAME_OBJECTIVE_TOL = 1e-8
# Objectives of closed forms agree to this; squares of residuals smaller than the second number are
# rounding, whatever they add up to.
SAME_CLOSED_FORM_TOL, RESIDUAL_ROUNDING = 1e-6, 1e-12


def check_rows_of_each_class(codes, weight, classes, doing: str = "Leaving a row out") -> None:
    """Without its only row a class would be gone, and the model with it."""
    alive = np.ones(len(codes)) if weight is None else (weight > 0).astype(float)
    counts = np.bincount(codes, alive, len(classes))
    if counts.min() < 2:
        few = int(counts.argmin())
        raise ValueError(
            f"{doing} needs two rows of each class with positive weight, but class "
            f"{classes[few]} has {int(counts[few])}: without it there is no such class."
        )


def check_objective(model, primal: float, rounding: float = 0.0) -> None:
    """``primal``: the objective of the model's weights on the data given, or more by rounding,
    as the one claimed is: at a large C both are blurred by as much."""
    claimed = model.certificate_.primal
    blur = 2.0 * (rounding + model.certificate_.rounding)
    off = SAME_OBJECTIVE_TOL * max(abs(primal), abs(claimed)) + blur
    if not abs(primal - claimed) <= off:
        refuse_other_data(model, f"the objective here is {primal:.10g}, there {claimed:.10g}")


def check_closed_form(model, here: float, there: float, n: int) -> None:
    """The objective, or the criterion, of n rows here and at the fit."""
    off = SAME_CLOSED_FORM_TOL * max(abs(here), abs(there)) + n * RESIDUAL_ROUNDING**2
    if not abs(here - there) <= off:
        refuse_other_data(model, f"the objective here is {here:.10g}, there {there:.10g}")


def check_count(model, n: int, trained: int) -> None:
    """``trained``: the rows that the model was fitted to."""
    if n != trained:
        refuse_other_data(model, f"here are {n} rows, there were {trained}")


def refuse_other_data(model, why: str) -> None:
    raise ValueError(
        f"These are not the data that the {type(model).__name__} was fitted to: {why}. "
        "Give the same rows in the same order, with the same labels and sample_weight."
    )
