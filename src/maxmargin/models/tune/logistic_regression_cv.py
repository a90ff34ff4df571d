"""LogisticRegressionCV: a LogisticRegression that chooses its C by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.types import ArrayLike
from ..regression.logistic_regression import LogisticRegression
from .search import CSearch


class LogisticRegressionCV(CSearch, LogisticRegression):  # type: ignore[override]
    """``LogisticRegression`` with C chosen by cross-validation along a warm-started path.

    Every fold is solved for all C upwards, each fit starting from the last; the final fit on all
    rows is certified to ``tol``.  A fitted model is a ``LogisticRegression`` with that C: it has
    its attributes and methods.

    The fits of the folds are certified only by the solver "descent".  The solver "newton" ends
    them without a proof, once the objective is estimated to lie above the optimum by at most a
    two-hundredth of ``tol_cv`` times what the weights gain over none.  (A proof would cost two
    to five times as much, most of it at large C.)  On tensors, or a ``device``, every fit is
    certified to ``tol_cv``.

    Parameters
    ----------
    Cs, cv, scoring, rule, n_jobs :
        As in ``LinearSVMCV``.
    tol_cv : float, default=1e-3
        How exact the fits inside the folds are; see above.
    tol, max_iter, max_seconds, fit_intercept, class_weight, solver, random_state, device, verbose :
        As in ``LogisticRegression``; ``max_seconds`` is that of each fit.

    Attributes
    ----------
    C_, Cs_, scores_, cv_results_, best_index_, best_score_, n_splits_, coefs_paths_ :
        As in ``LinearSVMCV``.  Where fits ended at an estimate, ``max_relative_gap`` of
        ``cv_results_`` is the gap by the solver's own sums; it may be a thousand times the error.
    coef_, intercept_, certificate_, … :
        All of ``LogisticRegression``, of the final fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1, 100], rule="one_se").fit(X, y)
    >>> model.C_ in (0.01, 1, 100), model.predict_proba(X[:1]).shape
    (True, (1, 3))
    """

    _tuned = LogisticRegression

    def __init__(
        self,
        Cs: ArrayLike | int = 13,
        *,
        cv: Any = 5,
        scoring: str | Callable | None = None,
        rule: str = "best",
        tol_cv: float = 1e-3,
        n_jobs: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        solver: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        device: Any = None,
        verbose: int = 0,
    ):
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.tol_cv = tol_cv
        self.n_jobs = n_jobs
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
