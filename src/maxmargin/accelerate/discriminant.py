"""LinearDiscriminantAnalysis(solver="svd"): singular values from a d × d matrix.

    A = (x − μ_y) / (σ √n), row by row,     A = U S Vᵀ,     AᵀA = V S² Vᵀ

μ_y is the mean of a row's class and σ the standard deviation of each column about these means.
scikit-learn takes S and V from A and throws U away; S² and V are the eigenvalues and vectors of
AᵀA, which is summed up in one pass over the rows, at a fraction of the work.  Squaring leaves S
with an error of 1e-8 of the largest, far below the 1e-4 at which ``tol`` calls it zero; where some
are small but not zero, scikit-learn computes them.  The signs of ``scalings_`` are LAPACK's choice
either way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.blas import dsyrk

from .case import Quicker, Refusal, recorded
from .settings import SETTINGS

# The least tolerance that squared singular values can tell from zero, and the fewest values of X
# for which the difference is worth a thought.
MIN_TOL, MIN_VALUES = 1e-6, 20_000
# Shares of the largest singular value: below the first it is zero by any count, above the second
# its square has all the digits that matter; between them scipy's own decides.
ZERO_SHARE, CLEAR_SHARE = 1e-7, 1e-3
# Rows centred at a time: 512 to 5000 are within 10 % of each other, 256 and all take 1.6 to 2 times
# as long (100k × 50).
BLOCK_ROWS = 1024
KIND = "LinearDiscriminantAnalysis"
DIRECT_REASON = "its closed form is exact but for rounding"


def wrap(original: Callable) -> Callable:
    """In place of ``LinearDiscriminantAnalysis._solve_svd``."""

    @wraps(original)
    def solve_svd(self, X, y):
        run = lambda: original(self, X, y)  # noqa: E731
        return recorded(KIND, X.shape, "", run, lambda: _fit(self, X, y))

    return solve_svd


def wrap_direct(original: Callable) -> Callable:
    """In place of ``_solve_lstsq`` and ``_solve_eigen``, which are recorded."""

    @wraps(original)
    def solve(self, X, y, *args, **kwargs):
        run = lambda: original(self, X, y, *args, **kwargs)  # noqa: E731
        return recorded(KIND, X.shape, DIRECT_REASON, run)

    return solve


def _fit(model: Any, X: Any, y: np.ndarray) -> str:
    """Set what ``_solve_svd`` sets, and say how it was found."""
    _refuse(model, X)
    codes = np.searchsorted(model.classes_, y)
    means = _class_means(X, codes, len(model.classes_))
    scatter = _scatter(X, codes, means)
    fitted = _projected(model, means, _whitening(scatter, means, len(X), model.tol))
    if model.store_covariance:
        from sklearn.discriminant_analysis import _class_cov

        model.covariance_ = _class_cov(X, y, model.priors_)
    vars(model).update({name: value.astype(X.dtype) for name, value in fitted.items()})
    return f"singular values from a {X.shape[1]} × {X.shape[1]} matrix"


def _refuse(model: Any, X: Any) -> None:
    if not isinstance(X, np.ndarray):
        raise Refusal("X is no numpy array")
    if model.tol < MIN_TOL:
        raise Refusal(f"tol={model.tol:g} is too small for squares to tell from zero")
    if X.shape[0] < 2 * X.shape[1] or (X.size < MIN_VALUES and not SETTINGS.every_size):
        raise Quicker("few rows: its singular values cost little")


def _class_means(X: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """To the same bits as by ``np.add.at``, which takes 25 times as long."""
    n = len(codes)
    members = sparse.csc_matrix((np.ones(n, X.dtype), codes, np.arange(n + 1)), shape=(k, n))
    return (members @ X) / np.bincount(codes, minlength=k)[:, None].astype(X.dtype)


def _scatter(X: np.ndarray, codes: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Σ (x − μ_y)(x − μ_y)ᵀ, its upper triangle."""
    d = X.shape[1]
    total = np.zeros((d, d), order="F")
    for begin in range(0, len(X), BLOCK_ROWS):
        some = slice(begin, begin + BLOCK_ROWS)
        centred = (X[some] - means[codes[some]]).astype(np.float64, copy=False)
        total = dsyrk(1.0, centred.T, beta=1.0, c=total, overwrite_c=True)
    return total


def _whitening(scatter: np.ndarray, means: np.ndarray, n: int, tol: float) -> np.ndarray:
    """V/(σS): columns in which the rows about their means have no correlation and variance 1."""
    sigma = np.sqrt(np.diag(scatter) / n)
    rounding = np.sqrt(np.finfo(means.dtype).eps) * np.abs(means).max(axis=0)
    if np.any((sigma > 0) & (sigma < rounding)):  # what is left of it is scikit-learn's to judge
        raise Refusal("a column is constant in every class but for rounding")
    sigma[sigma == 0] = 1.0
    squares, V = linalg.eigh(scatter / (n * np.outer(sigma, sigma)), lower=False, driver="evd")
    S = np.sqrt(np.maximum(squares[::-1], 0.0))
    share = S / max(S[0], np.finfo(float).tiny)
    if np.any((share > ZERO_SHARE) & (share < CLEAR_SHARE)):
        raise Refusal("some singular values are too small for their squares to tell from zero")
    if (rank := np.count_nonzero(tol < S)) == 0:
        raise Refusal(f"tol={tol:g} leaves nothing")
    return V[:, ::-1][:, :rank] / sigma[:, None] / S[:rank]


def _projected(model: Any, means: np.ndarray, whitening: np.ndarray) -> dict[str, np.ndarray]:
    """Between the classes: the directions in which their whitened means differ, by attributes."""
    priors = np.asarray(model.priors_, dtype=np.float64)
    xbar = priors @ means
    apart = (means - xbar) @ whitening
    _, S, Vt = linalg.svd(np.sqrt(priors)[:, None] * apart, full_matrices=False)
    scalings = whitening @ Vt[model.tol * S[0] < S].T
    coef = (means - xbar) @ scalings
    weights = coef @ scalings.T
    shares = S**2 / (S**2).sum() if model._max_components else S
    return {
        "means_": means,
        "xbar_": xbar,
        "explained_variance_ratio_": shares[: model._max_components],
        "scalings_": scalings,
        "coef_": weights,
        "intercept_": np.log(priors) - 0.5 * (coef**2).sum(axis=1) - weights @ xbar,
    }
