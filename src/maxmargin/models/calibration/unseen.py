"""Scores of training rows as if each had not been seen: by one step from the optimum, or by folds.

One step costs a factorisation, a small part of a fit; it serves the models whose slopes
``slopes.py`` knows.  All others are fitted to five folds, each judged by a model without it.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import _safe_split

from ...core.problem.problem import costs
from ...core.rows.rows import as_rows, sqnorms
from ...core.solve.closed_form.left_out_fisher import leave_out_discriminant
from ...core.solve.threads import one_blas_thread
from ..bias_column import with_ones
from ..tune.stratified_folds import stratified_folds
from . import slopes
from .kernel_one_step import MAX_CURVED_ROWS, kernel_one_step
from .one_step import one_step

# Rows that calibrate; more would move a probability by less than a hundredth.
MAX_CALIBRATION_ROWS = 10_000
# Numbers that calibrate, which a model file keeps.
MAX_CALIBRATION_SCORES = 1_000_000
# Numbers of a model, and products for the curvature and the leverages, up to which one step is
# cheaper than folds.
MAX_NUMBERS, MAX_PRODUCTS = 2_000, 4e9
# Where no ridge was asked for, one of this share of the squares keeps the equations regular.
LEAST_RIDGE = 1e-12
# Where more of the rows than this are at kinks of a hinge, one step is too sure of itself: sets of
# 600 digits that should have covered 90 % covered 84, of 90 wines 87; folds 93 and 90.  At 0.12, of
# 600 rows of a9a, they covered 89.1 %, and 87 % of the rarer class; folds 90.7 and 92.
MAX_HELD_SHARE = 0.11
FOLDS = 5
# Relative gap of the folds' fits: their scores are noisier than that.
FOLD_TOL = 1e-3
EXACT, ONE_STEP, FOLDED = "leave-one-out", "approximate leave-one-out", "cross-validation"


class Unseen(NamedTuple):
    """Which rows, their scores (rows, machines) and the way they were found."""

    rows: np.ndarray
    scores: np.ndarray
    way: str


def most_calibration_rows(k: int) -> int:
    """How many rows calibrate k classes."""
    return int(min(MAX_CALIBRATION_ROWS, max(1_000, MAX_CALIBRATION_SCORES // k)))


def calibration_rows(codes: np.ndarray, weight, seed: int = 0) -> np.ndarray:
    """Rows to calibrate with, drawn by lot where there are many.

    A row that is alone in its class cannot be left out, and one of weight 0 is not there.
    """
    usable = np.bincount(codes)[codes] > 1
    if weight is not None:
        usable &= weight > 0
    some = np.flatnonzero(usable)
    most = most_calibration_rows(int(codes.max()) + 1)
    if len(some) <= most:
        return some
    return np.sort(np.random.default_rng(seed).choice(some, most, replace=False))


def unseen_scores(model, X, codes, weight, sample_weight) -> Unseen:
    """Scores of a fitted model's training rows by models without them."""
    some = calibration_rows(codes, weight)
    step = _one_step_of(model)
    found = None
    if step is not None and len(some):
        units = None if sample_weight is None else np.maximum(sample_weight, 1.0)
        found = step(model, X, codes, weight, some, units)
    if found is not None and np.isfinite(found).all():
        return Unseen(some, found, EXACT if step in (_least_squares, _fisher) else ONE_STEP)
    folded = by_folds(model, X, codes, sample_weight, some)
    judged = np.isfinite(folded).all(axis=1)
    return Unseen(some[judged], folded[judged], FOLDED)


def by_folds(model, X, codes, sample_weight, some) -> np.ndarray:
    """Every row judged by a fit to four fifths of the rows that it is not among.

    A row of weight 0 is in no fold: a class of such rows alone would have nothing to be fitted to.
    Nor is one that is alone in its class: it has no scores (NaN).
    """
    labels = model.classes_[codes]
    copy = _rough(model)
    machines = _width(model)
    scores = np.full((len(codes), machines), np.nan)
    there = np.ones(len(codes), dtype=bool) if sample_weight is None else sample_weight > 0
    counts = np.bincount(codes[there], minlength=len(model.classes_))
    alone = counts[codes] == 1  # always trained on
    places = np.flatnonzero(there & ~alone)
    splits = stratified_folds(codes[places], FOLDS, 0) if len(places) else []
    for _, test in splits:
        test = places[test]
        train = np.setdiff1d(np.flatnonzero(there), test)
        rows, y = _safe_split(copy, X, labels, train)
        judged, _ = _safe_split(copy, X, None, test, train)
        given = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = copy.fit(rows, y, **given)
        scores[test] = fitted._raw_scores(judged).reshape(len(test), machines)
    return scores[some]


def _rough(model):
    """The same estimator, unfitted, as exact as folds need."""
    known = model.get_params(deep=False)
    wanted: dict[str, Any] = {"probability": False, "warm_start": False, "verbose": 0}
    if isinstance(known.get("tol"), float) and hasattr(model.certificate_, "relative_gap"):
        wanted["tol"] = max(known["tol"], FOLD_TOL)
    return clone(model).set_params(**{key: wanted[key] for key in wanted if key in known})


def _width(model) -> int:
    k = len(model.classes_)
    if k == 2:
        return 1
    return k * (k - 1) // 2 if getattr(model, "multiclass", "") == "pairs" else k


def _one_step_of(model):
    """What can leave a row out of this model by one step, if anything can."""
    name = type(model).__name__.removesuffix("CV")
    return {
        "LinearSVM": _linear_svm,
        "KernelSVM": _kernel_svm,
        "LogisticRegression": _logistic,
        "LeastSquaresClassifier": _least_squares,
        "FisherDiscriminant": _fisher,
    }.get(name)


def _linear_svm(model, X, codes, weight, some, units):
    c = costs(float(model.C), weight, len(codes))
    F, bias = _linear_scores(model, X), bool(model.fit_intercept)
    if model._bias_column:
        X, bias = with_ones(X), False
    k = len(model.classes_)
    if k == 2 or model.multiclass in ("rest", "pairs"):
        return _machines(model, MachineRows(LinearProducts(X), F, c, bias), codes, some, units)
    if _too_large(X, some, k, bias):
        return None
    numbers = min((k - 1) * (X.shape[1] + bias), slopes.free_multipliers(model, c))
    if numbers > MAX_HELD_SHARE * len(codes):
        return None
    of = slopes.max_hinge_slopes if model.multiclass == "max" else slopes.sum_hinge_slopes
    parts = of(F, codes, model.alpha_, c, numbers, model.loss == "squared_hinge")
    return one_step(X, parts._replace(units=units), 1.0, bias, some)


def _kernel_svm(model, X, codes, weight, some, units):
    k = len(model.classes_)
    if model.rank is not None or (k > 2 and model.multiclass in ("max", "sum")):
        return None
    c = costs(float(model.C), weight, len(codes))
    F = model._expansion.scores(model._expansion.prepare(X)) + model.intercept_
    gram = KernelProducts(X, model._expansion.points.kernel)
    return _machines(model, MachineRows(gram, F, c, True), codes, some, units)


class MachineRows(NamedTuple):
    """Two-class machines: products of their rows, scores of each, costs; are biases free."""

    gram: Any
    F: np.ndarray
    c: np.ndarray
    bias: bool

    def one(self, rows, q: int) -> MachineRows:
        return MachineRows(self.gram.part(rows), self.F[rows, q], self.c[rows], self.bias)


def _machines(model, machines: MachineRows, codes, some, units):
    """One two-class machine after another; a row that is not its own changes nothing in it."""
    out = machines.F[some].copy()
    squared = getattr(model, "loss", "hinge") == "squared_hinge"
    for q, (rows, y) in enumerate(_questions(model, codes)):
        alpha = model.alpha_ if model.alpha_.ndim == 1 else model.alpha_[rows, q]
        whole = len(rows) == len(codes)
        mine = np.ones(len(some), dtype=bool) if whole else np.isin(some, rows)
        asked = some if whole else np.searchsorted(rows, some[mine])
        mass = None if units is None else units[rows]
        found = _machine(machines.one(rows, q), squared, y, alpha, asked, mass)
        if found is None:
            return None
        out[mine, q] = found
    return out


def _questions(model, codes):
    """The rows of every machine and their signs, as ``svm/reduced.py`` asks them."""
    k, everything = len(model.classes_), np.arange(len(codes))
    if k == 2:
        yield everything, np.where(codes == 1, 1.0, -1.0)
    elif model.multiclass == "rest":
        for c in range(k):
            yield everything, np.where(codes == c, 1.0, -1.0)
    else:
        for a, c in combinations(range(k), 2):
            rows = np.flatnonzero((codes == a) | (codes == c))
            yield rows, np.where(codes[rows] == a, 1.0, -1.0)


def _machine(machine: MachineRows, squared: bool, y, alpha, some, units):
    """Scores of some rows without them; None where a factorisation would be too large."""
    gram, f, c, bias = machine
    free = int(((alpha > 0) & (alpha < c)).sum()) if not squared else 0
    numbers = min(gram.width + bias, max(free, 1))
    if numbers > MAX_HELD_SHARE * len(y):
        return None
    if squared:
        parts = slopes.squared_hinge_slopes(f, y, alpha, c)
    else:
        parts = slopes.hinge_slopes(f, y, alpha, c, numbers)
    parts = parts._replace(units=units)
    curved = int((parts.curvature[:, 0, 0] > 0).sum())
    if gram.X is not None and gram.width <= min(MAX_NUMBERS, max(curved, 50)):
        return one_step(gram.X, parts, 1.0, bias, some)[:, 0]
    if not 0 < curved <= MAX_CURVED_ROWS:
        return None
    return kernel_one_step(gram.values, gram.norms, parts, bias, some)[:, 0]


class LinearProducts(NamedTuple):
    """Inner products of rows."""

    X: Any

    @property
    def width(self) -> int:
        return self.X.shape[1]

    @property
    def norms(self) -> np.ndarray:
        return sqnorms(as_rows(self.X))

    def part(self, rows):
        return self if len(rows) == self.X.shape[0] else LinearProducts(self.X[rows])

    def values(self, a, b) -> np.ndarray:
        product = self.X[a].astype(np.float64) @ self.X[b].T
        return product.toarray() if sparse.issparse(product) else product


class KernelProducts(NamedTuple):
    """Kernel values of rows."""

    rows: Any
    kernel: Any
    X: Any = None
    width: int = MAX_CURVED_ROWS

    @property
    def norms(self) -> np.ndarray:
        return (
            np.diag(self.rows).copy()
            if self.kernel.precomputed
            else self.kernel.diagonal(self.rows)
        )

    def part(self, rows):
        if len(rows) == self.rows.shape[0]:
            return self
        some = self.rows[np.ix_(rows, rows)] if self.kernel.precomputed else self.rows[rows]
        return KernelProducts(some, self.kernel)

    def values(self, a, b) -> np.ndarray:
        if self.kernel.precomputed:
            return np.asarray(self.rows[np.ix_(a, b)], dtype=np.float64)
        return np.asarray(self.kernel(self.rows[a], self.rows[b]), dtype=np.float64)


def _logistic(model, X, codes, weight, some, units):
    c = costs(float(model.C), weight, len(codes))
    F, bias, k = _linear_scores(model, X), bool(model.fit_intercept), len(model.classes_)
    if _too_large(X, some, 1 if k == 2 else k, bias):
        return None
    if k == 2:
        parts = slopes.logistic_slopes(F[:, 0], np.where(codes == 1, 1.0, -1.0), c)
    else:
        parts = slopes.softmax_slopes(F, codes, c)
    return one_step(X, parts._replace(units=units), 1.0, bias, some)


def _least_squares(model, X, codes, weight, some, units):
    """Of two classes, w·x + b aims at ±1: twice the problem of one of the two."""
    F, bias = _linear_scores(model, X), bool(model.fit_intercept)
    if X.shape[1] + bias > MAX_NUMBERS:
        return None
    T = 2.0 * codes[:, None] - 1.0 if F.shape[1] == 1 else np.eye(F.shape[1])[codes]
    c = np.ones(len(codes)) if weight is None else weight
    ridge = max(float(model.alpha_), LEAST_RIDGE * float(c @ sqnorms(as_rows(X))))
    columns = []
    for j in range(F.shape[1]):
        parts = slopes.square_slopes(F[:, [j]], T[:, [j]], c)._replace(units=units)
        columns.append(one_step(X, parts, ridge, bias, some))
    return np.column_stack(columns)


def _fisher(model, X, codes, weight, some, units):
    """In closed form, where the metric is that of all rows or a fixed mixture."""
    gamma = 1.0 if model.covariance == "none" else model.shrinkage or 0.0
    if model.priors is not None or isinstance(gamma, str) or X.shape[1] > MAX_NUMBERS:
        return None
    dense = X.toarray() if sparse.issparse(X) else X
    share = np.ones(len(codes)) if weight is None else weight
    k = len(model.classes_)
    with one_blas_thread():
        F, poor = leave_out_discriminant(
            dense.astype(np.float64, copy=False), codes, share, float(gamma),
            model.threshold == "priors", 1.0 if units is None else units,
        )  # fmt: skip
    if poor[some].any():
        return None
    return F[some, 1:] - F[some, :1] if k == 2 else F[some]


def _linear_scores(model, X) -> np.ndarray:
    return np.asarray(X @ model.coef_.T, dtype=np.float64) + model.intercept_


def _too_large(X, some, k: int, bias: bool) -> bool:
    width = X.shape[1] + bias
    return k * width > MAX_NUMBERS or k * k * width**2 * X.shape[0] > MAX_PRODUCTS
