"""Least squares and Fisher's discriminant, each row left out in closed form."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ...core.solve.closed_form.left_out_fisher import leave_out_discriminant
from ...core.solve.left_out.answer import LeftOutScores
from ...core.solve.threads import one_blas_thread
from .same_data import check_closed_form

# Rounding of a closed form, in units of the condition of its system.
CONDITION_ROUNDING = 1e2 * np.finfo(float).eps
# Of a model that is not proved to this nothing is known without a row either.
PROVED_TOL = 1e-7


def leave_out_least_squares(model, X, codes, weight) -> LeftOutScores:
    found = model._recertify(X, codes, weight)
    check_closed_form(model, found.objective, model.certificate_.objective, len(codes))
    y = model.classes_[codes]
    told = model.leave_one_out(X, y, _without_class_weight(model, codes, weight))
    assert told.scores is not None
    F = told.scores[0] if len(model.classes_) > 2 else told.scores[0, :, 0]
    return _closed(model, F)


def _without_class_weight(model, codes, weight) -> np.ndarray | None:
    """The weights of the rows alone: ``model.leave_one_out`` multiplies them by their class's."""
    if weight is None or model.class_weight is None:
        return weight
    from ..validation import check_class_weight

    by_class = check_class_weight(model.class_weight, model.classes_, model.classes_[codes])
    return weight / np.where(by_class > 0, by_class, 1.0)[codes]


def leave_out_fisher(model, X, codes, weight) -> LeftOutScores:
    found = model._recertify(X, codes, weight)
    check_closed_form(model, found.criterion[0], model.certificate_.criterion[0], len(codes))
    gamma = 1.0 if model.covariance == "none" else model.shrinkage or 0.0
    s = np.ones(len(codes)) if weight is None else weight
    k = len(model.classes_)
    if model.priors is not None or isinstance(gamma, str):
        F, poor = np.empty((len(codes), k)), np.ones(len(codes), dtype=bool)
    else:
        dense = X.toarray() if sparse.issparse(X) else X
        with one_blas_thread():
            F, poor = leave_out_discriminant(
                dense.astype(np.float64, copy=False), codes, s, float(gamma),
                model.threshold == "priors",
            )  # fmt: skip
    scores = F[:, 1] - F[:, 0] if k == 2 else F
    out = _closed(model, scores)
    for i in np.flatnonzero(poor):
        out.settle(i, _fitted_without(model, X, codes, weight, int(i)), out.tolerance[i], "fitted")
    return out


def _fitted_without(model, X, codes, weight, i: int):
    rest = np.arange(len(codes)) != i
    try:
        fitted = clone(model).fit(X[rest], codes[rest], None if weight is None else weight[rest])
    except ValueError as refusal:
        raise ValueError(f"Without row {i} (counted from 0) there is no fit: {refusal}") from None
    return fitted.decision_function(X[[i]])[0]


def _closed(model, scores: np.ndarray) -> LeftOutScores:
    size = 1.0 + np.abs(scores if scores.ndim == 1 else scores.max(axis=1))
    condition = max(1.0, float(model.certificate_.condition))
    if not model.certificate_.holds(PROVED_TOL):  # rows that are all the same: rounding is solved
        condition = np.inf
    way = np.full(len(scores), "closed form", dtype=object)
    return LeftOutScores(scores, CONDITION_ROUNDING * condition * size, way)
