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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from ...rows.rows import combine, scores
from ...rule import rule
from ..contract import Monitor
from ..semismooth import PiecewiseQuadratic, Terms, exact_step, slope_along
from ..semismooth import minimise as newton_steps
from .blocks import NearRows, State
from .changing_system import ChangingSystem
from .compact import CompactRows, is_compact

MAX_INNER_STEPS = 100
MAX_OUTER_STEPS = 40
KAPPA_GROWTH = 10.0
# An outer step has been solved well enough when what lacks of stationarity is this share of what
# lacks of complementarity, which only the next one mends.
PRECISE_SHARE = 0.05


class CentredPoint(NamedTuple):
    """w and the bias b about μ: scores are w·(x − μ) + b."""

    mu: np.ndarray
    w: np.ndarray
    b: float


def block_slack(block: NearRows, w, b) -> np.ndarray:
    """z = 1 − y((x − μ)·w + b)."""
    f = scores(block.rows, w)
    return 1.0 - block.y * (f + (b - float(block.mu @ w)))


def minimise(block: NearRows, state: State, sigma, monitor: Monitor, enough) -> tuple[Terms, bool]:
    """Newton steps on the smooth function until ``enough(terms)``, and whether it was.

    Moves ``state``; the multipliers only when enough, for those of an unfinished
    minimisation would lead the outer steps astray.
    """
    smoothed = _SmoothedHinge(block, state, sigma)
    terms, finished = newton_steps(smoothed, monitor, enough, MAX_INNER_STEPS)
    if finished:
        state.a = smoothed.a_hat
    return terms, finished


class _SmoothedHinge(PiecewiseQuadratic):
    """Σ max_a { a z − (a − aᵏ)²/(2σ) } with the norm and the frozen rows' pull, at ``state``."""

    def __init__(self, block: NearRows, state: State, sigma: np.ndarray):
        self.block, self.state, self.sigma = block, state, sigma
        n = len(block.y)
        self.a_hat, self.free = np.empty(n), np.empty(n, dtype=np.int64)
        self.used, self.v = np.zeros(n), block.v0
        self.system = ChangingSystem(block.rows, sigma, block.mu, block.bias)

    def look(self) -> tuple[Terms, np.ndarray]:
        block, state = self.block, self.state
        count, r, complementarity, loss = activity(
            state.z, state.a, self.sigma, block.cap, block.y, self.a_hat, self.free
        )
        r += block.r0
        step = (self.a_hat - self.used) * block.y  # mostly zeros: few rows change from step to step
        self.v = self.v + combine(block.rows, step) - float(step.sum()) * block.mu
        self.used[:] = self.a_hat
        self.g_w, self.g_b = state.w - self.v, -r if block.bias else 0.0
        norm = 0.5 * float(state.w @ state.w)
        primal = norm + loss
        primal -= float(block.v0 @ state.w) + block.r0 * state.b
        # What Σây lacks of zero costs as much as the bias may still have to move.
        stationarity = 0.5 * float(self.g_w @ self.g_w) + abs(self.g_b) * (abs(state.b) + 1.0)
        self.J = self.free[:count].copy()
        return Terms(complementarity, stationarity, primal, norm), self.J

    def aim(self) -> None:
        self._aim()
        along = self.dz[self.J]
        curvature = float(self.dw @ self.dw) + float((self.sigma[self.J] * along) @ along)
        if self.system.lost_digits(self._slope, curvature):
            self._aim()

    def _aim(self) -> None:
        block = self.block
        self.dw, self.db = self.system.direction(self.J, self.g_w, self.g_b)
        dm = scores(block.rows, self.dw) + (self.db - float(block.mu @ self.dw))
        self.dz = -block.y * dm
        self._slope = float(self.g_w @ self.dw) + self.g_b * self.db

    def step_length(self) -> float:
        block, state, dw, db = self.block, self.state, self.dw, self.db
        slope0 = float(state.w @ dw - block.v0 @ dw) - block.r0 * db
        curvature0 = float(dw @ dw)
        line = HingeLine(state.z, self.dz, state.a, self.sigma, block.cap)
        return exact_step(line, self._slope, slope0, curvature0)

    def move(self, t: float) -> None:
        state = self.state
        state.w = state.w + t * self.dw
        state.b = state.b + t * self.db
        state.z = state.z + t * self.dz


class Goal(NamedTuple):
    """When to stop: at terms that are ``done``, to about ``tol``; below ``floor`` give up.

    ``smoothing``: the κ of single Newton steps at first, with all multipliers half their cap.
    """

    tol: float
    done: Callable[[Terms], bool]
    floor: float = -np.inf
    smoothing: tuple[float, ...] = ()


def augment(
    block: NearRows, state: State, kappa: float, monitor: Monitor, goal: Goal
) -> tuple[bool, float]:
    """Outer steps with σ = κ c, κ growing, until the goal; whether so, and the last κ."""
    small, floor = goal.tol * 0.1, goal.floor
    if goal.smoothing:
        state.a = 0.5 * block.cap
    # A single fit is over before the compiled steps would be worth their compilation, of 3 s.
    many = monitor.path is not None
    compact = CompactRows(block, state) if many and is_compact(block) else None
    for smoothing in goal.smoothing:
        if compact is None:
            newton_steps(_SmoothedHinge(block, state, smoothing * block.cap), monitor, _never, 1)
        else:
            compact.step(smoothing * block.cap, monitor)

    def enough(t: Terms) -> bool:
        precise = t.stationarity <= max(PRECISE_SHARE * t.complementarity, small * abs(t.primal))
        return precise or t.primal < floor

    def outer(kappa: float) -> tuple[Terms, bool]:
        if compact is None:
            return minimise(block, state, kappa * block.cap, monitor, enough)
        return compact.minimise(kappa * block.cap, monitor, PRECISE_SHARE, floor)

    for _ in range(MAX_OUTER_STEPS):
        terms, finished = outer(kappa)
        if terms.primal < floor or (finished and goal.done(terms)):
            return terms.primal >= floor, kappa
        kappa = kappa * KAPPA_GROWTH if finished else kappa / KAPPA_GROWTH**1.5
    return False, kappa


def _never(terms: Terms) -> bool:
    """Of a step that is taken whatever the gap is."""
    return False


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


class HingeLine(NamedTuple):
    """Slacks z + t dz of rows with multipliers a, stiffnesses σ and caps."""

    z: np.ndarray
    dz: np.ndarray
    a: np.ndarray
    sigma: np.ndarray
    cap: np.ndarray


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def hinge_slope(z, dz, a, sigma, cap, t):
    """Derivative and second derivative along the direction, without the quadratic's share."""
    slope, curvature = 0.0, 0.0
    for i in range(z.shape[0]):
        u = a[i] + sigma[i] * (z[i] + t * dz[i])
        slope += min(max(u, 0.0), cap[i]) * dz[i]
        free = 1.0 if 0.0 < u < cap[i] else 0.0
        curvature += free * sigma[i] * dz[i] * dz[i]
    return slope, curvature


@rule(slope_along, HingeLine)
def _(line, t):
    return hinge_slope(line.z, line.dz, line.a, line.sigma, line.cap, t)
