"""The variance of all entries of dense data, in float64 and without a float64 copy of them."""

from __future__ import annotations

import numpy as np

# Values looked at together: a megabyte in float64.
VARIANCE_VALUES = 1 << 17


def plain_variance(X: np.ndarray) -> float:
    """numpy makes float64 copies of all of X for it."""
    if X.size <= VARIANCE_VALUES:
        return float(X.var(dtype=np.float64))
    mean, total = X.mean(dtype=np.float64), 0.0
    rows = max(1, VARIANCE_VALUES // X.shape[1])
    for start in range(0, len(X), rows):
        part = (X[start : start + rows] - mean).ravel()
        total += float(part @ part)
    return total / X.size
