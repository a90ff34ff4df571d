"""Losses of k scores s = Wx + b for an example of class y.

Every loss ℓ is convex in s and looks at the differences s_c − s_y only.  Its conjugate is
written for multipliers β_c ≥ 0 of the wrong classes c ≠ y of one example of unit cost:

    ℓ*(β) = sup_s { Σ β_c (s_c − s_y) − ℓ(s) }

Fenchel–Young,  ℓ(s) + ℓ*(β) ≥ Σ β_c (s_c − s_y),  holds for every s and β.  The entry β_y
means nothing and is kept at zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..rule import otherwise, rule, verb


class MaxHinge(NamedTuple):
    """ℓ = max(0, max_c 1 − s_y + s_c);  ℓ*(β) = −Σβ where Σβ ≤ 1.  [Crammer and Singer]"""


class SumHinge(NamedTuple):
    """ℓ = Σ_c max(0, 1 − s_y + s_c);  ℓ*(β) = −Σβ where every β_c ≤ 1.  [Weston and Watkins]"""


class MaxSquaredHinge(NamedTuple):
    """ℓ = max(0, max_c 1 − s_y + s_c)²;  ℓ*(β) = −Σβ + ¼(Σβ)²."""


class SumSquaredHinge(NamedTuple):
    """ℓ = Σ_c max(0, 1 − s_y + s_c)²;  ℓ*(β) = −Σβ + ¼Σβ²."""


class Softmax(NamedTuple):
    """ℓ = log Σ_c exp(s_c) − s_y;  ℓ*(β) = Σ p log p, with p_c = β_c and p_y = 1 − Σβ."""


ClassLoss = MaxHinge | SumHinge | MaxSquaredHinge | SumSquaredHinge | Softmax

CLASS_LOSSES: dict[tuple[str, str], ClassLoss] = {
    ("max", "hinge"): MaxHinge(),
    ("sum", "hinge"): SumHinge(),
    ("max", "squared_hinge"): MaxSquaredHinge(),
    ("sum", "squared_hinge"): SumSquaredHinge(),
}


@verb
def class_value(loss, s, y):
    """ℓ(s) for an example of class y."""


@verb
def class_conjugate(loss, beta, y):
    """ℓ*(β) for an example of class y; ∞ outside its domain."""


@verb
def hinge_rates(loss):
    """What limits β at c = 1: the cap of each β_c, the resistance of each, and both for their sum.

    Numbers, not types: kernels that are given them need to be compiled only once for all hinges.
    """


@otherwise(hinge_rates)
def _(loss):
    return np.nan, np.nan, np.nan, np.nan  # no hinge


@rule(hinge_rates, MaxHinge)
def _(loss):
    return np.inf, 0.0, 1.0, 0.0


@rule(hinge_rates, SumHinge)
def _(loss):
    return 1.0, 0.0, np.inf, 0.0


@rule(hinge_rates, MaxSquaredHinge)
def _(loss):
    return np.inf, 0.0, np.inf, 0.5


@rule(hinge_rates, SumSquaredHinge)
def _(loss):
    return np.inf, 0.5, np.inf, 0.0


def slacks_each(loss, k: int) -> int:
    """Slacks of one row: the worst alone, one for every wrong class, or none."""
    cap_each, each, cap_all, all_ = hinge_rates(loss)
    if cap_all < np.inf or all_ > 0.0:
        return 1
    return k - 1 if cap_each < np.inf or each > 0.0 else 0


def one_slack(loss) -> bool:
    """Whether only the worst of a row's classes is paid for."""
    return slacks_each(loss, 0) == 1


def boxed_classes(loss) -> bool:
    """Whether multipliers, or their sums, have a cap: the hinges themselves, not their squares."""
    cap_each, _, cap_all, _ = hinge_rates(loss)
    return bool(min(cap_each, cap_all) < np.inf)


@rule(class_value, MaxHinge)
def _(loss, s, y):
    worst = 0.0
    for c in range(s.shape[0]):
        if c != y:
            worst = max(worst, 1.0 - s[y] + s[c])
    return worst


@rule(class_value, SumHinge)
def _(loss, s, y):
    total = 0.0
    for c in range(s.shape[0]):
        if c != y:
            total += max(0.0, 1.0 - s[y] + s[c])
    return total


@rule(class_value, MaxSquaredHinge)
def _(loss, s, y):
    worst = 0.0
    for c in range(s.shape[0]):
        if c != y:
            worst = max(worst, 1.0 - s[y] + s[c])
    return worst * worst


@rule(class_value, SumSquaredHinge)
def _(loss, s, y):
    total = 0.0
    for c in range(s.shape[0]):
        if c != y:
            z = max(0.0, 1.0 - s[y] + s[c])
            total += z * z
    return total


@rule(class_value, Softmax)
def _(loss, s, y):
    top = s[0]
    for c in range(s.shape[0]):
        top = max(top, s[c])
    total = 0.0
    for c in range(s.shape[0]):
        total += math.exp(s[c] - top)
    return math.log(total) + top - s[y]


@rule(class_conjugate, MaxHinge)
def _(loss, beta, y):
    total, least = 0.0, 0.0
    for c in range(beta.shape[0]):
        total += beta[c]
        least = min(least, beta[c])
    return -total if least >= 0.0 and total <= 1.0 else np.inf


@rule(class_conjugate, SumHinge)
def _(loss, beta, y):
    total, least, most = 0.0, 0.0, 0.0
    for c in range(beta.shape[0]):
        total += beta[c]
        least, most = min(least, beta[c]), max(most, beta[c])
    return -total if least >= 0.0 and most <= 1.0 else np.inf


@rule(class_conjugate, MaxSquaredHinge)
def _(loss, beta, y):
    total, least = 0.0, 0.0
    for c in range(beta.shape[0]):
        total += beta[c]
        least = min(least, beta[c])
    return -total + 0.25 * total * total if least >= 0.0 else np.inf


@rule(class_conjugate, SumSquaredHinge)
def _(loss, beta, y):
    total, squares, least = 0.0, 0.0, 0.0
    for c in range(beta.shape[0]):
        total += beta[c]
        squares += beta[c] * beta[c]
        least = min(least, beta[c])
    return -total + 0.25 * squares if least >= 0.0 else np.inf


@rule(class_conjugate, Softmax)
def _(loss, beta, y):
    total, entropy, least = 0.0, 0.0, 0.0
    for c in range(beta.shape[0]):
        if c != y:
            total += beta[c]
            least = min(least, beta[c])
            if beta[c] > 0.0:
                entropy += beta[c] * math.log(beta[c])
    if least < 0.0 or total > 1.0:
        return np.inf
    return entropy + (1.0 - total) * math.log(1.0 - total) if total < 1.0 else entropy
