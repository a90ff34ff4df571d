"""LogisticRegression: two or more classes, with probabilities and with proof."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from ...core.certify.certificate import Certificate
from ...core.certify.softmax import certify_softmax
from ...core.problem.class_losses import Softmax
from ...core.problem.losses import Logistic
from ...core.problem.multiclass import MulticlassProblem
from ...core.problem.problem import Bias, Problem, costs
from ...core.rows.rows import as_rows
from ...core.solve.contract import Ending
from ...core.solve.precise.resort import sharpened
from ...core.solve.softmax.form import LOGISTIC_SOLVERS, certify_logistic, solve_logistic
from ...core.solve.softmax.path_state import PathState
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..callbacks import WatchedFit, telling, watched
from ..certified import Certified
from ..device.tensors import as_numpy, is_tensor, labels_of, log_probabilities, wants_device
from ..fitting import linear_scores, make_monitor, note, warn_unless_reached
from ..forgetting.mixin import ForgettingMixin
from ..several_labels import fit_columns, has_columns
from ..sparse_weights import SparseWeights, begin_dense
from ..stored import CALIBRATED, LINEAR, SOLVED
from ..validation import (
    all_or_nothing,
    check_sample_weight,
    check_training,
    check_weights,
    one_of,
    positive,
)
from .maximum_likelihood import certify as certify_likelihood
from .maximum_likelihood import maximise
from .multinomial_likelihood import certify_classes, maximise_classes


class LogisticRegression(
    Calibrated,
    ForgettingMixin,
    SparseWeights,
    Certified,
    WatchedFit,
    ClassifierMixin,
    BaseEstimator,
):
    """Logistic regression with free biases, solved exactly, with a certificate.

    Two classes: minimises  ½‖w‖² + C Σ sᵢ log(1 + exp(−yᵢ(w·xᵢ + b)))  over w and b.
    More: minimises  ½‖W‖² + C Σ sᵢ (log Σ_c exp(W_c·xᵢ + b_c) − (W_y·xᵢ + b_y)), the softmax
    loss, over all W_c and b_c.  The biases are not penalised; these are the problems of
    scikit-learn's ``LogisticRegression``.  For two classes softmax with C is the first
    problem with 2C.

    Parameters
    ----------
    C : float, default=1.0
        Price of the losses.  ``inf``: maximum likelihood; where the classes are separated, or
        all but, larger weights are always better, and ``SeparatedError`` is raised with the
        direction that proves it.
    tol : float, default=1e-6
        Relative duality gap at which the fit counts as solved: the objective is then
        proved to be within ``tol`` times itself of the optimum.
    max_iter : int, default=10000
        Most iterations (quasi-Newton steps, or passes over the data).
    max_seconds : float, default=inf
        Most seconds; the best model so far is kept, with its gap and a warning.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of each class.
    solver : {"auto", "newton", "descent"}, default="auto"
        What was chosen and why is told in ``solver_`` and ``solver_reason_``.
    warm_start : bool, default=False
        Start from the present solution.
    random_state : int or None
        Order of visits in ``descent`` and choice of rows in ``newton``.  The optimum does
        not depend on it.
    device : str, torch.device or None, default=None
        Where to compute: "cuda", "cpu".  Tensors are fitted where they are; NumPy arrays go to the
        device named, and results come back as arrays.  Needs ``maxmargin[gpu]``.
    probability : bool, default=False
        Look, at the end of ``fit``, at how right its probabilities are on rows it has not seen:
        ``predict_proba_interval`` and ``predict_set`` then exist.  Costs a small part of a fit.
    verbose : int, default=0
        1 prints progress a few times a second, 2 every iteration.

    Attributes
    ----------
    coef_, intercept_ : (1, d) and (1,) for two classes, (k, d) and (k,) for more, in float64;
        tensors where X was one; one row per label for several
    n_labels_ : how many labels a row has, where y had several columns
    certificate_ : Certificate
        Primal, dual and gap, recomputed from the data in float64.
    history_ : list of steps with seconds, primal, dual
    n_iter_, solver_, solver_reason_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> print(model.predict(X[[0, 60, 120]]), model.predict_proba(X[:1]).round(2))
    [0 1 2] [[0.98 0.02 0.  ]]
    >>> model.certificate_.holds(1e-6)
    True
    """

    _stored = LINEAR | SOLVED | CALIBRATED | {"n_labels_": "count m"}
    _own_probabilities = True
    _log_odds = True  # probabilities are a function of the scores alone: sigmoid, softmax

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        solver: str = "auto",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        device: Any = None,
        probability: bool = False,
        verbose: int = 0,
    ):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.probability = probability
        self.verbose = verbose

    @watched
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to training points X (n, d), dense or sparse, or a tensor, and labels y of any kind.

        y of several columns, of 0 and 1, are several labels: one problem for every column.
        """
        begin_dense(self)
        if wants_device(self, X):
            from ..device.logistic import fit

            return fit(self, X, y, sample_weight)
        if has_columns(y):
            return fit_columns(self, X, y, sample_weight)
        self.__dict__.pop("n_labels_", None)
        with all_or_nothing(self):
            X, classes, codes = check_training(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            self._fit_checked(X, classes, codes, weight)
            self._calibrate(X, codes, weight, check_sample_weight(X, sample_weight))
        return self

    def _fit_checked(self, X, classes, codes, weight, memory: PathState | None = None):
        """Fit to data that are validated, with class weights already in ``weight``."""
        if self._unpenalised():
            return self._fit_unpenalised(X, classes, codes, weight)
        with all_or_nothing(self):
            monitor = telling(make_monitor(self), self)
            one_of("solver", self.solver, ["auto", *LOGISTIC_SOLVERS])
            problem = self._problem(X, codes, weight, len(classes))
            start = self._start(problem) if self.warm_start else None
            solution = solve_logistic(problem, monitor, self.solver, start, memory)
            certificate = solution.certificate
            self.classes_ = classes
            self.coef_ = solution.point.W
            self.intercept_ = solution.point.b
            note(self, solution, certificate)
        if certificate is not None:
            warn_unless_reached(self, solution.ending, certificate)
        return self

    def _fit_column(self, X, codes, weight, monitor):
        """The solution of one label of several."""
        one_of("solver", self.solver, ["auto", *LOGISTIC_SOLVERS])
        return solve_logistic(self._problem(X, codes, weight, 2), monitor, self.solver)

    def _unpenalised(self) -> bool:
        return isinstance(self.C, float) and bool(np.isposinf(self.C))

    def _fit_unpenalised(self, X, classes, codes, weight) -> Self:
        """Maximum likelihood, which of separated classes there is none."""
        with all_or_nothing(self):
            monitor, free = make_monitor(self), bool(self.fit_intercept)
            if len(classes) == 2:
                found = maximise(X, np.where(codes == 1, 1.0, -1.0), weight, free)
            else:
                found = maximise_classes(X, codes, len(classes), weight, free)
            self.classes_ = classes
            self.coef_, self.intercept_ = np.atleast_2d(found.w), np.atleast_1d(found.b)
            self.certificate_, self.n_iter_ = found.certificate, found.steps
            self.history_ = monitor.history
            self.solver_, self.solver_reason_ = "newton", "without the norm: Newton's method"
        if not found.certificate.holds(monitor.tol):
            warn_unless_reached(self, Ending.STALLED, found.certificate)
        return self

    def _problem(self, X, codes, weight, k: int) -> Problem | MulticlassProblem:
        c = costs(positive("C", self.C), weight, len(codes))
        bias = Bias.FREE if self.fit_intercept else Bias.NONE
        if k == 2:
            return Problem(as_rows(X), np.where(codes == 1, 1.0, -1.0), c, Logistic(), bias)
        y = np.asarray(codes, dtype=np.int64)
        return MulticlassProblem(as_rows(X), y, c, Softmax(), k, bias)

    def _start(self, problem) -> tuple[np.ndarray, np.ndarray] | None:
        """The present solution, if there is one for as many classes and columns."""
        rows = problem.k if isinstance(problem, MulticlassProblem) else 1
        if not hasattr(self, "coef_") or self.coef_.shape != (rows, problem.shape[1]):
            return None
        b = self.intercept_ if self.fit_intercept else np.zeros(rows)
        return self.coef_, b

    def _recertify(self, X, codes, weight) -> Certificate:
        """The certificate of the model's numbers on other data."""
        if self._unpenalised():
            return self._recertify_unpenalised(X, codes, weight)
        problem = self._problem(X, codes, weight, len(self.classes_))
        W, b = as_numpy(self.coef_), as_numpy(self.intercept_)
        if isinstance(problem, MulticlassProblem):
            found = certify_softmax(problem, W, b, self.tol)
        else:
            found = certify_logistic(problem, W[0], float(b[0]), self.tol)
        return sharpened(problem, W, b, found, self.tol)

    def _recertify_unpenalised(self, X, codes, weight) -> Certificate:
        free, W, b = bool(self.fit_intercept), self.coef_, self.intercept_
        if len(self.classes_) > 2:
            return certify_classes(X, codes, weight, free, W, b)
        y = np.where(codes == 1, 1.0, -1.0)
        return certify_likelihood(X, y, weight, free, W[0], float(b[0]))

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores: w·x + b as (n,) for two classes, one column per class for more."""
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The most probable label of every row."""
        s = self.decision_function(X)
        several = hasattr(self, "n_labels_")
        if is_tensor(s):
            return labels_of(self.classes_, s, several)
        if several:
            return (s > 0).astype(int)
        return self.classes_[(s > 0).astype(int) if s.ndim == 1 else s.argmax(axis=1)]

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """log p of every row and class, accurate however small p is."""
        s = self.decision_function(X)
        several = hasattr(self, "n_labels_")
        if is_tensor(s):
            return log_probabilities(s, several)
        if several:
            return log_expit(s)
        if s.ndim == 1:
            return np.column_stack([log_expit(-s), log_expit(s)])
        return log_softmax(s, axis=1)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """p of every row and class."""
        logs: Any = self.predict_log_proba(X)
        return logs.exp() if is_tensor(logs) else np.exp(logs)

    def _in_words(self) -> tuple[str, str]:
        text = "Logistic regression: scores that are log-odds, as large as C lets them be."
        if len(self.classes_) == 2:
            return text, "minimise  ½‖w‖² + C Σ log(1 + exp(−yᵢ(w·xᵢ + b)))"
        return text, "minimise  ½‖W‖² + C Σ (log Σ_c exp s_c(xᵢ) − s_y(xᵢ)),   s = W x + b"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
