"""Ranking by grades: the hinge over all pairs that grades within groups imply.

    min over w    ½‖w‖² + C Σ s_u s_v max(0, 1 − w·(x_u − x_v))

over all u, v of one group with grade_u > grade_v.  A bias would cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..rows.graded import Grades
from ..rows.rows import Rows, anchor, lengths, shape


@dataclass(frozen=True)
class GradedProblem:
    """Rows, their grades within groups, and the price C of slack."""

    rows: Rows
    grades: Grades
    C: float

    @property
    def shape(self) -> tuple[int, int]:
        return shape(self.rows)

    @cached_property
    def longest(self) -> float:
        """The length of the longest row, or a little more."""
        return float(lengths(self.rows).max(initial=0.0))

    @cached_property
    def place(self) -> np.ndarray:
        """A point among the rows, about which sums are taken."""
        return anchor(self.rows)

    def summary(self) -> str:
        n, d = self.shape
        groups = len(self.grades.start) - 1
        return (
            f"Hinge over the {self.grades.pairs} pairs that the grades of {n} items in "
            f"{groups} groups imply: {d} weights"
        )
