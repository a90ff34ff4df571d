"""LinearDiscriminantAnalysis(solver="svd"): singular values from a d × d matrix.

Of A, the n rows about the means of their classes, scikit-learn takes the singular values S and the
right vectors V, and throws the left ones away.  S² and V are the eigenvalues and vectors of AᵀA, at
a fraction of the work.  Squaring leaves S with an error of 1e-8 of the largest, far below the 1e-4
at which ``tol`` calls it zero; where some are small but not zero, scipy computes them.  The signs
of ``scalings_`` are LAPACK's choice either way.

All else is scikit-learn's own code: inside ``_solve_svd`` its name ``scipy`` has another ``svd``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import linalg

from .case import recorded
from .settings import SETTINGS

# The least tolerance that squared singular values can tell from zero, and the fewest values of X
# for which the difference is worth a thought.
MIN_TOL, MIN_VALUES = 1e-6, 20_000
# Shares of the largest singular value: below the first it is zero by any count, above the second
# its square has all the digits that matter; between them scipy's own decides.
ZERO_SHARE, CLEAR_SHARE = 1e-7, 1e-3
KIND = "LinearDiscriminantAnalysis"
DIRECT_REASON = "its closed form is exact but for rounding"

_here = threading.local()


def wrap(original: Callable) -> Callable:
    """In place of ``LinearDiscriminantAnalysis._solve_svd``."""

    @wraps(original)
    def solve_svd(self, X, y):
        run = lambda: original(self, X, y)  # noqa: E731
        if why := _refusal(self, X):
            return recorded(KIND, X.shape, why, run)
        why = f"singular values from a {X.shape[1]} × {X.shape[1]} matrix"
        _here.squared = True
        try:
            return recorded(KIND, X.shape, why, run, solver="maxmargin")
        finally:
            _here.squared = False

    return solve_svd


def wrap_direct(original: Callable) -> Callable:
    """In place of ``_solve_lstsq`` and ``_solve_eigen``, which are recorded."""

    @wraps(original)
    def solve(self, X, y, *args, **kwargs):
        run = lambda: original(self, X, y, *args, **kwargs)  # noqa: E731
        return recorded(KIND, X.shape, DIRECT_REASON, run)

    return solve


def wrap_scipy(original: ModuleType) -> Any:
    """In place of the name ``scipy`` in scikit-learn's module: all of it, with another ``svd``."""
    names = {name: getattr(original.linalg, name) for name in dir(original.linalg)}
    return _Scipy(original, SimpleNamespace(**names | {"svd": _svd}))


class _Scipy:
    def __init__(self, original: ModuleType, linalg: SimpleNamespace):
        self._original, self.linalg = original, linalg

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _svd(A: np.ndarray, full_matrices: bool = True, **options: Any) -> Any:
    """Without left vectors for tall rows inside ``_solve_svd``; else scipy's."""
    tall = getattr(_here, "squared", False) and A.shape[0] >= 2 * A.shape[1]
    if full_matrices or options or not tall:
        return linalg.svd(A, full_matrices=full_matrices, **options)
    B = A.astype(np.float64, copy=False)
    squares, V = linalg.eigh(B.T @ B)
    S = np.sqrt(np.maximum(squares[::-1], 0.0))
    share = S / max(S[0], np.finfo(float).tiny)
    if np.any((share > ZERO_SHARE) & (share < CLEAR_SHARE)):
        return linalg.svd(A, full_matrices=False)
    return None, S.astype(A.dtype), V[:, ::-1].T.astype(A.dtype)


def _refusal(model: Any, X: Any) -> str:
    if not isinstance(X, np.ndarray):
        return "X is no numpy array"
    if model.tol < MIN_TOL:
        return f"tol={model.tol:g} is too small for squares to tell from zero"
    if X.shape[0] < 2 * X.shape[1] or (X.size < MIN_VALUES and not SETTINGS.every_size):
        return "few rows: its singular values cost little"
    return ""
