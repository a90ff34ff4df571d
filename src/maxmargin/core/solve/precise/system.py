"""A problem of demands in decimal numbers, about a place among its rows and of size one.

    min over v, u    ½ρ‖v‖² + Σ_g γ_g ℓ,      a′ = (a − e ⊗ place)/σ,   v = σw,   ρ = 1/(σ² c_max),
                                              γ = c/c_max

which is the problem divided by c_max: multipliers are those of the problem divided by c_max, and u
are the scores at the place.  Costs may be of any size, and so may be ρ.
"""

from __future__ import annotations

from decimal import Decimal, getcontext
from typing import Any, NamedTuple

import numpy as np

from ...problem.demands import Demands, Dyadic, Penalty, whole
from ...rows.decimals import ONE, ZERO, decimals

Numbers = Any  # arrays of Decimals


class DecimalSystem(NamedTuple):
    """E = (a′, e) of every demand, and what belongs to it."""

    E: Numbers  # (P, D + B)
    weights: int  # D
    starts: np.ndarray
    group: np.ndarray
    gamma: Numbers  # (G,)
    rho: Decimal
    penalty: Penalty
    sigma: Decimal
    largest: Decimal  # c_max

    def total(self, values: Numbers) -> Numbers:
        """The sums over groups."""
        return np.add.reduceat(values, self.starts, axis=0)

    def quadratic(self) -> Numbers:
        """The diagonal of the Hessian of ½ρ‖v‖²."""
        rest = self.E.shape[1] - self.weights
        return np.array([self.rho] * self.weights + [ZERO] * rest, dtype=object)


def system(demands: Demands, hard: bool = False) -> DecimalSystem:
    """``hard``: the hard margin of the same rows."""
    a = _moved(demands)
    most = max((abs(value) for value in a.ravel()), default=ONE) or ONE
    sigma = Decimal(2) ** round(most.log10() / Decimal(2).log10())
    E = np.concatenate([a / sigma, decimals(demands.e)], axis=1)
    hard = hard or demands.penalty is Penalty.HARD
    largest = ONE / (sigma * sigma) if hard else Decimal(float(demands.cost.max()))
    gamma = decimals(np.ones(len(demands.cost)) if hard else demands.cost)
    return DecimalSystem(
        E, a.shape[1], demands.starts, demands.group, gamma if hard else gamma / largest,
        ONE / (sigma * sigma * largest), Penalty.HARD if hard else demands.penalty, sigma, largest,
    )  # fmt: skip


def _moved(demands: Demands) -> Numbers:
    """a − e ⊗ place, exactly but for what 100 digits leave out."""
    a = from_whole(demands.a)
    if demands.e.shape[1] == 0 or not demands.place.any():
        return a
    place, e = from_whole(whole(demands.place)), decimals(demands.e)
    return a - (e[:, :, None] * place).reshape(a.shape)


def from_whole(given: Dyadic) -> Numbers:
    """Dyadic numbers times a power of two."""
    scale = Decimal(2) ** given.exponent
    return np.frompyfunc(lambda number: Decimal(number) * scale, 1, 1)(given.numbers)


def above_zero(values: Numbers) -> Numbers:
    """max(0, values)."""
    return values * (values > ZERO)


class Factor:
    """H = LDLᵀ of a symmetric positive definite matrix."""

    def __init__(self, H: Numbers):
        self.L, H = np.empty_like(H), H.copy()
        self.pivots: list[Decimal] = []
        for j in range(len(H)):
            pivot = H[j, j]
            column = H[j + 1 :, j] / pivot
            self.L[j + 1 :, j] = column
            self.pivots.append(pivot)
            H[j + 1 :, j + 1 :] -= column[:, None] * H[j, j + 1 :]

    def solve(self, right: Numbers) -> Numbers:
        x, n = right.copy(), len(right)
        for j in range(n):
            x[j + 1 :] -= self.L[j + 1 :, j] * x[j]
        x = x / np.array(self.pivots, dtype=object)
        for j in range(n - 1, 0, -1):
            x[:j] -= self.L[j, :j] * x[j]
        return x


def curvature(system: DecimalSystem, D: Numbers, soft: Numbers) -> Numbers:
    """ρI + Σ D_p E_p E_pᵀ − Σ_g q_g q_gᵀ soft_g,  q_g = Σ D_p E_p; made definite in the biases."""
    weighted = system.E * D[:, None]
    H = weighted.T @ system.E
    q = system.total(weighted)
    H = H - (q * soft[:, None]).T @ q
    diagonal = np.arange(len(H))
    H[diagonal, diagonal] += system.quadratic()
    # Only differences of classes matter: what no demand compares stays as it is.
    H[diagonal, diagonal] *= ONE + Decimal(10) ** (-getcontext().prec * 2 // 3)
    return H
