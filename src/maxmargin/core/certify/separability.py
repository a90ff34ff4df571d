"""A separating hyperplane with its margin, or a proof that there is none.

If non-negative weights λ, summing to one in each class, make the weighted means of the two
classes coincide, then a common point lies in both convex hulls and no hyperplane can have
it on both sides.  When the means differ by a residual ρ, the weights still prove that no
separator has a margin above ρ/2.

k classes are separable when some W, b give every (W_y − W_c)·x + b_y − b_c ≥ 1.  Weights
β_ic ≥ 0 of the wrong classes, summing to one, prove that they are not if Σ_i α_i x_iᵀ = 0 and
Σ_i α_i = 0 with α_iy = Σ_c β_ic and α_ic = −β_ic: then Σ β_ic ((W_y − W_c)·x + b_y − b_c) = 0
whatever W and b are.  A residual ρ = ‖Σ α_i x_iᵀ‖ proves that no margin, which is
min (…)/(√2 ‖W‖), exceeds ρ/√2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Problem
from ..rows.class_products import class_combine
from ..rows.rows import PairRows, combine, spread
from .certificate import Certificate
from .multiclass import residual, signed

# Means coincide in float64 when they differ by less than so many roundings of a coordinate.
COINCIDENCE_TOL = 100 * np.finfo(np.float64).eps
# A weight this small against the largest is the rounding of a zero.
WEIGHT_ROUNDING = 1e-14


@dataclass(frozen=True)
class Separation:
    """The answer of ``separability(X, y)``.

    separable : w, b, ``margin`` (exact maximum margin γ) and ``certificate`` (its proof).
    not separable : ``weights`` λ ≥ 0 with unit sum in each class and ``residual``, the
    distance of the two weighted means, each feature in units of its spread.  ``margin`` is
    then an upper bound on any separator's margin.

    For k > 2 classes w is (k, d) and b is (k,); ``weights`` β is (n, k), one for every point
    and wrong class, with unit sum, and ``residual`` is what they leave in W and b.

    For ``pairs`` of items ``weights`` has unit sum, and ``residual`` is the length of the
    weighted sum of the differences winner − loser.

    Of data that are not in one place ``weights`` are those of ``rows`` only, by their numbers; all
    others have none.
    """

    separable: bool
    margin: float
    w: np.ndarray | None = None
    b: np.ndarray | float | None = None
    certificate: Certificate | None = None
    weights: np.ndarray | None = None
    residual: float | None = None
    pairs: bool = False
    rows: np.ndarray | None = None

    @property
    def classes(self) -> int:
        """How many classes were to be separated."""
        array = self.w.T if self.w is not None else self.weights
        return 2 if array is None or array.ndim == 1 else array.shape[1]

    def __bool__(self) -> bool:
        return self.separable

    def __str__(self) -> str:
        if self.separable:
            return f"separable with margin {self.margin:.6g} ({self.certificate})"
        points = 0 if self.weights is None else int(np.count_nonzero(self.weights))
        if self.pairs:
            return (
                f"contradictory: the differences winner − loser of {points} of them, weighted, "
                f"sum to zero (residual {self.residual:.1e})"
            )
        if self.classes > 2:
            return (
                f"not separable: weights of {points} pairs of a point and a wrong class cancel "
                f"in all {self.classes} classes (residual {self.residual:.1e})"
            )
        return (
            f"not separable: weighted means of {points} points from both classes coincide "
            f"(residual {self.residual:.1e})"
        )


class NotSeparableError(ValueError):
    """A hard margin was asked for on data that has none; ``proof`` says why."""

    def __init__(self, proof: Separation):
        self.proof = proof
        two = proof.classes == 2
        if proof.pairs:
            super().__init__(
                f"C=inf asks that every preference hold with a margin, but they are {proof}. No w "
                "agrees with all of them, so allow slack: use a finite C, for example C=1. The "
                "weights of the preferences are in this error's `proof.weights`."
            )
            return
        super().__init__(
            f"C=inf asks for a hard margin, but the {'two' if two else proof.classes} classes are "
            f"{proof}. No {'hyperplane separates them' if two else 'W and b separate them'}, so "
            "allow slack: use a finite C, for example C=1. The weights are in this error's "
            "`proof.weights`" + (", of the rows `proof.rows`." if proof.rows is not None else ".")
        )

    def __reduce__(self):
        return type(self), (self.proof,)


def inseparability(problem: Problem, alpha: np.ndarray) -> Separation:
    """The proof that multipliers α ≥ 0 amount to, recomputed from the data."""
    y = problem.y
    weights = np.where(alpha > WEIGHT_ROUNDING * alpha.max(), alpha, 0.0)
    if problem.bias:
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
        pairs=isinstance(problem.rows, PairRows),
    )


def proves(problem: Problem, proof: Separation) -> bool:
    """Whether the weighted means coincide, but for the rounding of the coordinates."""
    y, weights = problem.y, proof.weights
    if weights is None or not weights[y > 0].sum() + weights[y < 0].sum() > 0:
        return False
    if problem.bias and not min(weights[y > 0].sum(), weights[y < 0].sum()) > 0:
        return False
    size = _coordinate_size(problem)
    return bool(proof.residual is not None and proof.residual <= COINCIDENCE_TOL * size)


def _coordinate_size(problem: Problem | MulticlassProblem) -> float:
    """The length of a typical row, each feature in units of its spread."""
    n, _ = problem.shape
    mean = combine(problem.rows, np.full(n, 1.0 / n))
    return float(np.linalg.norm(1.0 + np.abs(mean) / spread(problem.rows)))


def class_inseparability(problem: MulticlassProblem, beta: np.ndarray) -> Separation:
    """The proof that multipliers β ≥ 0 of k classes amount to, recomputed from the data."""
    weights = np.where(beta > WEIGHT_ROUNDING * beta.max(), beta, 0.0)
    if weights.any():
        weights = weights / weights.sum()
    n, d = problem.shape
    left = class_combine(problem.rows, problem.k, signed(problem, weights))
    r, mean = np.zeros(problem.k), np.zeros(d)
    if problem.bias:  # with r = 0 the origin of x does not matter
        r, mean = residual(problem, weights), combine(problem.rows, np.full(n, 1.0 / n))
    scaled = (left - np.outer(r, mean)) / spread(problem.rows)
    return Separation(
        separable=False,
        margin=float(np.linalg.norm(left)) / np.sqrt(2.0),
        weights=weights,
        residual=float(np.hypot(np.linalg.norm(scaled), np.linalg.norm(r))),
    )


def proves_classes(problem: MulticlassProblem, proof: Separation) -> bool:
    """Whether the weights cancel, but for the rounding of the coordinates."""
    if proof.weights is None or not proof.weights.any() or proof.residual is None:
        return False
    return bool(proof.residual <= COINCIDENCE_TOL * _coordinate_size(problem))
