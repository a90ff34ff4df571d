"""What rounding may have done to a certificate: bounds that hold, not estimates.

A sum of n products, in whatever order and with fused operations or without, is off by no more than

    γ_n Σ |a_j b_j| + n η,        γ_n = nu / (1 − nu),   u = 2⁻⁵³,   η = 2⁻¹⁰⁷⁴ for what underflows

so a score is off by γ_d ‖w‖‖x‖, w_α by γ_n Σ α‖x‖, and what follows from them by as much as they
make of it.  Tallies carry such bounds and add them up; ``conclude`` takes them off the dual and
puts them on the primal.  [Higham, Accuracy and Stability of Numerical Algorithms, 3.1]

With a free bias multipliers prove something only if Σ αy = 0, and floating-point ones seldom add up
to it.  What is missing, r, is charged: for the best w*, b* Fenchel–Young gives

    optimum ≥ dual(α) − r (w*·a + b*),        w_α = Σ αy (x − a)

for any place a.  A loss is convex and ℓ(m) ≥ −m, so the mean margin of the rows of a class, by
their costs, is at least −optimum/Σ c: that of one class bounds w*·a + b* from below, that of the
other from above.  From such a mean to a the score changes by w*·(x − a), and w* is near to w, as
½‖w − w*‖² is no more than the gap G:

    |w*·a + b*| ≤ 1 + optimum / Σ_class c + max |w·(x − a)| + √(2G) max ‖x − a‖

With k classes Σ_c r_c = 0, and the scores of two classes differ by as much at most, with √2√(2G).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ..first_use import plain_at_first
from ..rows.twofold import SMALLEST, UNIT

# Bounds are themselves computed in float64: they are made longer by more than that can lose.
SPARE = 1.0 + 1e-6
# Roundings of a few operations.
FEW = 4.0 * UNIT
# Magnitudes whose squares neither overflow nor underflow, with room for many to be added up.
MIN_SQUARED, MAX_SQUARED = 1e-140, 1e140


class Rounding(NamedTuple):
    """Bounds on the errors of a tally; those of all parts add up, the last three are extremes."""

    loss: float = 0.0  # by how much Σ c ℓ(m) may be larger
    conjugate: float = 0.0  # by how much Σ c ℓ*(−α/c) may be larger
    w: float = 0.0  # the length of the error of w_α
    r: float = 0.0  # the error of Σ αy; with k classes Σ_c of its absolute values
    reach: float = 0.0  # ‖x − a‖ of the farthest row
    swing: float = 0.0  # the largest |w·(x − a)|; with k classes that of a difference of two
    closest: float = np.inf  # what the smallest margin is at least

    def __add__(self, other: Rounding) -> Rounding:  # type: ignore[override]
        return Rounding(
            self.loss + other.loss,
            self.conjugate + other.conjugate,
            self.w + other.w,
            self.r + other.r,
            max(self.reach, other.reach),
            max(self.swing, other.swing),
            min(self.closest, other.closest),
        )


NO_ROUNDING = Rounding()


class Blur(NamedTuple):
    """Bounds on the errors of slacks: slope · size_i + base + 4u|z_i|."""

    size: np.ndarray
    slope: float
    base: float


@register_jitable
def gamma(n: float) -> float:
    """γ_n; ∞ where so many roundings leave no digit."""
    return n * UNIT / (1.0 - n * UNIT) if n * UNIT < 0.5 else np.inf


@plain_at_first
@njit(cache=True, nogil=True)
def length_above(w):
    """‖w‖, or a little more, whatever the scale of w; of a matrix that of all its entries."""
    most = 0.0
    for value in w.flat:
        most = max(most, abs(value)) if value == value else np.nan
        if most != most:
            return np.nan
    if most == 0.0 or most == np.inf:
        return most
    scale = 1.0 if MIN_SQUARED < most < MAX_SQUARED else most
    total = 0.0
    for value in w.flat:
        part = value / scale
        total += part * part
    return scale * math.sqrt(total * (1.0 + (w.size + 4) * UNIT) + w.size * SMALLEST) * SPARE


@plain_at_first
@njit(cache=True, nogil=True)
def squared_norms(w, v):
    """‖w‖², ‖v‖², ‖w − v‖, and whether there is anything in w and in v."""
    square, other, apart = 0.0, 0.0, 0.0
    some_w, some_v = False, False
    for j in range(w.shape[0]):
        square += w[j] * w[j]
        other += v[j] * v[j]
        apart += (w[j] - v[j]) * (w[j] - v[j])
        some_w |= w[j] != 0.0
        some_v |= v[j] != 0.0
    return square, other, math.sqrt(apart), some_w, some_v


@register_jitable
def score_blur(w: np.ndarray, lengths: np.ndarray) -> Blur:
    """Of z = 1 − y(w·x + b) in float64; ``lengths``: ‖x‖ of every row.

    1 ± m is rounded, and m before it, which is no longer than 1 + |z|.
    """
    terms = w.shape[-1] + 2
    return Blur(lengths, SPARE * gamma(terms) * length_above(w), 4.0 * UNIT + terms * SMALLEST)


@register_jitable
def squared_length_error(length: float, off: float) -> float:
    """How much larger ‖v‖² may be if v is off by no more than ``off``."""
    return off * (2.0 * length + off)


@register_jitable
def imbalance(
    rho: float, least: float, bounds: Rounding, several: bool, primal: float, gap: float
) -> float:
    """What multipliers with |Σ αy| ≤ ρ must be charged; ∞ where nothing bounds it.

    ``least``: Σ c of the class that has the least.  The gap G obeys  G ≤ gap + ρ (A + B √G),  which
    bounds √G.
    """
    if rho == 0.0:
        return 0.0
    if not (least > 0.0 and math.isfinite(rho + bounds.reach + bounds.swing + primal + gap)):
        return np.inf
    A = 1.0 + primal / least + bounds.swing
    B = math.sqrt(4.0 if several else 2.0) * bounds.reach
    root = 0.5 * rho * B + math.sqrt((0.5 * rho * B) ** 2 + max(gap, 0.0) + rho * A)
    return SPARE * rho * (A + B * root)
