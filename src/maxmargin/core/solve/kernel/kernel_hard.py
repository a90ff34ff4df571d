"""The hard margin in the space of a kernel, or the proof that there is none.

    min ½‖w‖²    with   y_i (w·φ(x_i) + b) ≥ 1

is the soft margin with C above its largest multiplier (``hard_margin.py``).  The same point in
both classes proves at once that there is none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ...certify.kernelised import kernel_inseparability
from ...certify.separability import NotSeparableError, Separation
from ...kernels.features import centred_features
from ...kernels.gram_cache import Forgetful, GramCache
from ...problem.kernelised import KernelProblem
from ...problem.losses import Hinge
from ...problem.problem import Problem
from ...rows.rows import DenseRows, spread
from ..contract import Ending, Monitor
from ..hard_margin import HardMargin, raise_price
from ..two_class.hard import prove_inseparable
from .kernel_descent import DualPoint, descend

# Support vectors from which a proof is made: the heaviest.
MAX_PROOF_VECTORS = 600
# Gap of the first soft margins, in units of the one asked for.
FIRST_SOFT_TOL_SHARE = 0.5


class KernelMargin(HardMargin):
    """Two classes under a kernel; the point is moved in place, and tells its own bounds."""

    sharper, sharpest = 0.1, 1e-13

    def __init__(self, problem: KernelProblem, monitor: Monitor, cache, tol: float):
        self.problem, self.monitor, self.cache, self.target = problem, monitor, cache, tol
        self.tol = FIRST_SOFT_TOL_SHARE * tol

    def soften(self, C: float, tol: float, point: DualPoint) -> tuple[DualPoint, Ending]:
        soft = replace(self.problem, c=np.where(self.problem.c > 0, C, 0.0))
        point.bound(soft)
        ending = descend(soft, self.monitor, self.cache, point, tol)
        self.primal, self.dual = point.bounds(self.problem)
        return point, ending

    def closest(self, point: DualPoint) -> float:
        """Its sign: the objective is infinite where a row is on the wrong side."""
        return -1.0 if np.isinf(self.primal) else 1.0

    def heaviest(self, point: DualPoint) -> float:
        return float(np.abs(point.beta).max())

    def solved(self, point: DualPoint) -> DualPoint | None:
        return point if self.primal - self.dual <= self.target * abs(self.primal) else None

    def disproof(self, point: DualPoint) -> Separation | None:
        """From the heaviest multipliers."""
        problem, alpha = self.problem, np.abs(point.beta)
        support = np.flatnonzero(alpha)
        if len(support) == 0:
            return None
        support = np.sort(support[np.argsort(-alpha[support], kind="stable")[:MAX_PROOF_VECTORS]])
        y, c = problem.y[support], problem.c[support]
        flat = Problem(DenseRows(centred_features(problem.rows, support)), y, c, Hinge())
        found = prove_inseparable(flat, alpha[support], spread(flat.rows))
        if found is None or found.weights is None:
            return None
        weights = np.zeros(len(alpha))
        weights[support] = found.weights
        return kernel_inseparability(problem, weights)


def descend_hard(
    problem: KernelProblem,
    monitor: Monitor,
    cache: GramCache | Forgetful,
    point: DualPoint,
    tol: float,
) -> Ending:
    """As ``descend``; raises NotSeparableError, with the proof, when there is no separator."""
    C = 10.0 / max(float(problem.rows.diagonal.mean()), 1e-300)
    margin = KernelMargin(problem, monitor, cache, tol)
    return raise_price(margin, C, point)[1]


def refuse(proof: Separation | None) -> None:
    if proof is not None:
        raise NotSeparableError(proof)


def refuse_twins(problem: KernelProblem) -> None:
    """Raise if a point is in both classes: then no kernel separates them."""
    X = problem.rows.X
    seen: dict = {}
    for i in np.flatnonzero(problem.c > 0).tolist():
        row = X[[i]]
        key = (row.indices.tobytes(), row.data.tobytes()) if sparse.issparse(X) else row.tobytes()
        j = seen.setdefault(key, i)
        if problem.y[i] != problem.y[j]:
            weights = np.zeros(len(problem.y))
            weights[[i, j]] = 1.0
            refuse(kernel_inseparability(problem, weights))
