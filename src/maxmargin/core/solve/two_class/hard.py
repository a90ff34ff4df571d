"""The hard margin of two classes (``hard_margin.py``), and the proof that there is none."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...certify.separability import Separation, inseparability, proves
from ...problem.losses import Hinge
from ...problem.problem import Problem
from ...rows.rows import SparseRows, as_csr, dense, scores, spread
from ..contract import Point
from ..hard_margin import HardMarginOfRows

# Entries of the dense system from which exact weights are computed.
MAX_PROOF_VALUES = 3e7


class TwoClassMargin(HardMarginOfRows):
    """One hyperplane: y (w·x + b) ≥ 1."""

    hinge = Hinge()

    def closest(self, point: Point) -> float:
        return closest_margin(self.problem, point)

    def heaviest(self, point: Point) -> float:
        return float(point.alpha.max(initial=0.0))

    def solved(self, point: Point) -> Point | None:
        gap = hard_gap(point, self.closest(point))
        return point if gap <= self.target else None

    @cached_property
    def columns(self) -> np.ndarray:
        return spread(self.problem.rows)

    def disproof(self, point: Point) -> Separation | None:
        return prove_inseparable(self.problem, point.alpha, self.columns)


def closest_margin(problem: Problem, point: Point) -> float:
    """min y(w·x + b), with b half way between the classes when it is free."""
    f, y, alive = scores(problem.rows, point.w), problem.y, problem.c > 0
    if problem.bias:
        return 0.5 * float(f[alive & (y > 0)].min() - f[alive & (y < 0)].max())
    return float((y * (f + point.b))[alive].min())


def hard_gap(point: Point, closest: float) -> float:
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
    most = int(max(50, MAX_PROOF_VALUES / (d + 2)))
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
