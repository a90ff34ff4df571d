"""Whether any float64 weights at all come within a gap: a proof that none do.

For multipliers α of the optimum, w_α = w*, what weights pay beyond it is a sum of terms that are
none below zero, by the inequality of Fenchel and Young:

    primal(w, b) − dual(α) = ½‖w − w*‖² + Σ_g excess_g

Each bounds how far a margin may move.  Of a gap of G a group that pays φG of it, φ ≤ 1, has

    hinge, 0 < Σα < c     |Δm_p| ≤ φG max(1/α_p, 1/(c − Σα))
    hinge, Σα = c         |Δm_p − Δm_q| ≤ φG / min(α_p, α_q)
    squared hinge         |Δm_p| ≤ √φ (√(G/c) + G/α_p)
    log                   |Δm_p|² ≤ eφG/s if eG ≤ s,   s = c q q′/(q + q′), q shares of the two

so that all weights within the gap are in an ellipsoid, in which there may be no float64
(``rows/lattice.py``).  Coefficients of a kernel have the same ellipsoid
(``kernel/no_coefficients.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np

from ...problem.demands import Demands, Penalty
from ...rows.decimals import ONE, ZERO, decimals
from ...rows.lattice import none_within
from .rounded import Precise, biases_of
from .system import Numbers, from_whole

# A gap is taken for this much more, so that errors of multipliers do not count.
GENEROUS = Decimal("1.02")
# Multipliers below this share of a cost are none.
LEAST_SHARE = Decimal("1e-12")
# (exp(−x) − 1 + x)/x² is no less for x ≤ 1.
INVERSE_E = Decimal("0.3678")


def no_float_weights(
    asked: Demands, answer: Precise, gap: Decimal, go_on: Callable[[], bool] = lambda: True
) -> bool:
    """Whether no float64 weights, and biases, are within this gap of the optimum, for certain."""
    if asked.penalty is Penalty.HARD:  # any length will do
        return False
    x, H = ellipsoid(asked, answer, GENEROUS * gap)
    several = asked.e.shape[1] > 1  # which are any numbers, for one of them may be zero
    return none_within(x, H, several & (np.arange(len(x)) >= len(answer.w)), go_on)


def ellipsoid(asked: Demands, answer: Precise, G: Decimal) -> tuple[Numbers, Numbers]:
    """Weights and biases x, and H, with  (x′ − x)ᵀ H (x′ − x) ≤ 1  for all x′ within the gap G.

    Biases of several classes may be shifted: the first is left out, as if it were what it is.
    """
    biases, e = biases_of(asked, answer), decimals(asked.e)
    if len(biases) > 1:
        biases, e = biases[1:], e[:, 1:]
    E = np.concatenate([from_whole(asked.a), e], axis=1)
    norm = np.diag(np.array([ONE] * len(answer.w) + [ZERO] * len(biases), dtype=object))
    return np.concatenate([answer.w, biases]), metric(asked, answer.alpha, E, norm + ZERO, G)


def metric(asked: Demands, alpha: Numbers, E: Numbers, norm: Numbers, G: Decimal) -> Numbers:
    """H of the ellipsoid, from what moves margins, Δm = E(x′ − x), and what is the length,
    ‖w′ − w‖² = (x′ − x)ᵀ norm (x′ − x)."""
    H = norm / (2 * G)
    for direction, reach in _bounded(asked, alpha, E, G):
        along = direction / reach
        H = H + np.multiply.outer(along, along)
    return H


def _bounded(asked: Demands, alpha: Numbers, E: Numbers, G: Decimal) -> Iterator[tuple]:
    """Directions, and how far weights within the gap may move along them; √r times as far where a
    group has r of them."""
    ends = [*asked.starts.tolist(), len(alpha)]
    for g, cost in enumerate(asked.cost.tolist()):
        c, members = Decimal(cost), range(ends[g], ends[g + 1])
        found = list(_of_group(asked.penalty, c, {p: alpha[p] for p in members}, E, G))
        for direction, reach in found:
            yield direction, reach * Decimal(len(found)).sqrt()


def _of_group(penalty: Penalty, c: Decimal, alpha: dict, E: Numbers, G: Decimal):
    mass = sum(alpha.values(), ZERO)
    active = [p for p, a in alpha.items() if a > LEAST_SHARE * c]
    if penalty is Penalty.LOG:
        own = ONE - mass / c
        for p in active:
            q = alpha[p] / c
            s = INVERSE_E * c * q * own / (q + own) if own > 0 else ZERO
            if s > G:
                yield E[p], (G / s).sqrt()
    elif penalty is Penalty.SQUARE:
        for p in active:
            yield E[p], (G / c).sqrt() + G / alpha[p]
    elif c - mass > LEAST_SHARE * c:
        for p in active:
            yield E[p], G * max(1 / alpha[p], 1 / (c - mass))
    elif active:
        most = max(active, key=alpha.__getitem__)
        for p in active:
            if p != most:
                yield E[p] - E[most], G / alpha[p]
