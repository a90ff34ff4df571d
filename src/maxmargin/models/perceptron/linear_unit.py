"""LinearUnit: the unthresholded unit o = w·x + b, trained by the delta rule."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...core.certify.normal_equations import NormalEquations
from ...core.types import ArrayLike, MatrixLike
from ..certified import Certified
from ..fitting import linear_scores
from ..regression.least_squares import LeastSquaresClassifier
from ..stored import LINEAR
from ..validation import all_or_nothing, at_least_zero, check_training, one_of, positive

# An error this many times the first one is no detour: the steps grow.
DIVERGED_ERROR_RATIO = 1e6
# A pass that changes E by a smaller share of it changes nothing that float64 can tell.
NO_CHANGE = 1e-15
# Sizes up to which the largest singular value is found by a full factorisation.
SMALL_SIDE = 200


class LinearUnit(Certified, ClassifierMixin, BaseEstimator):
    """The linear unit of the lectures: gradient descent on E = ½ Σ ‖t − W x − b‖².

    Two classes have one output that aims at t = ±1, k classes k outputs with 1-of-k targets.
    A step adds η Σ (t − o) x over a batch: the delta rule.  Its minimum is the one that
    ``LeastSquaresClassifier`` has in closed form; this class shows the way there.

    Parameters
    ----------
    learning_rate : float or "auto", default="auto"
        η.  Batch mode converges below 2/λ, λ the largest eigenvalue of Σ x̃x̃ᵀ (``stable_below_``),
        and grows without bound above it.  "auto" takes half of that, and for smaller batches
        what is stable for the longest rows.
    batch_size : int or "all", default="all"
        Rows whose steps are added before the weights move; 1 is the incremental mode.
    order : {"cycle", "shuffle"}, default="cycle"
        "shuffle" permutes the rows before every pass.
    max_passes : int, default=1000
    tol : float, default=1e-4
        Stop once the normal equations hold to this, relative to features and targets, as the
        certificate then proves; or once E is zero or no longer changes.
    fit_intercept : bool, default=True
    trace : bool, default=False
        Keep the weights after every pass in ``path_``: (passes + 1, outputs, d + 1), bias last.
    random_state : int or None

    Attributes
    ----------
    coef_, intercept_ : (k, d) and (k,); with two classes (1, d) and (1,)
    errors_ : E before the first pass and after each
    n_iter_ : passes
    stopping_ : "equations hold", "no error", "no change", "max_passes" or "diverged"
    learning_rate_, stable_below_ : η as used, and 2/λ
    certificate_ : NormalEquations, recomputed from the data
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from maxmargin import LinearUnit
    >>> unit = LinearUnit().fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> unit.predict([[0.5], [5.0]]).tolist(), unit.certificate_.holds(1e-3)
    (['low', 'high'], True)
    """

    _stored = LINEAR | {
        "certificate_": "NormalEquations",
        "errors_": "list",
        "n_iter_": "count",
        "stopping_": "text",
        "learning_rate_": "number",
        "stable_below_": "number",
        "path_": "float p m e",
    }

    def __init__(
        self,
        learning_rate: float | str = "auto",
        *,
        batch_size: int | str = "all",
        order: str = "cycle",
        max_passes: int = 1000,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        trace: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.order = order
        self.max_passes = max_passes
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.trace = trace
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit to training points X (n, d), dense or sparse, and labels y of any kind."""
        with all_or_nothing(self):
            one_of("order", self.order, ("cycle", "shuffle"))
            at_least_zero("tol", self.tol)
            X, self.classes_, codes = check_training(self, X, y)
            T = _targets(codes, len(self.classes_))
            batch = self._check_batch(X.shape[0])
            self.learning_rate_ = self._rate(X, batch)
            self._descend(X, T, batch)
            self.certificate_ = self._recertify(X, codes, np.ones(X.shape[0]))
        if self.stopping_ in ("max_passes", "diverged"):
            self._warn()
        return self

    def _check_batch(self, n: int) -> int:
        if self.batch_size == "all":
            return n
        size = self.batch_size
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"batch_size must be a whole number from 1 or 'all', got {size!r}.")
        return min(int(size), n)

    def _rate(self, X, batch: int) -> float:
        """η, and below which value batch mode is stable."""
        one = float(bool(self.fit_intercept))
        self.stable_below_ = 2.0 / max(_largest_eigenvalue(X, one), np.finfo(float).tiny)
        if self.learning_rate != "auto":
            return positive("learning_rate", self.learning_rate)
        if batch == X.shape[0]:
            return self.stable_below_ / 2.0
        longest = float(np.max(_squares(X))) + one
        return 1.0 / (batch * longest)

    def _descend(self, X, T, batch: int) -> None:
        rng = check_random_state(self.random_state)
        n, eta, slope = X.shape[0], self.learning_rate_, _Slope(X, T, bool(self.fit_intercept))
        W, b = np.zeros((T.shape[1], X.shape[1])), np.zeros(T.shape[1])
        path, self.errors_, self.stopping_ = [_flat(W, b)], [_error(T)], "max_passes"
        best = (self.errors_[0], W, b)
        self.__dict__.pop("path_", None)
        for _ in range(self.max_passes):
            order = rng.permutation(n) if self.order == "shuffle" else np.arange(n)
            for begin in range(0, n, batch):
                rows = order[begin : begin + batch]
                off = T[rows] - (X[rows] @ W.T + b)
                W = W + eta * (off.T @ X[rows])
                b = b + eta * off.sum(axis=0) if self.fit_intercept else b
            off = T - (X @ W.T + b)
            self.errors_.append(_error(off))
            path.append(_flat(W, b))
            best = min(best, (self.errors_[-1], W, b), key=lambda found: found[0])
            if told := self._ended(off, slope):
                self.stopping_ = told
                break
        self.n_iter_ = len(self.errors_) - 1
        _, self.coef_, self.intercept_ = best
        if self.trace:
            self.path_ = np.array(path)

    def _ended(self, off, slope: _Slope) -> str | None:
        """Why to stop after the last pass, if there is a reason."""
        before, now = self.errors_[-2:]
        if not now < DIVERGED_ERROR_RATIO * max(self.errors_[0], np.finfo(float).tiny):
            return "diverged"
        if now == 0.0:
            return "no error"
        if abs(before - now) <= NO_CHANGE * now:
            return "no change"
        return "equations hold" if slope(off) <= self.tol else None

    def _recertify(self, X, codes, weight) -> NormalEquations:
        """The certificate of least squares for these weights, recomputed from the data."""
        judge = LeastSquaresClassifier(fit_intercept=self.fit_intercept)
        judge.classes_, judge.alpha_ = self.classes_, 0.0
        judge.coef_, judge.intercept_ = self.coef_, self.intercept_
        return judge._recertify(X, codes, weight)

    def _warn(self) -> None:
        if self.stopping_ == "diverged":
            told = (
                f"diverged with learning_rate={self.learning_rate_:g}: batch mode is stable below "
                f"{self.stable_below_:g}. Take less, or 'auto'"
            )
        else:
            told = (
                f"made max_passes={self.max_passes} passes and still moves. Take more passes, a "
                f"larger learning_rate (below {self.stable_below_:g} in batch mode), or scale the "
                "features"
            )
        warnings.warn(
            f"LinearUnit {told}. The best weights are kept; LeastSquaresClassifier has the minimum "
            "in closed form.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """The outputs o = W x + b: (n,) for two classes, (n, k) otherwise."""
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest output."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def _in_words(self) -> tuple[str, str]:
        text = (
            "The linear unit: least squares on the labels as numbers, walked downhill by the delta "
            f"rule, {self.n_iter_} passes with η = {self.learning_rate_:.3g}."
        )
        return text, "minimise  ½ Σ ‖tᵢ − W xᵢ − b‖²,  step by step  W ← W + η Σ (tᵢ − oᵢ) xᵢᵀ"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Slope:
    """The largest entry of the gradient relative to the lengths of its feature and the targets:
    how nearly the normal equations hold."""

    def __init__(self, X, T: np.ndarray, free: bool):
        n = X.shape[0]
        self.X, self.free = X, free
        self.mean = np.asarray(X.mean(axis=0)).ravel() if free else np.zeros(X.shape[1])
        length = np.linalg.norm(T - T.mean(axis=0) if free else T)
        columns = np.asarray(_squares(X, axis=0) - n * self.mean**2)
        # A column that does not vary has no length but rounding, and no say.
        still = columns <= n * np.finfo(float).eps * _squares(X, axis=0)
        self.scale = np.where(still, np.inf, np.sqrt(np.abs(columns)) * length)
        self.bias_scale = np.sqrt(n) * length

    def __call__(self, off: np.ndarray) -> float:
        total = off.sum(axis=0)
        entries = np.abs(off.T @ self.X - np.outer(total, self.mean)) / self.scale
        bias = np.abs(total).max() / self.bias_scale if self.free else 0.0
        return float(max(entries.max(), bias))


def _targets(codes: np.ndarray, k: int) -> np.ndarray:
    return 2.0 * codes[:, None] - 1.0 if k == 2 else np.eye(k)[codes]


def _flat(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.column_stack([W, b])


def _error(off: np.ndarray) -> float:
    """E = ½ Σ ‖t − o‖²; infinite where numbers end."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = 0.5 * float(np.sum(off**2))
    return found if np.isfinite(found) else np.inf


def _squares(X, axis: int = 1) -> np.ndarray:
    """‖x‖² of every row, or of every column."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=axis)).ravel()


def _largest_eigenvalue(X, one: float) -> float:
    """Of Σ x̃x̃ᵀ, where x̃ has the bias's one as its last entry."""
    if sparse.issparse(X):
        A = sparse.hstack([X, np.full((X.shape[0], 1), one)]).astype(float)
    else:
        A = np.column_stack([X, np.full(X.shape[0], one)]).astype(float)
    if min(A.shape) <= SMALL_SIDE:
        A = A.toarray() if sparse.issparse(A) else A
        return float(np.linalg.norm(A, 2) ** 2)
    return float(svds(A, k=1, return_singular_vectors=False, rng=0)[0] ** 2)
