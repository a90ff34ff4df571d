"""k classes at once, by hinges or by softmax: every row left out."""

from __future__ import annotations

import numpy as np

from ...problem.multiclass import MulticlassProblem
from ...problem.problem import Problem
from ...rows.class_products import score_chunks
from ..contract import ClassPoint, ClassWeights
from .answer import LeftOutScores, distance_bound, score_reach
from .refit import optimum, refit, ties_biases
from .smooth import leave_out_smoothly

# Biases of k classes are fixed only up to their mean.
CLASS_SHIFTS = 2.0


def leave_out_classes(problem: MulticlassProblem, start: ClassPoint) -> LeftOutScores:
    """The "max" and the "sum" rule; a row without multipliers changes nothing."""
    found = optimum(problem, start)
    W, b, beta = found.point
    reach = score_reach(problem.rows, bool(problem.bias), CLASS_SHIFTS)
    out = LeftOutScores.unchanged(_scores(problem, W, b), distance_bound(found.certificate) * reach)
    if not ties_biases(problem, found):
        out.tolerance[:] = np.inf
    refit(problem, found.point, np.flatnonzero(beta.any(axis=1)), reach, out)
    return out


def leave_out_smooth(problem: Problem | MulticlassProblem, start: ClassWeights) -> LeftOutScores:
    """Logistic losses: every row has a multiplier."""
    several = isinstance(problem, MulticlassProblem)
    shifts = CLASS_SHIFTS if several else 1.0
    reach = score_reach(problem.rows, bool(problem.bias), shifts)
    if isinstance(problem, Problem):
        by_steps = leave_out_smoothly(problem, start.W[0], float(start.b[0]))
        if by_steps is not None:
            refit(problem, start, by_steps[1], reach, by_steps[0])
            return by_steps[0]
    found = optimum(problem, start)
    W, b = found.point
    F = _scores(problem, W, b)
    out = LeftOutScores.unchanged(
        F if several else F[:, 0], distance_bound(found.certificate) * reach
    )
    refit(problem, found.point, np.flatnonzero(problem.c > 0), reach, out)
    return out


def _scores(problem, W, b) -> np.ndarray:
    return np.concatenate([part for _, part in score_chunks(problem.rows, W)]) + b
