"""conformal_sets: sets whose coverage is proved at any number of rows, for any distribution.

Full conformal prediction: for every new row x and label c fit to the training rows and (x, c).
Each of the n + 1 rows has a score for its own label; x gets c unless fewer than a share α of the
rows are as strange as it:

    π_c(x) = #{i ≤ n + 1 : own score of i ≤ own score of (x, c)} / (n + 1)

All n + 1 rows take part in the fit alike, so if they are exchangeable the set {c : π_c > α} holds
the true label with probability at least 1 − α, at every n and for every distribution (Vovk,
Gammerman and Shafer, 2005).  The price is k fits for every new row; ``cross_conformal.py`` has a
few fits for all of them, and proves less.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ...core.types import ArrayLike, MatrixLike
from ..validation import check_rows, check_training
from .conformal import check_alpha
from .cross_conformal import cross_conformal_sets, leads

# Fits, each of n + 1 rows, beyond which nobody waits for an answer.
MAX_FITS = 20_000
MAX_ROWS = 5_000


def conformal_sets(
    model: Any,
    X: MatrixLike,
    y: ArrayLike,
    new: MatrixLike,
    alpha: float = 0.1,
    *,
    folds: int | None = None,
    random_state: int = 0,
) -> np.ndarray:
    """(rows of ``new``, classes) booleans: sets that hold the true label with probability at
    least 1 − alpha, proved for exchangeable rows; with ``folds`` at least 1 − 2 alpha, less
    (1 − folds/n)/(folds + 1) at most, and about 1 − alpha in practice.

    ``model``: an estimator with given parameters, fitted or not; it is fitted anew to X, y and
    each new row with each label, or with ``folds`` once without every fold, for all new rows
    together.  As many folds as rows are the jackknife+, proved to cover 1 − 2 alpha.
    A search would choose another C each time: give its C.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, conformal_sets
    >>> X, y = load_iris(return_X_y=True)
    >>> conformal_sets(LinearSVM(), X[::3], y[::3], X[[1, 70]], alpha=0.05)
    array([[ True, False, False],
           [False,  True,  True]])
    """
    alpha = check_alpha(alpha)
    inner = clone(model)
    X, classes, codes = check_training(inner, X, y)
    new = check_rows(inner, new, reset=False)
    if hasattr(inner, "probability") and "probability" in inner.get_params():
        inner.set_params(probability=False)
    if folds is not None:
        return cross_conformal_sets(inner, X, codes, classes, new, alpha, folds, random_state)
    _check_size(len(codes), new.shape[0], len(classes))
    out = np.empty((new.shape[0], len(classes)), dtype=bool)
    for row in range(new.shape[0]):
        whole = _stacked(X, new[[row]])
        for c in range(len(classes)):
            own = _own_scores(inner, whole, np.append(codes, c), classes)
            out[row, c] = np.mean(own <= own[-1]) > alpha
    return out


def _own_scores(model, X, codes, classes) -> np.ndarray:
    """How far the label of every row is ahead of the others, after a fit to all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        f = model.fit(X, classes[codes]).decision_function(X)
    return leads(f)[np.arange(len(codes)), codes]


def _stacked(X, row):
    return sparse.vstack([X, row], format="csr") if sparse.issparse(X) else np.vstack([X, row])


def _check_size(n: int, rows: int, k: int) -> None:
    if n > MAX_ROWS or rows * k > MAX_FITS:
        raise ValueError(
            f"conformal_sets fits every new row with every label to all rows: {rows} × {k} fits "
            f"to {n} rows here, beyond the {MAX_FITS} fits or {MAX_ROWS} rows it is meant for. "
            "Use folds=5, or predict_set of a model with probability=True."
        )
