"""Hinge losses of (n, k) scores on torch rows, and the smooth losses that stand for them.

Max       k columns are one problem:   ℓ = max_c (s_c − s_y + [c ≠ y])
Sum       k columns are one problem:   ℓ = Σ_{c≠y} max(0, 1 + s_c − s_y)
Hinge     every column is a problem:   ℓ = max(0, 1 − m),    m = ±s

Their multipliers β, per unit of cost, lie in a simplex or in boxes [0, 1], and the dual is
Σβ − ½‖W_β‖².  A search looks at smooth losses of other scores z, which have the same multipliers:

    log Σ_c exp z_c − z_y,     Σ_{c≠y} log(1 + exp(z_c − z_y)),     log(1 + exp(−m))

where z_y, or the margin, is lessened by ``margin`` first.  So they are softmax and its kin, with
all that a search asks of those; what a proof asks of the hinges themselves is added here.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch.nn.functional import softplus

from .torch_outputs import LogisticOutputs, Look, Outputs, SoftmaxOutputs, grounded


class Hinges(Outputs):
    """What is asked of hinge losses besides."""

    @abstractmethod
    def slacks(self, S: torch.Tensor, part: slice) -> torch.Tensor:
        """ℓ, or that of which it is the square, (rows, problems); S is overwritten."""

    @abstractmethod
    def blame(self, P: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Σβ of every row, (rows, problems), from what ``probabilities`` tells."""


class MaxOutputs(SoftmaxOutputs, Hinges):
    """Only the worst class is paid for.  [Crammer and Singer]"""

    def take(self, index: torch.Tensor) -> MaxOutputs:
        return MaxOutputs(self.y[index], self.k)

    def slacks(self, S, part) -> torch.Tensor:
        y = self.y[part, None]
        own = S.gather(1, y)
        return S.scatter_(1, y, own - 1.0).amax(1, keepdim=True) - own + 1.0

    def blame(self, P, index) -> torch.Tensor:
        return 1.0 - P.gather(1, self.y[index, None])


class HingeOutputs(LogisticOutputs, Hinges):
    """Two classes, 0 and 1, in every column."""

    def take(self, index: torch.Tensor) -> HingeOutputs:
        return HingeOutputs(self.T[index])

    def slacks(self, S, part) -> torch.Tensor:
        sign = 2.0 * self.T[part].to(S.dtype) - 1.0
        return (1.0 - S.mul_(sign)).clamp_min_(0.0)

    def blame(self, P, index) -> torch.Tensor:
        return torch.where(self.T[index], 1.0 - P, P)


class SumOutputs(Hinges):
    """Every wrong class is paid for.  Q holds p(1 − p) of the wrong classes.  [Weston and Watkins]

    ∇²f = Σ_c q_c (e_c − e_y)(e_c − e_y)ᵀ;   probabilities are told with −Σ of the others at y.
    """

    joint = True

    def __init__(self, y: torch.Tensor, k: int):
        self.y, self.k = y, k

    def take(self, index: torch.Tensor) -> SumOutputs:
        return SumOutputs(self.y[index], self.k)

    def first_bend(self, mass: float) -> float:
        return 0.25 * mass

    def masses(self, weight) -> torch.Tensor:
        return SoftmaxOutputs(self.y, self.k).masses(weight)

    def each(self, S, part) -> torch.Tensor:
        """max(0, 1 + s_c − s_y) of every wrong class."""
        y = self.y[part, None]
        Z = (S - S.gather(1, y)).add_(1.0).clamp_min_(0.0)
        return Z.scatter_(1, y, 0.0)

    def slacks(self, S, part) -> torch.Tensor:
        return self.each(S, part).sum(1, keepdim=True)

    def blame(self, P, index) -> torch.Tensor:
        return -P.gather(1, self.y[index, None])

    def look(self, S, part, share) -> Look:
        y = self.y[part, None]
        S -= S.gather(1, y) - self.margin
        loss, P = softplus(S), S.sigmoid()
        loss.scatter_(1, y, 0.0)
        P.scatter_(1, y, 0.0)
        Q = P * (1.0 - P)
        R = P.scatter(1, y, -P.sum(1, keepdim=True))
        value = loss.sum(1, keepdim=True)
        if share is not None:
            R, value = R * share, value * share
        total = value.sum(0, dtype=torch.float64)
        return Look(R, Q, total, torch.zeros_like(total))

    def bend(self, Q, Z, part) -> torch.Tensor:
        y = self.y[part, None]
        T = (Z - Z.gather(1, y)).mul_(Q)
        return T.scatter_(1, y, -T.sum(1, keepdim=True))  # Q is zero there

    def curvature(self, Q, part, share) -> torch.Tensor:
        """Σ ω ∇²f of a chunk, (k, k): the Laplacian of the graph of the classes."""
        return laplacian(Q if share is None else Q * share.to(Q.dtype), self.y[part])

    def probabilities(self, S, index) -> torch.Tensor:
        y = self.y[index, None]
        P = (S - S.gather(1, y) + self.margin).sigmoid_().scatter_(1, y, 0.0)
        return P.scatter_(1, y, -P.sum(1, keepdim=True))

    def conjugate(self, P) -> torch.Tensor:
        raise AssertionError("hinges are proved by their own conjugates")

    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        y = self.y[index, None]
        Q = (P * (1.0 - P)).scatter_(1, y, 0.0)
        wide = Q if share is None else Q * share
        solve = grounded(laplacian(wide, y[:, 0]))
        if solve is None:
            return None
        D, left = torch.zeros_like(P), r
        for _ in range(3):  # the second and third for what rounding left
            delta = -solve(left)
            D += self.bend(Q, delta.expand_as(P), index)
            left = r + (D if share is None else D * share).sum(0)
        moved = (P + D).scatter_(1, y, 0.0)
        return D if bool(((moved >= 0.0) & (moved <= 1.0)).all()) else None


def laplacian(Q: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Σ_i Σ_c q_ic (e_c − e_y)(e_c − e_y)ᵀ in float64."""
    k = Q.shape[1]
    flow = torch.zeros((k, k), dtype=torch.float64, device=Q.device)
    flow.index_add_(0, y, Q.double())
    A = -(flow + flow.T)
    A.diagonal().add_(flow.sum(0) + flow.sum(1))
    return A
