"""Numbers kept as an unevaluated sum hi + lo of two float64: about 32 digits.

    a + b = s + e       exactly, s = fl(a + b)                               [Knuth 1969]
    a · b = p + e       exactly, p = fl(ab), where nothing under- or overflows   [Dekker 1971]
    Σ a_l b_l           within γ_L² Σ|a_l b_l| of hi + lo                [Ogita, Rump, Oishi 2005]

``u`` is the unit of rounding, 2⁻⁵³, and γ_m = mu/(1 − mu) bounds what m roundings in a row do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

U = 2.0**-53
# Splits a float64 into halves whose products are exact.
SPLITTER = 2.0**27 + 1.0
# Bounds are sums of float64 themselves: a little more than is needed makes up for it.
OUTWARDS = 1.0 + 1e-10


def gamma(m: float) -> float:
    """γ_m: a relative bound on what m roundings in a row do."""
    return m * U / (1.0 - m * U) if m * U < 0.5 else np.inf


class Pair(NamedTuple):
    """hi + lo."""

    hi: np.ndarray
    lo: np.ndarray

    @property
    def value(self) -> np.ndarray:
        return self.hi + self.lo


def two_sum(a, b) -> Pair:
    """a + b exactly."""
    s = a + b
    t = s - a
    return Pair(s, (a - (s - t)) + (b - t))


def split(a) -> Pair:
    """Halves of 26 bits with a = hi + lo."""
    c = SPLITTER * a
    hi = c - (c - a)
    return Pair(hi, a - hi)


def two_product(a, b) -> Pair:
    """a · b exactly, where no intermediate result under- or overflows."""
    return _two_product(a, split(a), b, split(b))


def _two_product(a, A: Pair, b, B: Pair) -> Pair:
    p = a * b
    return Pair(p, ((A.hi * B.hi - p) + A.hi * B.lo + A.lo * B.hi) + A.lo * B.lo)


def product(A: np.ndarray, B: np.ndarray) -> Pair:
    """A @ B of float64 matrices, entry by entry within γ_L² (|A| @ |B|) for L terms."""
    SA, SB = split(A), split(B)
    hi = np.zeros((A.shape[0], B.shape[1]))
    lo = np.zeros_like(hi)
    for j in range(A.shape[1]):
        p, e = _two_product(
            A[:, j, None], Pair(SA.hi[:, j, None], SA.lo[:, j, None]),
            B[j], Pair(SB.hi[j], SB.lo[j]),
        )  # fmt: skip
        hi, rest = two_sum(hi, p)
        lo += e + rest
    return Pair(hi, lo)


def pair_product(A: Pair, B: np.ndarray) -> Pair:
    """(hi + lo) @ B; what the low half adds is summed in float64."""
    hi, lo = product(A.hi, B)
    return Pair(hi, lo + A.lo @ B)


def total(*parts) -> Pair:
    """The sum of some arrays, each rounding kept."""
    hi, lo = np.zeros(()), np.zeros(())
    for part in parts:
        hi, rest = two_sum(hi, part)
        lo = lo + rest
    return Pair(hi, lo)
