"""What is found out about every row when it is left out, and how far that can be from the truth.

A point with duality gap g is within √(2g) of the optimal weights, for ½‖w‖² makes the objective
strongly convex.  The best bias follows the scores: if none of them moves by more than δ, nor does
it, for it is monotone in them and moves along when all do.  So with rows within R of a centre μ

    |score − exact score of row i|  ≤  √(2g) (‖x_i − μ‖ + shifts · R)

where ``shifts`` is 1 for two classes and 2 for k, whose biases are fixed only up to their mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...certify.certificate import Certificate
from ...rows.rows import combine, scores, shape, sqnorms

# A gap is a difference of two sums: what rounding leaves of it, as a share of the objective.
GAP_ROUNDING = 1e-15


@dataclass
class LeftOutScores:
    """Scores (n,) or (n, m) of every row by the optimum without it, the largest error each can
    have, and by which way each was found."""

    scores: np.ndarray
    tolerance: np.ndarray
    way: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=object))

    @classmethod
    def unchanged(cls, scores: np.ndarray, tolerance: np.ndarray) -> LeftOutScores:
        """As if no row mattered."""
        way = np.full(len(scores), "no multiplier", dtype=object)
        return cls(scores.copy(), tolerance.copy(), way)

    def settle(self, i, scores, tolerance, way: str) -> None:
        """Note what was found for row i, or for several."""
        self.scores[i], self.tolerance[i], self.way[i] = scores, tolerance, way


def distance_bound(certificate: Certificate) -> float:
    """√(2g): how far the weights can be from the optimum."""
    gap = max(certificate.gap, 0.0) + GAP_ROUNDING * abs(certificate.primal)
    return float(np.sqrt(2.0 * gap)) if np.isfinite(gap) else np.inf


def score_reach(rows, free: bool, shifts: float = 1.0) -> np.ndarray:
    """How far the score of every row can move if the weights move by one."""
    n, d = shape(rows)
    mean = combine(rows, np.full(n, 1.0 / n)) if free else np.zeros(d)
    q = sqnorms(rows) - 2.0 * scores(rows, mean) + float(mean @ mean)
    lengths = np.sqrt(np.maximum(q, 0.0))
    return lengths + shifts * float(lengths.max(initial=0.0)) if free else lengths
