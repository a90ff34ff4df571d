"""LinearSVM: the soft- and hard-margin support vector machine of the lectures, with proof."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..problem.losses import LOSSES, Hinge
from ..problem.problem import Bias, Problem, costs
from ..represent.rows import as_rows, scores
from ..solve.choose import SOLVERS, solve
from ..solve.contract import Ending, Point, Watch
from .validation import (
    all_or_nothing,
    check_rows,
    check_training,
    check_weights,
    count,
    one_of,
    positive,
)

# A slack below this is rounding: the point lies on its margin.
ON_MARGIN = 1e-7


class LinearSVM(ClassifierMixin, BaseEstimator):
    """Support vector machine with a free bias, solved exactly, with a certificate.

    Minimises  ½‖w‖² + C Σ sᵢ ℓ(yᵢ (w·xᵢ + b))  over w and b, with ℓ the hinge
    max(0, 1 − m) or its square.  The bias is not penalised.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack.  Large C: few violations, narrow margin.  ``inf``: the hard margin,
        which raises ``NotSeparableError`` with a proof when no separator exists.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    tol : float, default=1e-6
        Relative duality gap at which the fit counts as solved: the objective is then
        proved to be within ``tol`` times itself of the optimum.
    max_iter : int, default=10000
        Most iterations (Newton steps, or passes over the data).
    max_seconds : float, default=inf
        Most seconds; the best model so far is kept, with its gap and a warning.
    fit_intercept : bool, default=True
    penalize_bias : bool, default=False
        Add ½b² to the objective, as LIBLINEAR does.  For comparison only.
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of each class.
    solver : {"auto", "tiny", "newton", "descent", "interior"}, default="auto"
        What was chosen and why is told in ``solver_`` and ``solver_reason_``.
    warm_start : bool, default=False
        Start from the present solution.
    random_state : int or None
        Order of visits in ``descent`` and choice of rows in ``newton``.  The optimum does
        not depend on it.
    verbose : int, default=0
        1 prints progress a few times a second, 2 every iteration.

    Attributes
    ----------
    coef_, intercept_ : w as (1, d) and b as (1,), in float64 whatever the data
    certificate_ : Certificate
        Primal, dual, gap and KKT residuals, recomputed from the data in float64.
    alpha_ : (n,) multiplier of every training point
    support_, dual_coef_ : indices with α > 0, and their yᵢαᵢ as (1, n_support)
    support_kind_ : for each of them "margin", "inside" or "misclassified"
    slack_ : (n,) ξᵢ = max(0, 1 − yᵢ(w·xᵢ + b))
    margin_ : γ = 1/‖w‖
    history_ : list of steps with seconds, primal, dual
    n_iter_, solver_, solver_reason_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM
    >>> X = np.array([[0., 0.], [1., 1.], [3., 3.], [4., 4.]])
    >>> svm = LinearSVM(C=np.inf).fit(X, ["low", "low", "high", "high"])
    >>> print(svm.predict([[0., 1.], [5., 3.]]), f"{svm.margin_:.3f}")
    ['low' 'high'] 1.414
    >>> svm.certificate_.holds(1e-9)
    True
    """

    def __init__(
        self,
        C=1.0,
        *,
        loss="hinge",
        tol=1e-6,
        max_iter=10_000,
        max_seconds=np.inf,
        fit_intercept=True,
        penalize_bias=False,
        class_weight=None,
        solver="auto",
        warm_start=False,
        random_state=None,
        verbose=0,
    ):
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.penalize_bias = penalize_bias
        self.class_weight = class_weight
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Fit to training points X (n, d), dense or sparse, and labels y of two kinds."""
        with all_or_nothing(self):
            watch = self._watch()
            one_of("solver", self.solver, ["auto", *SOLVERS])
            X, classes, codes = check_training(self, X, y)
            _refuse_many_classes(classes)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            problem = self._problem(X, codes, weight)
            start = self._start(problem) if self.warm_start else None
            solution, certificate = solve(problem, watch, self.solver, start)
            self.classes_ = classes
            self._keep(problem, solution, certificate)
        if solution.ending is not Ending.REACHED:
            _warn(solution, certificate, self)
        return self

    def _watch(self) -> Watch:
        seed = self.random_state
        if seed is not None and not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31)  # refuses what is no seed
        return Watch(
            tol=positive("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            max_seconds=positive("max_seconds", self.max_seconds, infinite=True),
            verbose=int(self.verbose),
            seed=0 if seed is None else int(seed),
        )

    def _problem(self, X, codes, weight) -> Problem:
        C = positive("C", self.C, infinite=True)
        loss = LOSSES[one_of("loss", self.loss, LOSSES)]
        bias = Bias.FREE
        if not self.fit_intercept:
            bias = Bias.NONE
        elif self.penalize_bias:
            bias = Bias.PENALIZED
        y = np.where(codes == 1, 1.0, -1.0)
        return Problem(as_rows(X), y, costs(C, weight, len(y)), loss, bias)

    def _start(self, problem: Problem) -> Point | None:
        """The present solution, if there is one for as many columns."""
        n, d = problem.shape
        if not hasattr(self, "coef_") or self.coef_.shape[1] != d:
            return None
        same_rows = len(self.alpha_) == n
        alpha = np.clip(self.alpha_, 0.0, problem.cap) if same_rows else np.zeros(n)
        return Point(self.coef_[0], float(self.intercept_[0]), alpha)

    def _keep(self, problem: Problem, solution, certificate) -> None:
        w, b, alpha = solution.point
        margins = problem.y * (solution.scores + b)
        self.coef_ = w[None, :]
        self.intercept_ = np.array([b])
        self.alpha_ = alpha
        self.slack_ = np.where(problem.c > 0, np.maximum(0.0, 1.0 - margins), 0.0)
        self.support_ = np.flatnonzero(alpha > 0)
        self.dual_coef_ = (alpha * problem.y)[self.support_][None, :]
        self.support_kind_ = support_kinds(problem, alpha, self.slack_)[self.support_]
        norm = float(np.linalg.norm(w))
        self.margin_ = 1.0 / norm if norm > 0 else np.inf
        self.certificate_ = certificate
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        self.solver_ = solution.solver
        self.solver_reason_ = solution.why

    def decision_function(self, X):
        """w·x + b for every row: positive on the side of ``classes_[1]``."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return scores(as_rows(X), self.coef_[0]) + float(self.intercept_[0])

    def predict(self, X):
        """The label of the side on which each row lies."""
        positive_side = self.decision_function(X) > 0
        return self.classes_[positive_side.astype(int)]

    def signed_distance(self, X):
        """γ = (w·x + b)/‖w‖: the distance of each row to the hyperplane, with its side's sign."""
        f = self.decision_function(X)
        norm = float(np.linalg.norm(self.coef_))
        return f / norm if norm > 0 else f

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def support_kinds(problem: Problem, alpha: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """On the margin, inside it, or on the wrong side, for every point.

    A hinge multiplier below its cap says "on the margin" more sharply than the slack does,
    which is zero there only up to the tolerance of the fit.
    """
    kinds = np.full(len(slack), "inside", dtype="<U13")
    kinds[slack > 1.0] = "misclassified"
    below = alpha < problem.cap if problem.hard or isinstance(problem.loss, Hinge) else False
    kinds[(slack <= ON_MARGIN) | below] = "margin"
    return kinds


def _refuse_many_classes(classes) -> None:
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y holds {len(classes)} classes, the first being {classes[:5].tolist()}. "
            "Select two of them, or wrap LinearSVM in scikit-learn's OneVsRestClassifier."
        )


def _warn(solution, certificate, estimator) -> None:
    advice = {
        Ending.TIME: "give it more max_seconds, or continue with warm_start=True",
        Ending.ITERATIONS: "raise max_iter, or continue with warm_start=True",
        Ending.INTERRUPTED: "continue with warm_start=True",
        Ending.STALLED: "scale the features to similar size, lower C, or accept a larger tol",
    }[solution.ending]
    warnings.warn(
        f"LinearSVM stopped before the gap asked for (tol={estimator.tol:g}): "
        f"{solution.ending.value}. The model kept has relative gap "
        f"{certificate.relative_gap:.1e} ({certificate}). To get closer: {advice}.",
        ConvergenceWarning,
        stacklevel=3,
    )
