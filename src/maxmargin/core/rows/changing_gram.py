"""G and h of chosen rows, as in ``gram.py``, while the choice changes little.

    G = Σ s_i (x_i − μ)(x_i − μ)ᵀ,     h = Σ s_i (x_i − μ),     i in a set that rows enter and leave

From one Newton step to the next few rows change sides: those that enter are added, those that
leave are taken away, at d² each, where all of them cost d² for every row that is there.
"""

from __future__ import annotations

import numpy as np

from .gram import add_dense, column_gram
from .rows import AnyRows, DenseRows

# Products that are worth a copy of G: below, all of them take a few milliseconds.
MIN_KEPT_PRODUCTS = 1 << 22
# Rows that change, as a share of those there are, up to which they are added and taken away.
MAX_CHANGED_SHARE = 0.5
# A diagonal that has shrunk to this share of what it was has lost so many digits to rounding.
LEAST_DIAGONAL_SHARE = 1e-3


class ChangingGram:
    """Weights ``s`` are of all rows and stay; which rows count is told every time."""

    def __init__(self, rows: AnyRows, s: np.ndarray, mu: np.ndarray):
        self.rows, self.s, self.mu = rows, s, mu
        self._index = np.empty(0, dtype=np.int64)

    def keeps(self, index: np.ndarray) -> bool:
        """Whether so many rows are worth it."""
        products = len(index) * len(self.mu) ** 2
        return isinstance(self.rows, DenseRows) and products >= MIN_KEPT_PRODUCTS

    def of(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G (lower triangle valid) and h of the rows named, in order; they are the caller's."""
        if not self.keeps(index):
            return column_gram(self.rows, index, self.s[index], self.mu)
        new = np.setdiff1d(index, self._index, assume_unique=True)
        old = np.setdiff1d(self._index, index, assume_unique=True)
        # The same rows again: what was found with them was not good enough.
        changed = len(new) + len(old)
        if not (0 < changed <= MAX_CHANGED_SHARE * len(index) and self._changed(new, old)):
            self._G, self._h = column_gram(self.rows, index, self.s[index], self.mu)
            self._largest = self._G.diagonal().copy()
        self._index = index
        return self._G.copy(order="F"), self._h.copy()

    def _changed(self, new: np.ndarray, old: np.ndarray) -> bool:
        """Whether rows could be added and taken away with digits left."""
        assert isinstance(self.rows, DenseRows)  # ``keeps``
        for index, times in ((new, 1.0), (old, -1.0)):
            s = self.s[index]
            add_dense(self.rows, index, s, self.mu, (self._G, self._h), times)
        diagonal = self._G.diagonal()
        np.maximum(self._largest, diagonal, out=self._largest)
        return bool((diagonal >= LEAST_DIAGONAL_SHARE * self._largest).all())
