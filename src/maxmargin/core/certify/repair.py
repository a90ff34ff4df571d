"""From nearly feasible multipliers to feasible ones, and from weights to the best primal.

A solver ends with multipliers whose Σ α_i y_i is only nearly zero.  The dual bounds the
optimum only if it is zero, so the last step of every solver comes through here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.problem import Problem

# A residual of Σαy below this share of Σα is the rounding of the sum itself.
ROUNDING = 1e-15
# Below this share a single multiplier takes it all.
SMALL = 1e-6


def repair(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Multipliers inside the box with Σ α_i y_i = 0, as close to ``alpha`` as is cheap.

    Free multipliers are moved first: near the optimum they absorb the residual at second
    order.  What remains is taken off the heavier class by scaling it.
    """
    return _repair(alpha, problem.cap, problem.y, bool(problem.bias))


@njit(cache=True, nogil=True)
def _repair(alpha, cap, y, balance):
    n = len(alpha)
    out = np.empty(n)
    for i in range(n):
        out[i] = min(max(alpha[i], 0.0), cap[i])
    if not balance:
        return out
    for _ in range(3):  # rounding in the first move is mended by the next
        residual, free = 0.0, 0
        for i in range(n):
            residual += out[i] * y[i]
            free += 0.0 < out[i] < cap[i]
        if residual == 0.0 or free == 0:
            break
        for i in range(n):
            if 0.0 < out[i] < cap[i]:
                out[i] = min(max(out[i] - y[i] * residual / free, 0.0), cap[i])
    plus, minus = 0.0, 0.0
    for i in range(n):
        if y[i] > 0.0:
            plus += out[i]
        else:
            minus += out[i]
    residual, heavy = abs(plus - minus), 1.0 if plus > minus else -1.0
    if residual <= ROUNDING * (plus + minus):
        return out
    if residual <= SMALL * (plus + minus):  # one multiplier can bear it; the rest stay exact
        bearer, freest = -1, -1.0
        for i in range(n):  # the freest: one at a bound would leave it, though not on its margin
            room = out[i] if y[i] == heavy else cap[i] - out[i]
            free = min(out[i], cap[i] - out[i])
            if room >= residual and free > freest:
                bearer, freest = i, free
        if bearer >= 0:
            out[bearer] -= heavy * y[bearer] * residual
            return out
    for i in range(n):
        if y[i] == heavy:
            out[i] *= min(plus, minus) / max(plus, minus)
    return out
