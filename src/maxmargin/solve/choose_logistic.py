"""Which solver for logistic losses, and why; then run it and prove the result.

newton    two classes, dense rows, or few columns: L-BFGS around a model of the Hessian
descent   several classes, sparse rows with many columns: dual block coordinate descent

Asked for by name, descent solves two classes as softmax with half the cost: W₁ = −W₂ = w/2
makes ½(½‖w‖² + C Σ log(1 + exp(−m))) of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from ..certify.bias import best_bias
from ..certify.certificate import Certificate, certify
from ..certify.softmax import balanced
from ..problem.class_losses import Softmax
from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias, Problem
from ..represent.rows import DenseRows, scores, take
from .contract import Ending, Step, Watch
from .quasi_newton import quasi_newton
from .smooth import LogisticLoss, SoftmaxLoss
from .softmax_descent import softmax_descent
from .threads import one_blas_thread

SOLVERS = ("newton", "descent")
# Columns from which on sparse rows are left to coordinate descent.
MANY_COLUMNS = 2000
# A solver's own estimate of the gap may be too bright: it goes on with this share of it.
STRICTER = 0.3
MOST_ROUNDS = 4
# Where there are this many times more rows than the numbers below ask for, so many are solved
# first; of each class at least a few.
SHRINK = 8
PART_ROWS, ROWS_PER_WEIGHT, PER_CLASS = 4096, 16, 16
# The gap to which a part is solved: a part's optimum is not the whole's anyway.
ROUGH = 1e-2

Weights = tuple[np.ndarray, np.ndarray]


def choose(problem: Problem | MulticlassProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    _, d = problem.shape
    if isinstance(problem, Problem):
        return "newton", f"two classes, {d} columns: few steps of a quasi-Newton method"
    if isinstance(problem.rows, DenseRows):
        return "newton", f"dense rows with {d} columns: a model of the Hessian is cheap"
    if d <= MANY_COLUMNS:
        return "newton", f"{d} columns: a model of the Hessian is cheap"
    return "descent", f"sparse rows with {d} columns: coordinate descent"


@dataclass(frozen=True)
class LogisticSolution:
    """W with b (one row for two classes, k for more), and how the solver got there."""

    W: np.ndarray
    b: np.ndarray
    ending: Ending
    solver: str
    why: str
    n_iter: int
    history: list[Step]


def solve_logistic(
    problem: Problem | MulticlassProblem,
    watch: Watch,
    solver: str = "auto",
    start: Weights | None = None,
) -> tuple[LogisticSolution, Certificate]:
    """Run the solver, make its biases the best ones, and prove how good the result is."""
    name, why = (solver, "asked for by name") if solver != "auto" else choose(problem)
    watch.solver = name
    # A solver may overflow on the way; what it ends with is checked in ``finish``.
    with one_blas_thread(), np.errstate(all="ignore"):
        weights, certificate, ending = _in_rounds(name, problem, watch, start)
        short = not certificate.holds(watch.tol) and ending is Ending.STALLED
        if solver == "auto" and name == "descent" and short:
            gap, watch.solver = certificate.relative_gap, "newton"
            other, found, ended = _in_rounds("newton", problem, watch, weights)
            if found.relative_gap < gap:
                weights, certificate, ending, name = other, found, ended, "newton"
                why = f"descent stopped at a relative gap of {gap:.1e}"
    if certificate.holds(watch.tol):
        ending = Ending.REACHED
    elif ending is Ending.REACHED:
        ending = Ending.STALLED
    W, b = weights
    count = max(1, watch.n_iter)
    return LogisticSolution(W, b, ending, name, why, count, watch.history), certificate


def _in_rounds(name, problem, watch: Watch, start) -> tuple[Weights, Certificate, Ending]:
    """Run a solver, more strictly each time its own idea of the gap does not stand the proof."""
    tol, best = watch.tol, None
    try:
        for _ in range(MOST_ROUNDS):
            weights, ending, certificate = _run(name, problem, watch, start)
            if certificate is None:
                weights, certificate = finish(problem, *weights)
            if best is None or certificate.relative_gap < best[1].relative_gap:
                best = weights, certificate
            if certificate.holds(tol) or ending is not Ending.REACHED:
                break
            start, watch.tol = weights, STRICTER * watch.tol
    finally:
        watch.tol = tol
    return *best, ending  # type: ignore[misc]


def _run(name: str, problem, watch: Watch, start) -> tuple[Weights, Ending, Certificate | None]:
    """What a solver returns, with the certificate if it has ended with one."""
    if name == "newton":
        W, b, ending = _newton(problem, watch, start)
        return (W, b), ending, None
    if isinstance(problem, MulticlassProblem):
        W, b, ending, certificate = softmax_descent(problem, watch, start)
        return (W, b), ending, certificate
    if start is not None:
        (w,), (b,) = start
        start = np.array([-0.5 * w, 0.5 * w]), np.array([-0.5 * b, 0.5 * b])
    W, b, ending, _ = softmax_descent(as_softmax(problem), watch, start)
    return (W[1:] - W[:1], b[1:] - b[:1]), ending, None


def _newton(problem, watch: Watch, start) -> tuple[np.ndarray, np.ndarray, Ending]:
    """Quasi-Newton steps; where rows abound, a part of them is solved first."""
    k = problem.k if isinstance(problem, MulticlassProblem) else 1
    n, d = problem.shape
    size = max(PART_ROWS, ROWS_PER_WEIGHT * k * (d + 1))
    if start is None and n >= SHRINK * size:
        inner = Watch(
            tol=max(watch.tol, ROUGH),
            max_iter=watch.max_iter,
            max_seconds=watch.max_seconds - watch.seconds,
            seed=watch.seed,
        )
        W, b, ending = _newton(_part(problem, size, watch.seed), inner, None)
        watch.n_iter += inner.n_iter
        if ending not in (Ending.REACHED, Ending.STALLED):
            return W, b, ending
        start = W, b
    loss = SoftmaxLoss if isinstance(problem, MulticlassProblem) else LogisticLoss
    return quasi_newton(loss(problem), watch, start)


def _part(problem, size: int, seed: int):
    """About ``size`` random rows, some of every class, that cost as much as all."""
    rng = np.random.default_rng(seed)
    share, chosen, scale = size / len(problem.y), [], np.zeros(len(problem.y))
    for label in np.unique(problem.y):
        mine = np.flatnonzero((problem.y == label) & (problem.c > 0))
        some = rng.choice(mine, min(len(mine), PER_CLASS + int(share * len(mine))), replace=False)
        scale[some] = problem.c[mine].sum() / problem.c[some].sum()
        chosen.append(some)
    index = np.sort(np.concatenate(chosen))
    rows, c = take(problem.rows, index), problem.c[index] * scale[index]
    return replace(problem, rows=rows, y=problem.y[index], c=c)


def as_softmax(problem: Problem) -> MulticlassProblem:
    """The same two-class problem, objective halved, as softmax with half the costs."""
    y = (problem.y > 0).astype(np.int64)
    return MulticlassProblem(problem.rows, y, 0.5 * problem.c, Softmax(), 2, problem.bias)


def finish(problem, W: np.ndarray, b: np.ndarray) -> tuple[Weights, Certificate]:
    """The best biases for the weights, and the certificate of both."""
    if not (np.isfinite(W).all() and np.isfinite(b).all()):  # overflow: the origin is better
        W, b = np.zeros_like(W), np.zeros_like(b)
    if isinstance(problem, MulticlassProblem):
        b, certificate = balanced(problem, W, b)
        return (W, b), certificate
    f = scores(problem.rows, W[0])
    bias = best_bias(problem, f, float(b[0])) if problem.bias is Bias.FREE else 0.0
    return (W, np.array([bias])), certify_logistic(problem, W[0], bias, f)


def certify_logistic(problem: Problem, w: np.ndarray, b: float, f=None) -> Certificate:
    """The certificate of (w, b) with multipliers from the margins, α = c σ(−m).

    They obey Σ αy = 0 if b is the best bias; for another b they are taken at the best one.
    """
    f = scores(problem.rows, w) if f is None else f
    at = best_bias(problem, f, b) if problem.bias is Bias.FREE else b
    alpha = problem.c * expit(-problem.y * (f + at))
    certificate = certify(problem, w, b, alpha, f)
    if certificate.dual >= 0.0:
        return certificate
    return certify(problem, w, b, np.zeros_like(alpha), f)  # no multipliers prove more
