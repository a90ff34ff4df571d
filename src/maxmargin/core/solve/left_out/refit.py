"""One fit for every row that is left out, started from the optimum with all rows.

    min over w, b    ½‖w‖² + Σ_{j ≠ i} c_j ℓ_j(w·x_j + b):   the same problem with c_i = 0

The way that is always open; faster ones settle most rows before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...certify.circulation import repair_classes, ties_all_classes
from ...certify.repair import repair
from ...problem.multiclass import MulticlassProblem
from ...problem.problem import Problem
from ...rows.rows import dense
from ..contract import ClassPoint, ClassWeights, Monitor, Point, Solution
from ..many_class.form import solve_classes
from ..softmax.form import solve_logistic
from ..two_class.form import solve
from .answer import LeftOutScores, distance_bound

# The gap asked for first: solvers that end at a vertex are then much closer, mostly.  Where scores
# are not known to the tolerance below, what rounding allows is asked for, at four times the steps.
QUICK_TOL, QUICK_ENOUGH, QUICK_TOLERANCE = 1e-11, 1e-9, 1e-3
# The gap asked for then: what can be had of it depends on rounding, and is told.
REFIT_TOL = 1e-13
# A gap for which a hundred digits are not asked: they cost as much as fifty such fits.
REFIT_ENOUGH = 1e-11
MAX_REFIT_STEPS = 500


def optimum(
    problem: Any, start: Any, tol: float = REFIT_TOL, enough: float = REFIT_ENOUGH
) -> Solution:
    """The optimum of a problem of any kind, as closely as can be had."""
    monitor = Monitor(tol=tol, enough=enough, max_iter=MAX_REFIT_STEPS)
    if isinstance(start, ClassWeights):
        return solve_logistic(problem, monitor, "auto", (start.W, start.b))
    if isinstance(start, ClassPoint):
        return solve_classes(problem, monitor, "auto", start)
    return solve(problem, monitor, "auto", start)


def without(problem: Any, start: Any, rows) -> tuple[Any, Any]:
    """The problem without some rows, and where to start from."""
    c = problem.c.copy()
    c[rows] = 0.0
    small = replace(problem, c=c)
    if isinstance(start, Point):
        alpha = start.alpha.copy()
        alpha[rows] = 0.0
        return small, start._replace(alpha=repair(small, alpha))
    if isinstance(start, ClassPoint):
        beta = start.beta.copy()
        beta[rows] = 0.0
        return small, start._replace(beta=repair_classes(small, beta))
    return small, start


def refit(problem: Problem | MulticlassProblem, start, rows, reach, out: LeftOutScores) -> None:
    """Settle some rows by a fit each."""
    for i in rows:
        small, near = without(problem, start, i)
        found = optimum(small, near, QUICK_TOL, QUICK_ENOUGH)
        if not distance_bound(found.certificate) * reach[i] <= QUICK_TOLERANCE:
            found = optimum(small, near)
        x = dense(problem.rows, np.array([i]))[0].astype(np.float64)
        point = found.point
        f = x @ point.w + point.b if isinstance(point, Point) else point.W @ x + point.b
        f = f if out.scores.ndim > 1 else float(np.ravel(f)[0])
        apart = distance_bound(found.certificate) if ties_biases(problem, found) else np.inf
        out.settle(i, f, apart * reach[i], "fitted")


def ties_biases(problem, found: Solution) -> bool:
    """Whether the multipliers of k classes leave their biases no choice; else nothing is told of
    how far scores can be, for the middle of what is left is known only roughly.

    With a gap of g, multipliers with room r keep the slack of some row within g/r at the optimum,
    which says nothing unless r is more than √g.
    """
    several = isinstance(found.point, ClassPoint) and bool(problem.bias)
    least = float(np.sqrt(max(found.certificate.gap, 0.0)))
    return not several or bool(ties_all_classes(problem, found.point.beta, least))
