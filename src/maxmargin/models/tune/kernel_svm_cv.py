"""KernelSVMCV: a KernelSVM that chooses its C by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..kernel.kernel_svm import KernelSVM
from .search import CSearch


class KernelSVMCV(CSearch, KernelSVM):  # type: ignore[override]
    """``KernelSVM`` with C chosen by cross-validation along a warm-started path.

    ``gamma="scale"`` is that of the rows of each fit.  A Gram matrix that was computed before
    cannot be tuned, for its folds would need columns left out, too: use GridSearchCV there.

    Parameters
    ----------
    Cs : int or list, default=7
        The values of C, or how many, from 1e-3 to 1e3.
    cv, scoring, rule, n_jobs :
        As in ``LinearSVMCV``.
    tol_cv : float, default=1e-2
        Relative duality gap of the fits inside the folds.
    kernel, gamma, degree, coef0, multiclass, rank, tol, cache_mb, max_iter, max_seconds, \
class_weight, random_state, verbose :
        As in ``KernelSVM``; ``max_seconds`` is that of each fit.

    Attributes
    ----------
    C_, Cs_, scores_, cv_results_, best_index_, best_score_, n_splits_ :
        As in ``LinearSVMCV``.
    support_, dual_coef_, certificate_, … :
        All of ``KernelSVM``, of the final fit.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from maxmargin import KernelSVMCV
    >>> X, y = make_circles(100, factor=0.4, noise=0.1, random_state=0)
    >>> model = KernelSVMCV(cv=3).fit(X, y)
    >>> model.scores_.shape, model.score(X, y)
    ((3, 7), 1.0)
    """

    _tuned = KernelSVM

    def __init__(
        self,
        Cs: ArrayLike | int = 7,
        *,
        cv: Any = 5,
        scoring: str | Callable | None = None,
        rule: str = "best",
        tol_cv: float = 1e-2,
        n_jobs: int | None = None,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        multiclass: str = "pairs",
        rank: int | None = None,
        tol: float = 1e-3,
        cache_mb: float = 200.0,
        max_iter: int = 100_000,
        max_seconds: float = np.inf,
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.tol_cv = tol_cv
        self.n_jobs = n_jobs
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.rank = rank
        self.tol = tol
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose C by cross-validation, then fit to all of X (n, d) and y."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "KernelSVMCV needs rows, not a precomputed Gram matrix: give it X and the kernel, "
                "or tune KernelSVM(kernel='precomputed') by GridSearchCV, which can cut K."
            )
        return super().fit(X, y, sample_weight, groups, **params)
