"""The certificate of a least-squares fit: the normal equations, recomputed from the data.

    f(W, b) = ½ Σ s_i ‖t_i − W x_i − b‖² + ½ α‖W‖²

is smallest exactly where its gradient is zero:

    G = Σ s_i (x_i − m) r_iᵀ − α Wᵀ = 0   and   g = Σ s_i r_i = 0,     r_i = t_i − W x_i − b

(m: the mean, or any point).  f is quadratic with curvature at least μ = α + σ², where σ is the
smallest singular value of the centred data that counts as one, so that f is within
‖G‖²/2μ + ‖g‖²/2Σs of its minimum.  For α > 0 the bound with μ = α holds whatever σ is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..rows.design import Design
from .certificate import html_table
from .exported import Exported


@dataclass(frozen=True)
class NormalEquations(Exported):
    """How nearly a closed-form fit solves its equations, and how well they were conditioned.

    ``relative_residual`` is the largest entry of the gradient, divided by the lengths of the
    feature and of the targets it belongs to: what the residuals still have in common with a
    feature, whatever its units.  ``excess`` bounds how far the objective is above its minimum.
    ``condition`` is that of the system solved (scaled to unit diagonal for Cholesky).
    """

    objective: float
    relative_residual: float
    excess: float
    null_objective: float
    alpha: float
    system: str
    factorisation: str
    size: int
    rank: int
    condition: float
    refinements: int
    problem: str
    method: str = "recomputed from the data in float64"

    def holds(self, tol: float) -> bool:
        """Whether the normal equations hold to ``tol``, relative to features and targets."""
        return bool(self.relative_residual <= tol)

    @property
    def relative_gap(self) -> float:
        """The bound on objective − minimum, relative to the objective of the mean alone (an
        exact fit has none of its own to compare with)."""
        return self.excess / max(self.null_objective, np.finfo(float).tiny)

    @property
    def full_rank(self) -> bool:
        return self.rank == self.size

    def to_dict(self) -> dict:
        return super().to_dict() | {"relative_gap": self.relative_gap}

    def __str__(self) -> str:
        if not np.isfinite(self.relative_residual):
            return "the residual of the normal equations is not finite: nothing is proved"
        rank = "" if self.full_rank else f"; rank {self.rank} of {self.size}: the smallest W"
        return (
            f"objective {self.objective:.6g}, normal equations hold to "
            f"{self.relative_residual:.1e} ({self.system} system, {self.factorisation}, "
            f"condition {self.condition:.1e}{rank})"
        )

    def _repr_html_(self) -> str:
        rows = {
            "problem": self.problem,
            "objective": f"{self.objective:.10g}",
            "relative residual": f"{self.relative_residual:.2e}",
            "objective − minimum at most": f"{self.excess:.2e}",
            "system": f"{self.system}, {self.size} unknowns",
            "factorisation": f"{self.factorisation}, {self.refinements} refinements",
            "rank": f"{self.rank} of {self.size}",
            "condition number": f"{self.condition:.2e}",
            "computed": self.method,
        }
        return html_table(rows)


class System(NamedTuple):
    """What a solver says of the system it solved; ``least`` is a lower bound of its smallest
    eigenvalue, ridge included, as far as the factorisation can tell."""

    system: str
    factorisation: str
    size: int
    rank: int
    condition: float
    refinements: int
    least: float


class Gradient(NamedTuple):
    """One pass over the data at (W, b): minus the gradient, and what the residuals add up to."""

    W: np.ndarray  # (d, k)
    bias: np.ndarray  # (k,)
    loss: float  # ½ Σ s ‖r‖²

    def relative(self, design: Design, length: float) -> float:
        """Its largest entry relative to ‖feature‖‖targets‖."""
        scale = design.column_norms()[:, None] * length
        entries = np.abs(self.W) / np.where(scale > 0, scale, np.inf)
        return float(max(entries.max(initial=0.0), self.bias_share(design, length)))

    def bias_share(self, design: Design, length: float) -> float:
        total = np.sqrt(float(design.mass.sum())) * length
        return float(np.abs(self.bias).max(initial=0.0)) / total if total > 0 else 0.0


def gradient(design: Design, targets, W, offset, alpha: float) -> Gradient:
    """Residuals of (W, offset) on every row, and their products with the features.

    ``offset`` = b + W m is the score at the centre of the data; None where there is no bias.
    W None stands for zero.
    """
    free, offset = offset is not None, 0.0 if offset is None else offset
    bias, loss = np.zeros(targets.width), 0.0

    def residuals(part: slice, F) -> np.ndarray:
        nonlocal bias, loss
        R = targets.block(part) - offset
        if design.root is not None:
            R *= design.root[part, None]
        if F is not None:
            R -= F
        if free:
            bias = bias + (np.ones(len(R)) if design.root is None else design.root[part]) @ R
        loss += 0.5 * float(np.vdot(R, R))
        return R

    total = design.sweep(W, residuals, targets.width)
    if W is not None:
        total -= alpha * W
    return Gradient(total, bias, loss)


def certify_least_squares(
    design: Design, targets, W, offset, alpha: float, system: System, length: float, slopes=None
) -> NormalEquations:
    """Recompute the certificate of (W, offset).

    ``slopes`` may be given by a caller who has just had them from ``gradient``.
    """
    if slopes is None:
        slopes = gradient(design, targets, W, offset, alpha)
    size = 0.5 * float(np.vdot(slopes.W, slopes.W))
    curvature = max(alpha, system.least)
    excess = size / curvature if curvature > 0 else (np.inf if size else 0.0)
    mass = float(design.mass.sum())
    n, d = design.shape
    objective = slopes.loss + 0.5 * alpha * float(np.vdot(W, W))
    finite = np.isfinite(objective) and np.isfinite(W).all()
    return NormalEquations(
        objective=objective,
        relative_residual=slopes.relative(design, length) if finite else np.inf,
        excess=excess + 0.5 * float(slopes.bias @ slopes.bias) / mass,
        null_objective=0.5 * length**2,
        alpha=alpha,
        problem=f"least squares, {n} rows, {d} columns, {W.shape[1]} targets, alpha={alpha:g}",
        **{name: value for name, value in system._asdict().items() if name != "least"},
    )
