"""LIBLINEAR's arguments, which LinearSVC and LogisticRegression(solver="liblinear") share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from .case import Refusal

# Below scikit-learn's own default an early stop was asked for, and is given.
LEAST_MAX_ITER = 100


class Arguments(NamedTuple):
    """Those of scikit-learn's ``_fit_liblinear``, by its names and in its order."""

    X: Any
    y: Any
    C: float
    fit_intercept: bool
    intercept_scaling: float
    class_weight: Any
    penalty: str
    dual: bool
    verbose: int
    max_iter: int
    tol: float
    random_state: Any = None
    multi_class: str = "ovr"
    loss: str = "logistic_regression"
    epsilon: float = 0.1
    sample_weight: Any = None

    @classmethod
    def of(cls, original: Callable, args: tuple, kwargs: dict) -> Self:
        """From a call; a parameter that this version of scikit-learn adds is an error here."""
        return cls(**by_name(original, args, kwargs))

    @property
    def column(self) -> float:
        """The value of the column whose weight is the bias; 0 without a bias."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def split(self, W: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients and intercepts as LIBLINEAR's caller expects them."""
        if not self.fit_intercept:
            return W, 0.0
        return W[:, :-1], self.column * W[:, -1]

    def joined(self, value: Any) -> np.ndarray:
        """W̃ of an answer (coef, intercept, …)."""
        W, b = np.asarray(value[0], dtype=np.float64), value[1]
        return np.column_stack([W, np.asarray(b) / self.column]) if self.fit_intercept else W


def refuse_parameters(given: Arguments) -> None:
    """What is never solved here of LIBLINEAR's."""
    if given.verbose:
        raise Refusal("verbose asks for LIBLINEAR's own output")
    if given.max_iter < LEAST_MAX_ITER:
        raise Refusal(f"max_iter={given.max_iter} asks for an early stop")
    if given.penalty != "l2":
        raise Refusal(f"penalty={given.penalty!r} is not solved by maxmargin")


def refuse_errors(given: Arguments, classes: np.ndarray, codes: np.ndarray) -> None:
    """What is an error for scikit-learn to raise."""
    _refuse_combination(given)
    if len(classes) < 2 or not np.isfinite(given.C) or (given.fit_intercept and given.column <= 0):
        raise Refusal("scikit-learn refuses these parameters or labels")
    refuse_weights(given.sample_weight, codes, len(classes))


def _refuse_combination(given: Arguments) -> None:
    """Penalty, loss and dual that LIBLINEAR does not have together."""
    from sklearn.svm._base import _get_liblinear_solver_type

    try:
        _get_liblinear_solver_type(given.multi_class, given.penalty, given.loss, given.dual)
    except ValueError as error:
        raise Refusal("scikit-learn refuses this combination of parameters") from error


def refuse_weights(weight: Any, codes: np.ndarray, k: int) -> None:
    """Weights that are negative, or leave a class without a row, are scikit-learn's to judge."""
    if weight is None or np.ndim(weight) == 0:
        return
    weight = np.asarray(weight)
    if weight.shape != codes.shape or not np.all(weight >= 0):
        raise Refusal("sample weights are negative, or not one for every row")
    if np.any(np.bincount(codes, weights=weight, minlength=k) <= 0):
        raise Refusal("a class has no weight")


def column_appended(X: Any, value: float) -> Any:
    """(x, value) for every row; x itself if the value is 0."""
    if value == 0.0:
        return X
    n, d = X.shape
    if sparse.issparse(X):
        return _sparse_column_appended(X.tocsr(), value)
    wide = np.empty((n, d + 1), dtype=X.dtype)
    wide[:, :d], wide[:, d] = X, value
    return wide


def _sparse_column_appended(X: Any, value: float) -> sparse.csr_matrix:
    """By inserting it at the end of every row; ``hstack`` goes by way of triples, in twice the
    time.  An entry that is stored in pieces is added up, as squares of the pieces are not its."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    (n, d), ends = X.shape, X.indptr[1:]
    rows = np.insert(X.data, ends, value), np.insert(X.indices, ends, d)
    return sparse.csr_matrix((*rows, X.indptr + np.arange(n + 1)), shape=(n, d + 1))


def by_name(original: Callable, args: tuple, kwargs: dict) -> dict[str, Any]:
    """The arguments of a call, by name; ``Signature.bind`` takes a tenth of a small fit."""
    names = _names(original)
    if len(args) > len(names):
        raise TypeError(f"{original.__name__} takes {len(names)} arguments, got {len(args)}")
    return dict(zip(names, args, strict=False)) | kwargs


@cache
def _names(original: Callable) -> tuple[str, ...]:
    return tuple(signature(original).parameters)
