"""Two classes under a kernel: every row left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certify.repair import repair
from ...kernels.kernel_block import KernelPoints, values
from ...problem.kernelised import KernelProblem
from ..contract import Monitor, Solution
from ..kernel.form import dual_point, solve_kernel
from ..threads import one_blas_thread
from .answer import LeftOutScores, distance_bound
from .hinge import leave_out_by_kernel_paths
from .two_class import rows_that_matter

# The gap asked for; what is reached is told.
KERNEL_REFIT_TOL = 1e-10
# The gap from which paths lead to the optimum.
POLISHED_FROM_TOL = 1e-6
# Rows up to which the kernel matrix is held, twice.
MAX_HELD_ROWS = 8000


def leave_out_kernel_rows(problem: KernelProblem, alpha: np.ndarray, megabytes) -> LeftOutScores:
    """Every row's score by the optimum without it; α: the optimum with all rows, nearly."""
    with one_blas_thread():
        return _leave_out(problem, alpha, megabytes)


def _leave_out(problem: KernelProblem, alpha: np.ndarray, megabytes) -> LeftOutScores:
    n, reach = len(problem.y), _reach(problem)
    if n <= MAX_HELD_ROWS and not problem.hard:
        found = _optimum(problem, alpha, megabytes, POLISHED_FROM_TOL)
        K = _matrix(problem.rows)
        by_paths = leave_out_by_kernel_paths(problem, K, found.point.alpha, found.point.b)
        if by_paths is not None:
            _refit(problem, found.point.alpha, by_paths[1], reach, megabytes, by_paths[0])
            return by_paths[0]
    found = _optimum(problem, alpha, megabytes, KERNEL_REFIT_TOL)
    f = found.scores + found.point.b
    out = LeftOutScores.unchanged(f, distance_bound(found.certificate) * reach)
    rows = rows_that_matter(problem, found)
    _refit(problem, found.point.alpha, rows, reach, megabytes, out)
    return out


def _matrix(points: KernelPoints) -> np.ndarray:
    """All kernel values, in float64."""
    n = len(points)
    K = np.empty((n, n))
    for start in range(0, n, points.together):
        some = np.arange(start, min(n, start + points.together))
        for part, V in values(points, some, points, np.float64):
            K[some, part] = V
    return K


def _refit(problem: KernelProblem, alpha, rows, reach, megabytes, out: LeftOutScores) -> None:
    """Settle some rows by a fit each."""
    for i in rows:
        c, start = problem.c.copy(), alpha.copy()
        c[i] = start[i] = 0.0
        other = _optimum(replace(problem, c=c), start, megabytes, KERNEL_REFIT_TOL)
        f = other.scores[i] + other.point.b
        out.settle(i, f, distance_bound(other.certificate) * reach[i], "fitted")


def _optimum(problem: KernelProblem, alpha, megabytes, tol: float) -> Solution:
    start = dual_point(repair(problem, alpha))
    return solve_kernel(problem, Monitor(tol=tol, max_iter=100_000), megabytes, start)


def _reach(problem: KernelProblem) -> np.ndarray:
    """‖φ(x_i)‖ + the largest: how far a score can move if the weights move by one."""
    lengths = np.sqrt(np.maximum(problem.rows.diagonal, 0.0))
    return lengths + lengths.max()
