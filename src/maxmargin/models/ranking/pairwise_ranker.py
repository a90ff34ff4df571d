"""PairwiseRanker: one w that scores objects, learned from "this rather than that"."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...core.certify.certificate import Certificate
from ...core.certify.graded import certify_grades
from ...core.certify.two_class import certify
from ...core.problem.graded import GradedProblem
from ...core.problem.losses import Hinge
from ...core.problem.problem import Bias, Problem, costs
from ...core.rows.graded import Grades
from ...core.rows.pairs import PairRows
from ...core.rows.rows import as_rows, scores, shape, size_of
from ...core.solve.contract import Ending, Monitor, Point
from ...core.solve.precise.resort import sharpened
from ...core.solve.ranking.graded import solve_grades
from ...core.solve.two_class.form import SOLVERS, solve
from ...core.types import ArrayLike, MatrixLike
from ..certified import Certified
from ..fitting import make_monitor, note, warn_unless_reached
from ..stored import PAIRS, SEEN, SOLVED
from ..svm.two_class import support_kinds
from ..validation import all_or_nothing, check_rows, check_sample_weight, one_of, positive
from .metrics import graded_accuracy, listed_accuracy
from .object_preferences import check_grades, check_pairs, group_codes, listed
from .preference_tables import as_numbers, one_per_row, refuse_ambiguous

# Pairs implied by grades are listed up to this many, or while counting them costs more.
MAX_LISTED_PAIRS = 20_000
# With many columns Newton's method crawls and coordinate descent over listed pairs does not:
# there, pairs are listed while they take no more room than the data, up to this many.
WIDE_DATA_COLUMNS, MAX_WIDE_LISTED_PAIRS = 2000, 2_000_000


class PairwiseRanker(Certified, BaseEstimator):
    """Learn to order objects from preferences: the ranking SVM, solved exactly, with proof.

    Minimises  ½‖w‖² + C Σ s max(0, 1 − w·(x_winner − x_loser))  over w.  A bias would cancel.
    Differences are never formed.  When grades are given, the pairs they imply are not even
    listed: passes cost O(n log n) and memory is O(n), however many pairs there are.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack.  ``inf``: every preference must hold by a margin of 1 (listed pairs only).
    tol : float, default=1e-6
        Relative duality gap at which the fit counts as solved.
    max_iter, max_seconds, warm_start, random_state, verbose :
        As in ``LinearSVM``.
    solver : {"auto", "tiny", "newton", "descent", "interior"}, default="auto"
        For listed pairs; what was chosen and why is told in ``solver_`` and ``solver_reason_``.

    Attributes
    ----------
    coef_ : (d,) w, in float64
    certificate_ : Certificate
        Primal, dual, gap and KKT residuals, recomputed from the data.
    n_pairs_ : number of preferences learned from
    alpha_, slack_, support_, support_kind_ : multiplier and slack of every pair, the pairs with
        a positive multiplier, and whether these lie on the margin, inside it, or are
        "misclassified" (put in the wrong order).  Only when pairs were listed.
    history_, n_iter_, solver_, solver_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from maxmargin import PairwiseRanker
    >>> X = [[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]
    >>> ranker = PairwiseRanker().fit(X, [(2, 1), (1, 0)])
    >>> ranker.rank(X).tolist()
    [2, 1, 0]
    >>> PairwiseRanker().fit(X, [0, 1, 2]).n_pairs_  # the same from grades
    3
    """

    _stored = {"coef_": "float d !", "_width": "number"} | SEEN | PAIRS | SOLVED

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        solver: str = "auto",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to items X (n, d) and preferences y.

        y : rows (winner, loser[, weight]) of row numbers of X, as an array, a frame, a list or a
            stream; or one grade per item, larger is better: within every group of ``groups``
            (one group where None), each item is preferred to all of lower grade.
        sample_weight : (n,) weight of every item.  A pair counts the product of its two, so
            that weight 2 means the same as the item twice.
        """
        with all_or_nothing(self):
            monitor = make_monitor(self)
            positive("C", self.C, infinite=True)
            one_of("solver", self.solver, ["auto", *SOLVERS])
            X = check_rows(self, X, reset=True)
            problem = self._pose(X, y, groups, sample_weight)
            if isinstance(problem, GradedProblem):
                ending = self._fit_graded(problem, monitor)
            else:
                ending = self._fit_listed(problem, monitor)
        warn_unless_reached(self, ending, self.certificate_)
        return self

    def _pose(self, X, y, groups, sample_weight) -> Problem | GradedProblem:
        """Listed pairs where they are listed, or few; else the grades that imply them."""
        preferences, weight = _read(X, y, groups, sample_weight)
        rows = as_rows(X)
        if isinstance(preferences, Grades):
            if preferences.pairs > _most_listed(rows) and np.inf > self.C:
                return GradedProblem(rows, preferences, float(self.C))
            winner, loser = listed(preferences)
            each = np.ones(len(winner))
        else:
            winner, loser, each = preferences
        if weight is not None:
            each = each * weight[winner] * weight[loser]
        if not each.max() > 0.0:
            raise ValueError("Every pair has weight 0: give a positive weight to at least one.")
        m = len(winner)
        return Problem(
            PairRows(rows, winner, loser), np.ones(m), costs(float(self.C), each, m),
            Hinge(), Bias.NONE,
        )  # fmt: skip

    def _fit_listed(self, problem: Problem, monitor: Monitor) -> Ending:
        start = self._start(problem) if self.warm_start else None
        solution = solve(problem, monitor, self.solver, start)
        certificate = solution.certificate
        w, _, alpha = solution.point
        self.coef_, self.alpha_ = w, alpha
        self.slack_ = np.where(problem.c > 0, np.maximum(0.0, 1.0 - solution.scores), 0.0)
        self.support_ = np.flatnonzero(alpha > 0)
        self.support_kind_ = support_kinds(problem, alpha, self.slack_, self.support_)
        self.n_pairs_ = len(alpha)
        note(self, solution, certificate)
        return solution.ending

    def _fit_graded(self, problem: GradedProblem, monitor: Monitor) -> Ending:
        warm = self.warm_start and getattr(self, "coef_", np.empty(0)).shape == problem.shape[1:]
        solution, width = solve_grades(problem, monitor, self.coef_ if warm else None)
        certificate = solution.certificate
        for name in ("alpha_", "slack_", "support_", "support_kind_"):
            self.__dict__.pop(name, None)
        self.coef_, self._width = solution.point.w, width
        self.n_pairs_ = problem.grades.pairs
        note(self, solution, certificate)
        return solution.ending

    def _start(self, problem: Problem) -> Point | None:
        m, d = problem.shape
        if getattr(self, "coef_", np.empty(0)).shape != (d,):
            return None
        alpha = getattr(self, "alpha_", np.empty(0))
        return Point(self.coef_, 0.0, alpha if len(alpha) == m else np.zeros(m))

    def _verify(self, X, y, sample_weight, groups) -> Certificate:
        """The certificate on any data, from nothing but the model's numbers."""
        X = check_rows(self, X, reset=False)
        problem = self._pose(X, y, groups, sample_weight)
        if isinstance(problem, GradedProblem):
            return certify_grades(problem, self.coef_, getattr(self, "_width", 1.0)).certificate
        alpha = getattr(self, "alpha_", np.empty(0))
        if len(alpha) != len(problem.c):
            slack = scores(problem.rows, self.coef_) < 1.0
            alpha = np.where(slack, problem.c, 0.0)
        return sharpened(
            problem, self.coef_, 0.0, certify(problem, self.coef_, 0.0, alpha), self.tol
        )

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """w·x for every row: the higher, the more preferred."""
        check_is_fitted(self)
        return scores(as_rows(check_rows(self, X, reset=False)), self.coef_)

    predict = decision_function

    def rank(self, X: MatrixLike, groups: ArrayLike | None = None) -> Any:
        """Row numbers of X, best first; with ``groups``, group after group in sorted order."""
        f = self.decision_function(X)
        return np.lexsort((np.arange(len(f)), -f, group_codes(groups, len(f))))

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The share of preferences that the model agrees with; ties count one half."""
        f = self.decision_function(X)
        preferences, weight = _read(f[:, None], y, groups, sample_weight)
        if isinstance(preferences, Grades):
            return graded_accuracy(preferences, f)
        winner, loser, each = preferences
        if weight is not None:
            each = each * weight[winner] * weight[loser]
        return listed_accuracy(f[winner] - f[loser], each)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _most_listed(rows) -> float:
    """Up to how many pairs implied by grades are listed."""
    n, d = shape(rows)
    room = min(size_of(rows), MAX_WIDE_LISTED_PAIRS) if d > WIDE_DATA_COLUMNS else 0
    return max(MAX_LISTED_PAIRS, n * np.log2(n), room)


def _read(X, y, groups, sample_weight):
    """Grades, or (winner, loser, weight) columns; and the items' weights."""
    n = X.shape[0]
    if y is None:
        raise ValueError(
            "PairwiseRanker requires y to be passed, but the target y is None: give rows "
            "(winner, loser[, weight]), or one grade per item."
        )
    if not one_per_row(y):
        if groups is not None:
            raise ValueError(
                "groups goes with grades; listed pairs say themselves what to compare."
            )
        pairs = check_pairs(y, n)
        refuse_ambiguous(sample_weight, pairs[2], n)
        return pairs, check_sample_weight(X, sample_weight)
    weight = check_sample_weight(X, sample_weight)
    given = column_or_1d(np.asarray(y), warn=True)
    grades = as_numbers(given)
    if len(grades) != n:
        raise ValueError(
            f"X has {n} rows but y holds {len(grades)} grades (inconsistent numbers of samples). "
            "Give one grade per row, or pairs as rows (winner, loser[, weight])."
        )
    if not np.isfinite(grades).all():
        row = int(np.flatnonzero(~np.isfinite(grades))[0])
        raise ValueError(
            f"Input y contains NaN or infinity, or what is no number: grade {row} is "
            f"{given.tolist()[row]!r}. Leave out items without a grade; larger is better."
        )
    return check_grades(grades, groups, weight), weight
