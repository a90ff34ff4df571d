"""A function given by kernel values with a few rows: f(x) = Σ_j coefficients_j k(z_j, x)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.kernels.kernel_block import KernelPoints, kernel_sums


class Expansion(NamedTuple):
    """The rows ``places`` of ``points`` with their coefficients (len(places), machines)."""

    points: KernelPoints
    places: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def of(cls, points: KernelPoints, index: np.ndarray, coefficients: np.ndarray) -> Expansion:
        """With no more rows than are needed; the columns of a matrix given keep their numbers."""
        if points.kernel.precomputed:
            none = KernelPoints(np.empty((0, points.X.shape[1])), points.kernel, like=points)
            return cls(none, index, coefficients)
        few = KernelPoints(points.X[index], points.kernel, like=points)
        return cls(few, np.arange(len(index)), coefficients)

    def prepare(self, X) -> KernelPoints:
        """Other rows, ready to meet these."""
        return KernelPoints(X, self.points.kernel, like=self.points)

    def scores(self, others: KernelPoints) -> np.ndarray:
        """(n, machines), in float64, a tile at a time."""
        return kernel_sums(self.points, self.places, self.coefficients, others)

    def squares(self, X) -> np.ndarray:
        """‖w‖² of every machine; X are the training points, needed where K itself was given."""
        own = self.prepare(X[self.places]) if self.points.kernel.precomputed else self.points
        return np.sum(self.scores(own) * self.coefficients, axis=0)
