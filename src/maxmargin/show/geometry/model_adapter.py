"""What a picture needs to know of a fitted classifier, whatever its kind.

A pipeline's first scalers only change units: the picture is of the space behind them, where
margins are distances, and is labelled in the units before them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...models.reduction.one_vs_one import OneVsOne
from ...models.reduction.one_vs_rest import OneVsRest
from ...models.reduction.reduction import Guess, Reduction, confidence
from ...models.svm.linear_svm import LinearSVM
from ...models.validation import check_rows
from ...parts.files.columns import Number
from ...parts.files.model import TableModel
from ..loaded import is_kernel_svm, is_pipeline
from . import decision_rule as rules
from .decision_rule import DecisionRule

SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
# Rows on which it is tried whether the answers are linear, and how closely.
LINEARITY_ROWS = 50
LINEARITY_TOL = 1e-6
Linear = tuple[np.ndarray, np.ndarray] | tuple[None, None]


@dataclass(frozen=True)
class ModelAdapter:
    """A classifier and the rows it is looked at with.

    ``answers`` maps rows (n, d) to the answers of all machines (n, m); where they are linear,
    they are ``W x + b``.  A feature in its own units is ``x · scale + shift``.
    """

    model: Any
    title: str
    classes: np.ndarray
    names: tuple[str, ...]
    rows: Any
    scale: np.ndarray
    shift: np.ndarray
    election: DecisionRule
    answers: Callable[[Any], np.ndarray]
    W: np.ndarray | None
    b: np.ndarray | None

    @property
    def linear(self) -> bool:
        return self.W is not None

    @property
    def rescaled(self) -> bool:
        return not (self.scale == 1.0).all()


def subject_of(estimator, X, names: Sequence[str] | None = None) -> ModelAdapter:
    """Look at a fitted classifier with rows X (an array, a frame, a sparse matrix)."""
    if isinstance(estimator, TableModel):
        return _of_table(estimator, X)
    estimator = getattr(estimator, "best_estimator_", estimator)  # a search by scikit-learn
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise TypeError(
            f"This picture shows classifiers; {type(estimator).__name__} has no classes_. "
            "Give it LinearSVM, another classifier, or a Pipeline that ends with one."
        )
    if getattr(estimator, "kernel", None) == "precomputed":
        raise ValueError(
            "This picture needs the rows themselves, but the model was fitted to a Gram matrix "
            "(kernel='precomputed'). Fit it to rows with the kernel by name or as a function."
        )
    names = column_names(estimator, X, names)
    steps: list = []
    model = estimator
    if is_pipeline(estimator):
        model = estimator[-1]
        steps = [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
    return _look(model, steps, names, _unscaled(X, steps))


def _of_table(table: TableModel, data) -> ModelAdapter:
    """Columns are scaled by the preparation, as scalers do in a pipeline."""
    rows = table.prepared(data)
    preparation = table.preparation
    scale, shift = np.ones(rows.shape[1]), np.zeros(rows.shape[1])
    at = 0
    for column in getattr(preparation, "columns", ()):
        if isinstance(column, Number):
            scale[at], shift[at] = column.scale, column.shift
        at += column.width
    if getattr(preparation, "scale", None) is not None:  # a matrix: all columns at once
        scale, shift = np.asarray(preparation.scale), np.asarray(preparation.shift)
    steps = [] if table.basis is None else [table.basis.transformer]
    return _look(table.model, steps, tuple(preparation.names()), Unscaled(rows, scale, shift))


class Unscaled(NamedTuple):
    """Rows behind the first scalers, their units, and how other rows are made like them."""

    rows: Any
    scale: np.ndarray
    shift: np.ndarray
    like: Callable[[np.ndarray], Any] = lambda Z: Z


def _look(model, steps: list, names, behind: Unscaled) -> ModelAdapter:
    rows, scale, shift, like = behind
    election = election_of(model)
    raw, through = _raw(model), _after(steps, like)

    def asked(Z) -> np.ndarray:
        return raw(through(Z))

    W, b = _linear(model, through, bool(steps), asked, rows)
    answers = asked if W is None else _affine(W, b)
    title = " → ".join(type(step).__name__ for step in [*steps, model])
    return ModelAdapter(
        model, title, model.classes_, names, rows, scale, shift, election, answers, W, b
    )


def election_of(model) -> DecisionRule:
    """The rule by which this classifier's ``predict`` elects a class."""
    k = len(model.classes_)
    svm = isinstance(model, LinearSVM) or is_kernel_svm(model)
    reduced = getattr(model, "multiclass", None) if svm else ""
    margin = hasattr(model, "margin_")
    if k == 2:
        found = rules.two_sides()
    elif isinstance(model, OneVsOne):
        found = rules.duels(k, -1.0)
        found = found if model.unknown is Guess else found.without_guessing()
    elif isinstance(model, OneVsRest):
        found = _of_rest(model, k)
    elif reduced == "pairs":
        found = rules.duels(k, 1.0)
    else:
        found = rules.highest(k)
        if reduced == "rest":
            return DecisionRule(found.wins, True, clear=rules.claims(k), pays_all=True)
    return DecisionRule(
        found.wins, found.complete, found.clear if margin else None,
        found.pays_all or reduced == "sum", found.runoff, found.favour,
    )  # fmt: skip


def _of_rest(model: OneVsRest, k: int) -> DecisionRule:
    own = model._own
    if model.unknown is not Guess:
        return DecisionRule(rules.claims(k, own), complete=False)
    return rules.highest(k) if len(own) == k else rules.highest_or_rest(k, own)


def doubtful_election(model) -> DecisionRule | None:
    """The same, where only a class that wins by itself is named; None for rules without doubt."""
    found = election_of(model)
    k = len(model.classes_)
    if isinstance(model, OneVsRest):
        return found.without_guessing(rules.claims(k, model._own))
    if found.favour is not None or isinstance(model, OneVsOne):
        return found.without_guessing()
    if getattr(model, "multiclass", None) == "rest" and k > 2:
        return found.without_guessing(rules.claims(k))
    return None


def _raw(model) -> Callable[[Any], np.ndarray]:
    """The answers of all machines, before any election."""
    if isinstance(model, Reduction):
        return lambda Z: model._ask(Z, confidence)
    if is_kernel_svm(model):
        expansion = model._expansion

        def scores(Z):
            return expansion.scores(expansion.prepare(check_rows(model, Z, reset=False)))

        return lambda Z: scores(Z) + model.intercept_
    if isinstance(model, LinearSVM):
        return _affine(model.coef_, model.intercept_)
    if hasattr(model, "decision_function"):
        return lambda Z: _columns(model.decision_function(Z))
    k = len(model.classes_)
    if hasattr(model, "predict_proba"):
        if k == 2:
            return lambda Z: model.predict_proba(Z)[:, 1:] - 0.5
        return model.predict_proba

    def said(Z):
        codes = np.searchsorted(model.classes_, model.predict(Z))
        return 2.0 * codes[:, None] - 1.0 if k == 2 else np.eye(k)[codes]

    return said


def _columns(f) -> np.ndarray:
    f = np.asarray(f, dtype=np.float64)
    return f[:, None] if f.ndim == 1 else f


def _affine(W, b) -> Callable[[Any], np.ndarray]:
    return lambda Z: np.asarray((Z if sparse.issparse(Z) else np.asarray(Z)) @ W.T) + b


def _linear(model, through, changed: bool, answers, rows) -> Linear:
    """W and b with answers = W x + b, or None where the answers are not linear."""
    width = rows.shape[1]
    try:
        if getattr(model, "kernel", None) == "linear" and getattr(model, "rank", None) is None:
            V = model.support_vectors_
            W = np.asarray(model.dual_coef_ @ (V.toarray() if sparse.issparse(V) else V))
        else:
            W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        b = np.ravel(model.intercept_)
        # A change of basis before the model may be linear too, such as PCA: ask it.
        if changed:
            corner = np.asarray(through(np.zeros((1, width))))
            W, b = W @ (np.asarray(through(np.eye(width))) - corner).T, b + W @ corner[0]
        some = rows[:LINEARITY_ROWS]
        # Between the rows: a curve may look straight on zeros and ones.
        places = 0.37 * some + 0.29 * some[::-1] if changed else some
        found, made = answers(places), np.asarray(places @ W.T) + b
    except (AttributeError, ValueError, TypeError):
        return None, None
    size = LINEARITY_TOL * (1.0 + np.abs(found).max(initial=0.0))
    same = found.shape == made.shape and bool(np.abs(found - made).max(initial=0.0) <= size)
    return (W, b) if same else (None, None)


def _is_scaler(step) -> bool:
    """One of scikit-learn's own, whose module is loaded wherever there is one."""
    cls = type(step)
    return cls.__name__ in SCALERS and cls.__module__.startswith("sklearn.")


def _unscaled(X, steps: list) -> Unscaled:
    """The rows behind the first scalers, which are taken off ``steps``."""
    taken = 0
    scale, shift = np.ones(np.shape(X)[1]), np.zeros(np.shape(X)[1])
    while taken < len(steps) and _is_scaler(steps[taken]):
        scaler = steps[taken]
        if getattr(scaler, "clip", False):
            break
        ends = np.repeat([[0.0], [1.0]], len(scale), axis=1)
        low, high = np.asarray(scaler.transform(_like(X)(ends)))
        a = 1.0 / (high - low)
        scale, shift = a * scale, shift - low * a * scale
        X = scaler.transform(X)
        taken += 1
    del steps[:taken]
    return Unscaled(X if sparse.issparse(X) else _numbers(X), scale, shift, _like(X))


def _like(X) -> Callable[[np.ndarray], Any]:
    """Rows as a frame with X's columns, if X is one."""
    if not hasattr(X, "columns"):
        return lambda Z: Z
    words = "columns" if hasattr(X, "iloc") else "schema"  # of pandas, of polars
    return lambda Z: type(X)(Z, **{words: list(X.columns)})


def _numbers(X) -> np.ndarray:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "This picture needs numeric features, but some columns of X are not numbers. Choose "
            "numeric columns and fit to them, or look at a model made by `maxmargin fit`."
        ) from None


def _after(steps: list, like: Callable) -> Callable[[Any], Any]:
    """All steps but the scalers taken off."""

    def through(Z):
        Z = Z if sparse.issparse(Z) else like(Z)
        for step in steps:
            Z = step.transform(Z)
        return Z

    return through


def column_names(estimator, X, names) -> tuple[str, ...]:
    if names is not None and len(names) != np.shape(X)[1]:
        raise ValueError(f"feature_names has {len(names)} names for {np.shape(X)[1]} columns of X.")
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is not None:
        return tuple(str(name) for name in names)
    below = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return tuple(f"x{str(j + 1).translate(below)}" for j in range(np.shape(X)[1]))
