"""Dual coordinate descent for two classes: the solver for sparse rows in high dimension.

    primal   min over w, b    ½‖w‖² + Σ c_i ℓ(y_i (w·x_i + b))
    dual     max over α       −½‖w_α‖² − Σ c_i ℓ*(−α_i/c_i),    r = Σ α_i y_i = 0

with w_α = Σ α_i y_i x_i.  An epoch (``sweep.py``) gives every awake multiplier its best value;
then b += ρ r, as the augmented Lagrangian of the constraint r = 0 asks.  After every second
epoch a leap (``leap.py``) goes on along the path of these two; ``epochs.py`` runs both.  A
check (``bounds.py``) costs one pass over the data and is made only when it is likely to pass,
or long overdue.
[Hsieh et al. 2008, with a free bias]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problem.losses import bend, best_alpha
from ...problem.problem import Problem
from ...rows.rows import combine, scores, size_of
from ..contract import Ending, Monitor, OutOfBudget, Point, ended, origin, serves
from .bounds import Dual, Primal, dual_bound, primal_bound
from .epochs import DESCENT_STATE_DTYPE, MAX_LEAP_PRODUCT, march
from .leap import leap
from .sweep import POINT_DTYPE, settle

# ρ in units of the mean ‖x‖²: 0.02 to 0.1 need about equally many epochs.
BALANCE_STIFFNESS = 0.05
# When C‖x‖² is small, weights and multipliers are small and the bias does all the work: what
# counts then is not ‖x‖² but 1/c, with this weight for the hinge.
HINGE_SOFTNESS = 0.1
# ‖x‖² of an empty row, in the same unit: any positive value sends its multiplier to a bound.
EMPTY_ROW_NORM = 1e-12
# Epochs between leaps; one takes up to six times the epochs at large C, four a third more.
EPOCHS_PER_LEAP = 2
# A leap costs a few passes over w: fewer leaps when w is long and the data are few (not tuned).
LEAP_COST = 4.0
# Stored values that one call of the kernel passes over: about 0.1 s, so that a keyboard
# interrupt or the end of the budget is never far away.
CALL_VALUES = 1 << 25
# Below this tolerance w is computed afresh for every check.
REFRESH_TOL = 1e-9
# The solver gives up after so many checks in a row with less progress than this.
MAX_IDLE_CHECKS = 20
MIN_CHECK_PROGRESS = 1e-3


@serves(best_alpha)
def descent(problem: Problem, monitor: Monitor, start: Point | None = None) -> tuple[Point, Ending]:
    """Solve ``problem``; returns the best primal and the best dual point seen."""
    run = Descent(problem, monitor, start)
    ending = ended(run.loop)
    if ending is not Ending.REACHED and run.check():
        ending = Ending.REACHED
    return Point(run.w_best, run.primal.b, run.dual.alpha), ending


class Descent:
    """Where the descent stands, and the best bounds so far."""

    def __init__(self, problem: Problem, monitor: Monitor, start: Point | None):
        n, d = problem.shape
        self.problem, self.monitor = problem, monitor
        q = problem.sqnorms
        alive = problem.c > 0
        unit = float(q[alive].mean()) if alive.any() else 1.0
        unit = unit if unit > 0 else 1.0
        self.bends = _curvature(problem)
        soft = self.bends[alive] if self.bends.any() else HINGE_SOFTNESS / problem.c[alive]
        stiff = BALANCE_STIFFNESS * (unit + float(soft.mean()))
        self.rho = stiff if problem.bias else 0.0
        self.lengths = np.sqrt(q)

        self.points = np.zeros(n, dtype=POINT_DTYPE)
        self.points["y"], self.points["c"], self.points["cap"] = problem.y, problem.c, problem.cap
        self.points["q"] = np.maximum(q + self.rho, EMPTY_ROW_NORM * unit)
        self.points["G"] = -1.0
        # An empty row without a bias has margin 0: no multiplier can help a hard margin.
        hopeless = problem.hard & (q + self.rho == 0.0)
        self.points["wake"] = np.where(alive & ~hopeless, 0.0, np.inf)

        w, b, alpha = origin(problem)
        self.w = w
        self.w_best, self.primal, self.dual = w, Primal(np.inf, 1.0, b), Dual(-np.inf, alpha)
        self.states = np.zeros(1, dtype=DESCENT_STATE_DTYPE)
        self.now: Any = self.states[0]  # by name: a record array is slow to ask
        self.now["stretch"], self.now["speed"] = 1.0, np.inf
        self.now["horizon"] = -np.inf
        trail, some, order = np.empty((3, n), dtype=np.uint32)
        dice = np.array([monitor.seed], dtype=np.uint64)
        values = max(1, size_of(problem.rows))
        self.slice = max(1, int(CALL_VALUES * n / values))
        self.stride = EPOCHS_PER_LEAP + int(LEAP_COST * d / values)
        if start is not None:
            self._begin_at(start)
        self.past = (
            self.points["alpha"].copy(), self.w.copy(), trail, some, dice, order, np.empty(d)
        )  # fmt: skip

    def _begin_at(self, start: Point) -> None:
        """Take over the multipliers; the weights count as a candidate for the best primal."""
        problem = self.problem
        alpha = np.clip(start.alpha, 0.0, problem.cap)
        self.points["alpha"] = alpha
        self.w = combine(problem.rows, alpha * problem.y)
        self.now["r"] = float(alpha @ problem.y)
        self.now["b"] = float(start.b) if problem.bias else 0.0
        w = np.asarray(start.w, dtype=np.float64)
        f, tol = scores(problem.rows, w), self.monitor.tol
        self._offer(primal_bound(problem, f, float(w @ w), start.b, tol), w)

    def loop(self) -> Ending:
        """Epochs, leaps and checks until the gap asked for is reached."""
        if self.points["alpha"].any() and self.check():
            return Ending.REACHED
        outlook, idle = (self.monitor.tol, np.inf, np.inf, 0), 0
        while idle < MAX_IDLE_CHECKS:
            if not self.march(outlook):
                continue
            before = self.primal.value - self.dual.value, self.dual.value
            if self.check():
                return Ending.REACHED
            now, tol = self.now, self.monitor.tol
            outlook = tol, self.gap(), float(now["speed"]), int(now["epochs"])
            idle = 0 if self._advanced(*before) else idle + 1
            self.leap()
        return Ending.STALLED

    def _advanced(self, gap: float, dual: float) -> bool:
        """Whether the bounds are closer; while no point is feasible, whether the dual grew."""
        if np.isfinite(self.primal.value):
            return self.primal.value - self.dual.value < (1.0 - MIN_CHECK_PROGRESS) * gap
        return self.dual.value > (1.0 + MIN_CHECK_PROGRESS) * dual

    def march(self, outlook: tuple[float, float, float, int]) -> bool:
        """Epochs and leaps for about a tenth of a second; whether a check is due."""
        problem, monitor, begun = self.problem, self.monitor, int(self.now["epochs"])
        last = begun + monitor.max_iter - monitor.n_iter
        if last == begun:
            raise OutOfBudget(Ending.ITERATIONS)
        due = march(
            problem.loss, problem.rows, self.bends, self.rho, bool(problem.bias),
            self.stride, self.slice, last, outlook, self.states, self.points, self.w, self.past,
        )  # fmt: skip
        monitor.step(int(self.now["epochs"]) - begun)
        if self.now["stretch"] > MAX_LEAP_PRODUCT:
            self.refresh()
        return due

    def leap(self) -> None:
        """Follow the path since the last leap to the highest dual on it, where it is quadratic."""
        if len(self.bends) == 0:
            return
        now, (old_alpha, old_w, trail, *_, room) = self.now, self.past
        now["r"], length, now["gone"] = leap(
            self.problem.rows, self.bends, trail[: now["gone"]], now["mass"], now["b"], self.rho,
            now["r"], self.points, self.w, old_alpha, old_w, room,
        )  # fmt: skip
        now["stretch"] *= 1.0 + abs(length)
        if now["stretch"] > MAX_LEAP_PRODUCT:
            self.refresh()

    def refresh(self) -> None:
        """Compute w afresh from α, here and where the last leap began."""
        rows, y, alpha = self.problem.rows, self.problem.y, self.points["alpha"]
        old_alpha, old_w, *_ = self.past
        self.w, self.now["r"] = combine(rows, alpha * y), float(alpha @ y)
        old_w[:] = combine(rows, old_alpha * y)
        self.now["stretch"] = 1.0

    def check(self) -> bool:
        """Bound the optimum from both sides; whether the gap asked for is reached."""
        problem = self.problem
        if self.monitor.tol < REFRESH_TOL:
            self.refresh()
        f, sq = scores(problem.rows, self.w), float(self.w @ self.w)
        now = self.now
        self._offer(primal_bound(problem, f, sq, float(now["b"]), self.monitor.tol), self.w)
        alpha = self.points["alpha"].copy()
        now["mass"] = float(alpha.sum())
        dual = dual_bound(problem, f, sq, self.lengths, alpha)
        if dual.value > self.dual.value:
            self.dual = dual
        settle(problem.loss, self.points, f, now["b"] + self.rho * now["r"], now["clock"])
        now["horizon"], now["seen"] = -np.inf, 0
        return self.monitor.record(self.primal.value, self.dual.value)

    def _offer(self, primal: Primal, w: np.ndarray) -> None:
        if primal.value < self.primal.value:
            self.primal, self.w_best = primal, primal.scale * w

    def gap(self) -> float:
        return (self.primal.value - self.dual.value) / abs(self.primal.value)


def _curvature(problem: Problem) -> np.ndarray:
    """ℓ*'s second derivative by row: how much a multiplier resists its own growth.

    Empty where it is not constant.
    """
    resistance = 0.0 if problem.hard else bend(problem.loss)
    if np.isnan(resistance):
        return np.empty(0)
    if resistance == 0.0:
        return np.zeros(len(problem.y))
    return np.divide(resistance, problem.c, out=np.zeros(len(problem.y)), where=problem.c > 0)
