"""Two classes under a kernel: which solver, and why; how it goes on until its point is proved.

linear    k(x, z) = x·z: the linear solvers on the rows themselves
factor    few rows: K = ZZᵀ once, then the linear solvers on Z, exact to rounding
blocks    many rows: block descent on the dual with a bounded cache of rows of K
exact     few rows whose proof falls short: the dual in two hundred digits, then rounded
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...certify.bias import best_bias
from ...certify.conclude import SHARPEST, first_that_proves
from ...certify.kernel_screen import screened_scores
from ...certify.kernelised import (
    balanced,
    certify_kernel,
    enclosed_scores,
    kernel_inseparability,
    kernel_scores,
)
from ...certify.repair import repair
from ...certify.separability import NotSeparableError
from ...kernels.enclosed import Enclosed
from ...kernels.features import centred_features
from ...kernels.gram_cache import Forgetful, GramCache, cache_of
from ...problem.kernelised import KernelProblem
from ...problem.problem import Problem
from ...rows.rows import DenseRows, as_rows
from ..contract import Ending, Form, Monitor, Point, Proved, Solution
from ..driver import drive
from ..far import MULTIPLIER_LIMIT
from ..two_class.form import solve
from .exact import exact
from .exact_program import within_reach
from .kernel_descent import DualPoint, descend, descend_shrinking
from .kernel_hard import descend_hard, refuse, refuse_twins

# Rows up to which K is factored, and to which relative gap the linear machine is then solved.
MAX_FACTORED_ROWS, MAX_FACTORED_HARD_ROWS = 300, 800
FACTORED_TOL = 1e-9
# Solvers know their gap from float32 values of K: a little less than the target is aimed at.
STOP_TOL_SHARE = 0.95
# A target below this share needs float64 values of K.
MIN_SINGLE_TOL = 1e-5
# How often a solver goes on when the proof falls short of what it believed.
MAX_CONTINUATIONS, MAX_SHRINKING_ATTEMPTS = 6, 3


def choose_kernel(problem: KernelProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    n = len(problem.y)
    if problem.rows.kernel.name == "linear":
        return "linear", "the kernel is x·z: the linear solvers' own problem"
    if n <= (MAX_FACTORED_HARD_ROWS if problem.hard else MAX_FACTORED_ROWS):
        return "factor", f"{n} rows: the kernel matrix is factored, and the answer exact"
    return "blocks", f"{n} rows: block descent with a bounded cache of kernel values"


@dataclass(frozen=True)
class KernelForm(Form):
    """Two classes under a kernel: multipliers, a bias and scores; w is never formed."""

    megabytes: float  # for rows of the kernel matrix
    solvers: Mapping[str, Callable] = field(default_factory=lambda: SOLVERS)
    exhausted: list[str] = field(default_factory=list)  # why nothing more can be proved

    def plan(self, problem: KernelProblem) -> tuple[str, str]:
        return choose_kernel(problem)

    def finish(self, problem: KernelProblem, point: Point, tol: float) -> Proved:
        return finish_kernel(problem, point.alpha, tol)

    def check(self, problem: KernelProblem, name: str) -> None:
        if problem.hard:
            refuse_twins(problem)

    def run(self, name: str, problem: KernelProblem, monitor: Monitor, start: Point | None):
        """Solvers go on by themselves, for they know how, and prove what they find."""
        if self.exhausted and start is not None:
            return finish_kernel(problem, start.alpha, monitor.tol), Ending.STALLED
        found, ending = self.solvers[name](problem, monitor, self.megabytes, start)
        if name == "exact" and ending is Ending.REACHED and found.gap > monitor.tol:
            self.exhausted.append(MULTIPLIER_LIMIT)
        return found, ending

    def fall_backs(self, problem: KernelProblem, name: str) -> tuple[str, ...]:
        few = within_reach(problem.rows, len(problem.y))
        others = ("exact", "blocks") if few else ("blocks",)
        return tuple(other for other in others if other != name)


def solve_kernel(
    problem: KernelProblem, monitor: Monitor, megabytes: float, start: Point | None = None
) -> Solution:
    """Solve two classes under a kernel."""
    form = KernelForm(megabytes)
    solution = drive(form, problem, monitor, "auto", start)
    if solution.ending is Ending.REACHED or not form.exhausted:
        return solution
    method = f"{solution.certificate.method}; {MULTIPLIER_LIMIT}"
    certificate = replace(solution.certificate, method=method)
    return solution._replace(certificate=certificate, why=f"{solution.why}: {MULTIPLIER_LIMIT}")


def dual_point(alpha: np.ndarray, b: float = 0.0) -> Point:
    """Multipliers and a bias; no weights."""
    return Point(np.empty(0), b, alpha)


def finish_kernel(
    problem: KernelProblem, alpha: np.ndarray, tol: float = SHARPEST, scored: Callable | None = None
) -> Proved:
    """Made feasible, scores computed afresh; for the hard margin scaled to margin one.

    ``scored(problem, β)``: by whom, if not in float64 for every row.
    """
    if not np.isfinite(alpha).all():
        alpha = np.zeros_like(alpha)
    alpha = balanced(problem, repair(problem, alpha))

    def prove(alpha: np.ndarray) -> Proved:
        beta = alpha * problem.y
        f = enclosed_scores(problem.rows, beta, False) if scored is None else scored(problem, beta)
        if problem.hard:
            alpha, f = _to_margin_one(problem, alpha, f)
        b = best_bias(problem, f.hi)
        return Proved(dual_point(alpha, b), certify_kernel(problem, None, b, alpha, f, tol), f.hi)

    return first_that_proves(lambda: prove(alpha), lambda: prove(np.zeros_like(alpha)))


def _to_margin_one(problem: KernelProblem, alpha, f: Enclosed) -> tuple[np.ndarray, Enclosed]:
    """The best multiple of α for the dual makes ‖w‖² = Σα, which the optimum has; dividing by the
    closest margin instead makes w feasible.  At the optimum both are the same."""
    b = best_bias(problem, f.hi)
    closest = float((problem.y * (f.hi + b))[problem.c > 0].min())
    if not closest > 0.0:
        return alpha, f
    alpha = balanced(problem, alpha / closest)
    return alpha, enclosed_scores(problem.rows, alpha * problem.y, False)


def _may_go_on(ending: Ending) -> bool:
    return ending in (Ending.REACHED, Ending.STALLED)


def _flat(problem: KernelProblem, monitor: Monitor, megabytes, start) -> tuple[Proved, Ending]:
    """A linear machine: on the rows themselves, or on the features of an exact factor of K."""
    if monitor.solver == "linear":
        rows = as_rows(problem.rows.X)
    else:
        rows = DenseRows(centred_features(problem.rows, np.arange(len(problem.y))))
    flat = Problem(rows, problem.y, problem.c, problem.loss)
    tol, name, ending = monitor.tol, monitor.solver, Ending.STALLED
    best: Proved | None = None
    try:
        for power in range(3):
            monitor.tol = min(tol, FACTORED_TOL if name == "factor" else 0.1 * tol) * 1e-2**power
            solution = solve(flat, monitor)
            ending = solution.ending
            found = finish_kernel(problem, solution.point.alpha, tol)
            if best is None or found.gap < best.gap:
                best = found
            few = within_reach(problem.rows, len(problem.y))  # these are solved exactly instead
            if best.gap <= tol or few or not _may_go_on(ending):
                break
    except NotSeparableError as error:
        if error.proof.weights is not None:
            refuse(kernel_inseparability(problem, error.proof.weights))
        raise
    finally:
        monitor.tol, monitor.solver = tol, name
    assert best is not None
    return best, ending


def _blocks(problem: KernelProblem, monitor: Monitor, megabytes, start) -> tuple[Proved, Ending]:
    """Block descent; float64 values of K where float32 ones leave the proof short."""
    alpha = None if start is None else start.alpha
    f = None if alpha is None else kernel_scores(problem.rows, alpha * problem.y)
    point = DualPoint.start(problem, alpha, f)
    dtype = np.float32 if monitor.tol >= MIN_SINGLE_TOL else np.float64
    aim, ending = STOP_TOL_SHARE * monitor.tol, Ending.STALLED
    best: Proved | None = None
    for attempt in range(MAX_CONTINUATIONS):
        run = _descent(problem, attempt)
        ending = run(problem, monitor, _cache(problem, megabytes, dtype), point, aim)
        scored = screened_scores if dtype == np.float32 else None
        found = finish_kernel(problem, np.abs(point.beta), monitor.tol, scored)
        if best is None or found.gap < best.gap:
            best = found
        if best.gap <= monitor.tol or not _may_go_on(ending):
            break
        f = best.scores
        if point.stale:  # rows left out are not at rest; all scores are known now
            aim *= STOP_TOL_SHARE
        elif dtype == np.float64:
            aim *= 0.3
        else:  # the two precisions disagree by more than is left to gain
            dtype, f = np.float64, kernel_scores(problem.rows, best.point.alpha * problem.y)
        point = DualPoint.start(problem, best.point.alpha, f)
    assert best is not None
    return best, ending


def _descent(problem: KernelProblem, attempt: int) -> Callable:
    """Rows are left out where others can be taken for themselves, and not for ever."""
    if problem.hard:
        return descend_hard
    shrink = problem.rows.quick and attempt < MAX_SHRINKING_ATTEMPTS
    return descend_shrinking if shrink else descend


def _cache(problem: KernelProblem, megabytes: float, dtype) -> GramCache | Forgetful:
    pull = float(problem.c.max() * problem.rows.diagonal.mean())
    return cache_of(problem.rows, megabytes, dtype, pull)


SOLVERS: dict[str, Callable] = {
    "linear": _flat,
    "factor": _flat,
    "blocks": _blocks,
    "exact": exact,
}
