"""Numbers kept as an unevaluated sum hi + lo of two float64: about 32 digits.

    a + b = s + e       exactly, s = fl(a + b)                               [Knuth 1969]
    a · b = p + e       exactly, p = fl(ab), where nothing under- or overflows   [Dekker 1971]
    Σ a_l b_l           within γ_L² Σ|a_l b_l| of hi + lo                [Ogita, Rump, Oishi 2005]

``u`` is the unit of rounding, 2⁻⁵³ (2⁻²⁴ in float32), and γ_m = mu/(1 − mu) bounds what m
roundings in a row do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

U = 2.0**-53
SINGLE_U = 2.0**-24
# Splits a float64 into halves whose products are exact.
SPLITTER = 2.0**27 + 1.0
# Bounds are sums of float64 themselves: a little more than is needed makes up for it.
OUTWARDS = 1.0 + 1e-10


def gamma(m: float, u: float = U) -> float:
    """γ_m: a relative bound on what m roundings in a row do."""
    return m * u / (1.0 - m * u) if m * u < 0.5 else np.inf


class Pair(NamedTuple):
    """hi + lo."""

    hi: Any  # arrays, or numbers
    lo: Any

    @property
    def value(self) -> Any:
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


# --- arithmetic of pairs, each step within 8u² of its result ------------------------------


def plus(a: Pair, b: Pair) -> Pair:
    """a + b; for terms of one sign, or where |a| + |b| bounds what is asked."""
    s, e = two_sum(a.hi, b.hi)
    return quick(s, e + (a.lo + b.lo))


def times(a: Pair, b: Pair) -> Pair:
    p, e = two_product(a.hi, b.hi)
    return quick(p, e + (a.hi * b.lo + a.lo * b.hi))


def over(a: Pair, b: Pair) -> Pair:
    """a / b, b not zero."""
    q = a.hi / b.hi
    p, e = two_product(q, b.hi)
    return quick(q, ((a.hi - p) - e + a.lo - q * b.lo) / b.hi)


def root(a: Pair) -> Pair:
    """√a of a > 0."""
    r = np.sqrt(a.hi)
    p, e = two_product(r, r)
    return quick(r, ((a.hi - p) - e + a.lo) / (2.0 * r))


def single(number: float) -> Pair:
    """A float64."""
    return Pair(np.float64(number), np.float64(0.0))


def quick(hi, lo) -> Pair:
    """The same number with the halves apart; |hi| ≥ |lo|."""
    s = hi + lo
    return Pair(s, lo - (s - hi))


# ln 2 in three parts, the first so short that whole multiples of it are exact.
LN2 = (0.6931471803691238, 1.9082149292705877e-10, 1.1612227229362532e-26)
# exp(t) is that of t / 2⁹, squared nine times; so many terms of the series then suffice.
HALVINGS, TERMS = 9, 9
# The relative error of ``exp`` is less than this (each squaring doubles that of the series).
EXP_ERROR = 1e-29


def exp(t: Pair) -> Pair:
    """e^t for −745 < t ≤ 0."""
    k = np.rint(t.hi / LN2[0])
    r, e = two_sum(t.hi, -k * LN2[0])
    p, f = two_product(k, np.float64(LN2[1]))
    r = plus(plus(Pair(r, e + t.lo), Pair(-p, -f)), Pair(-k * LN2[2], 0.0 * k))
    r = Pair(r.hi * 0.5**HALVINGS, r.lo * 0.5**HALVINGS)
    term, total = r, r
    for i in range(2, TERMS + 1):
        term = over(times(term, r), single(i))
        total = plus(total, term)
    for _ in range(HALVINGS):  # (1 + q)² − 1 = 2q + q²
        total = plus(Pair(2.0 * total.hi, 2.0 * total.lo), times(total, total))
    total = plus(Pair(np.ones_like(total.hi), np.zeros_like(total.hi)), total)
    whole = k.astype(int)
    return Pair(np.ldexp(total.hi, whole), np.ldexp(total.lo, whole))
