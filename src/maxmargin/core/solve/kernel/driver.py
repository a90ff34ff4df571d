"""Which solver for a kernel machine, and why; then run it, prove the result, go on if need be.

linear    k(x, z) = x·z: the linear solvers on the rows themselves
factor    few rows: K = ZZᵀ once, then the linear solvers on Z, exact to rounding
blocks    many rows: block descent on the dual with a bounded cache of rows of K
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certify.bias import best_bias
from ...certify.certificate import Certificate
from ...certify.conclude import first_that_proves
from ...certify.kernelised import certify_kernel, kernel_inseparability, kernel_scores
from ...certify.repair import repair
from ...certify.separability import NotSeparableError
from ...kernels.features import centred, exact_features
from ...kernels.gram_cache import cache_of
from ...problem.kernelised import KernelProblem
from ...problem.problem import Problem
from ...rows.rows import DenseRows, as_rows
from ..contract import Ending, Monitor, Step, settled
from ..threads import one_blas_thread
from ..two_class.driver import solve
from .kernel_descent import DualPoint, descend
from .kernel_hard import descend_hard, gram, refuse, refuse_twins

# Rows up to which K is factored, and to which relative gap the linear machine is then solved.
FACTORED, FACTORED_HARD = 300, 800
EXACT = 1e-9
# Solvers know their gap from float32 values of K: a little less than the target is aimed at.
AIM = 0.95
# A target below this share needs float64 values of K.
SINGLE = 1e-5
# How often a solver goes on when the proof falls short of what it believed.
ENCORES = 4


@dataclass(frozen=True)
class KernelSolution:
    """Multipliers, bias and scores Kβ, why the solver stopped, and what it recorded."""

    alpha: np.ndarray
    b: float
    scores: np.ndarray
    ending: Ending
    solver: str
    why: str
    n_iter: int
    history: list[Step]


def choose_kernel(problem: KernelProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    n = len(problem.y)
    if problem.rows.kernel.name == "linear":
        return "linear", "the kernel is x·z: the linear solvers' own problem"
    if n <= (FACTORED_HARD if problem.hard else FACTORED):
        return "factor", f"{n} rows: the kernel matrix is factored, and the answer exact"
    return "blocks", f"{n} rows: block descent with a bounded cache of kernel values"


def solve_kernel(
    problem: KernelProblem, monitor: Monitor, megabytes: float, start: np.ndarray | None = None
) -> tuple[KernelSolution, Certificate]:
    """Run the solver, return its multipliers made feasible, and the proof of how good they are."""
    name, why = choose_kernel(problem)
    monitor.solver = name
    run = _blocks if name == "blocks" else _flat
    with one_blas_thread(), np.errstate(all="ignore"):
        if problem.hard:
            refuse_twins(problem)
        found, ending = run(problem, monitor, megabytes, start)
        if name != "blocks" and not found.certificate.holds(monitor.tol) and _may_go_on(ending):
            again, ended = _blocks(problem, monitor, megabytes, found.alpha)
            if again.certificate.relative_gap < found.certificate.relative_gap:
                gap = found.certificate.relative_gap
                why = f"the {name} solver stopped at a relative gap of {gap:.1e}"
                found, ending, name = again, ended, "blocks"
    ending = settled(ending, found.certificate, monitor.tol)
    count = max(1, monitor.n_iter)
    return (
        KernelSolution(found.alpha, found.b, found.f, ending, name, why, count, monitor.history),
        found.certificate,
    )


@dataclass(frozen=True)
class Finished:
    """Feasible multipliers with the best bias, the scores they give, and their certificate."""

    alpha: np.ndarray
    b: float
    f: np.ndarray
    certificate: Certificate


def finish_kernel(problem: KernelProblem, alpha: np.ndarray) -> Finished:
    """Made feasible, scores computed afresh; for the hard margin scaled to margin one."""
    if not np.isfinite(alpha).all():
        alpha = np.zeros_like(alpha)
    alpha = repair(problem, alpha)
    f = kernel_scores(problem.rows, alpha * problem.y)
    if problem.hard:
        # The best multiple of α for the dual makes ‖w‖² = Σα, which the optimum has; dividing by
        # the closest margin instead makes w feasible.  At the optimum both are the same.
        b = best_bias(problem, f)
        closest = float((problem.y * (f + b))[problem.c > 0].min())
        if closest > 0.0:
            alpha, f = alpha / closest, f / closest

    def prove(alpha: np.ndarray, f: np.ndarray) -> Finished:
        b = best_bias(problem, f)
        return Finished(alpha, b, f, certify_kernel(problem, None, b, alpha, f))

    return first_that_proves(
        lambda: prove(alpha, f), lambda: prove(np.zeros_like(alpha), np.zeros_like(f))
    )


def _may_go_on(ending: Ending) -> bool:
    return ending in (Ending.REACHED, Ending.STALLED)


def _flat(problem: KernelProblem, monitor: Monitor, megabytes, start) -> tuple[Finished, Ending]:
    """A linear machine: on the rows themselves, or on the features of an exact factor of K."""
    if monitor.solver == "linear":
        rows = as_rows(problem.rows.X)
    else:
        rows = DenseRows(exact_features(centred(gram(problem, np.arange(len(problem.y))))))
    flat = Problem(rows, problem.y, problem.c, problem.loss)
    tol, name, ending = monitor.tol, monitor.solver, Ending.STALLED
    best: Finished | None = None
    try:
        for power in range(3):
            monitor.tol = min(tol, EXACT if name == "factor" else 0.1 * tol) * 1e-2**power
            solution, _ = solve(flat, monitor)
            ending = solution.ending
            found = finish_kernel(problem, solution.point.alpha)
            if best is None or found.certificate.relative_gap < best.certificate.relative_gap:
                best = found
            if best.certificate.holds(tol) or not _may_go_on(ending):
                break
    except NotSeparableError as error:
        if error.proof.weights is not None:
            refuse(kernel_inseparability(problem, error.proof.weights))
        raise
    finally:
        monitor.tol, monitor.solver = tol, name
    assert best is not None
    return best, ending


def _blocks(problem: KernelProblem, monitor: Monitor, megabytes, start) -> tuple[Finished, Ending]:
    """Block descent; float64 values of K where float32 ones leave the proof short."""
    run = descend_hard if problem.hard else descend
    f = None if start is None else kernel_scores(problem.rows, start * problem.y)
    point = DualPoint.start(problem, start, f)
    pull, single = float(problem.c.max() * problem.rows.diagonal.mean()), monitor.tol >= SINGLE
    cache = cache_of(problem.rows, megabytes, np.float32 if single else np.float64, pull)
    aim, ending = AIM * monitor.tol, Ending.STALLED
    best: Finished | None = None
    for _ in range(ENCORES):
        ending = run(problem, monitor, cache, point, aim)
        found = finish_kernel(problem, np.abs(point.beta))
        if best is None or found.certificate.relative_gap < best.certificate.relative_gap:
            best = found
        if best.certificate.holds(monitor.tol) or not _may_go_on(ending):
            break
        if cache.dtype == np.float64:
            aim *= 0.3
        else:  # the two precisions disagree by more than is left to gain
            del cache
            cache = cache_of(problem.rows, megabytes, np.float64, pull)
        point = DualPoint.start(problem, best.alpha, best.f)
    assert best is not None
    return best, ending
