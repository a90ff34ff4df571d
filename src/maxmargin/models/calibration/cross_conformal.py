"""Sets from a few fits for all new rows, with a proved coverage: "CV+".

Every row i is judged by the fit without its fold, which puts its own label E_i ahead of the others;
label c of a new row x is S_c(x) ahead by that same fit.  x gets c unless nearly all rows are judged
to be less strange than it:

    c is in the set  ⟺  #{i : E_i > S_c(x) by the fit without the fold of i}  <  (1 − α)(n + 1)

If rows are exchangeable, and K folds of n/K rows are drawn by lot, the set holds the true label
with probability at least

    1 − 2α − min{ 2 (1 − 1/K) / (n/K + 1),  (1 − K/n) / (K + 1) }

and K = n, the jackknife+, at least 1 − 2α; the practice is 1 − α.  Where K does not divide n the
rows left over are in every fit and judge nobody, which leaves the proof as it is.
[Barber, Candès, Ramdas and Tibshirani, Predictive inference with the jackknife+, 2021, theorems 1
and 4; Romano, Sesia and Candès, Classification with valid and adaptive coverage, 2020]
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..validation import count


def proved_coverage(alpha: float, n: int, folds: int) -> float:
    """What sets of n rows in so many folds are proved to cover, at least; 0 if nothing is."""
    n -= n % folds
    few = min(2.0 * (1.0 - 1.0 / folds) / (n / folds + 1.0), (1.0 - folds / n) / (folds + 1.0))
    return max(0.0, 1.0 - 2.0 * alpha - few)


def cross_conformal_sets(
    model: Any, X, codes, classes, new, alpha: float, folds: int, seed: int
) -> np.ndarray:
    """(rows of ``new``, classes) booleans; ``model`` is fitted once without every fold."""
    fold = _fold_of(len(codes), check_folds(folds, len(codes)), seed)
    ahead = np.zeros((new.shape[0], len(classes)), dtype=np.int64)
    for k in range(folds):
        out = fold == k
        _check_classes(codes[~out], classes, folds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = model.fit(X[~out], classes[codes[~out]])
        lead = leads(fitted.decision_function(X[out]))
        own = np.sort(lead[np.arange(len(lead)), codes[out]])
        judged = leads(fitted.decision_function(new))
        ahead += len(own) - np.searchsorted(own, judged, side="right")
    n = int(np.count_nonzero(fold >= 0))
    return ahead < (1.0 - alpha) * (n + 1)


def leads(f: np.ndarray) -> np.ndarray:
    """(n, k): how far every label is ahead of the best other one."""
    if f.ndim == 1:
        return np.column_stack([-f, f])
    best = np.sort(f, axis=1)
    rival = np.where(f == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return f - rival


def check_folds(folds, n: int) -> int:
    """From two folds to one for every row."""
    if not 2 <= count("folds", folds) <= n:
        raise ValueError(
            f"folds must be between 2 and the number of rows, {n}, got folds={folds!r}."
        )
    return int(folds)


def _fold_of(n: int, folds: int, seed: int) -> np.ndarray:
    """The fold of every row, drawn by lot, all of one size; −1 for rows that are left over.

    Not by class: the proof asks that labels have no part in it.
    """
    fold = np.arange(n) % folds
    fold[n - n % folds :] = -1
    return np.random.default_rng(seed).permutation(fold)


def _check_classes(codes, classes, folds: int) -> None:
    there = np.bincount(codes, minlength=len(classes)) > 0
    if not there.all():
        raise ValueError(
            f"All rows of class {classes[~there][0]} are in one fold of {folds}, drawn by lot: "
            "without it no fit knows the class. Use more folds, or more rows of the class."
        )
