"""The certificate of a least-squares fit: the normal equations, recomputed from the data.

    f(W, b) = ½ Σ s_i ‖t_i − W x_i − b‖² + ½ α‖W‖²

is smallest exactly where its gradient is zero:

    G = Σ s_i (x_i − m) r_iᵀ − α Wᵀ = 0   and   g = Σ s_i r_i = 0,     r_i = t_i − W x_i − b

(m the mean; about a point off it by e, G is off by e gᵀ).  f is quadratic, hence within

    ½ ‖DG‖²/λ + ‖g‖²/2Σs        λ a lower bound of the smallest eigenvalue of D (AᵀA + αI) D

of its minimum, D any scale of the columns: D = 1 has λ = α, and one that gives unit diagonal a λ
that the factorisation may prove.  f itself is such a bound too: no f is negative.

Every entry of G and g is charged with a bound on its rounding.  With N_j the length of what enters
column j, ‖a_j‖ if rows are centred first, a residual in float64 is within
γ_d (‖t‖ + Σ|w_j| N_j) of the true one, and G_j within N_j (γ_n ‖r‖ + that).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..rows.design import LENGTHS, Design
from ..rows.double_double import OUTWARDS, U, gamma, product, two_sum
from .certificate import html_table
from .exported import Exported

# Roundings beside those of a sum: differences, products with weights, and a scale.
FEW = 10
# More than squares lose that are too small for float64.
UNDERFLOW = 1e-300


# Said of a certificate that is one of a function's objective, whatever its coefficients solve.
DUALITY = "by weak duality"


@dataclass(frozen=True)
class NormalEquations(Exported):
    """How nearly a closed-form fit solves its equations, and how well they were conditioned.

    ``relative_residual`` is the largest entry of the gradient, divided by the lengths of the
    feature and of the targets it belongs to: what the residuals still have in common with a
    feature, whatever its units.  ``excess`` bounds how far the objective is above its minimum.
    Both count what rounding may hide of them; ``rounding`` is its part of the relative residual.
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
    rounding: float = 0.0

    def holds(self, tol: float) -> bool:
        """Whether the normal equations hold to ``tol``, relative to features and targets.

        Coefficients that say the best function, but do not solve them, are proved as all other
        models are: their objective is above its minimum by no more than ``tol`` of itself.
        """
        if not self.excess < np.inf:
            return False
        gap = self.dual_gap
        return bool(self.relative_residual <= tol or (gap is not None and gap <= tol))

    @property
    def dual_gap(self) -> float | None:
        """The bound on objective − minimum relative to the objective itself, where the certificate
        is one of the objective."""
        if DUALITY not in self.method or not self.objective > 0.0:
            return None
        return self.excess / self.objective

    @property
    def relative_gap(self) -> float:
        """The bound on objective − minimum, relative to the objective of the mean alone (an
        exact fit has none of its own to compare with)."""
        return self.excess / max(self.null_objective, np.finfo(float).tiny)

    @property
    def only_objective(self) -> bool:
        """Whether all that is known of the minimum is that it is not below zero, for no eigenvalue
        of the system is bounded: ``relative_gap`` tells nothing then, and is not told."""
        return bool(self.excess >= 0.999 * self.objective > 1e-9 * self.null_objective)

    @property
    def full_rank(self) -> bool:
        return self.rank == self.size

    def to_dict(self) -> dict:
        return super().to_dict() | {"relative_gap": self.relative_gap}

    def __str__(self) -> str:
        if not np.isfinite(self.relative_residual):
            return (
                "the residual of the normal equations is not finite, or the data are too large or "
                "too small for their squares: nothing is proved"
            )
        if self.dual_gap is not None:
            return (
                f"objective {self.objective:.6g}, proved within a relative {self.dual_gap:.1e} of "
                f"its minimum ({self.method})"
            )
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
            "of which rounding": f"{self.rounding:.2e}",
            "objective − minimum at most": (
                "no bound but the objective" if self.only_objective else f"{self.excess:.2e}"
            ),
            "system": f"{self.system}, {self.size} unknowns",
            "factorisation": f"{self.factorisation}, {self.refinements} refinements",
            "rank": f"{self.rank} of {self.size}",
            "condition number": f"{self.condition:.2e}",
            "computed": self.method,
        }
        return html_table(rows)


class System(NamedTuple):
    """What a solver says of the system it solved; ``least`` is a proved lower bound of the smallest
    eigenvalue of the matrix in units of its diagonal, zero where none is proved."""

    system: str
    factorisation: str
    size: int
    rank: int
    condition: float
    refinements: int
    least: float

    def told(self) -> dict:
        """What a certificate repeats of it."""
        return {name: value for name, value in self._asdict().items() if name != "least"}


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


def offset_of(design: Design, W, b) -> tuple[np.ndarray, np.ndarray]:
    """b + W m, the model's score at the centre, and how far that may be off."""
    m = design.mean
    if not design.far:
        o = b + m @ W
        return o, gamma(len(m) + 2) * (np.abs(b) + np.abs(m) @ np.abs(W))
    # Far from the origin both are large and cancel: their sum needs twice the digits.
    hi, lo = product(m[None, :], W)
    if design.rest is not None:
        lo = lo + design.rest @ W
    first, rest = two_sum(hi[0], b)
    o = first + (rest + lo[0])
    return o, 2.0 * U * np.abs(o) + gamma(len(m) + 2) ** 2 * (np.abs(b) + np.abs(m) @ np.abs(W))


def rounding(design: Design, W, offset, slopes: Gradient, alpha: float, off) -> Gradient:
    """How far the true gradient and loss may be from ``slopes``, which were computed with an
    offset that is ``off`` by so much from the model's own."""
    root_mass = np.sqrt(float(design.mass.sum()))
    reach, many, size = design.reach(), gamma(design.terms + FEW), np.abs(W)
    about = 0.0 if offset is None else np.abs(offset)
    # Targets are at most one; of a sum of d terms each is rounded d times at most.
    each = gamma(len(W) + FEW) * (root_mass * (1.0 + 2.0 * about) + reach @ size) + root_mass * off
    length = np.sqrt(2.0 * slopes.loss) * (1.0 + many)
    total = OUTWARDS * (many * length + (1.0 + many) * each)
    G = reach[:, None] * total + 4.0 * U * (alpha * size + np.abs(slopes.W))
    if offset is not None:  # the centre is not quite the mean
        G += design.centre_error()[:, None] * (np.abs(slopes.bias) + root_mass * total)
    loss = float(np.sum(each * (length + each))) + many * slopes.loss
    return Gradient(G, root_mass * total, loss)


def certify_least_squares(
    design: Design, targets, W, offset, alpha: float, system: System, length: float,
    slopes=None, off=0.0, unit=1.0,
) -> NormalEquations:  # fmt: skip
    """Recompute the certificate of (W, offset).

    ``slopes`` may be given by a caller who has just had them from ``gradient``, at an offset that
    may be ``off`` from that of the model.  ``unit``: by what the data were multiplied, W divided.
    """
    ridge = alpha * unit * unit
    if slopes is None:
        slopes = gradient(design, targets, W, offset, ridge)
    doubt = rounding(design, W, offset, slopes, ridge, off)
    worst = Gradient(np.abs(slopes.W) + doubt.W, np.abs(slopes.bias) + doubt.bias, 0.0)
    if offset is None:
        worst = worst._replace(bias=np.zeros_like(worst.bias))
    else:  # a column that does not vary has no part in the loss at all
        still = design.still()
        if len(still):
            worst.W[still] = OUTWARDS * ridge * np.abs(W[still])
    n, d = design.shape
    objective = slopes.loss + 0.5 * ridge * float(np.vdot(W, W))
    excess = _excess(design, worst, objective + doubt.loss, ridge, system.least)
    residual = worst.relative(design, length)
    sure = design.sure() and residual + excess + abs(objective) < np.inf
    return NormalEquations(
        objective=objective,
        relative_residual=residual if sure else np.inf,
        excess=excess if sure else np.inf,
        null_objective=0.5 * length**2,
        alpha=alpha,
        problem=f"least squares, {n} rows, {d} columns, {W.shape[1]} targets, alpha={alpha:g}",
        rounding=doubt.relative(design, length) if sure else np.inf,
        **system.told(),
    )


def _excess(design: Design, worst: Gradient, objective: float, alpha: float, least: float) -> float:
    """The smallest of the bounds above on objective − minimum."""
    bounds = [] if worst.W.any() else [0.0]
    if alpha > 0.0:
        bounds.append(0.5 * float(np.vdot(worst.W, worst.W)) / alpha)
    if least > 0.0:
        unit = 1.0 / np.sqrt(np.maximum(design.column_norms() ** 2 + alpha, LENGTHS[0] ** 2))
        bounds.append(0.5 * float(np.sum((unit[:, None] * worst.W) ** 2)) / least)
    bias = 0.5 * float(worst.bias @ worst.bias) / float(design.mass.sum())
    return OUTWARDS * min(objective, min(bounds, default=np.inf) + bias) + UNDERFLOW
