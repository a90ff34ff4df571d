"""Interior point: as many steps for any data, each a d × d system of all rows.

    min ½‖w‖² + Σ c_i ξ_i    with   y_i (w·x_i + b) + ξ_i = 1 + s_i,   ξ, s ≥ 0

Multipliers a (of the margins) and u = c − a (of ξ ≥ 0) stay strictly positive while the
products a·s and u·ξ are driven to zero together.  Eliminating everything but (w, b) leaves
the system of ``direction.py`` with one curvature per row,  1 / (s/a + ξ/u).  The squared
hinge has no u: there ξ = a/(2c), and the curvature is 1 / (s/a + 1/(2c)).

A step is predicted first, towards products of zero; what it would leave of them says what to aim
at instead, and its second order is taken into account.  With hundreds of columns the systems are
formed and factored in float32: a direction that is off by a little costs a part of a step, since
margins and residuals are always those of float64.  [Mehrotra 1992]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ...certify.repair import repair
from ...problem.losses import Hinge, SquaredHinge, boxed
from ...problem.problem import Problem
from ...rows.gram import single_gram
from ...rows.rows import DenseRows, combine, scores, shape, take
from ..contract import Ending, Monitor, Point, ended, serves
from .direction import newton_system, through_columns

# Fraction of the way to the boundary, and the shortest step that is one.
BOUNDARY_FRACTION = 0.995
MIN_STEP = 1e-10
# A multiplier this much smaller than its slack is zero at the solution.
ZERO_MULTIPLIER_RATIO = 1e-3
# The path ends where multipliers on their bounds prove this share of the gap asked for …
PATH_TOL_SHARE = 0.3
# … and goes on to this share of it, or to rounding, where a step is cheap, by rows times columns
# squared: the model then depends on little but the data.
CHEAP_STEP_WORK, EXACT_TOL_SHARE, GAP_ROUNDING = 1e8, 1e-5, 1e-13
# Columns from which systems are formed in float32; below, converting costs what products save.
MIN_SINGLE_COLUMNS = 200
# A step is to leave no more than this share of the gap: else float64 takes over, and where it does
# no better so many times, that is all.
MAX_GAP_LEFT, MAX_IDLE_STEPS = 0.95, 5
CENTRED_ROWS = 256
# Products near their target are within these shares of it; a step is corrected, so many times at
# most, for one that is longer by a share of this gain.
PRODUCT_RANGE = (0.1, 10.0)
MAX_CORRECTIONS = 3
LENGTH_GAIN, MIN_GAIN_SHARE = 0.3, 0.1
# The first products, in units of the mean of c|m − 1|: 0.05 and 1 take a tenth more steps.
START_SHARE = 0.2


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
    ending = ended(lambda: path.follow(monitor))
    alpha = np.zeros(len(problem.c))
    alpha[alive] = path.multipliers()
    return Point(path.w, path.b - float(path.mu @ path.w), alpha), ending


class _Step(NamedTuple):
    """What a step changes."""

    w: np.ndarray
    b: float
    a: np.ndarray
    s: np.ndarray
    xi: np.ndarray


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
        single = isinstance(problem.rows, DenseRows) and MIN_SINGLE_COLUMNS <= d <= n
        self.single = _centred_single(problem.rows.X, self.mu) if single else None
        self._begin()

    def _begin(self) -> None:
        """Half of every cap as multipliers, the weights that belong to them, and slacks as long as
        the margins these have: near the central path, however far out."""
        c = self.problem.c
        self.w, self.b = 0.5 * self._combined(c * self.problem.y), 0.0
        self.m = self._margins(self.w, 0.0)
        self._centre(START_SHARE * float((c * np.abs(self.m - 1.0)).mean()))

    def _centre(self, goal: float) -> None:
        """Multipliers and slacks that belong to the present margins, with products of ``goal``.

        a s = u ξ = μ and s − ξ = m − 1 are a quadratic equation for a, and for u = c − a.
        """
        c, beyond = self.problem.c, self.m - 1.0
        if self.boxed:
            root = np.sqrt((beyond * c) ** 2 + 4.0 * goal**2)
            self.a = 2.0 * goal * c / (2.0 * goal + beyond * c + root)
            self.xi = (2.0 * goal - beyond * c + root) / (2.0 * c)
        else:
            self.a = 2.0 * goal / (beyond + np.sqrt(beyond**2 + 2.0 * goal / c))
            self.xi = np.zeros_like(c)
        self.s = goal / self.a

    def follow(self, monitor: Monitor) -> Ending:
        """Steps until the gap asked for is reached, or float64 allows no more."""
        gap, idle, (n, d) = np.inf, 0, self.problem.shape
        share = EXACT_TOL_SHARE if n * d * d <= CHEAP_STEP_WORK else PATH_TOL_SHARE
        while idle < MAX_IDLE_STEPS:
            before, (primal, dual) = gap, self.bounds(self.a)
            gap = primal - dual
            stuck = not gap <= MAX_GAP_LEFT * before
            idle += stuck and self.single is None
            if monitor.record(primal, dual) and (idle or self._proves(share * monitor.tol)):
                return Ending.REACHED
            self.single = None if stuck else self.single
            monitor.step()
            if not self.advance():
                break
        return Ending.STALLED

    def _proves(self, tol: float) -> bool:
        """Whether the multipliers that will be returned prove so much."""
        primal, dual = self.bounds(repair(self.problem, self.multipliers()))
        return primal - dual <= max(tol, GAP_ROUNDING) * primal

    def products(self, a, s, xi) -> float:
        """Σ a s + Σ u ξ."""
        total = float(a @ s)
        return total + float((self.problem.c - a) @ xi) if self.boxed else total

    def _margins(self, w, b) -> np.ndarray:
        f = scores(self.problem.rows, w)
        return self.problem.y * (f + (b - float(self.mu @ w)))

    def _combined(self, v) -> np.ndarray:
        return combine(self.problem.rows, v) - float(v.sum()) * self.mu

    def bounds(self, a: np.ndarray) -> tuple[float, float]:
        """The objective here, and the dual at ``a``, charged for what Σ ay lacks of zero."""
        p = self.problem
        z = np.maximum(0.0, 1.0 - self.m)
        norm = 0.5 * float(self.w @ self.w)
        v = self._combined(a * p.y)
        lost = abs(float(a @ p.y) * self.b) if p.bias else 0.0
        dual = float(a.sum()) - 0.5 * float(v @ v) - lost
        if self.boxed:
            return norm + float(p.c @ z), dual
        return norm + float(p.c @ z**2), dual - 0.5 * float(self.softness @ a**2)

    def advance(self) -> bool:
        """One step, predicted and corrected; False when float64 allows none."""
        p, a, s, xi = self.problem, self.a, self.s, self.xi
        theta = s / a + (xi / (p.c - a) if self.boxed else self.softness)
        curvature = 1.0 / theta
        if not curvature.sum() > 0.0:
            return False  # every row's is below the smallest float64
        aim = partial(self._aim, self._system(curvature), theta)
        step = aim(0.0, 0.0)
        t = min(1.0, self._longest(step))
        left, whole = self.products(*self._at(t, step)), self.products(a, s, xi)
        target = (left / whole) ** 3 * whole / (2 * len(a) if self.boxed else len(a))
        goals = target - step.a * step.s, target + step.a * step.xi
        step, t = self._corrected(aim, goals, target)
        t = min(1.0, BOUNDARY_FRACTION * t)
        if not t > MIN_STEP:
            return False
        self.w, self.b = self.w + t * step.w, self.b + t * step.b
        self.a, self.s, self.xi = self._at(t, step)
        self.m = self._margins(self.w, self.b)
        return True

    def _corrected(self, aim: Callable, goals: tuple, target: float) -> tuple[_Step, float]:
        """The step to ``goals`` and its length to the boundary; then, while that grows, the step
        with products that would leave ``PRODUCT_RANGE`` a little farther on led back."""
        step = aim(*goals)
        t = self._longest(step)
        for _ in range(MAX_CORRECTIONS):
            if t >= 1.0:
                break
            a, s, xi = self._at(min(1.0, t + LENGTH_GAIN), step)
            goals = (
                goals[0] + _led_back(a * s, target),
                goals[1] + _led_back((self.problem.c - a) * xi, target),
            )
            other = aim(*goals)
            farther = self._longest(other)
            if farther < t + MIN_GAIN_SHARE * LENGTH_GAIN:
                break
            step, t = other, farther
        return step, t

    def _system(self, s) -> Callable:
        """The Newton system of rows with curvatures s, factored."""
        p = self.problem
        if self.single is not None:
            return through_columns(*single_gram(self.single, s), s, p.bias)
        return newton_system(p.rows, np.arange(len(s)), s, self.mu, p.bias)

    def _aim(self, solve: Callable, theta, of_s, of_xi) -> _Step:
        """Newton's step to products a s of ``of_s`` and u ξ of ``of_xi``, to first order."""
        p, a, s, xi = self.problem, self.a, self.s, self.xi
        u = p.c - a
        q = 1.0 - self.m + of_s / a - (of_xi / u if self.boxed else self.softness * a)
        v = (a + q / theta) * p.y
        r = float(v.sum()) if p.bias else 0.0
        dw, db = solve(self.w - self._roughly_combined(v), -r)
        da = (q - p.y * (self._rough_scores(dw) + db)) / theta
        ds = (of_s - a * s - s * da) / a
        dxi = (of_xi - u * xi + xi * da) / u if self.boxed else np.zeros_like(a)
        return _Step(dw, db, da, ds, dxi)

    def _roughly_combined(self, v) -> np.ndarray:
        if self.single is None:
            return self._combined(v)
        return (v.astype(np.float32) @ self.single).astype(np.float64)

    def _rough_scores(self, w) -> np.ndarray:
        if self.single is None:
            return scores(self.problem.rows, w) - float(self.mu @ w)
        return (self.single @ w.astype(np.float32)).astype(np.float64)

    def _longest(self, step: _Step) -> float:
        """How many times the step may be taken before something positive is zero; at most ten."""
        worst = max(float((-step.a / self.a).max()), float((-step.s / self.s).max()), 0.1)
        if self.boxed:
            u = self.problem.c - self.a
            worst = max(worst, float((step.a / u).max()), float((-step.xi / self.xi).max()))
        return 1.0 / worst

    def _at(self, t: float, step: _Step) -> tuple:
        return self.a + t * step.a, self.s + t * step.s, self.xi + t * step.xi

    def multipliers(self) -> np.ndarray:
        """The multipliers with those that vanish in the limit put on their bounds."""
        if not self.boxed:
            return np.where(self.a < ZERO_MULTIPLIER_RATIO * self.s * self.a.max(), 0.0, self.a)
        c = self.problem.c
        a = np.where(self.a < ZERO_MULTIPLIER_RATIO * self.s * c, 0.0, self.a)
        return np.where(c - self.a < ZERO_MULTIPLIER_RATIO * self.xi * c, c, a)


def _led_back(products: np.ndarray, target: float) -> np.ndarray:
    """What products lack of being near their target; of large ones only a part."""
    low, high = PRODUCT_RANGE
    lacking = np.clip(products, low * target, high * target) - products
    return np.maximum(lacking, -high * target)


def _centred_single(X: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """X − μ in float32, a few rows at a time in float64."""
    out = np.empty(X.shape, np.float32)
    for start in range(0, len(X), CENTRED_ROWS):
        part = slice(start, start + CENTRED_ROWS)
        np.subtract(X[part], mu, out=out[part], casting="same_kind")
    return out
