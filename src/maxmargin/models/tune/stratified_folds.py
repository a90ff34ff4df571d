"""Folds for a choice of C: rows dealt like cards, class by class.

scikit-learn's ``StratifiedKFold`` does the same; importing it takes longer than the choice of C
on a small table, which a command has to wait for.
"""

from __future__ import annotations

import numpy as np


def stratified_folds(y: np.ndarray, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) rows of every fold, increasing.

    Every row is in one test part; the parts, and the parts of every class, differ by at most one
    row in size.
    """
    mixed = np.random.default_rng(seed).permutation(len(y))
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[by_class] = np.arange(len(y)) % folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
