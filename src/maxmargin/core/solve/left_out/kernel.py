"""Two classes under a kernel: every row left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certify.repair import repair
from ...problem.kernelised import KernelProblem
from ..contract import Monitor, Solution
from ..kernel.form import dual_point, solve_kernel
from .answer import LeftOutScores, distance_bound
from .two_class import rows_that_matter

# The gap asked for; what is reached is told.
KERNEL_REFIT_TOL = 1e-10


def leave_out_kernel_rows(problem: KernelProblem, alpha: np.ndarray, megabytes) -> LeftOutScores:
    """Every row's score by the optimum without it; α: the optimum with all rows, nearly."""
    found = _optimum(problem, alpha, megabytes)
    reach = _reach(problem)
    f = found.scores + found.point.b
    out = LeftOutScores.unchanged(f, distance_bound(found.certificate) * reach)
    for i in rows_that_matter(problem, found):
        c, start = problem.c.copy(), found.point.alpha.copy()
        c[i] = start[i] = 0.0
        small = replace(problem, c=c)
        other = _optimum(small, start, megabytes)
        f_i = other.scores[i] + other.point.b
        out.settle(i, f_i, distance_bound(other.certificate) * reach[i], "fitted")
    return out


def _optimum(problem: KernelProblem, alpha, megabytes) -> Solution:
    start = dual_point(repair(problem, alpha))
    return solve_kernel(problem, Monitor(tol=KERNEL_REFIT_TOL, max_iter=100_000), megabytes, start)


def _reach(problem: KernelProblem) -> np.ndarray:
    """‖φ(x_i)‖ + the largest: how far a score can move if the weights move by one."""
    lengths = np.sqrt(np.maximum(problem.rows.diagonal, 0.0))
    return lengths + lengths.max()
