"""The data of a fit, given again, for whoever wants to change them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...core.certify.two_class import losses_of
from ...core.problem.problem import Problem
from ...core.rows.rows import scores
from ..svm import two_class
from ..validation import check_known, check_rows
from .same_data import check_closed_form, check_count, check_objective


class KnownData(NamedTuple):
    """X, codes and weights, validated; of a linear machine of two classes its problem, too."""

    X: Any
    codes: np.ndarray
    weight: np.ndarray | None
    problem: Any = None  # a Problem
    scores: Any = None  # w·x of every row


def data_of_fit(model: Any, X, y, sample_weight) -> KnownData:
    """X, codes and weights, validated and found to be those that the model was fitted to."""
    check_is_fitted(model)
    if _one_pass(model):
        return _by_scores(model, X, y, sample_weight)
    X, codes, weight = check_known(model, X, y, sample_weight)
    _check_rows(model, len(codes))
    claim = model.certificate_
    if hasattr(claim, "dual"):
        check_objective(model, model._recertify(X, codes, weight).primal)
        return KnownData(X, codes, weight)
    found = model._recertify(X, codes, weight)
    here, there = (getattr(each, "objective", None) or each.bound for each in (found, claim))
    check_closed_form(model, here, there, len(codes))
    return KnownData(X, codes, weight)


def _one_pass(model) -> bool:
    """Whether the scores of the rows tell the objective: two classes and a finite C."""
    logistic = hasattr(model, "_log_odds") and not hasattr(model, "n_labels_")
    if not (hasattr(model, "loss") or logistic) or len(model.classes_) != 2:
        return False
    column = getattr(model, "_bias_column", False)
    return isinstance(model.coef_, np.ndarray) and not column and np.isfinite(_plain(model).C)


def _plain(model) -> Any:
    return model.plain() if hasattr(model, "plain") else model


def _by_scores(model, X, y, sample_weight) -> KnownData:
    """By one pass over the rows, for w·x, which is a number only if all values of X are.

    But a product may leave out columns of weight zero.
    """
    w, b = model.coef_[0], float(model.intercept_[0])
    X, codes, weight, problem, _ = posed_again(model, X, y, sample_weight, not w.all())
    with np.errstate(all="ignore"):
        f = scores(problem.rows, w)
    if not np.isfinite(f).all():
        check_rows(model, X, reset=False)  # says where a value is no number
    losses = losses_of(problem, problem.y * (f + b))
    check_objective(model, 0.5 * float(w @ w) + float(losses.sum()))
    return KnownData(X, codes, weight, problem, f)


def posed_again(model, X, y, sample_weight, ensure_all_finite: bool = False) -> KnownData:
    """The problem of a linear machine of two classes, of data that may be those of its fit."""
    finite = {"ensure_all_finite": ensure_all_finite}
    X, codes, weight = check_known(model, X, y, sample_weight, **finite)
    _check_rows(model, len(codes))
    return KnownData(X, codes, weight, _posed(_plain(model), X, codes, weight))


def _posed(model, X, codes, weight) -> Problem:
    if hasattr(model, "loss"):
        return two_class.pose(model, X, codes, weight)
    return model._problem(X, codes, weight, 2)


def _check_rows(model, n: int) -> None:
    """As many rows as the model has multipliers for, where it has them."""
    alpha = getattr(model, "alpha_", None)
    if isinstance(alpha, np.ndarray) and alpha.ndim and hasattr(model, "support_"):
        check_count(model, n, len(alpha))


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
