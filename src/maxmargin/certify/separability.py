"""A separating hyperplane with its margin, or a proof that there is none.

If non-negative weights λ, summing to one in each class, make the weighted means of the two
classes coincide, then a common point lies in both convex hulls and no hyperplane can have
it on both sides.  When the means differ by a residual ρ, the weights still prove that no
separator has a margin above ρ/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.problem import Bias, Problem
from ..represent.rows import combine, spread
from .certificate import Certificate

# Means coincide in float64 when they differ by less than so many roundings of a coordinate.
COINCIDE = 100 * np.finfo(np.float64).eps
# A weight this small against the largest is the rounding of a zero.
NEGLIGIBLE = 1e-14


@dataclass(frozen=True)
class Separation:
    """The answer of ``separability(X, y)``.

    separable : w, b, ``margin`` (exact maximum margin γ) and ``certificate`` (its proof).
    not separable : ``weights`` λ ≥ 0 with unit sum in each class and ``residual``, the
    distance of the two weighted means, each feature in units of its spread.  ``margin`` is
    then an upper bound on any separator's margin.
    """

    separable: bool
    margin: float
    w: np.ndarray | None = None
    b: float | None = None
    certificate: Certificate | None = None
    weights: np.ndarray | None = None
    residual: float | None = None

    def __bool__(self) -> bool:
        return self.separable

    def __str__(self) -> str:
        if self.separable:
            return f"separable with margin {self.margin:.6g} ({self.certificate})"
        points = 0 if self.weights is None else int(np.count_nonzero(self.weights))
        return (
            f"not separable: weighted means of {points} points from both classes coincide "
            f"(residual {self.residual:.1e})"
        )


class NotSeparableError(ValueError):
    """A hard margin was asked for on data that has none; ``proof`` says why."""

    def __init__(self, proof: Separation):
        self.proof = proof
        super().__init__(
            "C=inf asks for a hard margin, but the two classes are "
            f"{proof}. No hyperplane separates them, so allow slack: use a finite C, "
            "for example C=1. The weights are in this error's `proof.weights`."
        )

    def __reduce__(self):
        return type(self), (self.proof,)


def inseparability(problem: Problem, alpha: np.ndarray) -> Separation:
    """The proof that multipliers α ≥ 0 amount to, recomputed from the data."""
    y = problem.y
    weights = np.where(alpha > NEGLIGIBLE * alpha.max(), alpha, 0.0)
    if problem.bias is not Bias.NONE:
        plus, minus = weights[y > 0].sum(), weights[y < 0].sum()
        weights = weights / np.where(y > 0, plus, minus) if min(plus, minus) > 0 else weights
    elif weights.sum() > 0:
        weights = weights / weights.sum()
    difference = combine(problem.rows, weights * y)
    return Separation(
        separable=False,
        margin=0.5 * float(np.linalg.norm(difference)),
        weights=weights,
        residual=float(np.linalg.norm(difference / spread(problem.rows))),
    )


def proves(problem: Problem, proof: Separation) -> bool:
    """Whether the weighted means coincide, but for the rounding of the coordinates."""
    y, weights = problem.y, proof.weights
    if weights is None or not weights[y > 0].sum() + weights[y < 0].sum() > 0:
        return False
    if problem.bias is not Bias.NONE and not min(weights[y > 0].sum(), weights[y < 0].sum()) > 0:
        return False
    n, _ = problem.shape
    scale = spread(problem.rows)
    mean = combine(problem.rows, np.full(n, 1.0 / n))
    size = float(np.linalg.norm(1.0 + np.abs(mean) / scale))
    return bool(proof.residual is not None and proof.residual <= COINCIDE * size)
