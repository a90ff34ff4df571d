"""The hard margin of two classes and of k, each as the solvers in memory know it.

Both answer the same questions about rows in hand; what parts say of all rows is, in both, how much
every class leads every other at least: (k, k), without biases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.certify.class_bias import bounds_of, middle_of
from ....core.certify.conclude import Tally
from ....core.certify.multiclass import class_tally
from ....core.certify.two_class import tally
from ....core.problem.multiclass import MulticlassProblem, summary
from ....core.problem.problem import Problem, costs, two_class_summary
from ....core.rows.rows import as_rows
from ....core.solve.contract import Monitor
from ....core.solve.many_class.form import solve_classes
from ....core.solve.two_class.form import solve
from ..many_class.tasks import ClassSpec
from ..two_class.tasks import BinarySpec
from .tasks import HeldRows


class Two:
    """Two classes: w (d,), b a number, one multiplier for every row."""

    k, each, name = 2, (), "alpha"

    def __init__(self, spec: BinarySpec):
        self.spec, self.bias = spec, spec.bias

    @property
    def plain(self) -> BinarySpec:
        """The machine for rows in hand, whose classes are 0 and 1."""
        return self.spec._replace(positive=1, negative=None)

    def origin(self, d: int) -> tuple[np.ndarray, float]:
        return np.zeros(d), 0.0

    def told(self, w, b) -> tuple[np.ndarray, np.ndarray]:
        """Weights and biases as parts are told them."""
        return w[None], np.array([0.0, b])

    def problem(self, kept: HeldRows) -> Problem:
        y = np.where(kept.y == 1, 1.0, -1.0)
        c = costs(np.inf, None, len(y))
        return Problem(as_rows(kept.X), y, c, self.spec.loss, self.bias)

    def solve(self, problem: Problem, monitor: Monitor, start):
        return solve(problem, monitor, "auto", start)

    def carriers(self, alpha: np.ndarray) -> np.ndarray:
        """The rows that have a multiplier, ascending."""
        return np.flatnonzero(alpha)

    def middle(self, problem: Problem, point, nearest: np.ndarray) -> float:
        """The best bias for all rows: half way between the closest points of the two classes."""
        if not self.bias:
            return point.b
        return 0.5 * float(nearest[0, 1] - nearest[1, 0])

    def closest(self, b, nearest: np.ndarray) -> float:
        return float(min(nearest[1, 0] + b, nearest[0, 1] - b))

    def norm(self, w) -> float:
        return 0.5 * float(w @ w)

    def tally(self, problem: Problem, w, b, alpha, sharp: bool) -> Tally:
        return tally(problem, w, b, alpha, sharp=sharp)

    def summary(self, n: int, d: int) -> str:
        return two_class_summary(self.spec.loss, self.bias, n, d, True)


class Joint:
    """k classes at once: W (k, d), b (k,), a multiplier for every row and wrong class."""

    name = "beta"

    def __init__(self, spec: ClassSpec):
        self.spec, self.bias, self.k, self.each = spec, spec.bias, spec.k, (spec.k,)

    @property
    def plain(self) -> ClassSpec:
        return self.spec

    def origin(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((self.k, d)), np.zeros(self.k)

    def told(self, w, b) -> tuple[np.ndarray, np.ndarray]:
        return w, b

    def problem(self, kept: HeldRows) -> MulticlassProblem:
        c = costs(np.inf, None, len(kept.y))
        loss, k = self.spec.loss, self.k
        return MulticlassProblem(as_rows(kept.X), kept.y, c, loss, k, self.bias)

    def solve(self, problem: MulticlassProblem, monitor: Monitor, start):
        return solve_classes(problem, monitor, "auto", start)

    def carriers(self, alpha: np.ndarray) -> np.ndarray:
        return np.flatnonzero(alpha.any(axis=1))

    def middle(self, problem: MulticlassProblem, point, nearest: np.ndarray) -> np.ndarray:
        """The middle of the biases that all rows allow."""
        if not self.bias:
            return point.b
        bounds = np.minimum(bounds_of(problem, point.W, point.beta), nearest - 1.0)
        return middle_of(bounds, point.b)

    def closest(self, b, nearest: np.ndarray) -> float:
        return float((nearest + b[:, None] - b).min())

    def norm(self, w) -> float:
        return 0.5 * float(np.sum(w * w))

    def tally(self, problem: MulticlassProblem, w, b, alpha, sharp: bool) -> Tally:
        return class_tally(problem, w, b, alpha, sharp=sharp)

    def summary(self, n: int, d: int) -> str:
        return summary(self.spec.loss, self.k, self.bias, n, d, True)


def form_of(spec: BinarySpec | ClassSpec) -> Any:
    return Joint(spec) if isinstance(spec, ClassSpec) else Two(spec)
