"""The hard margin of k classes, and their separability.

    min ½‖W‖²    with   (W_y − W_c)·x_i + b_y − b_c ≥ 1   for every wrong class c of every row

is the soft "max" rule with C above its largest Σ_c β_ic (``hard_margin.py``).
"""

from __future__ import annotations

import numpy as np

from ...certify.circulation import repair_classes
from ...certify.multiclass import certify_classes, signed
from ...certify.separability import Separation, class_inseparability, proves_classes
from ...problem.class_losses import MaxHinge
from ...problem.multiclass import MulticlassProblem
from ...rows.class_products import class_combine, score_chunks
from ...rows.rows import DenseRows, as_csr, spread
from ..contract import ClassPoint
from ..hard_margin import HardMarginOfRows
from ..two_class.hard import MAX_PROOF_VALUES


class ManyClassMargin(HardMarginOfRows):
    """k classes at once; a row is at C with the sum of its multipliers."""

    hinge = MaxHinge()

    def closest(self, point: ClassPoint) -> float:
        return closest_class_margin(self.problem, point)

    def heaviest(self, point: ClassPoint) -> float:
        return float(point.beta.sum(axis=1).max(initial=0.0))

    def solved(self, point: ClassPoint) -> ClassPoint | None:
        unit = unit_class_margin(self.problem, point)
        return (
            unit
            if certify_classes(self.problem, *unit, tol=self.target).holds(self.target)
            else None
        )

    def disproof(self, point: ClassPoint) -> Separation | None:
        return prove_classes_inseparable(self.problem, point.beta)


def closest_class_margin(problem: MulticlassProblem, point: ClassPoint) -> float:
    """min (W_y − W_c)·x + b_y − b_c."""
    closest = np.inf
    for part, s in score_chunks(problem.rows, point.W):
        s = s + point.b
        own = np.arange(len(s)), problem.y[part]
        right = s[own]
        s[own] = -np.inf
        alive = problem.c[part] > 0
        closest = min(closest, float((right - s.max(axis=1))[alive].min(initial=np.inf)))
    return closest


def unit_class_margin(problem: MulticlassProblem, point: ClassPoint) -> ClassPoint:
    """Scale W, b so that the closest row has margin 1, and feasible β to their best multiple.

    The best multiple t of β maximises t Σβ − ½ t² ‖W_β‖².
    """
    W, b, beta = point
    closest = closest_class_margin(problem, point)
    if closest > 0.0:
        W, b = W / closest, b / closest
    beta = repair_classes(problem, beta)
    W_beta = class_combine(problem.rows, problem.k, signed(problem, beta))
    norm = float(np.sum(W_beta * W_beta))
    return ClassPoint(W, b, beta * (float(beta.sum()) / norm) if norm > 0.0 else beta)


def prove_classes_inseparable(problem: MulticlassProblem, beta) -> Separation | None:
    """Turn large multipliers into weights that cancel in every class, if they nearly do.

    The pairs (row, wrong class) that carry them are inseparable alone then; among them,
    non-negative least squares finds weights that cancel to rounding.
    """
    from scipy.optimize import nnls  # slow to import, seldom needed

    _, d = problem.shape
    most = int(max(50, MAX_PROOF_VALUES / (problem.k * (d + 1))))
    row, wrong = np.nonzero(beta > 0.0)
    heaviest = np.argsort(-beta[row, wrong], kind="stable")[:most]
    row, wrong = row[heaviest], wrong[heaviest]
    weights = beta
    if len(row):
        A = _difference_columns(problem, row, wrong)
        goal = np.zeros(len(A))
        goal[-1] = 1.0
        try:
            exact, _ = nnls(A, goal, maxiter=20 * len(A))
        except RuntimeError:  # did not converge: keep the multipliers
            exact = np.zeros(1)
        if np.isfinite(exact).all() and exact.sum() > 0.0:
            weights = np.zeros_like(beta)
            weights[row, wrong] = exact
    proof = class_inseparability(problem, weights)
    return proof if proves_classes(problem, proof) else None


def _difference_columns(problem: MulticlassProblem, row, wrong) -> np.ndarray:
    """Columns (x̃ ⊗ (e_y − e_c), 1), x̃ = ((x − mean)/spread, 1); without a bias x/spread.

    The last class is left out: what the others receive it gives.
    """
    rows, k = problem.rows, problem.k
    some, which = np.unique(row, return_inverse=True)
    columns = spread(rows)
    if isinstance(rows, DenseRows):
        X = rows.X[some].astype(np.float64)
    else:  # columns that none of these rows has say nothing
        stored = as_csr(rows)[some]
        used = np.unique(stored.indices)
        X, columns = stored[:, used].toarray().astype(np.float64), columns[used]
    if problem.bias:
        X, columns = np.column_stack([X - X.mean(axis=0), np.ones(len(X))]), np.append(columns, 1.0)
    X /= columns
    m, p = len(row), X.shape[1]
    A = np.zeros((m, k, p))
    A[np.arange(m), problem.y[row]] = X[which]
    A[np.arange(m), wrong] = -X[which]
    return np.column_stack([A[:, :-1].reshape(m, -1), np.ones(m)]).T
