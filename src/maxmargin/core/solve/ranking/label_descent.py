"""Dual coordinate descent for pairs of labels: many weights, or small C.

    primal   min over W, b    ½‖W‖² + Σ c_p max(0, 1 − s_ia + s_ib)
    dual     max over α       Σ α_p − ½‖W_α‖²,    0 ≤ α_p ≤ c_p,    r = Σ α_p (e_a − e_b) = 0

An epoch (``label_sweep.py``) visits the examples that are awake; then b += τr, the multiplier
of r = 0.  After every second epoch a leap, as in ``leap.py``, goes on along the path of these
two to the highest dual on it.
"""

from __future__ import annotations

import numpy as np

from ...certify.label_pairs import by_example, outflow, repair_label_pairs
from ...problem.label_pairs import LabelPairsProblem
from ...rows.class_products import class_combine, padded
from ...rows.rows import combine, scores, sqnorms
from ..contract import ClassPoint, Ending, Monitor, ended
from .label_sweep import follow, label_sweep, look

# τ in units of the mean ‖x − μ‖².
BALANCE_STIFFNESS = 0.05
# Epochs between leaps; between checks at least, and at most this share of all so far.
EPOCHS_PER_LEAP, MIN_CHECK_EPOCHS, MAX_CHECK_EPOCHS = 2, 4, 20
# The gap predicted from the movement is a guess: look when it is this near.
CHECK_TOL_FACTOR = 1.05
# Leaps multiply the rounding errors of U: when the product of lengths passes this, U is
# computed afresh from α.
MAX_LEAP_PRODUCT = 1e5
# The solver gives up after so many checks in a row with less progress than this.
MAX_IDLE_CHECKS, MIN_CHECK_PROGRESS = 20, 1e-3


def label_descent(
    problem: LabelPairsProblem, monitor: Monitor, start: ClassPoint | None = None
) -> tuple[ClassPoint, Ending]:
    """Solve ``problem``, whose pairs are sorted by example; multipliers come repaired."""
    run = _Descent(problem, monitor, start)
    ending = ended(run.loop)
    if ending is not Ending.REACHED and run.check():
        ending = Ending.REACHED
    return ClassPoint(run.best_W, run.best_b, run.best_alpha), ending


class _Descent:
    """Where the descent stands, and the best bounds so far."""

    def __init__(self, problem: LabelPairsProblem, monitor: Monitor, start: ClassPoint | None):
        self.problem, self.monitor = problem, monitor
        n, d = problem.shape
        k, rows = problem.k, problem.rows
        self.free = bool(problem.bias)
        self.mu = combine(rows, np.full(n, 1.0 / n)) if self.free else np.zeros(d)
        centre = scores(rows, self.mu)
        far = float(self.mu @ self.mu)
        q = np.maximum(sqnorms(rows) - 2.0 * centre + far, 0.0)
        unit = float(q.mean()) or 1.0
        self.tau = BALANCE_STIFFNESS * unit if self.free else 0.0
        self.pull = self.tau + far
        first = np.searchsorted(problem.example, np.arange(n + 1))
        self.pairs = first, problem.winner, problem.loser, problem.c
        asleep = np.where(first[1:] > first[:-1], 0.0, np.inf)
        A = np.maximum(q + self.tau, 1e-12 * unit)
        self.places = centre, A, asleep, np.ones(len(problem.c))
        self.room = np.empty(padded(k)), np.zeros(padded(k))
        self.rng = np.random.default_rng(monitor.seed)
        self.clock, self.speed, self.epochs = 0.0, np.inf, 0
        self.alpha, self.b = np.zeros(len(problem.c)), np.zeros(k)
        if start is not None:
            self.alpha = np.clip(start.beta, 0.0, problem.c)
            self.b = start.b + start.W @ self.mu if self.free else self.b
        self.old_alpha = self.alpha.copy()
        self.refresh()
        self.best_W, self.best_b, self.best_alpha = np.zeros((k, d)), np.zeros(k), 0.0 * self.alpha
        self.primal, self.dual = np.inf, 0.0

    def refresh(self) -> None:
        """Compute U and r afresh from α, here and where the last leap began."""
        self.U, self.r = self._from_multipliers(self.alpha)
        self.old_U, self.old_r = self._from_multipliers(self.old_alpha)
        self.stretch = 1.0
        self._set_h()

    def _from_multipliers(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        problem, pulls = self.problem, by_example(self.problem, alpha)
        U = np.zeros((problem.shape[1], padded(problem.k)))
        U[:, : problem.k] = class_combine(problem.rows, problem.k, lambda part: pulls[part]).T
        return U, outflow(problem, alpha)

    def _set_h(self) -> None:
        """h: what a row's scores need besides x·U and its own −(μ·x) r."""
        self.h = np.zeros(self.problem.k)
        if self.free:
            self.h = self.b + self.pull * self.r - self.mu @ self.U[:, : self.problem.k]
        else:
            self.r[:] = self.old_r[:] = 0.0

    def loop(self) -> Ending:
        """Epochs, leaps and checks until the gap asked for is reached."""
        gap, speed, checked, idle = np.inf, np.inf, 0, 0
        while idle < MAX_IDLE_CHECKS:
            self.epoch()
            if self.epochs % EPOCHS_PER_LEAP:
                continue
            due = min(MAX_CHECK_EPOCHS, max(MIN_CHECK_EPOCHS, self.epochs // 2))
            guess = gap * (self.speed / speed) if speed > 0 and np.isfinite(gap) else gap
            if guess <= CHECK_TOL_FACTOR * self.monitor.tol or self.epochs - checked >= due:
                before = self.primal - self.dual
                if self.check():
                    return Ending.REACHED
                gap = (self.primal - self.dual) / self.primal
                speed, checked = self.speed, self.epochs
                idle = (
                    0 if self.primal - self.dual < (1.0 - MIN_CHECK_PROGRESS) * before else idle + 1
                )
            self.leap()
        return Ending.STALLED

    def epoch(self) -> None:
        self.monitor.step()
        order = np.flatnonzero(self.places[2] <= self.clock)
        self.rng.shuffle(order)
        moved = label_sweep(
            self.problem.rows, self.pairs, self.places, self.pull, self.clock, order,
            self.alpha, self.U, self.r, self.h, self.room,
        )  # fmt: skip
        self.speed = float(np.sqrt(moved))
        self.clock += self.speed
        if self.free:
            self.b += self.tau * self.r
            self.h += self.tau * self.r
        else:
            self.r[:] = self.h[:] = 0.0
        self.epochs += 1

    def _weights(self) -> np.ndarray:
        k = self.problem.k
        return self.U[:, :k].T - np.outer(self.r, self.mu)

    def leap(self) -> None:
        """Follow the path since the last leap to the highest dual on it, stopped by the box."""
        d_alpha, V, dr = self.alpha - self.old_alpha, self.U - self.old_U, self.r - self.old_r
        far = self._best_step(d_alpha, V, dr)
        free = self.alpha + far * d_alpha
        land = np.clip(free, 0.0, self.problem.c)
        V, dr = far * V, far * dr
        centre = self.places[0]
        follow(self.problem.rows, self.pairs, centre, land - free, V, dr, self.room)
        if not self.free:
            dr[:] = 0.0
        share = min(max(self._best_step(land - self.alpha, V, dr), 0.0), 1.0)
        self.old_alpha, self.old_U, self.old_r = self.alpha, self.U, self.r
        self.alpha = land if share == 1.0 else self.alpha + share * (land - self.alpha)
        self.U, self.r = self.U + share * V, self.r + share * dr
        self._set_h()
        self.stretch *= 1.0 + abs(share * far)
        if self.stretch > MAX_LEAP_PRODUCT:
            self.refresh()

    def _best_step(self, d_alpha, V, dr) -> float:
        """The maximiser t of the dual at α + t dα."""
        k = self.problem.k
        dW = V[:, :k].T - np.outer(dr, self.mu)
        W = self._weights()
        slope = float(d_alpha.sum()) - float(np.sum(W * dW))
        slope -= float((self.b + self.tau * self.r) @ dr)
        curvature = float(np.sum(dW * dW)) + self.tau * float(dr @ dr)
        return slope / curvature if curvature > 0.0 else 0.0

    def check(self) -> bool:
        """Bound the optimum from both sides; whether the gap asked for is reached."""
        problem = self.problem
        z = np.empty(len(self.alpha))
        look(
            problem.rows, self.pairs, self.places, self.clock,
            self.alpha, self.U, self.r, self.h, self.room, z,
        )  # fmt: skip
        W = self._weights()
        primal = 0.5 * float(np.sum(W * W)) + float(problem.c @ np.maximum(z, 0.0))
        if primal < self.primal:
            b = self.b + self.tau * self.r - W @ self.mu if self.free else 0.0 * self.b
            self.primal, self.best_W, self.best_b = primal, W, b
        alpha = repair_label_pairs(problem, self.alpha)
        V, dr = np.zeros_like(self.U), np.zeros_like(self.r)
        follow(problem.rows, self.pairs, self.places[0], alpha - self.alpha, V, dr, self.room)
        W_alpha = W + V[:, : problem.k].T - np.outer(dr if self.free else 0.0 * dr, self.mu)
        dual = float(alpha.sum()) - 0.5 * float(np.sum(W_alpha * W_alpha))
        if dual > self.dual:
            self.dual, self.best_alpha = dual, alpha
        return self.monitor.record(self.primal, self.dual)
