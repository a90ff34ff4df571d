"""Logistic and softmax regression over parts: a quasi-Newton method that passes over the rows.

    min over W, b    f = ½‖W‖² + Σ c_i ℓ(s_i, y_i),        s_i = W x_i + b

A sample of the rows, small enough for one machine's memory, is solved first.  It gives the start,
and its Hessian the model that limited-memory updates begin with
(``solve/softmax/hessian_models.py``): all parts share it.  Every step asks the parts once, for
loss and gradient at the new point; along the line f is convex, so where a step fails the secant of
the two slopes tells a better one. The gap costs nothing: where the biases are best, f − ½‖∂f/∂W‖²
is a dual bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core.problem.class_losses import Softmax
from ...core.problem.losses import Logistic
from ...core.problem.multiclass import MulticlassProblem
from ...core.problem.problem import Bias, Problem, costs
from ...core.rows.rows import as_rows
from ...core.solve.contract import Ending, Monitor, OutOfBudget
from ...core.solve.softmax.form import newton_search
from ...core.solve.softmax.smooth import LogisticLoss, SoftmaxLoss
from ..parts import Block, Parts

# Pairs of steps and gradient changes remembered; passes along one line, at most.
PAIRS_KEPT, MOST_TRIALS = 24, 8
# A step must lower f by this share of what its slope promises, but for rounding.
ARMIJO_SHARE, OBJECTIVE_ROUNDING = 1e-4, 1e-13
# A sample's optimum is as good as a start can be at this gap, times its weights per row.
SAMPLE_TOL = 0.5
# Steps after which the model is taken afresh: at the first, then when half as many again are made.
REFRESH_GROWTH = 1.5
# A gap this much below the one asked for: the rest is for the certificate.
STOP_SHARE = 0.8
# What the biases owe the dual may be this share of the gap asked for.
BIAS_SHARE = 1e-3


class Asked(NamedTuple):
    """The problem: classes, price and bias; two classes have one column of scores."""

    k: int
    C: float
    bias: Bias

    @property
    def columns(self) -> int:
        return 1 if self.k == 2 else self.k


class Smooth(NamedTuple):
    """W (one row for two classes) and b, why the search ended, and the mean of the sample."""

    W: np.ndarray
    b: np.ndarray
    ending: Ending
    mu: np.ndarray


def pose(block: Block, asked: Asked) -> Problem | MulticlassProblem:
    """The problem of some rows by themselves."""
    c = costs(asked.C, block.weight, len(block.y))
    rows = as_rows(block.X)
    if asked.k == 2:
        y = np.where(block.y == 1, 1.0, -1.0)
        return Problem(rows, y, c, Logistic(), asked.bias)
    y = np.asarray(block.y, dtype=np.int64)
    return MulticlassProblem(rows, y, c, Softmax(), asked.k, asked.bias)


def slopes(block: Block, state, x, mu, asked: Asked, sharp: bool):
    """A part's loss at x = (W, b), stacked as (d + 1, columns) about μ, and its gradient."""
    problem = pose(block, asked)
    loss: LogisticLoss | SoftmaxLoss = (
        LogisticLoss(problem, mu) if isinstance(problem, Problem) else SoftmaxLoss(problem, mu)
    )
    if sharp and loss.products.sharpen():
        loss.S, loss.Z = loss.products.room(), loss.products.room()
    loss.products.scores(x[:-1], x[-1], loss.S)
    return state, (loss.line(0.0)[0], loss.products.combine(loss.errors))


def solve_smooth(
    parts: Parts,
    asked: Asked,
    monitor: Monitor,
    sample: Block,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    note: Callable[[np.ndarray, np.ndarray], None] | None = None,
) -> Smooth:
    """Search until the gap is closed.

    ``sample``: rows in memory whose weights add up to those of all.  ``start``: W and b to begin
    with instead of its optimum.  ``note(W, b)`` is told every point reached.
    """
    search = SmoothSearch(parts, asked, monitor, sample, start, note)
    try:
        ending = search.loop()
    except OutOfBudget as stop:
        ending = stop.ending
    return Smooth(*search.weights(), ending, search.mu)


class SmoothSearch:
    """x = (W, b) about μ, f and its gradient there, the model and the remembered pairs."""

    def __init__(self, parts: Parts, asked: Asked, monitor: Monitor, sample: Block, start, note):
        self.parts, self.asked, self.monitor = parts, asked, monitor
        self.note = note or (lambda W, b: None)
        self.sharp = False
        self.pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
        m, d = sample.X.shape
        inner = Monitor(
            tol=max(STOP_SHARE * monitor.tol, min(0.1, SAMPLE_TOL * asked.columns * (d + 1) / m)),
            max_iter=monitor.max_iter if start is None else 1,
            max_seconds=monitor.max_seconds - monitor.seconds,
            seed=monitor.seed,
        )
        self.rough = newton_search(pose(sample, asked), inner, start)
        if self.rough.ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        if not hasattr(self.rough, "model"):
            raise OutOfBudget(self.rough.ending)
        self.mu = self.rough.products.mu
        self.x = self.rough.x.copy()
        if start is not None:
            W, b = start
            self.x[:-1], self.x[-1] = W.T, b + W @ self.mu

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        W, b = self.x[:-1], self.x[-1]
        return np.ascontiguousarray(W.T), b - self.mu @ W

    def evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """One pass: f and its gradient at x."""
        self.monitor.step()
        loss, g = self.parts.total(slopes, x, self.mu, self.asked, self.sharp)
        g = g.copy()
        g[:-1] += x[:-1]
        if not self.asked.bias:
            g[-1] = 0.0
        return float(loss) + _half(x), g

    def loop(self) -> Ending:
        self.f, self.g = self.evaluate(self.x)
        self.refresh()
        count, afresh = 0, 1
        while not self.reached():
            if not self.advance():
                if self.sharp:
                    return Ending.STALLED
                self.sharp = True  # float32 products tell no more
                self.f, self.g = self.evaluate(self.x)
            count += 1
            self.note(*self.weights())
            if count >= afresh:
                self.refresh()
                afresh = max(count + 1, int(REFRESH_GROWTH * count))
        return Ending.REACHED

    def refresh(self) -> None:
        """The model's curvature from the sample's scores at x."""
        loss = self.rough.loss
        loss.products.scores(self.x[:-1], self.x[-1], loss.S)
        self.rough.model.refresh()

    def reached(self) -> bool:
        """Record the bounds now known; biases that are not yet best owe the dual something."""
        h = self.g[-1]
        owed = 0.5 * float(h @ self.rough.model.biases(h))
        gap = _half(self.g) + owed
        self.monitor.record(self.f, self.f - gap)
        if gap > STOP_SHARE * self.monitor.tol * self.f:
            return False
        if owed <= BIAS_SHARE * self.monitor.tol * self.f:
            return True
        self.x[-1] -= self.rough.model.biases(h)
        self.f, self.g = self.evaluate(self.x)
        return _half(self.g) <= STOP_SHARE * self.monitor.tol * self.f

    def direction(self) -> np.ndarray:
        """The two-loop recursion around the model's inverse."""
        q, shares = -self.g, []
        for s, y, rho in reversed(self.pairs):
            shares.append(rho * float(np.vdot(s, q)))
            q -= shares[-1] * y
        q = self.rough.model(q)
        for (s, y, rho), share in zip(self.pairs, reversed(shares), strict=True):
            q += (share - rho * float(np.vdot(y, q))) * s
        return q

    def advance(self) -> bool:
        """One step downhill; False when rounding leaves none."""
        q = self.direction()
        slope = float(np.vdot(q, self.g))
        if not slope < 0.0:
            self.pairs.clear()
            q = -self.rough.model(self.g)
            slope = float(np.vdot(q, self.g))
        t, low, at_low = 1.0, 0.0, slope
        for _ in range(MOST_TRIALS):
            f, g = self.evaluate(self.x + t * q)
            there = float(np.vdot(q, g))
            enough = f <= self.f + ARMIJO_SHARE * t * slope + OBJECTIVE_ROUNDING * abs(self.f)
            if enough and there <= 0.5 * abs(slope):
                self._move(t * q, f, g)
                return True
            if enough and there < 0.0:
                low, at_low = t, there
            rise = there - at_low
            t = low + (t - low) * (-at_low / rise if np.isfinite(f) and rise > 0.0 else 0.1)
        return False

    def _move(self, s: np.ndarray, f: float, g: np.ndarray) -> None:
        y = g - self.g
        bend = float(np.vdot(s, y))
        if bend > 0.0:
            self.pairs = [*self.pairs[1 - PAIRS_KEPT :], (s, y, 1.0 / bend)]
        self.x, self.f, self.g = self.x + s, f, g


def _half(x: np.ndarray) -> float:
    """½‖·‖² of the weights' part."""
    return 0.5 * float(np.vdot(x[:-1], x[:-1]))
