"""Interior-point method: slower than the others, but it always arrives.

    min ½‖w‖² + Σ c_i ξ_i    with   y_i (w·x_i + b) + ξ_i = 1 + s_i,   ξ, s ≥ 0

Multipliers a (of the margins) and u = c − a (of ξ ≥ 0) stay strictly positive while the
products a·s and u·ξ are driven to zero together.  Eliminating everything but (w, b) leaves
the system of ``direction.py`` with one curvature per row,  1 / (s/a + ξ/u).  The squared
hinge has no u: there ξ = a/(2c), and the curvature is 1 / (s/a + 1/(2c)).
"""

from __future__ import annotations

import numpy as np

from ...problem.losses import Hinge, SquaredHinge, boxed
from ...problem.problem import Problem
from ...rows.rows import combine, scores, shape, take
from ..contract import Ending, Monitor, OutOfBudget, Point, serves
from .direction import newton_direction

MAX_INTERIOR_STEPS = 200
# Fraction of the way to the boundary, and of the complementarity kept as the next target.
BOUNDARY_FRACTION = 0.995
CENTRING_SHARE = 0.15
# A multiplier this much smaller than its slack is zero at the solution.
ZERO_MULTIPLIER_RATIO = 1e-3


@serves(Hinge, SquaredHinge)
def interior(
    problem: Problem, monitor: Monitor, start: Point | None = None
) -> tuple[Point, Ending]:
    """Solve ``problem`` from a central point (``start`` is not used: it lies on the boundary)."""
    alive = np.flatnonzero(problem.c > 0)
    whole = len(alive) == len(problem.c)
    rows = problem.rows if whole else take(problem.rows, alive)
    part = (
        problem
        if whole
        else Problem(rows, problem.y[alive], problem.c[alive], problem.loss, problem.bias)
    )
    path = _Path(part)
    ending = Ending.STALLED
    try:
        for _ in range(MAX_INTERIOR_STEPS):
            primal, dual = path.bounds()
            if monitor.record(primal, dual) and path.complementarity <= 1e-3 * monitor.tol * primal:
                ending = Ending.REACHED
                break
            monitor.step()
            if not path.advance():
                break
    except OutOfBudget as stop:
        ending = stop.ending
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    alpha = np.zeros(len(problem.c))
    alpha[alive] = path.multipliers()
    return Point(path.w, path.b - float(path.mu @ path.w), alpha), ending


class _Path:
    """The present point and one step along the central path."""

    def __init__(self, problem: Problem):
        self.problem = problem
        n, d = shape(problem.rows)
        self.mu = np.zeros(d)
        if problem.bias:
            self.mu = combine(problem.rows, np.full(n, 1.0 / n))
        self.boxed = boxed(problem.loss)
        self.softness = np.zeros(n) if self.boxed else 0.5 / problem.c
        self.w, self.b = np.zeros(d), 0.0
        self.a = 0.5 * problem.c
        self.s = np.ones(n)
        self.xi = np.ones(n)

    @property
    def complementarity(self) -> float:
        total = float(self.a @ self.s)
        return total + float((self.problem.c - self.a) @ self.xi) if self.boxed else total

    def _margins(self, w, b) -> np.ndarray:
        f = scores(self.problem.rows, w)
        return self.problem.y * (f + (b - float(self.mu @ w)))

    def _combined(self, v) -> np.ndarray:
        return combine(self.problem.rows, v) - float(v.sum()) * self.mu

    def bounds(self) -> tuple[float, float]:
        """The objective, and it less the complementarity and the dual residuals."""
        p = self.problem
        z = np.maximum(0.0, 1.0 - self._margins(self.w, self.b))
        norm = 0.5 * float(self.w @ self.w)
        r = float(self.a @ p.y)
        v = self._combined(self.a * p.y)
        lost = abs(r * self.b) if p.bias else 0.0
        dual = float(self.a.sum()) - 0.5 * float(v @ v) - lost
        if self.boxed:
            return norm + float(p.c @ z), dual
        dual -= 0.5 * float(self.softness @ self.a**2)
        return norm + float(p.c @ z**2), dual

    def advance(self) -> bool:
        """One damped Newton step; False when float64 allows none."""
        p, a, s, xi, y = self.problem, self.a, self.s, self.xi, self.problem.y
        n = len(y)
        target = CENTRING_SHARE * self.complementarity / (2 * n if self.boxed else n)
        m = self._margins(self.w, self.b)
        slack_part = xi if self.boxed else self.softness * a
        q = 1.0 + s - slack_part - m + (target - a * s) / a
        theta = s / a + self.softness
        if self.boxed:
            u = p.c - a
            q -= (target - u * xi) / u
            theta = theta + xi / u
        weight = 1.0 / theta
        pulled = weight * q * y
        v = self._combined((a + weight * q) * y)
        r = float(a @ y) + float(pulled.sum())
        g_w = self.w - v
        g_b = -r if p.bias else 0.0
        everyone = np.arange(n)
        dw, db = newton_direction(p.rows, everyone, weight, self.mu, p.bias, (g_w, g_b))
        da = weight * (q - self._margins(dw, db))
        ds = (target - a * s - s * da) / a
        t = min(_to_boundary(a, da), _to_boundary(s, ds))
        if self.boxed:
            dxi = (target - u * xi + xi * da) / u
            t = min(t, _to_boundary(u, -da), _to_boundary(xi, dxi))
            self.xi = xi + t * dxi
        if not (np.isfinite(t) and t > 1e-10):
            return False
        self.w, self.b = self.w + t * dw, self.b + t * db
        self.a, self.s = a + t * da, s + t * ds
        return True

    def multipliers(self) -> np.ndarray:
        """The multipliers with those that vanish in the limit put on their bounds."""
        if not self.boxed:
            return np.where(self.a < ZERO_MULTIPLIER_RATIO * self.s * self.a.max(), 0.0, self.a)
        c = self.problem.c
        a = np.where(self.a < ZERO_MULTIPLIER_RATIO * self.s * c, 0.0, self.a)
        return np.where(c - self.a < ZERO_MULTIPLIER_RATIO * self.xi * c, c, a)


def _to_boundary(x, dx) -> float:
    """The longest step, at most 1, that keeps x + t dx inside the positive orthant."""
    shrinking = dx < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, BOUNDARY_FRACTION * float((-x[shrinking] / dx[shrinking]).min()))
