"""Newton's method for k classes: few columns, small or badly scaled data.

    min over W, b    ½‖W‖² + Σ c_i ℓ(W x_i + b, y_i)

for the hinge losses, by the augmented Lagrangian of ``class_lagrangian.py``, in the
coordinates of ``augmented_rows.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ...problem.multiclass import MulticlassProblem
from ..contract import ClassPoint, Ending, Monitor, OutOfBudget
from ..semismooth import Terms
from .augmented_rows import Frame
from .class_lagrangian import ClassRows, minimise
from .row_subproblem import limits

MAX_OUTER_STEPS = 40
# The gap is closed to this share of what is asked: repair costs some of the dual.
STOP_TOL_SHARE = 0.5
# σ = κ c begins here, or lower without a start …
FIRST_KAPPA = 0.5
# … and grows so from one outer step to the next,
MAX_KAPPA_GROWTH = 10.0
# at this pace after QUICK_NEWTON_STEPS Newton steps, at its root up to SLOW_NEWTON_STEPS, else not
# at all.
QUICK_NEWTON_STEPS, SLOW_NEWTON_STEPS = 8, 25
# When Newton's method does not end, κ goes back to less than what was good before.
KAPPA_RETREAT_FACTOR = 0.3
# A minimisation ends when the rest of the gradient costs this share of the gap that is left
# (or of ½‖W‖², for with a large C the gap says nothing at first) …
GRADIENT_GAP_SHARE = 0.05
# … or this share of the gap asked for.
GRADIENT_TOL_SHARE = 0.01
# So many outer steps without progress from here: float64 has no more to give.
NEAR_OPTIMAL_GAP, MAX_IDLE_STEPS = 1e-6, 3


def class_newton(
    problem: MulticlassProblem, monitor: Monitor, start: ClassPoint | None = None
) -> tuple[ClassPoint, Ending]:
    """Solve ``problem``; the multipliers returned are not yet repaired."""
    frame = _Frame(problem)
    best = BestClassPoint(*frame.start(start))

    def step(V, B, kappa, enough):
        return minimise(frame.rows, V, B, 1.0 / (kappa * frame.c), monitor, enough)

    # Multipliers that are nearly right allow a large σ at once.
    ending = augment(step, monitor, best, frame.gentle() if start is None else FIRST_KAPPA)
    return frame.point(best.V, best.B), ending


def augment(step: Callable, monitor: Monitor, best: BestClassPoint, kappa: float) -> Ending:
    """Outer steps with σ = κ c, κ growing; ``best`` holds where it began and where it ended."""
    try:
        return Ending.REACHED if _outer_steps(step, monitor, best, kappa) else Ending.STALLED
    except OutOfBudget as stop:
        return stop.ending
    except KeyboardInterrupt:
        return Ending.INTERRUPTED


def _outer_steps(step: Callable, monitor: Monitor, best: BestClassPoint, kappa: float) -> bool:
    """Until the gap is closed; ``step(V, B, κ, enough)`` minimises for one σ."""
    V, B, sigma, idle = best.V, best.B, _Sigma(kappa), 0
    small = GRADIENT_TOL_SHARE * monitor.tol

    def enough(terms: Terms) -> bool:
        loose = GRADIENT_GAP_SHARE * min(terms.complementarity, terms.norm)
        return terms.stationarity <= max(loose, small * terms.primal)

    for _ in range(MAX_OUTER_STEPS):
        before, gap = monitor.n_iter, best.primal - best.dual
        V, found, terms, finished = step(V, B, sigma.kappa, enough)
        sigma.adapt(finished, monitor.n_iter - before)
        if finished:
            B = found
            best.offer(terms, V, B)
            monitor.record(best.primal, best.dual)
        left = best.primal - best.dual
        if finished and left <= STOP_TOL_SHARE * monitor.tol * best.primal:
            return True
        idle = idle + 1 if 0.9 * gap < left < NEAR_OPTIMAL_GAP * best.primal else 0
        if idle == MAX_IDLE_STEPS:
            break
    return False


class _Sigma:
    """κ in σ = κ c.  A larger one closes more of the gap, but takes more Newton steps."""

    def __init__(self, kappa: float):
        self.kappa, self.good, self.pace = kappa, 0.1 * kappa, MAX_KAPPA_GROWTH

    def adapt(self, finished: bool, steps: int) -> None:
        """Grow at a pace at which Newton's method ends within few steps."""
        if not finished:
            self.pace = np.sqrt(self.pace)
            self.good *= KAPPA_RETREAT_FACTOR  # what was good may be so no more, or never was
            self.kappa = self.good * self.pace
            return
        self.good = self.kappa
        if steps <= QUICK_NEWTON_STEPS:
            self.pace = min(MAX_KAPPA_GROWTH, 2.0 * self.pace)
            self.kappa *= self.pace
        elif steps <= SLOW_NEWTON_STEPS:
            self.kappa *= np.sqrt(self.pace)


class BestClassPoint:
    """The lowest primal and the highest dual seen, and the points they belong to."""

    def __init__(self, V: np.ndarray, B: np.ndarray):
        self.V, self.B = V, B
        self.primal, self.dual = np.inf, -np.inf

    def offer(self, terms: Terms, V, B) -> None:
        if terms.primal < self.primal:
            self.primal, self.V = terms.primal, V
        if terms.primal - terms.gap > self.dual:
            self.dual, self.B = terms.primal - terms.gap, B


class _Frame(Frame):
    """The problem in the coordinates of the solver: rows of positive cost."""

    def __init__(self, problem: MulticlassProblem):
        self.problem = problem
        super().__init__(problem.rows, np.flatnonzero(problem.c > 0), problem.k, problem.bias)
        self.c, y = problem.c[self.alive], problem.y[self.alive]
        Z = self.Z.toarray() if sparse.issparse(self.Z) else self.Z
        self.rows = ClassRows(Z, y, _limits(problem.loss, self.c), self.E)

    def gentle(self) -> float:
        """κ to begin with: σ at most c/2, and one row's pull σ‖z‖² on itself at most one."""
        Z = self.rows.Z
        pull = float(np.mean(self.c)) * float(np.mean(np.einsum("ij,ij->i", Z, Z)))
        return min(FIRST_KAPPA, 1.0 / max(pull, 1e-300))

    def start(self, point: ClassPoint | None) -> tuple[np.ndarray, np.ndarray]:
        """V and B of ``point``, or zero."""
        n, p = self.rows.Z.shape
        B = np.zeros((n, self.k))
        if point is None:
            return np.zeros((self.k, p)), B
        own = np.arange(n), self.rows.y
        B[:] = np.maximum(point.beta[self.alive, : self.k], 0.0)
        B[own] = 0.0
        B[own] = -B.sum(axis=1)
        return self.inside(point.W, point.b), B

    def point(self, V, B) -> ClassPoint:
        """Back to W, b and β."""
        beta = np.zeros((len(self.problem.y), self.k))
        beta[self.alive] = np.maximum(B, 0.0)
        return ClassPoint(*self.outside(V), beta)


def _limits(loss, c) -> tuple:
    """The four limits of ``share``, each as an array over the rows."""
    return tuple(np.array(part, dtype=np.float64) for part in np.broadcast_arrays(*limits(loss, c)))
