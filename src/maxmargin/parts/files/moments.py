"""Mean and standard deviation of one column, or of many, a batch at a time.

    x̄ = x̄₁ + δ n₂/n,    S = S₁ + S₂ + δ² n₁n₂/n,    δ = x̄₂ − x̄₁    [Chan, Golub and LeVeque 1983]

A single batch has the very bits of ``np.mean`` and ``np.std``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# What rounding leaves of a column that is constant, relative to its mean, is no deviation.
CONSTANT_COLUMN_ROUNDING = 1e-14


class Moments:
    """Of rows (n,) or (n, d); ``mean`` and ``std`` are of all rows added."""

    def __init__(self) -> None:
        self.n = 0
        self.mean: Any = 0.0
        self._squares: Any = 0.0

    def add(self, X: np.ndarray) -> None:
        m, n = len(X), self.n + len(X)
        if m == 0:
            return
        with np.errstate(over="ignore", invalid="ignore"):  # then they are not finite, and refused
            mean = X.mean(axis=0, dtype=np.float64)
            apart = X - mean
            squares = np.square(apart, out=apart).sum(axis=0)
            if self.n:
                delta = mean - self.mean
                squares = self._squares + squares + delta**2 * (self.n * m / n)
                mean = self.mean + delta * (m / n)
        self.n, self.mean, self._squares = n, mean, squares

    @property
    def std(self) -> Any:
        return np.sqrt(self._squares / self.n)

    @property
    def constant(self) -> Any:
        """Whether all rows have the same value, but for rounding."""
        return self.std <= CONSTANT_COLUMN_ROUNDING * np.abs(self.mean)
