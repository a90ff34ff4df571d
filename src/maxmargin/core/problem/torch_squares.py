"""Squared hinges of (n, k) scores on torch rows: smooth, so that Newton's method serves them.

Hinge²    every column is a problem:   ℓ = max(0, 1 − m)²,    m = ±s
Sum²      k columns are one problem:   ℓ = Σ_{c≠y} max(0, 1 + s_c − s_y)²

Multipliers β = 2 max(0, z) have no cap, and ℓ*(β) = ¼β² − β.  They stand where probabilities do:
with a sign in a column, and with −Σβ at y where columns are one problem.  Q is 2 where z > 0.
"""

from __future__ import annotations

import torch

from .torch_hinges import Hinges, SumOutputs, laplacian
from .torch_outputs import LogisticOutputs, Look, grounded


class SquaredHingeOutputs(LogisticOutputs, Hinges):
    """Two classes, 0 and 1, in every column."""

    def take(self, index: torch.Tensor) -> SquaredHingeOutputs:
        return SquaredHingeOutputs(self.T[index])

    def first_bend(self, mass: float) -> float:
        return 2.0 * mass

    def slacks(self, S, part) -> torch.Tensor:
        sign = 2.0 * self.T[part].to(S.dtype) - 1.0
        return (1.0 - S.mul_(sign)).clamp_min_(0.0)

    def blame(self, P, index) -> torch.Tensor:
        return P.abs()

    def look(self, S, part, share) -> Look:
        sign = 2.0 * self.T[part].to(S.dtype) - 1.0
        z = self.slacks(S, part)
        loss, R, Q = z.square(), -2.0 * sign * z, 2.0 * (z > 0.0).to(S.dtype)
        conjugate = loss - 2.0 * z
        if share is not None:
            R, loss, conjugate = R * share, loss * share, conjugate * share
        return Look(R, Q, *(each.sum(0, dtype=torch.float64) for each in (loss, conjugate)))

    def probabilities(self, S, index) -> torch.Tensor:
        return -2.0 * (2.0 * self.T[index].to(S.dtype) - 1.0) * self.slacks(S.clone(), index)

    def conjugate(self, P) -> torch.Tensor:
        return 0.25 * P.square() - P.abs()

    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        size = P.abs()
        total = (size if share is None else size * share).sum(0)
        t = r / total.clamp_min(1e-300)
        return -size * t if bool((t.abs() <= 1.0).all()) else None


class SquaredSumOutputs(SumOutputs):
    """Every wrong class is paid for."""

    def take(self, index: torch.Tensor) -> SquaredSumOutputs:
        return SquaredSumOutputs(self.y[index], self.k)

    def first_bend(self, mass: float) -> float:
        return 2.0 * mass

    def look(self, S, part, share) -> Look:
        y = self.y[part, None]
        z = self.each(S, part)
        R, Q = 2.0 * z, 2.0 * (z > 0.0).to(S.dtype)
        R.scatter_(1, y, -R.sum(1, keepdim=True))
        loss = z.square().sum(1, keepdim=True)
        conjugate = loss - 2.0 * z.sum(1, keepdim=True)
        if share is not None:
            R, loss, conjugate = R * share, loss * share, conjugate * share
        return Look(R, Q, *(each.sum(0, dtype=torch.float64) for each in (loss, conjugate)))

    def probabilities(self, S, index) -> torch.Tensor:
        P = 2.0 * self.each(S, index)
        return P.scatter_(1, self.y[index, None], -P.sum(1, keepdim=True))

    def conjugate(self, P) -> torch.Tensor:
        beta = P.clamp_min(0.0)  # what stands at y is not above zero
        return (0.25 * beta.square() - beta).sum(1, keepdim=True)

    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        beta = P.clamp_min(0.0)
        solve = grounded(laplacian(beta if share is None else beta * share, self.y[index]))
        if solve is None:
            return None
        D, left = torch.zeros_like(P), r
        for _ in range(3):  # the second and third for what rounding left
            D += self.bend(beta, -solve(left).expand_as(P), index)
            left = r + (D if share is None else D * share).sum(0)
        moved = beta + D.scatter(1, self.y[index, None], 0.0)
        return D if bool((moved >= 0.0).all()) else None
