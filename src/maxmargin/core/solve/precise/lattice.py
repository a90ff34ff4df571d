"""The float64 numbers nearest to given ones in a metric: a closest vector on a lattice.

    min over whole z    (z − t)ᵀ G (z − t),        G = U H U,  t = U⁻¹ answer

with U the units of last places.  Rounding each number alone is best only if H is diagonal.  Weights
of rows far from the origin, or of a row far out, are coupled: what one loses by rounding, the last
digits of others can make up for.
The lattice gets a basis of short vectors that are nearly orthogonal [Lenstra, Lenstra and Lovász
1982], on which numbers are rounded one after the other, each with what those before it have lost
[Babai 1986].
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from .system import Factor, Numbers

# Of the theorem: how much shorter a vector must be to come before another.
LOVASZ = Decimal("0.75")
MAX_SWAPS = 2000


def nearest_floats(answer: Numbers, H: Numbers) -> np.ndarray:
    """Float64 numbers near ``answer``; zeros stay."""
    out = np.array([float(a) for a in answer])
    some = np.flatnonzero(out)
    if len(some) < 2:
        return out
    units = np.array([Decimal(float(np.spacing(abs(a)))) for a in out[some]], dtype=object)
    G = H[np.ix_(some, some)] * units[:, None] * units
    basis, G, t = _reduced(G, answer[some] / units)
    whole = basis @ _nearest_plane(Factor(G).L, t)
    out[some] = [float(z * u) for z, u in zip(whole, units, strict=True)]
    return out


def _round(number: Decimal) -> Decimal:
    return number.to_integral_value(ROUND_HALF_EVEN)


def _nearest_plane(L: Numbers, t: Numbers) -> Numbers:
    """Whole numbers near t: the last first, the others with what that leaves."""
    z = t.copy()
    for i in range(len(t) - 1, -1, -1):
        left = sum(((z[j] - t[j]) * L[j, i] for j in range(i + 1, len(t))), Decimal(0))
        z[i] = _round(t[i] - left)
    return z


def _reduced(G: Numbers, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """A basis of short vectors in its columns, its Gram matrix, and t in terms of it."""
    n, k = len(t), 1
    basis = np.array([[Decimal(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)
    G, t = G.copy(), t.copy()
    for _ in range(MAX_SWAPS):
        if k == n:
            break
        factor = Factor(G[: k + 1, : k + 1])
        row, pivots = factor.L[k, :k].copy(), factor.pivots
        for j in range(k - 1, -1, -1):
            if q := _round(row[j]):
                basis[:, k] -= q * basis[:, j]
                G[k] -= q * G[j]
                G[:, k] -= q * G[:, j]
                t[j] += q * t[k]
                row[:j] -= q * factor.L[j, :j]
                row[j] -= q
        if pivots[k] >= (LOVASZ - row[k - 1] ** 2) * pivots[k - 1]:
            k += 1
            continue
        for array in (basis.T, G, G.T, t):
            array[[k - 1, k]] = array[[k, k - 1]]
        k = max(k - 1, 1)
    return basis, G, t
