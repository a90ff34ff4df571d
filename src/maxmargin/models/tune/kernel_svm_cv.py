"""KernelSVMCV: a KernelSVM that chooses its C by cross-validation."""

from __future__ import annotations

import numpy as np

from ..kernel.kernel_svm import KernelSVM
from .search import CSearch


class KernelSVMCV(CSearch, KernelSVM):
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
        Cs=7,
        *,
        cv=5,
        scoring=None,
        rule="best",
        tol_cv=1e-2,
        n_jobs=None,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        multiclass="pairs",
        rank=None,
        tol=1e-3,
        cache_mb=200.0,
        max_iter=100_000,
        max_seconds=np.inf,
        class_weight=None,
        random_state=None,
        verbose=0,
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

    def fit(self, X, y, sample_weight=None, groups=None):
        """Choose C by cross-validation, then fit to all of X (n, d) and y."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "KernelSVMCV needs rows, not a precomputed Gram matrix: give it X and the kernel, "
                "or tune KernelSVM(kernel='precomputed') by GridSearchCV, which can cut K."
            )
        return super().fit(X, y, sample_weight, groups)
