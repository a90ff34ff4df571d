"""The certificate of Fisher's discriminant: the criterion and the best it could be.

    J(w) = wᵀ S_b w / wᵀ Σ w,     S_b = Σ_c π_c (m_c − m)(m_c − m)ᵀ

The largest J is the largest eigenvalue of M Σ⁻¹ Mᵀ, M the rows √π_c (m_c − m).  With any Y near
Σ⁻¹Mᵀ and its residual E = Mᵀ − ΣY, recomputed from the data,

    M Σ⁻¹ Mᵀ = M Y + Yᵀ E + Eᵀ Σ⁻¹ E,

so that what Y gets wrong enters the bound at second order only.  Every sum is charged with a bound
on its rounding, and Eᵀ Σ⁻¹ E with a proved lower bound of Σ's smallest eigenvalue, where Σ has full
rank; where it has not, the claim is about its range, as far as float64 can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .certificate import html_table
from .exported import Exported

# A bound so many times the criterion found proves nothing of it.
LARGEST_RATIO = 1e12


@dataclass(frozen=True)
class FisherCriterion(Exported):
    """How well the directions found separate the class means, and that none does better.

    ``criterion``: J of every direction, recomputed from the projected data, largest first;
    ``bound``: no direction has a larger J (within the range of the covariance where that is
    singular); ``relative_residual``: of the eigenvalue equation S_b v = J Σ v, in units of the
    features' deviations; ``orthogonality``: how far the directions are from Σ-orthonormal.
    """

    criterion: tuple[float, ...]
    bound: float
    relative_residual: float
    orthogonality: float
    system: str
    factorisation: str
    size: int
    rank: int
    condition: float
    refinements: int
    problem: str
    method: str = "recomputed from the data in float64"
    rounding: float = 0.0  # by how much rounding lifts the bound

    @property
    def relative_gap(self) -> float:
        """How much larger J could be, relative to the best found; ∞ where nothing is proved."""
        best = max(self.criterion, default=0.0)
        if not (np.isfinite(self.bound) and np.isfinite(best)):
            return np.inf
        gap = max(0.0, self.bound - best)
        if not gap <= best * LARGEST_RATIO:
            return np.inf
        return gap / max(best, np.finfo(float).tiny)

    def holds(self, tol: float) -> bool:
        """Whether no direction is better by more than ``tol``, and the equation holds to it."""
        return bool(self.relative_gap <= tol and self.relative_residual <= tol)

    @property
    def full_rank(self) -> bool:
        return self.rank == self.size

    def to_dict(self) -> dict:
        return super().to_dict() | {"relative_gap": self.relative_gap}

    def __str__(self) -> str:
        best = max(self.criterion, default=0.0)
        rank = "" if self.full_rank else (
            f"; rank {self.rank} of {self.size}: outside its range the classes have no spread and "
            "J no bound, consider shrinkage"
        )  # fmt: skip
        return (
            f"criterion J = {best:.6g}, no direction above {self.bound:.6g} (relative residual "
            f"{self.relative_residual:.1e}; {self.system} system, {self.factorisation}, condition "
            f"{self.condition:.1e}{rank})"
        )

    def _repr_html_(self) -> str:
        return html_table(
            {
                "problem": self.problem,
                "criterion J": ", ".join(f"{J:.6g}" for J in self.criterion),
                "no direction above": f"{self.bound:.6g}",
                "relative residual": f"{self.relative_residual:.2e}",
                "system": f"{self.system}, {self.size} unknowns",
                "factorisation": f"{self.factorisation}, {self.refinements} refinements",
                "rank": f"{self.rank} of {self.size}",
                "condition number": f"{self.condition:.2e}",
                "computed": self.method,
            }
        )
