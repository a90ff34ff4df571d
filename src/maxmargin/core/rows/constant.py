"""Columns that do not vary: their mean is their value, which a float64 sum over n misses."""

from __future__ import annotations

import numpy as np
from scipy import sparse

# Rows that tell which columns to look at.
SAMPLE_ROWS = 16


def exact_means(X, members: np.ndarray | None, means: np.ndarray) -> np.ndarray:
    """Put the values of columns that do not vary among these rows, or all, into ``means`` (d,);
    which they are.  Columns of zeros have their mean already."""
    still = np.zeros(len(means), dtype=bool)
    count = X.shape[0] if members is None else len(members)
    if count == 0:
        return ~still
    step = max(1, count // SAMPLE_ROWS)
    some = _dense(X[::step] if members is None else X[members[::step]])
    for j in np.flatnonzero((some == some[0]).all(axis=0) & (some[0] != 0)):
        column = _dense(X[:, [j]]).ravel()
        column = column if members is None else column[members]
        if (column == column[0]).all():
            means[j], still[j] = column[0], True
    return still


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X
