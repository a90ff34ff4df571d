"""Newton's method for k classes: few columns, small or badly scaled data.

    min over W, b    ½‖W‖² + Σ c_i ℓ(W x_i + b, y_i)

for the hinge losses, by the augmented Lagrangian of ``class_lagrangian.py``.  Rows are held
as one dense float64 block, centred when the biases are free: a free b makes the problem
blind to the mean of X.  With more columns than rows, X is first rotated into the space of
its rows, which leaves ‖W‖ and all scores as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias
from ..represent.rows import Rows, dense
from .class_lagrangian import ClassRows, Terms, minimise
from .contract import ClassPoint, Ending, OutOfBudget, Watch
from .share import limits

OUTER_STEPS = 40
# The gap is closed to this share of what is asked: repair costs some of the dual.
SHARE_OF_TOL = 0.5
# σ = κ c begins here, or lower without a start …
FIRST = 0.5
# … and grows so from one outer step to the next,
FASTEST = 10.0
# at this pace after FEW_STEPS Newton steps, at its root up to MANY_STEPS, else not at all.
FEW_STEPS, MANY_STEPS = 8, 25
# When Newton's method does not end, κ goes back to less than what was good before.
BACK = 0.3
# A minimisation ends when the rest of the gradient costs this share of the gap that is left
# (or of ½‖W‖², for with a large C the gap says nothing at first) …
LOOSE = 0.05
# … or this share of the gap asked for.
SMALL = 0.01
# So many outer steps without progress from here: float64 has no more to give.
NEARLY, MOST_IDLE = 1e-6, 3


def class_newton(
    problem: MulticlassProblem, watch: Watch, start: ClassPoint | None = None
) -> tuple[ClassPoint, Ending]:
    """Solve ``problem``; the multipliers returned are not yet repaired."""
    frame = _Frame(problem)
    best = _Best(frame, start)
    try:
        # Multipliers that are nearly right allow a large σ at once.
        kappa = frame.gentle() if start is None else FIRST
        reached = _augment(frame, watch, best, kappa)
        ending = Ending.REACHED if reached else Ending.STALLED
    except OutOfBudget as stop:
        ending = stop.ending
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    return frame.point(best.V, best.B), ending


def _augment(frame: _Frame, watch: Watch, best: _Best, kappa: float) -> bool:
    """Outer steps with σ = κ c, κ growing, until the gap is closed."""
    V, B, sigma, idle = best.V, best.B, _Sigma(kappa), 0
    small = SMALL * watch.tol

    def enough(terms: Terms) -> bool:
        loose = LOOSE * min(terms.complementarity, terms.norm)
        return terms.stationarity <= max(loose, small * terms.primal)

    for _ in range(OUTER_STEPS):
        before, gap = watch.n_iter, best.primal - best.dual
        A = 1.0 / (sigma.kappa * frame.c)
        V, found, terms, finished = minimise(frame.rows, V, B, A, watch, enough)
        sigma.adapt(finished, watch.n_iter - before)
        if finished:
            B = found
            best.offer(terms, V, B)
            watch.record(best.primal, best.dual)
        left = best.primal - best.dual
        if finished and left <= SHARE_OF_TOL * watch.tol * best.primal:
            return True
        idle = idle + 1 if 0.9 * gap < left < NEARLY * best.primal else 0
        if idle == MOST_IDLE:
            break
    return False


class _Sigma:
    """κ in σ = κ c.  A larger one closes more of the gap, but takes more Newton steps."""

    def __init__(self, kappa: float):
        self.kappa, self.good, self.pace = kappa, 0.1 * kappa, FASTEST

    def adapt(self, finished: bool, steps: int) -> None:
        """Grow at a pace at which Newton's method ends within few steps."""
        if not finished:
            self.pace = np.sqrt(self.pace)
            self.good *= BACK  # what was good may be so no more, or never was
            self.kappa = self.good * self.pace
            return
        self.good = self.kappa
        if steps <= FEW_STEPS:
            self.pace = min(FASTEST, 2.0 * self.pace)
            self.kappa *= self.pace
        elif steps <= MANY_STEPS:
            self.kappa *= np.sqrt(self.pace)


class _Best:
    """The lowest primal and the highest dual seen, and the points they belong to."""

    def __init__(self, frame: _Frame, start: ClassPoint | None):
        self.V, self.B = frame.start(start)
        self.primal, self.dual = np.inf, -np.inf

    def offer(self, terms: Terms, V, B) -> None:
        if terms.primal < self.primal:
            self.primal, self.V = terms.primal, V
        if terms.primal - terms.gap > self.dual:
            self.dual, self.B = terms.primal - terms.gap, B


class _Frame:
    """The problem in the coordinates of the solver: rows of positive cost, centred, dense."""

    def __init__(self, problem: MulticlassProblem):
        self.problem = problem
        self.alive = np.flatnonzero(problem.c > 0)
        self.c, y = problem.c[self.alive], problem.y[self.alive]
        X, d = _dense(problem.rows, self.alive), problem.shape[1]
        free = problem.bias is Bias.FREE
        self.mu = X.mean(axis=0) if free else np.zeros(d)
        X = X - self.mu
        self.rotation = None
        if d > len(X):
            self.rotation, R = qr(X.T, mode="economic")
            X = np.ascontiguousarray(R.T)
        E = np.ones(X.shape[1])
        if problem.bias is not Bias.NONE:
            X = np.column_stack([X, np.ones(len(X))])
            E = np.append(E, 0.0 if free else 1.0)
        self.rows = ClassRows(X, y, _limits(problem.loss, self.c), E)

    def gentle(self) -> float:
        """κ to begin with: σ at most c/2, and one row's pull σ‖z‖² on itself at most one."""
        Z = self.rows.Z
        pull = float(np.mean(self.c)) * float(np.mean(np.einsum("ij,ij->i", Z, Z)))
        return min(FIRST, 1.0 / max(pull, 1e-300))

    def start(self, point: ClassPoint | None) -> tuple[np.ndarray, np.ndarray]:
        """V and B of ``point``, or zero."""
        n, p = self.rows.Z.shape
        V, B = np.zeros((self.problem.k, p)), np.zeros((n, self.problem.k))
        if point is None:
            return V, B
        W = point.W if self.rotation is None else point.W @ self.rotation
        V[:, : W.shape[1]] = W
        if self.problem.bias is not Bias.NONE:
            V[:, -1] = point.b + point.W @ self.mu
        V -= V.mean(axis=0)
        own = np.arange(n), self.rows.y
        B[:] = np.maximum(point.beta[self.alive, : self.problem.k], 0.0)
        B[own] = 0.0
        B[own] = -B.sum(axis=1)
        return V, B

    def point(self, V, B) -> ClassPoint:
        """Back to W, b and β, with Σ_c W_c = 0 and, where b is free, Σ_c b_c = 0."""
        V = V - V.mean(axis=0)
        W, b = V, np.zeros(len(V))
        if self.problem.bias is not Bias.NONE:
            W, b = V[:, :-1], V[:, -1]
        W = np.array(W) if self.rotation is None else W @ self.rotation.T
        beta = np.zeros((len(self.problem.y), self.problem.k))
        beta[self.alive] = np.maximum(B, 0.0)
        return ClassPoint(W, b - W @ self.mu, beta)


def _dense(rows: Rows, index) -> np.ndarray:
    """The rows named by ``index`` as a float64 array."""
    return dense(rows, index).astype(np.float64, copy=False)


def _limits(loss, c) -> tuple:
    """The four limits of ``share``, each as an array over the rows."""
    return tuple(np.array(part, dtype=np.float64) for part in np.broadcast_arrays(*limits(loss, c)))
