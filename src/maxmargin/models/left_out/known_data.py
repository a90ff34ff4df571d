"""The data of a fit, given again, for whoever wants to change them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...core.problem.losses import Hinge
from ...core.rows.rows import scores
from ..bias_column import joined, with_ones
from ..svm import two_class
from ..validation import check_known
from .same_data import check_count, check_objective, refuse_other_data

# A closed form's objective agrees to this with that of the fit.
SAME_CLOSED_FORM_TOL = 1e-6


def data_of_fit(model: Any, X, y, sample_weight) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """X, codes and weights, validated and found to be those that the model was fitted to."""
    check_is_fitted(model)
    X, codes, weight = check_known(model, X, y, sample_weight)
    rows = getattr(model, "alpha_", None)
    if isinstance(rows, np.ndarray) and rows.ndim and hasattr(model, "support_"):
        check_count(model, len(codes), len(rows))
    claim = model.certificate_
    if hasattr(claim, "dual"):
        check_objective(model, _primal(model, X, codes, weight))
        return X, codes, weight
    found = model._recertify(X, codes, weight)
    here, there = (getattr(each, "objective", None) or each.bound for each in (found, claim))
    if not abs(here - there) <= SAME_CLOSED_FORM_TOL * max(abs(here), abs(there)):
        refuse_other_data(model, f"the objective here is {here:.10g}, there {there:.10g}")
    return X, codes, weight


def _primal(model, X, codes, weight) -> float:
    """The objective of the model's weights: for two classes by one pass over the rows."""
    linear = hasattr(model, "coef_") and hasattr(model, "loss") and len(model.classes_) == 2
    if not linear:
        return model._recertify(X, codes, weight).primal
    if model._bias_column:
        model, X = joined(model), with_ones(X)
    problem = two_class.pose(model, X, codes, weight)
    if problem.hard:
        return model._recertify(X, codes, weight).primal
    w, b = model.coef_[0], float(model.intercept_[0])
    z = np.maximum(1.0 - problem.y * (scores(problem.rows, w) + b), 0.0)
    losses = z if isinstance(problem.loss, Hinge) else z * z
    return 0.5 * float(w @ w) + float(problem.c @ losses)


def rows_named(rows, n: int) -> np.ndarray:
    """Row numbers, counted from 0, or a mask, as sorted numbers without repeats."""
    asked = np.atleast_1d(np.asarray(rows))
    if asked.dtype == bool:
        if asked.shape != (n,):
            raise ValueError(
                f"A mask of rows must have {n} entries, one per row, got {asked.shape}."
            )
        asked = np.flatnonzero(asked)
    if asked.ndim != 1 or not len(asked) or asked.dtype.kind not in "iu":
        raise ValueError(
            f"rows must be row numbers counted from 0, or a mask of some rows, got {rows!r}."
        )
    if asked.min() < 0 or asked.max() >= n:
        worst = int(asked.min()) if asked.min() < 0 else int(asked.max())
        raise ValueError(f"There is no row {worst}: the data have rows 0 to {n - 1}.")
    return np.unique(asked)


def stacked(one, two):
    """Rows below rows, dense or sparse."""
    if sparse.issparse(one):
        return sparse.vstack([one, two], format="csr")
    return np.concatenate([one, np.asarray(two, dtype=one.dtype)])
