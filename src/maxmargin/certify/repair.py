"""From nearly feasible multipliers to feasible ones, and from weights to the best primal.

A solver ends with multipliers whose Σ α_i y_i is only nearly zero.  The dual bounds the
optimum only if it is zero, so the last step of every solver comes through here.
"""

from __future__ import annotations

import numpy as np

from ..problem.problem import Bias, Problem


def repair(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Multipliers inside the box with Σ α_i y_i = 0, as close to ``alpha`` as is cheap.

    Free multipliers are moved first: near the optimum they absorb the residual at second
    order.  What remains is taken off the heavier class by scaling it.
    """
    y, cap = problem.y, problem.cap
    alpha = np.clip(alpha, 0.0, cap)
    if problem.bias is not Bias.FREE:
        return alpha
    for _ in range(3):  # rounding in the first move is mended by the next
        residual = alpha @ y
        if residual == 0.0:
            return alpha
        free = np.flatnonzero((alpha > 0.0) & (alpha < cap))
        if len(free) == 0:
            break
        moved = np.clip(alpha[free] - y[free] * residual / len(free), 0.0, cap[free])
        alpha[free] = moved
    residual = alpha @ y
    if abs(residual) > 1e-15 * alpha.sum():
        heavy = y == np.sign(residual)
        weight = alpha[heavy].sum()
        alpha[heavy] *= 1.0 - abs(residual) / weight
    return alpha
