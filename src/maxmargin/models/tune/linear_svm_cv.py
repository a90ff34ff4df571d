"""LinearSVMCV: a LinearSVM that chooses its C by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.types import ArrayLike
from ..svm.linear_svm import LinearSVM
from .search import CSearch


class LinearSVMCV(CSearch, LinearSVM):  # type: ignore[override]
    """``LinearSVM`` with C chosen by cross-validation along a warm-started path.

    Every fold is solved for all C upwards, each fit starting from the last, to a certified gap
    of ``tol_cv``; the final fit on all rows is certified to ``tol``.  A fitted model is a
    ``LinearSVM`` with that C: it has its attributes and methods.

    Parameters
    ----------
    Cs : int or list, default=13
        The values of C, or how many, from 1e-3 to 1e3.
    cv : int, splitter or iterable, default=5
        As in scikit-learn: a number of folds is stratified; a splitter may use ``groups``.
    scoring : str, callable or None
        Any scorer of scikit-learn; None is accuracy.
    rule : {"best", "one_se"}, default="best"
        The C with the best mean score, or the smallest C whose mean is within one standard
        error of it.  Of equals the smaller C.
    tol_cv : float, default=1e-3
        Relative duality gap of the fits inside the folds.  Scores hardly feel it; set it to
        ``tol`` to be sure.
    n_jobs : int or None
        Threads over folds.
    loss, multiclass, tol, max_iter, max_seconds, fit_intercept, penalize_bias, class_weight, \
solver, random_state, device, verbose :
        As in ``LinearSVM``; ``max_seconds`` is that of each fit.

    Attributes
    ----------
    C_ : the C chosen
    Cs_, scores_ : the grid, increasing, and the scores (n_splits, n_Cs); NaN where a search was
        interrupted
    cv_results_ : dict
        As in ``GridSearchCV``, with ``max_relative_gap``: the worst certified gap of any fold.
    best_index_, best_score_, n_splits_
    coefs_paths_ : (n_splits, n_Cs, rows of ``coef_``, d + 1)
        Weights and biases of every fit; NaN for classes that a fold lacks.  Not kept where these
        are more than ten million numbers.
    coef_, intercept_, certificate_, … :
        All of ``LinearSVM``, of the final fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVMCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVMCV().fit(X, y)
    >>> model.scores_.shape, model.certificate_.holds(1e-6)
    ((5, 13), True)
    """

    _tuned = LinearSVM

    def __init__(
        self,
        Cs: ArrayLike | int = 13,
        *,
        cv: Any = 5,
        scoring: str | Callable | None = None,
        rule: str = "best",
        tol_cv: float = 1e-3,
        n_jobs: int | None = None,
        loss: str = "hinge",
        multiclass: str = "max",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        fit_intercept: bool = True,
        penalize_bias: bool = False,
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
        self.loss = loss
        self.multiclass = multiclass
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.penalize_bias = penalize_bias
        self.class_weight = class_weight
        self.solver = solver
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
