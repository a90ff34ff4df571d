"""The best multipliers of one row, for every hinge rule: how a row shares blame among classes.

Given the scores s of a row of class y, its present multipliers β₀ ≥ 0 of the wrong classes
with sum T₀, and a stiffness A (‖x‖² in coordinate descent, 1/σ in an augmented Lagrangian):

    max over β    Σ_c β_c (1 + s_c − s_y) − ½A Σ_c (β_c − β₀_c)² − ½A (T − T₀)² − penalty

    "max":  T = Σβ ≤ c          "max", squared:  penalty T²/(4c)
    "sum":  each β_c ≤ c        "sum", squared:  penalty Σβ_c²/(4c)

All four have the solution β_c = clip((D_c − θ)/(A + each), 0, cap_each) with
D_c = 1 + s_c + Aβ₀_c, where θ makes Σβ equal to T = min((θ − e)/(A + all), cap_all) with
e = s_y − A T₀.  Σβ falls with θ and T grows, so θ is found by Newton's method on a
piecewise linear function, inside a bracket.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...first_use import plain_at_first
from ...problem.class_losses import hinge_rates

MAX_SUBPROBLEM_STEPS = 60
# Sums over more classes may be reordered by the compiler, which makes 26 of them a third quicker.
MAX_ORDERED_CLASSES = 3


def limits(loss, c):
    """(cap of each β_c, resistance of each, cap of their sum, resistance of the sum)."""
    cap_each, each, cap_all, all_ = hinge_rates(loss)
    return cap_each * c, each / c, cap_all * c, all_ / c


@njit(cache=True, nogil=True)
def scaled(rated, c):
    """The same from the loss's rates, inside kernels."""
    return rated[0] * c, rated[1] / c, rated[2] * c, rated[3] / c


@njit(cache=True, nogil=True)
def cost(rated, s, k, y):
    """ℓ(s) for an example of class y, from the loss's rates."""
    worst, total, squares = 0.0, 0.0, 0.0
    for c in range(k):
        if c != y:
            z = max(0.0, 1.0 - s[y] + s[c])
            worst = max(worst, z)
            total += z
            squares += z * z
    if rated[2] < np.inf:
        return worst
    if rated[0] < np.inf:
        return total
    return worst * worst if rated[3] > 0.0 else squares


@plain_at_first(when=lambda limit, D, k, *_: k <= MAX_ORDERED_CLASSES)
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nsz", "reassoc"})
def share(limit, D, k, y, e, A, guess, beta):
    """Write the best β (β_y = 0) and return θ and T.

    ``D[y]`` must be −∞.  ``guess`` is where the search for θ begins: s_y is exact for a row
    that has nothing to do.
    """
    cap_each, each, cap_all, all_ = limit
    most = D[0]
    for c in range(1, k):
        most = max(most, D[c])
    if most <= e:  # nobody is to blame
        for c in range(k):
            beta[c] = 0.0
        return e, 0.0
    steep, flat = 1.0 / (A + each), 1.0 / (A + all_)
    # At `low` Σβ ≥ T, at `high` Σβ ≤ T = 0 or more.
    low, high = e, most
    if cap_all < np.inf:
        low = max(e, most - A * cap_all)
    theta, before = min(max(guess, low), high), np.inf
    for _ in range(MAX_SUBPROBLEM_STEPS):
        total, slope = 0.0, 0.0
        for c in range(k):
            value = (D[c] - theta) * steep
            inner = (value > 0.0) & (value < cap_each)
            total += min(max(value, 0.0), cap_each)
            slope += steep if inner else 0.0
        T = (theta - e) * flat
        if cap_all > T:
            slope += flat
        else:
            T = cap_all
        excess = total - T
        if excess > 0.0:
            low = theta
        else:
            high = theta
        new = theta + excess / slope if slope > 0.0 else 0.5 * (low + high)
        if not low <= new <= high or new == before:  # back and forth between two pieces
            new = 0.5 * (low + high)
        if new == theta or high - low <= 1e-16 * abs(theta):
            break
        before, theta = theta, new
    total = 0.0
    for c in range(k):
        value = min(max((D[c] - theta) * steep, 0.0), cap_each)
        beta[c] = value
        total += value
    return theta, total
