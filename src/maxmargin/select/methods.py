"""The methods and bases that ``compare`` knows: each an estimator that tunes itself.

A linear method may follow any basis; a kernel is a basis of its own.  Features are scaled to
unit spread first (sparse ones to unit largest value), for C and alpha weigh all weights alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..estimators.fisher import FisherDiscriminant
from ..estimators.kernel_ridge import KernelRidgeClassifier
from ..estimators.kernel_svm import KernelSVM
from ..estimators.least_squares import LeastSquaresClassifier
from ..estimators.perceptron import Perceptron
from ..represent.bases import PolarBasis, QuadraticBasis, RadialBasis
from .kernel_svm_cv import KernelSVMCV
from .linear_svm_cv import LinearSVMCV
from .logistic_regression_cv import LogisticRegressionCV

ALPHAS = np.logspace(-3, 3, 13)
# Columns, and values in all, up to which a basis is worth trying.
MOST_POLAR, MOST_QUADRATIC, MOST_VALUES = 6, 40, 3e7
# Rows up to which kernel methods are exact; beyond, a Nyström approximation of this rank.
EXACT_ROWS, RANK, RIDGE_ROWS = 20_000, 500, 5_000


class Shape(NamedTuple):
    """What decides which methods and bases make sense."""

    rows: int
    columns: int
    classes: int
    sparse: bool


class Method(NamedTuple):
    """How to make the estimator, given the inner folds; whether it works on any basis."""

    make: Callable
    linear: bool
    suits: Callable[[Shape], bool] = lambda shape: True


class Basis(NamedTuple):
    make: Callable[[], BaseEstimator | None]
    suits: Callable[[Shape], bool] = lambda shape: True


def _kernel_svm(folds, shape: Shape):
    if shape.rows <= EXACT_ROWS:
        return KernelSVMCV(cv=folds)
    return KernelSVM(rank=RANK)


METHODS: dict[str, Method] = {
    "svm": Method(lambda folds, shape: LinearSVMCV(cv=folds), True),
    "svm-sum": Method(
        lambda folds, shape: LinearSVMCV(cv=folds, multiclass="sum"), True, lambda s: s.classes > 2
    ),
    "svm-rest": Method(
        lambda folds, shape: LinearSVMCV(cv=folds, multiclass="rest"), True, lambda s: s.classes > 2
    ),
    "svm-pairs": Method(
        lambda folds, shape: LinearSVMCV(cv=folds, multiclass="pairs"),
        True,
        lambda s: s.classes > 2,
    ),
    "logistic": Method(lambda folds, shape: LogisticRegressionCV(cv=folds), True),
    "perceptron": Method(lambda folds, shape: Perceptron(average=True, random_state=0), True),
    "least-squares": Method(lambda folds, shape: LeastSquaresClassifier(alphas=ALPHAS), True),
    "fisher": Method(
        lambda folds, shape: FisherDiscriminant(shrinkage="auto"), True, lambda s: not s.sparse
    ),
    "kernel-svm": Method(_kernel_svm, False),
    "kernel-ridge": Method(
        lambda folds, shape: KernelRidgeClassifier(kernel="rbf", alphas=ALPHAS),
        False,
        lambda s: s.rows <= RIDGE_ROWS,
    ),
}

BASES: dict[str, Basis] = {
    "as given": Basis(lambda: None),
    "polar": Basis(PolarBasis, lambda s: not s.sparse and 2 <= s.columns <= MOST_POLAR),
    "quadratic": Basis(
        QuadraticBasis,
        lambda s: (
            not s.sparse
            and s.columns <= MOST_QUADRATIC
            and 0.5 * s.rows * s.columns**2 <= MOST_VALUES
        ),
    ),
    "radial": Basis(
        lambda: RadialBasis(random_state=0), lambda s: not s.sparse and 30 <= s.rows <= EXACT_ROWS
    ),
}


def pipeline(estimator, basis, X):
    """Scaling, basis and scaling of what it makes, then the estimator."""
    if sparse.issparse(X):
        return make_pipeline(MaxAbsScaler(), estimator)
    if basis is None:
        return make_pipeline(StandardScaler(), estimator)
    return make_pipeline(StandardScaler(), clone(basis), StandardScaler(), estimator)


def chosen(what, known: dict, kind: str, shape: Shape) -> dict:
    """Name → entry: all that suit the data, the names listed, or the user's own estimators."""
    if isinstance(what, str) and what == "all":
        return {name: entry for name, entry in known.items() if entry.suits(shape)}
    if isinstance(what, str):
        what = [what]
    named = dict(what) if isinstance(what, dict) else {}
    for entry in [] if isinstance(what, dict) else what:
        name, own = entry if isinstance(entry, tuple) else (entry, None)
        named[str(name)] = own
    result = {}
    for name, own in named.items():
        if own is None and name not in known:
            names = ", ".join(repr(each) for each in known)
            raise ValueError(
                f"{kind} must be 'all' or name some of {names}, or be (name, estimator) pairs of "
                f"your own; got {name!r}."
            )
        result[name] = known[name] if own is None else own
    if not result:
        raise ValueError(f"{kind} names nothing to compare.")
    return result
