"""Two classes, hinge or squared hinge: every row left out.

    min over w, b    ½‖w‖² + Σ_{j ≠ i} c_j ℓ(y_j (w·x_j + b))

A row without a multiplier changes nothing: the multipliers of the optimum with it are those of the
optimum without it.  But where biases are not unique, it may be the one that bounds them.
"""

from __future__ import annotations

import numpy as np

from ...problem.losses import Hinge
from ...problem.problem import Problem
from ..contract import Point, Solution
from .answer import LeftOutScores, distance_bound, score_reach
from .hinge import leave_out_by_paths
from .path import MIN_TIE_SHARE
from .refit import optimum, refit
from .smooth import leave_out_smoothly

# Places where slacks end that differ by less than this are one.
SAME_PLACE_TOL = 1e-9


def leave_out_two_class(problem: Problem, start: Point) -> LeftOutScores:
    """Every row's score by the optimum without it; ``start``: the optimum with all, nearly."""
    found = optimum(problem, start)
    reach = score_reach(problem.rows, bool(problem.bias))
    quick = None
    if isinstance(problem.loss, Hinge) and not problem.hard:
        quick = leave_out_by_paths(problem, found.point)
    elif not problem.hard:
        quick = leave_out_smoothly(problem, found.point.w, found.point.b)
    if quick is None:
        f = found.scores + found.point.b
        out = LeftOutScores.unchanged(f, distance_bound(found.certificate) * reach)
        quick = out, rows_that_matter(problem, found)
    out, rows = quick
    refit(problem, found.point, rows, reach, out)
    return out


def rows_that_matter(problem: Problem, found: Solution) -> np.ndarray:
    """Those with a multiplier, and those that bound a bias that is not unique."""
    alpha = found.point.alpha
    matter = alpha > 0.0
    room = np.minimum(alpha, problem.cap - alpha)
    if problem.bias and not (room > MIN_TIE_SHARE * problem.c).any():
        point = np.where(problem.c > 0, problem.y - found.scores, np.nan)  # where slack ends
        for beyond in (point[point >= found.point.b], point[point <= found.point.b]):
            if len(beyond):
                closest = beyond[np.abs(beyond - found.point.b).argmin()]
                matter |= np.abs(point - closest) <= SAME_PLACE_TOL * (1.0 + abs(closest))
    return np.flatnonzero(matter & (problem.c > 0))
