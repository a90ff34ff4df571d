"""What a round of the hinge on a stream knows: a plane, multipliers as a rule, and the task."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.problem.problem import Bias
from ...core.rows.rows import Rows, as_rows, scores
from ...core.solve.contract import Monitor


class StreamPlane(NamedTuple):
    """w and b, the latter for rows as they are (not centred)."""

    w: np.ndarray
    b: float

    def slack(self, rows: Rows, y: np.ndarray) -> np.ndarray:
        return 1.0 - y * (scores(rows, self.w) + self.b)

    def toward(self, other: StreamPlane, t: float) -> StreamPlane:
        return StreamPlane(self.w + t * (other.w - self.w), self.b + t * (other.b - self.b))


class Multipliers(NamedTuple):
    """One for every row: c where the plane leaves slack, else 0, but for the rows listed.

    Without a plane all are 0.
    """

    plane: StreamPlane | None
    rows: np.ndarray  # ascending
    alpha: np.ndarray

    def of(self, first: int, rows: Rows, y, c) -> np.ndarray:
        """Those of a block of rows, the first of which has this number."""
        if self.plane is None:
            return np.zeros(len(y))
        alpha = np.where(self.plane.slack(rows, y) > 0.0, c, 0.0)
        low, high = np.searchsorted(self.rows, [first, first + len(y)])
        alpha[self.rows[low:high] - first] = self.alpha[low:high]
        return alpha


class HingeTask(NamedTuple):
    """What is asked: price, bias, tolerance and budget."""

    C: float
    bias: Bias
    monitor: Monitor

    def terms(self, block) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Rows, labels ±1 and costs of a block."""
        y = np.where(block.y == 1, 1.0, -1.0)
        c = np.full(len(y), self.C) if block.weight is None else self.C * block.weight
        return as_rows(block.X), y, c

    def norm(self, plane: StreamPlane) -> float:
        return 0.5 * float(plane.w @ plane.w)
