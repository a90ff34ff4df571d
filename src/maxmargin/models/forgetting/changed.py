"""The optimum of changed data, begun where the optimum of the old data was.

A model keeps no rows, so the data of its fit are given again, and recognised by its objective.  The
result is a new model, fitted and certified like any other: what it is depends on its own data only,
to the tolerance of the fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ...core.types import ArrayLike, MatrixLike
from ..left_out.known_data import KnownData, data_of_fit, posed_again, rows_named, stacked
from ..validation import check_known, check_sample_weight, check_weights
from .resumed import at_once, knows_its_slacks, resumed


def without(model: Any, rows, X: MatrixLike, y: ArrayLike, sample_weight=None) -> Any:
    """A model of the same data without some rows."""
    _check_kind(model)
    n = len(getattr(model, "_z", ()))
    gone = rows_named(rows, n) if n else None
    if gone is not None and knows_its_slacks(model, gone):
        posed = posed_again(model, X, y, sample_weight)
        _check_classes(model, posed, gone, sample_weight)
        new = at_once(model, posed, gone)
        if new is not None:
            return _calibrated(new, posed, gone, sample_weight)
    known = data_of_fit(model, X, y, sample_weight)
    gone = rows_named(rows, len(known.codes))
    _check_classes(model, known, gone, sample_weight)
    new = resumed(model, known, gone)
    if new is not None:
        return _calibrated(new, known, gone, sample_weight)
    X, codes, weight, rest = _left(known, gone, sample_weight)
    return _fitted(model, X, codes, weight, _multipliers(model, lambda alpha: alpha[rest]))


def _check_classes(model, known: KnownData, gone, sample_weight) -> None:
    """Some rows of every class stay that have a weight."""
    weight, k = check_sample_weight(known.X, sample_weight), len(model.classes_)
    if weight is None and k == 2:  # a third of the time of counting both
        upper = int(np.count_nonzero(known.codes))
        there = np.array([len(known.codes) - upper, upper])
    else:
        there = np.bincount(known.codes, None if weight is None else weight > 0, k)
    there = there > np.bincount(known.codes[gone], None if weight is None else weight[gone] > 0, k)
    if not there.all():
        lost = model.classes_[~there][0]
        raise ValueError(
            f"Without these {len(gone)} rows there is no row of class {lost} with positive weight. "
            "Leave the class out of the data altogether and fit anew."
        )


def _left(known: KnownData, gone, sample_weight) -> tuple:
    """Rows, codes, weights and numbers of those that stay."""
    rest = np.ones(len(known.codes), dtype=bool)
    rest[gone] = False
    weight = check_sample_weight(known.X, sample_weight)
    return known.X[rest], known.codes[rest], None if weight is None else weight[rest], rest


def _calibrated(new, known: KnownData, gone, sample_weight) -> Any:
    """With probabilities of the rows that stay, where they were asked for."""
    if getattr(new, "probability", False):
        X, codes, weight, _ = _left(known, gone, sample_weight)
        _calibrate(new, X, codes, weight)
    return new


class NewRows(NamedTuple):
    X: Any
    y: Any
    weight: Any = None


def with_rows(model: Any, new: NewRows, X: MatrixLike, y: ArrayLike, sample_weight=None) -> Any:
    """A model of the same data and some more rows, of classes that it knows."""
    _check_kind(model)
    X, codes, *_ = data_of_fit(model, X, y, sample_weight)
    more, new_codes, _ = check_known(_without_class_weight(model), new.X, new.y, None)
    one, two = check_sample_weight(X, sample_weight), check_sample_weight(more, new.weight)
    weight = None
    if one is not None or two is not None:
        one = np.ones(len(codes)) if one is None else one
        weight = np.concatenate([one, np.ones(len(new_codes)) if two is None else two])
    n = len(new_codes)
    start = _multipliers(model, lambda a: np.concatenate([a, np.zeros((n, *a.shape[1:]))]))
    return _fitted(model, stacked(X, more), np.concatenate([codes, new_codes]), weight, start)


def _check_kind(model: Any) -> None:
    if not hasattr(model, "_recertify") or not hasattr(model, "classes_"):
        raise TypeError(
            f"Rows are forgotten or added by a fitted classifier with a certificate, got "
            f"{type(model).__name__}."
        )
    kernel = getattr(model, "kernel", None)
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(
            "kernel='precomputed' has no rows to leave out or to add: fit the Gram matrix of the "
            "changed data, with warm_start=True."
        )


def _without_class_weight(model) -> Any:
    """So that new rows need not hold every class."""
    from copy import copy

    plain = copy(model)
    if hasattr(plain, "class_weight"):
        plain.class_weight = None
    return plain


def _multipliers(model, changed) -> np.ndarray | None:
    """Of every row that stays; where they follow from the weights there are none."""
    alpha = getattr(model, "alpha_", None)
    kept = isinstance(alpha, np.ndarray) and alpha.ndim > 0 and hasattr(model, "support_")
    return changed(alpha) if kept else None


def _fitted(model, X, codes, weight, start) -> Any:
    """A fit that starts from the model, if its kind can start from anything."""
    old = model.plain() if hasattr(model, "plain") else model
    new = clone(old)
    y = old.classes_[codes]
    if "warm_start" not in new.get_params(deep=False):
        return new.fit(X, y, weight)
    names = ("coef_", "intercept_", "classes_", "_linear")
    vars(new).update({name: getattr(old, name) for name in names if hasattr(old, name)})
    if start is not None:
        new.alpha_ = start
    new.set_params(warm_start=True)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    if hasattr(new, "_fit_checked"):  # the rows have been validated
        by_class = check_weights(new, X, codes, old.classes_, weight, new.class_weight)
        new._fit_checked(X, old.classes_, codes, by_class)
        _calibrate(new, X, codes, weight)
    else:
        new.fit(X, y, weight)
    return new.set_params(warm_start=old.warm_start)


def _calibrate(new, X, codes, weight) -> None:
    """Probabilities of the changed data, where they were asked for."""
    by_class = check_weights(new, X, codes, new.classes_, weight, new.class_weight)
    new._calibrate(X, codes, by_class, weight)
