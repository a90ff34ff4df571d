"""Semismooth-Newton augmented Lagrangian for hinge losses on rows held in memory.

    min over w, b    ½‖w‖² − v₀·w − r₀ b + Σ max over a in [0, cap_i] of  a z_i
                     z_i = 1 − y_i ((x_i − μ)·w + b)

v₀, r₀ carry rows frozen at their cap elsewhere.  Given multipliers aᵏ and σ, one outer
step minimises the smooth  ½‖w‖² − v₀·w − r₀ b + Σ max_a { a z_i − (a − aᵏ_i)²/(2σ_i) },
whose gradient needs â = clip(aᵏ + σ z, 0, cap) and whose curvature only the rows with
0 < aᵏ + σz < cap; then aᵏ⁺¹ = â and σ grows.  With cap = ∞, aᵏ = 0 and σ = 2c the same
function is the squared hinge itself, and one step solves it.  [Yan & Li 2019; Yin & Li 2019]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from ...problem.problem import Bias
from ...rows.rows import AnyRows, combine, scores
from ..contract import Monitor
from .direction import newton_direction

INNER_STEPS = 100
OUTER_STEPS = 40
GROWTH = 10.0
# A line search ends when the slope has fallen to this share of what it was.
STEEP = 1e-3


@dataclass
class NearRows:
    """Rows to minimise over, and the constant pull of the rows frozen outside."""

    rows: AnyRows
    y: np.ndarray
    cap: np.ndarray
    mu: np.ndarray
    bias: Bias
    v0: np.ndarray
    r0: float = 0.0


@dataclass
class State:
    """Where the minimisation stands; ``z`` always belongs to (w, b)."""

    w: np.ndarray
    b: float
    a: np.ndarray
    z: np.ndarray


@dataclass
class Terms:
    """The pieces of the gap at one point: Σ(cap z₊ − â z), ½‖g_w‖² and the bias's share."""

    complementarity: float
    stationarity: float
    primal: float

    @property
    def gap(self) -> float:
        return self.complementarity + self.stationarity


def block_slack(block: NearRows, w, b) -> np.ndarray:
    """z = 1 − y((x − μ)·w + b)."""
    f = scores(block.rows, w)
    return 1.0 - block.y * (f + (b - float(block.mu @ w)))


def minimise(block: NearRows, state: State, sigma, monitor: Monitor, enough) -> tuple[Terms, bool]:
    """Newton steps on the smooth function until ``enough(terms)``, and whether it was.

    Moves ``state``; the multipliers only when enough, for those of an unfinished
    minimisation would lead the outer steps astray.
    """
    n = len(block.y)
    a_hat, free = np.empty(n), np.empty(n, dtype=np.int64)
    whole, piece = False, free[:0]
    used, v = np.zeros(n), block.v0
    for _ in range(INNER_STEPS):
        count, r, complementarity, loss = activity(
            state.z, state.a, sigma, block.cap, block.y, a_hat, free
        )
        r += block.r0
        step = (a_hat - used) * block.y  # mostly zeros: few rows change from step to step
        v = v + combine(block.rows, step) - float(step.sum()) * block.mu
        used[:] = a_hat
        g_w = state.w - v
        g_b = _bias_gradient(block.bias, state.b, r)
        primal = 0.5 * float(state.w @ state.w) + loss
        primal -= float(block.v0 @ state.w) + block.r0 * state.b
        if block.bias is Bias.PENALIZED:
            primal += 0.5 * state.b**2
        # What Σây lacks of zero costs as much as the bias may still have to move.
        stationarity = 0.5 * float(g_w @ g_w) + abs(g_b) * (abs(state.b) + 1.0)
        terms = Terms(complementarity, stationarity, primal)
        J = free[:count]
        # A full Newton step that stays on its quadratic piece leaves only rounding.
        if enough(terms) or (whole and np.array_equal(J, piece)):
            state.a = a_hat
            return terms, True
        if not np.isfinite(terms.gap):
            break
        monitor.step()
        piece = J.copy()
        dw, db = newton_direction(block.rows, J, sigma, block.mu, block.bias, g_w, g_b)
        dz = -block.y * (scores(block.rows, dw) + (db - float(block.mu @ dw)))
        slope0 = float(state.w @ dw - block.v0 @ dw) - block.r0 * db
        curvature0 = float(dw @ dw)
        if block.bias is Bias.PENALIZED:
            slope0 += state.b * db
            curvature0 += db * db
        start = float(g_w @ dw) + g_b * db
        t = exact_step(state.z, dz, state.a, sigma, block.cap, start, slope0, curvature0)
        if t == 0.0:
            break
        whole = abs(t - 1.0) < 1e-6
        state.w = state.w + t * dw
        state.b = state.b + t * db
        state.z = state.z + t * dz
    return terms, False


def augment(
    block: NearRows,
    state: State,
    kappa: float,
    monitor: Monitor,
    tol: float,
    done,
    floor: float = -np.inf,
) -> tuple[bool, float]:
    """Outer steps with σ = κ c, κ growing, until ``done(terms)``; whether so, and the last κ.

    Gives up when the objective falls below ``floor``.
    """
    small = tol * 0.1

    def enough(t: Terms) -> bool:
        precise = t.stationarity <= max(0.05 * t.complementarity, small * abs(t.primal))
        return precise or t.primal < floor

    for _ in range(OUTER_STEPS):
        terms, finished = minimise(block, state, kappa * block.cap, monitor, enough)
        if terms.primal < floor or (finished and done(terms)):
            return terms.primal >= floor, kappa
        kappa = kappa * GROWTH if finished else kappa / GROWTH**1.5
    return False, kappa


def _bias_gradient(bias: Bias, b: float, r: float) -> float:
    return {Bias.FREE: -r, Bias.PENALIZED: b - r, Bias.NONE: 0.0}[bias]


@njit(cache=True, nogil=True)
def activity(z, a, sigma, cap, y, a_hat, free):
    """Fill â and the free rows; return their number, Σây, Σ(cap z₊ − âz) and the loss."""
    count, r, complementarity, loss = 0, 0.0, 0.0, 0.0
    for i in range(z.shape[0]):
        t = a[i] + sigma[i] * z[i]
        if t <= 0.0:
            t = 0.0
        elif t >= cap[i]:
            t = cap[i]
        else:
            free[count] = i
            count += 1
        a_hat[i] = t
        r += t * y[i]
        if cap[i] < np.inf:
            hinge = cap[i] * max(0.0, z[i])
            loss += hinge
            complementarity += hinge - t * z[i]
        else:  # the squared hinge: â = 2cz, so c z² = ½ â z, and nothing is left to close
            loss += 0.5 * t * z[i]
    return count, r, complementarity, loss


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _slope(z, dz, a, sigma, cap, t):
    """Derivative and second derivative along the direction, without the quadratic's share."""
    slope, curvature = 0.0, 0.0
    for i in range(z.shape[0]):
        u = a[i] + sigma[i] * (z[i] + t * dz[i])
        slope += min(max(u, 0.0), cap[i]) * dz[i]
        free = 1.0 if 0.0 < u < cap[i] else 0.0
        curvature += free * sigma[i] * dz[i] * dz[i]
    return slope, curvature


@njit(cache=True, nogil=True)
def exact_step(z, dz, a, sigma, cap, start, slope0, curvature0):
    """The root of the increasing, piecewise linear derivative along (dw, db).

    ``start`` is the derivative at 0; ``slope0`` and ``curvature0`` are the quadratic's share.
    """
    if not start < 0.0:
        return 0.0
    lo, hi, t = 0.0, np.inf, 1.0
    for _ in range(60):
        slope, curvature = _slope(z, dz, a, sigma, cap, t)
        slope += slope0 + t * curvature0
        curvature += curvature0
        if abs(slope) <= STEEP * -start:
            return t
        if slope < 0.0:
            lo = t
        else:
            hi = t
        new = t - slope / curvature if curvature > 0.0 else np.inf
        if hi == np.inf:
            new = min(new, 4.0 * t)
        elif not lo < new < hi:
            new = 0.5 * (lo + hi)
        if new == t:
            return t
        t = new
    return t
