"""Logistic losses: which solver, and why; and how its weights get the best biases and a proof.

newton    two classes, dense rows, or few columns: L-BFGS around a model of the Hessian
descent   several classes: dual block coordinate descent, for sparse rows with many columns, and for
          dense rows of many classes where no direction is shared by most of them

Asked for by name, descent solves two classes as softmax with half the cost: W₁ = −W₂ = w/2
makes ½(½‖w‖² + C Σ log(1 + exp(−m))) of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from ...certify.bias import best_bias
from ...certify.certificate import Certificate
from ...certify.conclude import SHARPEST, first_that_proves
from ...certify.logistic import certify_margins, scores_and_lengths
from ...certify.logistic import serves as read_by_rows
from ...certify.repair import repair
from ...certify.softmax import balanced, certify_softmax
from ...certify.two_class import certify
from ...problem.class_losses import Softmax
from ...problem.multiclass import MulticlassProblem
from ...problem.problem import Problem
from ...rows.rows import DenseRows, scores, take
from ..contract import ClassWeights, Ending, Form, Monitor, Proved, Solution
from ..precise.resort import solved
from .path_state import Known, PathState
from .products import MAX_SPARSE_DENSITY, far_mean
from .quasi_newton import QuasiNewton, quasi_newton
from .smooth import LogisticLoss, Loss, SoftmaxLoss
from .softmax_descent import softmax_descent

# Columns from which on sparse rows are left to coordinate descent.
MAX_NEWTON_COLUMNS = 2000
# Coordinate descent of dense rows: the classes from which on a row's steps cost little beside its
# products, and the stiffness up to which it ends first: Σc λ/k for the largest variance λ of the
# rows, what losses add to the ridge's curvature of one.  Of 339 made problems 107 had 50 to 400
# classes and were below 64: there descent took 0.75 of quasi-Newton's time in all, once 2.7 times
# as long; up to 1,000 it took as long, once 6 times; with fewer classes 1.0 to 1.5 times.
MIN_DESCENT_CLASSES, MAX_STIFFNESS = 50, 64.0
# A gap that weights in float32 reach as soon as others; 1e-10 takes half as long again.
MIN_DESCENT_TOL = 1e-8
# Rows and power steps that tell the stiffness.
STIFFNESS_ROWS, STIFFNESS_STEPS = 4096, 6
# How often a solver goes on more strictly.
MAX_CONTINUATIONS = 3
# Several classes: one row in this many is solved first, where these are enough in all and per
# class.  Two classes: first so many rows, or so many per weight, if there are many times more; or,
# where a step reads the rows once, parts of parts, each of one row in a few.
ROWS_PER_PART_ROW, NESTED_PART_ROW = 8, 4
MIN_PART_ROWS, PART_ROWS_PER_CLASS, PART_ROWS_PER_WEIGHT = 2048, 64, 16
# With fewer rows for every weight a part may be separable where all rows are not: 10,000 × 200 at
# C = 100 took a fifth longer with a part of 12 for each than without.
NESTED_ROWS_PER_WEIGHT = 32
# A part has of each class at least this many rows.
MIN_CLASS_ROWS = 16
# The gap to which a part is solved, and the most steps: a part's optimum is not the whole's.
PART_TOL, MAX_PART_STEPS = 1e-2, 8
# With d + 1 weights it is off by some (d + 1) / 2m of the gain; this share of that is near enough.
PART_ERROR_SHARE = 0.1

Weights = tuple[np.ndarray, np.ndarray]


def choose(problem: Problem | MulticlassProblem, fresh: bool = True) -> tuple[str, str]:
    """The solver's name and the reason for it.

    ``fresh``: no fit with another C has left a model, and no more is asked for than float32 gives.
    """
    _, d = problem.shape
    if isinstance(problem, Problem):
        return "newton", f"two classes, {d} columns: few steps of a quasi-Newton method"
    if fresh and _is_loose(problem):
        return "descent", f"{problem.k} classes that share few directions: coordinate descent"
    if isinstance(problem.rows, DenseRows):
        return "newton", f"dense rows with {d} columns: a model of the Hessian is cheap"
    if d <= MAX_NEWTON_COLUMNS:
        return "newton", f"{d} columns: a model of the Hessian is cheap"
    return "descent", f"sparse rows with {d} columns: coordinate descent"


def _is_loose(problem: MulticlassProblem) -> bool:
    """Whether dense rows of many classes hardly feel one another's steps."""
    if not isinstance(problem.rows, DenseRows) or problem.k < MIN_DESCENT_CLASSES:
        return False
    some = problem.rows.X[:: max(1, len(problem.y) // STIFFNESS_ROWS)]
    if np.count_nonzero(some) < MAX_SPARSE_DENSITY * some.size:
        return False
    mu = some.mean(axis=0)
    if far_mean(some, mu):  # single precision would not do
        return False
    return float(problem.c.sum()) / problem.k * _largest_variance(some, mu) <= MAX_STIFFNESS


def _largest_variance(X: np.ndarray, mu: np.ndarray) -> float:
    """Of the rows along any direction, by power steps."""
    w, size = np.random.default_rng(0).standard_normal(len(mu)).astype(X.dtype), 1.0
    for _ in range(STIFFNESS_STEPS):
        f = X @ w - mu @ w
        w = (f @ X - f.sum() * mu) / X.dtype.type(len(X))
        size = float(np.linalg.norm(w))
        w /= max(size, np.finfo(X.dtype).tiny)
    return size


@dataclass(frozen=True)
class SmoothForm(Form):
    """Logistic losses, of two classes or more; what a fit with another C has left in ``memory``."""

    memory: PathState
    tol: float = 0.0
    solvers: Mapping[str, Callable] = field(default_factory=lambda: LOGISTIC_SOLVERS)
    encores: int = MAX_CONTINUATIONS

    def plan(self, problem) -> tuple[str, str]:
        alone = self.memory.known is None and self.memory.estimate == 0.0
        return choose(problem, alone and self.tol >= MIN_DESCENT_TOL)

    def finish(self, problem, point: ClassWeights, tol: float) -> Proved:
        return finish(problem, *point, tol)

    def run(self, name: str, problem, monitor: Monitor, start):
        run = self._newton if name == "newton" else _descent
        return run(problem, monitor, start)

    def _newton(self, problem, monitor: Monitor, start):
        search = newton_search(problem, monitor, start, known=self.memory.known)
        if search.ending is not Ending.INTERRUPTED:
            self.memory.known = search.leave()
        point = ClassWeights(*search.weights())
        estimated = search.ending is Ending.ESTIMATED
        return Proved(point, None) if estimated else point, search.ending

    def fall_backs(self, problem, name: str) -> tuple[str, ...]:
        return ("newton",) if name == "descent" else ()

    def elsewhere(self) -> SmoothForm:
        """What is remembered is of these rows."""
        return SmoothForm(PathState(), self.tol)


def _descent(problem, monitor: Monitor, start):
    """Softmax by coordinate descent; two classes as softmax."""
    if isinstance(problem, MulticlassProblem):
        W, b, ending, certificate = softmax_descent(problem, monitor, start)
        point = ClassWeights(W, b)
        return point if certificate is None else Proved(point, certificate), ending
    if start is not None:
        (w,), (b,) = start
        start = np.array([-0.5 * w, 0.5 * w]), np.array([-0.5 * b, 0.5 * b])
    W, b, ending, _ = softmax_descent(as_softmax(problem), monitor, start)
    return ClassWeights(W[1:] - W[:1], b[1:] - b[:1]), ending


def solve_logistic(
    problem: Problem | MulticlassProblem,
    monitor: Monitor,
    solver: str = "auto",
    start: Weights | None = None,
    memory: PathState | None = None,
) -> Solution:
    """Solve, with the best biases.

    ``memory`` comes from a fit with another C to the same rows; if it asks for no more than
    estimates, there may be no proof, and ``Ending.ESTIMATED`` tells.
    """
    memory = PathState() if memory is None else memory
    monitor.estimate = memory.estimate
    return solved(SmoothForm(memory, monitor.tol), problem, monitor, solver, start, _prove)


def _prove(problem, W, b, tol: float) -> Proved:
    """The proof of weights and biases as they are."""
    point = ClassWeights(W, b)
    if isinstance(problem, MulticlassProblem):
        return Proved(point, certify_softmax(problem, W, b, tol))
    return Proved(point, certify_logistic(problem, W[0], float(b[0]), tol))


def newton_search(
    problem, monitor: Monitor, start, known: Known | None = None, whole: Loss | None = None
) -> QuasiNewton:
    """Quasi-Newton steps; where rows abound, a part of them is solved first.

    ``whole``: the loss of all rows, of which these are a part.
    """
    several = isinstance(problem, MulticlassProblem)
    mu = known.mu if known is not None else whole.products.mu if whole is not None else None
    loss: Loss = SoftmaxLoss(problem, mu) if several else LogisticLoss(problem, mu, whole)
    n, d = problem.shape
    size, among = 2 * max(MIN_PART_ROWS, PART_ROWS_PER_WEIGHT // 2 * (d + 1)), ROWS_PER_PART_ROW
    if several:
        size = max(MIN_PART_ROWS, PART_ROWS_PER_CLASS * problem.k, n // ROWS_PER_PART_ROW)
    elif loss.at_once:
        size = max(MIN_PART_ROWS, NESTED_ROWS_PER_WEIGHT * (d + 1), n // NESTED_PART_ROW)
        among = NESTED_PART_ROW
    if start is not None or n < among * size:
        return quasi_newton(loss, monitor, start, known=known)
    inner = Monitor(
        tol=max(monitor.tol, PART_TOL),
        max_iter=min(monitor.max_iter, MAX_PART_STEPS),
        max_seconds=monitor.max_seconds - monitor.seconds,
        seed=monitor.seed,
        estimate=PART_ERROR_SHARE * (d + 1) / (2 * size) if loss.at_once else 0.0,
    )
    part = newton_search(_part(problem, size, monitor.seed), inner, None, None, loss)
    monitor.n_iter += inner.n_iter
    if part.ending in (Ending.TIME, Ending.INTERRUPTED):
        return part
    return quasi_newton(loss, monitor, before=part)


def _part(problem, size: int, seed: int):
    """About ``size`` rows, some of every class, that cost as much as all: of each class one at
    random from every stretch of so many."""
    rng = np.random.default_rng(seed)
    share, chosen, scale = size / len(problem.y), [], []
    labels = range(problem.k) if isinstance(problem, MulticlassProblem) else (-1.0, 1.0)
    for label in labels:
        mine = np.flatnonzero((problem.y == label) & (problem.c > 0))
        count = min(len(mine), max(MIN_CLASS_ROWS, math.ceil(share * len(mine))))
        if count == 0:
            continue
        some = mine[((np.arange(count) + rng.random(count)) * (len(mine) / count)).astype(np.intp)]
        chosen.append(some)
        scale.append(np.full(count, problem.c[mine].sum() / problem.c[some].sum()))
    index, scales = np.concatenate(chosen), np.concatenate(scale)
    order = np.argsort(index, kind="stable")
    index, scales = index[order], scales[order]
    rows, c = take(problem.rows, index), problem.c[index] * scales
    return replace(problem, rows=rows, y=problem.y[index], c=c)


def as_softmax(problem: Problem) -> MulticlassProblem:
    """The same two-class problem, objective halved, as softmax with half the costs."""
    y = (problem.y > 0).astype(np.int64)
    return MulticlassProblem(problem.rows, y, 0.5 * problem.c, Softmax(), 2, problem.bias)


def finish(problem, W, b, tol: float = SHARPEST) -> Proved:
    """The best biases for the weights, and the certificate of both."""
    if not (np.isfinite(W).all() and np.isfinite(b).all()):  # overflow: the origin is better
        W, b = np.zeros_like(W), np.zeros_like(b)
    if isinstance(problem, MulticlassProblem):
        b, certificate = balanced(problem, W, b, tol)
        return Proved(ClassWeights(W, b), certificate)
    seen = _scores(problem, W[0])
    bias = best_bias(problem, seen[0], float(b[0])) if problem.bias else 0.0
    certificate = _certify_at(problem, W[0], bias, bias, seen, tol)
    return Proved(ClassWeights(W, np.array([bias])), certificate)


def certify_logistic(
    problem: Problem, w: np.ndarray, b: float, tol: float = SHARPEST
) -> Certificate:
    """The certificate of (w, b) with multipliers from the margins, α = c σ(−m).

    They obey Σ αy = 0 if b is the best bias; for another b they are taken at the best one.
    """
    seen = _scores(problem, w)
    at = best_bias(problem, seen[0], b) if problem.bias else b
    return _certify_at(problem, w, b, at, seen, tol)


def _scores(problem: Problem, w: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Xw, and where rows are many their lengths."""
    return (
        scores_and_lengths(problem, w) if read_by_rows(problem) else (scores(problem.rows, w), None)
    )


def _certify_at(problem: Problem, w, b: float, at: float, seen: tuple, tol: float) -> Certificate:
    f, lengths = seen
    if lengths is not None:
        found = certify_margins(problem, w, b, at, f, lengths)
        proves = found.feasible and found.dual >= 0.0
        if proves and not found.blurred(tol):  # more digits would not prove more
            return found
    alpha = problem.c * expit(-problem.y * (f + at))
    return first_that_proves(
        lambda: certify(problem, w, b, alpha, f, tol),
        # Far from the origin no bias balances the classes to rounding.
        lambda: certify(problem, w, b, repair(problem, alpha), f, tol),
        lambda: certify(problem, w, b, np.zeros_like(alpha), f, tol),
    )


LOGISTIC_SOLVERS: dict[str, Callable] = {"newton": newton_search, "descent": softmax_descent}
