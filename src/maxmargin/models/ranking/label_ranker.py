"""LabelRanker: one score per class, learned from "this class rather than that one"."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...core.certify.certificate import Certificate
from ...core.certify.label_pairs import certify_label_pairs, pair_slacks, repair_label_pairs
from ...core.problem.label_pairs import LabelPairsProblem
from ...core.problem.problem import Bias
from ...core.rows.class_products import score_chunks
from ...core.rows.rows import as_rows
from ...core.solve.contract import ClassPoint
from ...core.solve.precise.resort import sharpened
from ...core.solve.ranking.form import LABEL_SOLVERS, solve_label_pairs
from ...core.types import ArrayLike, MatrixLike
from ..certified import Certified
from ..fitting import make_monitor, note, warn_unless_reached
from ..stored import LINEAR, PAIRS, SOLVED
from ..svm.two_class import kinds_of
from ..validation import all_or_nothing, check_rows, check_sample_weight, one_of, positive
from .label_preferences import (
    LabelPairs,
    label_pairs,
    pairs_from_labels,
    pairs_from_rankings,
    pairs_from_scores,
)
from .metrics import listed_accuracy
from .preference_tables import one_per_row, refuse_ambiguous, within


class LabelRanker(Certified, BaseEstimator):
    """Learn to rank labels from preferences between them, solved exactly, with proof.

    Minimises  ½‖W‖² + C Σ s max(0, 1 − (w_a − w_b)·xᵢ − (b_a − b_b))  over W and free biases b,
    one term for every pair (i, a, b): example i ranks class a above class b.  One label per
    example is the special case of (yᵢ, c) for all c, which is ``LinearSVM(multiclass="sum")``.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack.
    classes : sequence or None
        The classes to rank.  None: those that the preferences name.
    tol : float, default=1e-6
        Relative duality gap at which the fit counts as solved.
    fit_intercept : bool, default=True
    solver : {"auto", "newton", "descent"}, default="auto"
    max_iter, max_seconds, warm_start, random_state, verbose :
        As in ``LinearSVM``.

    Attributes
    ----------
    classes_ : (k,) labels
    coef_, intercept_ : W as (k, d) and b as (k,), in float64; both sum to zero over the classes
    certificate_ : Certificate
        Primal, dual, gap and KKT residuals, recomputed from the data.
    n_pairs_ : number of preferences learned from
    alpha_, slack_, support_, support_kind_ : multiplier and slack of every pair (sorted by
        example, else in the order given), the pairs with a positive multiplier, and whether these
        lie on the margin, inside it, or are "misclassified" (put in the wrong order)
    history_, n_iter_, solver_, solver_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from maxmargin import LabelRanker
    >>> X = [[0.0], [1.0], [2.0]]
    >>> pairs = [(0, "tea", "milk"), (0, "milk", "mud"), (2, "milk", "tea"), (2, "tea", "mud")]
    >>> ranker = LabelRanker(C=10).fit(X, pairs)
    >>> ranker.rank([[-1.0], [3.0]]).tolist()
    [['tea', 'milk', 'mud'], ['milk', 'tea', 'mud']]
    """

    # As many rows of weights as labels, where there are two as well.
    _stored = LINEAR | {"coef_": "float k d !", "intercept_": "float k !"} | PAIRS | SOLVED

    def __init__(
        self,
        C: float = 1.0,
        *,
        classes: ArrayLike | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        fit_intercept: bool = True,
        solver: str = "auto",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.C = C
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        rankings: Any = None,
        scores: ArrayLike | None = None,
    ) -> Self:
        """Fit to examples X (n, d) and preferences, given in one of several forms.

        y : rows (example, preferred class, other class[, weight]), examples being row numbers of
            X; a ``LabelPairs``; or one label per example
        rankings : one per example, labels best first, all or some of them; a tie is a tuple
        scores : (n, k) matrix, larger is better, NaN where unknown
        sample_weight : (n,) weight of every example
        """
        with all_or_nothing(self):
            monitor = make_monitor(self)
            positive("C", self.C)
            one_of("solver", self.solver, ["auto", *LABEL_SOLVERS])
            X = check_rows(self, X, reset=True)
            pairs = read_pairs(X, y, rankings, scores, self.classes)
            if y is not None and (isinstance(y, LabelPairs) or not one_per_row(y)):
                refuse_ambiguous(sample_weight, pairs.weight, X.shape[0])
            warm = self.warm_start and np.array_equal(getattr(self, "classes_", []), pairs.classes)
            self.classes_ = pairs.classes
            problem = self._pose(X, pairs, sample_weight)
            start = self._start(problem) if warm else None
            solution = solve_label_pairs(problem, monitor, self.solver, start)
            certificate = solution.certificate
            self._note(problem, solution, certificate)
        warn_unless_reached(self, solution.ending, certificate)
        return self

    def _pose(self, X, pairs: LabelPairs, sample_weight) -> LabelPairsProblem:
        """The problem of the model's parameters, its pairs sorted by example."""
        within("pairs", "example", pairs.example, X.shape[0])
        each = float(self.C) * pairs.weight
        if sample_weight is not None:
            weight = check_sample_weight(X, sample_weight)
            each = each * weight[pairs.example]
        alive = np.flatnonzero(each > 0.0)
        if len(alive) == 0:
            raise ValueError("Every pair has weight 0: give a positive weight to at least one.")
        order = alive[np.argsort(pairs.example[alive], kind="stable")]
        bias = Bias.FREE if self.fit_intercept else Bias.NONE
        columns = (pairs.example[order], pairs.preferred[order], pairs.other[order], each[order])
        return LabelPairsProblem(as_rows(X), len(pairs.classes), *columns, bias)

    def _start(self, problem: LabelPairsProblem) -> ClassPoint | None:
        if self.coef_.shape != (problem.k, problem.shape[1]):
            return None
        same = len(self.alpha_) == len(problem.c)
        alpha = self.alpha_ if same else np.zeros(len(problem.c))
        return ClassPoint(self.coef_, self.intercept_, alpha)

    def _note(self, problem: LabelPairsProblem, solution, certificate) -> None:
        W, b, alpha = solution.point
        self.coef_, self.intercept_, self.alpha_ = W, b, alpha
        self.slack_ = np.maximum(0.0, pair_slacks(problem, W, b))
        self.support_ = np.flatnonzero(alpha > 0.0)
        self.support_kind_ = kinds_of(self.slack_, alpha < problem.c)[self.support_]
        self.n_pairs_ = len(alpha)
        note(self, solution, certificate)

    def _verify(self, X, y, sample_weight, groups) -> Certificate:
        """The certificate on any data, from nothing but the model's numbers."""
        X = check_rows(self, X, reset=False)
        problem = self._pose(X, read_pairs(X, y, None, None, self.classes_), sample_weight)
        alpha = self.alpha_
        if len(alpha) != len(problem.c):
            slack = pair_slacks(problem, self.coef_, self.intercept_) > 0.0
            alpha = repair_label_pairs(problem, np.where(slack, problem.c, 0.0))
        found = certify_label_pairs(problem, self.coef_, self.intercept_, alpha)
        return sharpened(problem, self.coef_, self.intercept_, found, self.tol)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """(n, k): the score of every class."""
        check_is_fitted(self)
        rows = as_rows(check_rows(self, X, reset=False))
        return np.concatenate([s + self.intercept_ for _, s in score_chunks(rows, self.coef_)])

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class ranked first."""
        f = self.decision_function(X)
        return self.classes_[f.argmax(axis=1)]

    def rank(self, X: MatrixLike) -> Any:
        """(n, k): the classes, best first; equal scores in the order of ``classes_``."""
        f = self.decision_function(X)
        return self.classes_[np.argsort(-f, axis=1, kind="stable")]

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        rankings: Any = None,
        scores: ArrayLike | None = None,
    ) -> float:
        """The share of preferences that the model agrees with; ties count one half."""
        f = self.decision_function(X)
        pairs = read_pairs(f, y, rankings, scores, self.classes_)
        within("pairs", "example", pairs.example, len(f))
        weight = pairs.weight
        if sample_weight is not None:
            weight = weight * np.asarray(sample_weight, dtype=np.float64)[pairs.example]
        differences = f[pairs.example, pairs.preferred] - f[pairs.example, pairs.other]
        return listed_accuracy(differences, weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def read_pairs(X, y, rankings, scores, classes) -> LabelPairs:
    """Pairs from whichever form was given."""
    given = [form for form in (y, rankings, scores) if form is not None]
    if len(given) != 1:
        raise ValueError(
            "LabelRanker requires y to be passed, but the target y is None: give pairs or labels "
            f"as y, or rankings=, or scores=; exactly one of them, got {len(given)}."
        )
    if isinstance(y, LabelPairs):
        return label_pairs(y.table(), classes) if _differ(y.classes, classes) else y
    if y is not None and not one_per_row(y):
        return label_pairs(y, classes)
    if rankings is not None:
        pairs, n = pairs_from_rankings(rankings, classes), len(rankings)
    elif scores is not None:
        pairs, n = pairs_from_scores(scores, classes), len(scores)
    else:
        pairs, n = _from_labels(y, classes)
    if n != X.shape[0]:
        what = "labels" if y is not None else "rankings" if rankings is not None else "score rows"
        raise ValueError(
            f"X has {X.shape[0]} rows but there are {n} {what} (inconsistent numbers of samples)."
        )
    return pairs


def _differ(classes, wanted) -> bool:
    return wanted is not None and not np.array_equal(np.asarray(wanted), classes)


def _from_labels(y, classes) -> tuple[LabelPairs, int]:
    y = column_or_1d(np.asarray(y), warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity: every example needs a label.")
    pairs = pairs_from_labels(y, classes)
    if len(pairs.classes) < 2:
        raise ValueError(
            f"LabelRanker needs at least two classes, but y names only one class (n_samples = "
            f"{len(y)}): {pairs.classes.tolist()}."
        )
    return pairs, len(y)
