"""Rows of the Gram matrix K_ij = k(x_i, x_j), computed when asked for, kept while they fit.

The n × n matrix is never formed: at most ``megabytes`` of rows are remembered, the longest
unused being forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from scipy import sparse

from .kernels import Kernel

# Rows computed together: one matrix product costs little more than one row of it.
KERNEL_BATCH_ROWS = 16


class KernelRows:
    """Gram rows of the training points under one kernel; ``"precomputed"``: of a matrix given."""

    def __init__(self, X, kernel: Kernel, megabytes: float):
        self.X, self.kernel = X, kernel
        self.length = X.shape[0]
        self.capacity = max(KERNEL_BATCH_ROWS, int(megabytes * 1e6 / (8 * self.length)))
        self._kept: OrderedDict[int, np.ndarray] = OrderedDict()

    def row(self, i: int, soon=()) -> np.ndarray:
        """K_i in float64.  ``soon`` names rows likely to be asked for next."""
        if self.kernel.precomputed:
            row = self.X[[i]].toarray()[0] if sparse.issparse(self.X) else self.X[i]
            return np.asarray(row, dtype=np.float64)
        if i not in self._kept:
            missing = [i, *(j for j in soon if j != i and j not in self._kept)][:KERNEL_BATCH_ROWS]
            block = self.kernel(self.X[missing], self.X)
            for j, line in zip(missing, block, strict=True):
                self._kept[j] = line.copy()
            while len(self._kept) > self.capacity:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(i)
        return self._kept[i]
