"""A function given by kernel values with a few rows: f(x) = Σ_j coefficients_j k(z_j, x)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.certify.kernelised import Scored, squared_norm
from ...core.kernels.decimal_values import decimal_values
from ...core.kernels.enclosed import Enclosed, enclosed_sums
from ...core.kernels.kernel_block import KernelPoints, kernel_sums
from ...core.rows.decimals import decimals
from ...core.solve.kernel.other_coefficients import KernelFunction


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

    def scored(self, others: KernelPoints, X, sharp: bool) -> list[Scored]:
        """What certificates ask of every machine: scores on other points, and ‖w‖²."""
        own = self.prepare(X[self.places]) if self.points.kernel.precomputed else self.points
        given = self.points, self.places, self.coefficients
        F = enclosed_sums(*given, others, sharp)
        mine = enclosed_sums(*given, own, sharp)
        found = []
        for q in range(self.coefficients.shape[1]):
            f, among = (Enclosed(*(part[:, q] for part in each)) for each in (F, mine))
            found.append(Scored(f, *squared_norm(self.coefficients[:, q], among)))
        return found

    def in_many_digits(self, others: KernelPoints, machines: list[int], b) -> KernelFunction:
        """Some machines with their biases, and kernel values with other points in many digits."""
        given = self.points, self.places
        u = decimals(self.coefficients[:, machines])
        return KernelFunction(
            u, decimals(b), decimal_values(*given, others), decimal_values(*given, self.points)
        )

    def squares(self, X) -> np.ndarray:
        """‖w‖² of every machine; X are the training points, needed where K itself was given."""
        own = self.prepare(X[self.places]) if self.points.kernel.precomputed else self.points
        return np.sum(self.scores(own) * self.coefficients, axis=0)
