"""Two-sided bounds on the optimum from a running w = Σ α_i y_i x_i and its scores f = Xw.

    primal   P(s w, b) for the best bias b and a good scale s near 1
    dual     D(α′) for the repaired multipliers α′ = α + δ, without reading a row again:
             ‖w′‖² = ‖w‖² + 2 Σ δ_i y_i f_i + ‖Σ δ_i y_i x_i‖²,  the last ≤ (Σ |δ_i| ‖x_i‖)²

Coordinate descent's w is a better dual than primal point: it overshoots a little in length,
most so at large C, and shrinking it costs no pass over the data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...certify.bias import best_bias
from ...certify.repair import repair
from ...problem.losses import conjugate, largest, slope, value
from ...problem.problem import Problem

# Where the best scale of w is looked for, and how closely as a share of the gap asked for: 1e-8 for
# one of 1e-6 (twelve halvings take 10 to 30 % more epochs there at C = 100).
SCALE_RANGE = (0.8, 1.25)
SCALE_TOL_SHARE = 0.02
MAX_SCALE_HALVINGS = 24
# Sums may be added up in any order (four at a time); infinities stay what they are.
REORDER_FASTMATH = {"reassoc", "contract"}


class Primal(NamedTuple):
    """An objective value, and the scale and bias that have it."""

    value: float
    scale: float
    b: float


class Dual(NamedTuple):
    """A lower bound on the optimum, and the feasible multipliers that have it."""

    value: float
    alpha: np.ndarray


def primal_bound(problem: Problem, f: np.ndarray, sq: float, b: float, tol: float) -> Primal:
    """The primal at s w with a good s and the best bias, given f = Xw, sq = ‖w‖², a guess b and
    the gap asked for."""
    if problem.hard:
        return _hard_primal(problem, f, sq, b)
    loss, y, c = problem.loss, problem.y, problem.c
    if problem.bias:
        s = _good_scale((loss, y, c, f, b, sq), tol)
        b = best_bias(problem, s * f, b)
        return Primal(_objective(loss, y, c, f, b, sq, s), s, b)
    s = _good_scale((loss, y, c, f, 0.0, sq), tol)
    return Primal(_objective(loss, y, c, f, 0.0, sq, s), s, 0.0)


def _hard_primal(problem: Problem, f, sq, b) -> Primal:
    """Scaled so that the closest point has margin 1; infinite while some point is misplaced."""
    if problem.bias:
        b = best_bias(problem, f)
    alive = problem.c > 0
    closest = float((problem.y * (f + b))[alive].min())
    if closest <= 0.0:
        return Primal(np.inf, 1.0, b)
    return Primal(0.5 * sq / closest**2, 1.0 / closest, b / closest)


def dual_bound(problem: Problem, f: np.ndarray, sq: float, lengths, alpha) -> Dual:
    """A bound that holds whatever Σ α_i y_i is; ``lengths`` are the ‖x_i‖."""
    feasible = repair(problem, alpha)
    turned, far = _moved_by(feasible, alpha, problem.y, f, lengths)
    sq += 2.0 * turned + far * far
    if not problem.hard:
        return Dual(_gain(problem.loss, problem.c, problem.cap, feasible) - 0.5 * sq, feasible)
    # Without a box the multipliers may be scaled at will: the best scale is Σα / ‖w‖².
    total = float(feasible.sum())
    if not (total > 0.0 and sq > 0.0):
        return Dual(0.0, np.zeros_like(alpha))
    return Dual(0.5 * total * total / sq, feasible * (total / sq))


@njit(cache=True, nogil=True, fastmath=REORDER_FASTMATH)
def _objective(loss, y, c, f, b, sq, s):
    """½ s² sq + Σ c ℓ(y (s f + b))."""
    total = 0.0
    for i in range(y.shape[0]):
        total += c[i] * value(loss, y[i] * (s * f[i] + b))
    return 0.5 * s * s * sq + total


@njit(cache=True, nogil=True, fastmath=REORDER_FASTMATH)
def _moved_by(feasible, alpha, y, f, lengths):
    """Σ δ y f and Σ |δ| ‖x‖ for δ = α′ − α."""
    turned, far = 0.0, 0.0
    for i in range(y.shape[0]):
        delta = feasible[i] - alpha[i]
        turned += delta * y[i] * f[i]
        far += abs(delta) * lengths[i]
    return turned, far


@njit(cache=True, nogil=True, fastmath=REORDER_FASTMATH)
def _gain(loss, c, cap, alpha):
    """−Σ c ℓ*(−α/c)."""
    total = 0.0
    for i in range(c.shape[0]):
        if c[i] > 0.0:
            unit = min(min(alpha[i], cap[i]) / c[i], largest(loss))
            total -= c[i] * conjugate(loss, unit)
    return total


def _good_scale(terms: tuple, tol) -> float:
    """The best scale, or 1 when the bisection is too coarse to improve on it."""
    low, high = SCALE_RANGE
    halvings = np.log2((high - low) / (SCALE_TOL_SHARE * tol)) if tol > 0 else np.inf
    loss, y, c, f, b, sq = terms
    s = _best_scale(loss, y, c, f, b, sq, int(min(max(halvings, 1.0), MAX_SCALE_HALVINGS)))
    whole = _objective(loss, y, c, f, b, sq, 1.0)
    return s if _objective(loss, y, c, f, b, sq, s) < whole else 1.0


@njit(cache=True, nogil=True, fastmath=REORDER_FASTMATH)
def _best_scale(loss, y, c, f, b, sq, halvings):
    """Bisection on the slope of the objective, which increases with s."""
    low, high = SCALE_RANGE
    for _ in range(halvings):
        s = 0.5 * (low + high)
        rise = s * sq
        for i in range(y.shape[0]):
            rise += c[i] * slope(loss, y[i] * (s * f[i] + b)) * y[i] * f[i]
        if rise > 0.0:
            high = s
        else:
            low = s
    return 0.5 * (low + high)
