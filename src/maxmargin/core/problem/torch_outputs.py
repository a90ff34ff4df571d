"""Losses of (n, k) scores as arithmetic on chunks of a tensor, and all that a proof asks of them.

Softmax       k columns are one problem:   ℓ = log Σ_c exp s_c − s_y,     t = e_y
Logistic      every column is a problem:   ℓ = log(1 + exp s) − t s,      t = 0 or 1

Both are ℓ(s) = f(s) − t·s, with probabilities p = ∇f and conjugate f*(p): Σ p log p over classes,
or p log p + (1 − p) log(1 − p).  ``R`` are the residuals ω (p − t).  ``Q`` is what curvature needs
of a row: of softmax the wrong classes' probabilities, whose sum 1 − p_y is then free of
cancellation however sure a row is; of a column p(1 − p).  A ``margin`` is what the right class's
score is lessened by before anything is looked at (``torch_hinges.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.nn.functional import softplus

from ..rows.torch_rows import product


class Look(NamedTuple):
    """What a chunk's scores come to: residuals, curvature, and sums by problem in float64."""

    R: torch.Tensor
    Q: torch.Tensor
    loss: torch.Tensor
    conjugate: torch.Tensor


class Outputs(ABC):
    """Labels of n rows for k columns of scores; ``joint``: the columns are one problem."""

    k: int
    joint: bool
    y: torch.Tensor  # the classes, where columns are one problem
    margin: float = 0.0

    @abstractmethod
    def curvature(self, Q: torch.Tensor, part: slice, share: torch.Tensor | None) -> torch.Tensor:
        """Σ ω ∇²f of a chunk: (k, k), or of every column by itself."""

    def uncertainty(self, Q: torch.Tensor) -> torch.Tensor:
        """How much the probabilities of every row can be moved, where columns are one problem."""
        return Q.sum(1, dtype=torch.float32)

    @abstractmethod
    def look(self, S: torch.Tensor, part: slice, share: torch.Tensor | None) -> Look:
        """Losses and residuals of a chunk; S is overwritten."""

    def kernels(self, device: torch.device) -> Any:
        """Kernels that do ``look`` and ``bend`` in one pass, where there are any."""
        return None

    @abstractmethod
    def bend(self, Q: torch.Tensor, Z: torch.Tensor, part: slice) -> torch.Tensor:
        """∇²f Z of a chunk, without weights; Z may be overwritten."""

    @abstractmethod
    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        """Changes of some rows' probabilities P that make up for Σ ω (p − t) = r, if they can."""

    @abstractmethod
    def conjugate(self, P: torch.Tensor) -> torch.Tensor:
        """f*(p) of every row, and of every column where each is a problem."""

    @abstractmethod
    def probabilities(self, S: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """∇f of the scores of the rows named."""

    @abstractmethod
    def masses(self, weight: torch.Tensor | None) -> torch.Tensor:
        """Σ ω of the smallest class of every problem."""

    def gather(self, columns: torch.Tensor) -> torch.Tensor:
        """Sums by problem from sums by column: all of them are one, or each is its own."""
        return columns.sum(-1, keepdim=True) if self.joint else columns

    @abstractmethod
    def first_bend(self, mass: float) -> float:
        """The largest eigenvalue of Σ ω ∇²f at scores of zero."""

    def level(self, V: torch.Tensor) -> torch.Tensor:
        """V without equal shifts of all classes: they change no loss, so that of the Hessian only
        the ridge would be left there, which rounding of the rest would drown."""
        return V - V.mean(-1, keepdim=True) if self.joint else V

    @property
    def problems(self) -> int:
        return 1 if self.joint else self.k


class SoftmaxOutputs(Outputs):
    """Classes y in {0, …, k−1}."""

    joint = True

    def __init__(self, y: torch.Tensor, k: int):
        self.y, self.k = y, k

    def take(self, index: torch.Tensor) -> SoftmaxOutputs:
        return SoftmaxOutputs(self.y[index], self.k)

    def block(self, part: slice, dtype: torch.dtype) -> torch.Tensor:
        """The targets t of some rows."""
        y = self.y[part]
        out = torch.zeros((len(y), self.k), dtype=dtype, device=y.device)
        return out.scatter_(1, y[:, None], 1.0)

    def first_bend(self, mass: float) -> float:
        return mass / self.k

    def masses(self, weight) -> torch.Tensor:
        if weight is None:
            return torch.bincount(self.y, minlength=self.k).double().amin(0, keepdim=True)
        order = torch.argsort(self.y, stable=True)
        ends = torch.searchsorted(self.y[order], torch.arange(self.k + 1, device=self.y.device))
        upto = torch.cat([weight.new_zeros(1), weight[order].cumsum(0)])
        return upto[ends].diff().amin(0, keepdim=True)

    def look(self, S, part, share) -> Look:
        y = self.y[part, None]
        if self.margin:
            S.scatter_(1, y, S.gather(1, y) - self.margin)
        S -= S.amax(1, keepdim=True)
        own = S.gather(1, y)
        E = S.exp()
        mean = (E * S).sum(1, keepdim=True)
        first = E.gather(1, y)
        E.scatter_(1, y, 0.0)
        others = E.sum(1, keepdim=True)
        total = first + others
        log_total = total.log()
        loss = torch.where(own == 0.0, others.log1p(), log_total - own)
        conjugate = mean / total - log_total
        Q = E.div_(total)
        R = Q.scatter(1, y, -others / total)
        if share is not None:
            R, loss, conjugate = R * share, loss * share, conjugate * share
        return Look(R, Q, _sum(loss), _sum(conjugate))

    def kernels(self, device) -> Any:
        found = _kernels() if device.type == "cuda" else None
        return found if found is not None and self.k <= found.MAX_FUSED_CLASSES else None

    def bend(self, Q, Z, part) -> torch.Tensor:
        y = self.y[part, None]
        q = Q.sum(1, keepdim=True, dtype=Z.dtype)
        mean = (Q * Z).sum(1, keepdim=True) + (1.0 - q) * Z.gather(1, y)
        T = (Z - mean).mul_(Q)
        return T.scatter_(1, y, -T.sum(1, keepdim=True))  # Q is zero there

    def curvature(self, Q, part, share) -> torch.Tensor:
        """Σ ω (diag p − p pᵀ) of a chunk, (k, k), as exact as a model of the Hessian needs."""
        y = self.y[part, None]
        P = Q.scatter(1, y, 1.0 - Q.sum(1, keepdim=True))
        wide = P if share is None else P * share.to(P.dtype)
        A = -product(P.T, wide).double()
        A.diagonal().add_(wide.sum(0, dtype=torch.float64))
        return A

    def uncertainty(self, Q) -> torch.Tensor:
        """1 − Σ p² of every row: how much its probabilities can be moved."""
        rest = 1.0 - Q.sum(1, dtype=torch.float32)
        return 1.0 - Q.float().square().sum(1) - rest.square()

    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        wide = P if share is None else P * share
        A = -(P.T @ wide)
        A.diagonal().add_(wide.sum(0))
        solve = grounded(A)
        if solve is None:
            return None
        D, left = torch.zeros_like(P), r
        for _ in range(3):  # the second and third for what rounding left
            delta = -solve(left)
            D += P * (delta - P @ delta[:, None])
            left = r + (D if share is None else D * share).sum(0)
        return D if bool((P + D >= 0.0).all()) else None

    def conjugate(self, P) -> torch.Tensor:
        return torch.xlogy(P, P).sum(1, keepdim=True)

    def probabilities(self, S, index) -> torch.Tensor:
        y = self.y[index, None]
        return S.scatter(1, y, S.gather(1, y) - self.margin).softmax(1)


class LogisticOutputs(Outputs):
    """Labels 0 and 1, one column a problem, (n, m)."""

    joint = False

    def __init__(self, T: torch.Tensor):
        self.T, self.k = T, T.shape[1]

    def take(self, index: torch.Tensor) -> LogisticOutputs:
        return LogisticOutputs(self.T[index])

    def block(self, part: slice, dtype: torch.dtype) -> torch.Tensor:
        return self.T[part].to(dtype)

    def first_bend(self, mass: float) -> float:
        return 0.25 * mass

    def masses(self, weight) -> torch.Tensor:
        ones = self.T.sum(0) if weight is None else weight @ self.T.to(weight.dtype)
        total = len(self.T) if weight is None else weight.sum()
        return torch.minimum(ones.double(), total - ones.double())

    def look(self, S, part, share) -> Look:
        sign = 2.0 * self.T[part].to(S.dtype) - 1.0
        m = S.mul_(sign).sub_(self.margin)
        wrong = (-m).sigmoid()
        loss, other = softplus(-m), softplus(m)
        conjugate = -(loss * (1.0 - wrong) + other * wrong)
        R, Q = -sign * wrong, wrong * (1.0 - wrong)
        if share is not None:
            R, loss, conjugate = R * share, loss * share, conjugate * share
        sums = (each.sum(0, dtype=torch.float64) for each in (loss, conjugate))
        return Look(R, Q, *sums)

    def bend(self, Q, Z, part) -> torch.Tensor:
        return Z.mul_(Q)

    def curvature(self, Q, part, share) -> torch.Tensor:
        """Σ ω p(1 − p) of a chunk, by column."""
        return (Q if share is None else Q * share.to(Q.dtype)).sum(0, dtype=torch.float64)

    def tilted(self, P, share, r, index) -> torch.Tensor | None:
        V = P * (1.0 - P)
        total = (V if share is None else V * share).sum(0)
        D = V * (-r / total.clamp_min(1e-300))
        moved = P + D
        return D if bool(((moved >= 0.0) & (moved <= 1.0)).all()) else None

    def conjugate(self, P) -> torch.Tensor:
        return torch.xlogy(P, P) + torch.special.xlog1py(1.0 - P, -P)

    def probabilities(self, S, index) -> torch.Tensor:
        return (S - self.margin * (2.0 * self.T[index].to(S.dtype) - 1.0)).sigmoid()


@cache
def _kernels() -> Any:
    """Triton's kernels, or None where it is not installed."""
    try:
        from . import torch_kernels
    except ImportError:
        return None
    return torch_kernels


def grounded(A: torch.Tensor) -> Callable | None:
    """A solver of A δ = r for a matrix that does not see equal shifts, or None where it sees less;
    they count as curved."""
    k = len(A)
    scale = A.diagonal().clamp_min(1e-300).rsqrt()
    H = (A + A.trace() / k**2) * scale[:, None] * scale
    H.diagonal().add_(1e-12)
    factor, info = torch.linalg.cholesky_ex(H)
    if int(info) != 0:
        return None
    return lambda r: scale * torch.cholesky_solve((scale * r)[:, None], factor)[:, 0]


def _sum(column: torch.Tensor) -> torch.Tensor:
    return column.sum(0, dtype=torch.float64)
