"""Rows of the Gram matrix K_ij = k(x_i, x_j), computed when asked for, kept while they fit.

The n × n matrix is never formed: at most ``megabytes`` of rows are remembered, the longest
unused being forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.metrics.pairwise import pairwise_kernels

# Rows computed together: one matrix product costs little more than one row of it.
TOGETHER = 16


class KernelRows:
    """Gram rows of the training points under one kernel; ``"precomputed"``: of a matrix given."""

    def __init__(self, X, kernel, parameters: dict, megabytes: float):
        self.X, self.kernel, self.parameters = X, kernel, parameters
        self.length = X.shape[0]
        self.capacity = max(TOGETHER, int(megabytes * 1e6 / (8 * self.length)))
        self._kept: OrderedDict[int, np.ndarray] = OrderedDict()

    def row(self, i: int, soon=()) -> np.ndarray:
        """K_i in float64.  ``soon`` names rows likely to be asked for next."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return np.asarray(self.X[i], dtype=np.float64)
        if i not in self._kept:
            missing = [i, *(j for j in soon if j != i and j not in self._kept)][:TOGETHER]
            block = between(self.X[missing], self.X, self.kernel, self.parameters)
            for j, line in zip(missing, block, strict=True):
                self._kept[j] = line.copy()
            while len(self._kept) > self.capacity:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(i)
        return self._kept[i]


def between(A, B, kernel, parameters: dict) -> np.ndarray:
    """The kernel of every row of A with every row of B, in float64."""
    with config_context(assume_finite=True):  # checked at the door already
        K = pairwise_kernels(A, B, metric=kernel, filter_params=True, **parameters)
    K = K.toarray() if sparse.issparse(K) else K
    K = np.asarray(K, dtype=np.float64)
    if not np.isfinite(K).all():
        raise ValueError(
            f"The kernel {kernel!r} returned a value that is not a finite number. It must map two "
            "rows to a number; check its parameters and the scale of the features."
        )
    return K
