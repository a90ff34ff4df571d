"""Losses of the margin m = y (w·x + b), and what a solver may ask of them.

Every loss ℓ is convex and non-increasing.  Its conjugate is written for the multiplier
a ≥ 0 of one example of unit cost:   ℓ*(−a) = sup_m { −a m − ℓ(m) }.
Fenchel–Young,  ℓ(m) + ℓ*(−a) ≥ −a m,  holds for every m and a, with equality at a = −ℓ′(m).

A loss needs rules for ``value``, ``slope``, ``conjugate``, ``largest`` and ``best_alpha``; dual
coordinate descent then solves it.  What else a loss tells of itself makes solvers faster or lets
more of them serve it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..rule import otherwise, rule, verb


class Hinge(NamedTuple):
    """ℓ(m) = max(0, 1 − m);  ℓ*(−a) = −a on [0, 1]."""


class SquaredHinge(NamedTuple):
    """ℓ(m) = max(0, 1 − m)²;  ℓ*(−a) = −a + a²/4 on [0, ∞)."""


class PerceptronLoss(NamedTuple):
    """ℓ(m) = max(0, −m);  ℓ*(−a) = 0 on [0, 1]."""


class Logistic(NamedTuple):
    """ℓ(m) = log(1 + exp(−m));  ℓ*(−a) = a log a + (1 − a) log(1 − a) on [0, 1]."""


LOSSES: dict[str, Hinge | SquaredHinge] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


@verb
def value(loss, m):
    """ℓ(m)."""


@verb
def slope(loss, m):
    """A subgradient ℓ′(m); at the kink, the flat side's."""


@verb
def conjugate(loss, a):
    """ℓ*(−a)."""


@verb
def largest(loss):
    """The largest multiplier of one example of unit cost."""


@verb
def best_alpha(loss, alpha, G, q, c):
    """The multiplier that maximises the dual over one example of cost c.

    G = m − 1 with the present multiplier, q = ‖x‖² (with the bias's share); the dual's
    other coordinates stay as they are.
    """


@verb
def target(loss):
    """The margin from which on there is no loss, so that a row has slack below it."""


@verb
def kink(loss):
    """The margin where the slope jumps from its least to zero."""


@verb
def bend(loss):
    """The second derivative of ℓ*, where it is the same everywhere."""


@otherwise(target)
def _(loss):
    return np.nan


@otherwise(kink)
def _(loss):
    return np.nan


@otherwise(bend)
def _(loss):
    return np.nan


def boxed(loss) -> bool:
    """Whether multipliers have a cap."""
    return bool(largest(loss) < np.inf)


@rule(value, Hinge)
def _(loss, m):
    return max(0.0, 1.0 - m)


@rule(slope, Hinge)
def _(loss, m):
    return -1.0 if m < 1.0 else 0.0


@rule(conjugate, Hinge)
def _(loss, a):
    return -a if 0.0 <= a <= 1.0 else np.inf


@rule(largest, Hinge)
def _(loss):
    return 1.0


@rule(best_alpha, Hinge)
def _(loss, alpha, G, q, c):
    return min(max(alpha - G / q, 0.0), c)


@rule(target, Hinge)
def _(loss):
    return 1.0


@rule(kink, Hinge)
def _(loss):
    return 1.0


@rule(bend, Hinge)
def _(loss):
    return 0.0


@rule(value, SquaredHinge)
def _(loss, m):
    slack = max(0.0, 1.0 - m)
    return slack * slack


@rule(slope, SquaredHinge)
def _(loss, m):
    return -2.0 * max(0.0, 1.0 - m)


@rule(conjugate, SquaredHinge)
def _(loss, a):
    return -a + 0.25 * a * a if a >= 0.0 else np.inf


@rule(largest, SquaredHinge)
def _(loss):
    return np.inf


@rule(best_alpha, SquaredHinge)
def _(loss, alpha, G, q, c):
    # The conjugate adds a²/(4c) to the dual, hence a/(2c) to its slope.
    softness = 0.5 / c
    return max(alpha - (G + softness * alpha) / (q + softness), 0.0)


@rule(target, SquaredHinge)
def _(loss):
    return 1.0


@rule(bend, SquaredHinge)
def _(loss):
    return 0.5


@rule(value, PerceptronLoss)
def _(loss, m):
    return max(0.0, -m)


@rule(slope, PerceptronLoss)
def _(loss, m):
    return -1.0 if m < 0.0 else 0.0


@rule(conjugate, PerceptronLoss)
def _(loss, a):
    return 0.0 if 0.0 <= a <= 1.0 else np.inf


@rule(largest, PerceptronLoss)
def _(loss):
    return 1.0


@rule(target, PerceptronLoss)
def _(loss):
    return 0.0


@rule(kink, PerceptronLoss)
def _(loss):
    return 0.0


@rule(bend, PerceptronLoss)
def _(loss):
    return 0.0


@rule(value, Logistic)
def _(loss, m):
    # The exponential of a negative number never overflows.
    return math.log1p(math.exp(-m)) if m > 0.0 else math.log1p(math.exp(m)) - m


@rule(slope, Logistic)
def _(loss, m):
    if m > 0.0:
        small = math.exp(-m)
        return -small / (1.0 + small)
    return -1.0 / (1.0 + math.exp(m))


@rule(conjugate, Logistic)
def _(loss, a):
    if not 0.0 <= a <= 1.0:
        return np.inf
    if a == 0.0 or a == 1.0:
        return 0.0
    return a * math.log(a) + (1.0 - a) * math.log1p(-a)


@rule(largest, Logistic)
def _(loss):
    return 1.0
