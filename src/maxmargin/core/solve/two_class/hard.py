"""The hard margin, and separability.

    min ½‖w‖²    with   y_i (w·x_i + b) ≥ 1

is the soft margin with C above its largest multiplier.  So C is raised, each fit starting
from the last, until no multiplier is at C (then the hard margin is solved) or until the
multipliers, which on inseparable data grow with C for ever, yield a proof that no
separator exists.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certify.separability import NotSeparableError, Separation, inseparability, proves
from ...problem.losses import Hinge
from ...problem.problem import Problem
from ...rows.rows import SparseRows, as_csr, dense, scores, spread, sqnorms
from ..contract import Ending, Monitor, Point

RAISE = 30.0
MOST_RAISES = 14
# C begins so far above the multipliers of a start, unless these are as large as many raises make
# them: then it was no answer.
ABOVE, FAR = 3.0, 6
# Entries of the dense system from which exact weights are computed.
MOST_VALUES = 3e7


def hard_margin(problem: Problem, monitor: Monitor, start, run) -> tuple[Point, Ending]:
    """Solve with ``run(problem, monitor, start)`` as the soft-margin solver.

    Raises NotSeparableError, with the proof, when there is no separator.
    """
    scale = max(float(sqnorms(problem.rows).mean()), 1e-300)
    C = first_price(10.0 / scale, 0.0 if start is None else float(start.alpha.max(initial=0.0)))
    target = monitor.tol
    monitor.tol = min(1e-7, 1e-2 * target)
    columns = spread(problem.rows)
    point, ending = start, Ending.STALLED
    try:
        for _ in range(MOST_RAISES):
            soft = replace(problem, c=np.where(problem.c > 0, C, 0.0), loss=Hinge())
            point, ending = run(soft, monitor, point)
            if ending not in (Ending.REACHED, Ending.STALLED):
                break
            closest = closest_margin(problem, point)
            if closest > 0.0:
                if point.alpha.max() < 0.999 * C:  # the right C; precise enough, too?
                    if hard_gap(problem, point, closest) <= target:
                        return point, Ending.REACHED
                    if monitor.tol < 1e-14:
                        break
                    monitor.tol *= 1e-2
                    continue
            else:
                proof = prove_inseparable(problem, point.alpha, columns)
                if proof is not None:
                    raise NotSeparableError(proof)
            C *= RAISE
    finally:
        monitor.tol = target
    return point, Ending.STALLED if ending is Ending.REACHED else ending


def first_price(C: float, heaviest: float) -> float:
    """The C to begin with: above the multipliers of the start, if that was nearly the answer."""
    return max(C, ABOVE * heaviest) if heaviest <= C * RAISE**FAR else C


def closest_margin(problem: Problem, point: Point) -> float:
    """min y(w·x + b), with b half way between the classes when it is free."""
    f, y, alive = scores(problem.rows, point.w), problem.y, problem.c > 0
    if problem.bias:
        return 0.5 * float(f[alive & (y > 0)].min() - f[alive & (y < 0)].max())
    return float((y * (f + point.b))[alive].min())


def hard_gap(problem: Problem, point: Point, closest: float) -> float:
    """Relative gap of the hard margin, roughly: from w alone and Σα = ‖w‖² at the optimum."""
    norm = float(point.w @ point.w)
    total = float(point.alpha.sum())
    primal, dual = 0.5 * norm / closest**2, total - 0.5 * norm
    return (primal - dual) / primal


def prove_inseparable(problem: Problem, alpha, columns) -> Separation | None:
    """Turn large multipliers into weights whose class means coincide, if they nearly do.

    The support vectors alone are inseparable then; among them, non-negative least squares
    finds weights whose means agree to rounding.
    """
    from scipy.optimize import nnls  # slow to import, seldom needed

    _, d = problem.shape
    most = int(max(50, MOST_VALUES / (d + 2)))
    support = np.flatnonzero(alpha > 0)
    support = support[np.argsort(-alpha[support], kind="stable")[:most]]  # the heaviest
    weights = alpha
    if len(support):
        A = _class_points(problem, support, columns)
        goal = np.zeros(A.shape[1])
        goal[-2 if problem.bias else -1 :] = 1.0
        try:
            exact, _ = nnls(A.T, goal, maxiter=20 * A.shape[1])
        except RuntimeError:  # did not converge: keep the multipliers
            exact = np.zeros(1)
        if np.isfinite(exact).all() and exact.sum() > 0:
            weights = np.zeros_like(alpha)
            weights[support] = exact
    proof = inseparability(problem, weights)
    return proof if proves(problem, proof) else None


def _class_points(problem: Problem, index, columns) -> np.ndarray:
    """Rows (y (x − mean)/spread, [class +], [class −]); without a bias (y x/spread, 1)."""
    rows, y = problem.rows, problem.y[index]
    if not isinstance(rows, SparseRows):
        X = dense(rows, index).astype(np.float64)
    else:  # columns that none of these rows has say nothing
        some = as_csr(rows)[index]
        used = np.unique(some.indices)
        X, columns = some[:, used].toarray().astype(np.float64), columns[used]
    if problem.bias:
        X = (X - X.mean(axis=0)) / columns
        return np.column_stack([X * y[:, None], y > 0, y < 0])
    return np.column_stack([X / columns * y[:, None], np.ones(len(index))])
