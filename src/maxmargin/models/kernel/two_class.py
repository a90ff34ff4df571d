"""KernelSVM with two classes: one multiplier per row, w in the space of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import first_that_proves
from ...core.certify.kernelised import Scored, certify_kernel
from ...core.certify.repair import repair
from ...core.certify.two_class import from_margins
from ...core.kernels.kernel_block import KernelPoints
from ...core.problem.kernelised import KernelProblem
from ...core.problem.losses import Hinge
from ...core.problem.problem import costs
from ...core.solve.contract import Ending, Monitor
from ...core.solve.kernel.form import dual_point, solve_kernel
from ..fitting import note
from ..svm import two_class as svm_two

dual_coef = svm_two.dual_coef


def pose(model, points: KernelPoints, codes, weight) -> KernelProblem:
    """The two-class problem of the model's parameters; class 1 is the positive side."""
    y = np.where(codes == 1, 1.0, -1.0)
    return KernelProblem(points, y, costs(float(model.C), weight, len(y)), Hinge())


def fit(model, points: KernelPoints, codes, weight, monitor: Monitor) -> Ending:
    problem = pose(model, points, codes, weight)
    warm = model.warm_start and getattr(model, "alpha_", np.empty(0)).shape == problem.y.shape
    start = dual_point(repair(problem, model.alpha_)) if warm else None
    solution = solve_kernel(problem, monitor, model.cache_mb, start)
    certificate = solution.certificate
    _, b, alpha = solution.point
    norm = float(alpha * problem.y @ solution.scores)
    svm_two.keep(model, problem, alpha, solution.scores, b, norm)
    note(model, solution, certificate)
    return solution.ending


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data; multipliers are rebuilt where the rows are not the same."""
    points = model._expansion.prepare(X)
    problem = pose(model, points, codes, weight)

    @cache
    def w(sharp: bool) -> Scored:
        return model._expansion.scored(points, X, sharp)[0]

    return best_proof(problem, w, float(model.intercept_[0]), model.alpha_, model.tol)


def best_proof(
    problem: KernelProblem, w: Callable[[bool], Scored], b: float, alpha: np.ndarray, tol: float
) -> Certificate:
    """With the multipliers given if they are feasible, else rebuilt from margins, or none."""

    def prove(alpha: np.ndarray) -> Certificate:
        return certify_kernel(problem, w, b, alpha, tol=tol)

    return first_that_proves(
        *([lambda: prove(alpha)] if len(alpha) == len(problem.y) else []),
        lambda: prove(repair(problem, from_margins(problem, problem.y * (w(False).f.hi + b)))),
        lambda: prove(np.zeros(len(problem.y))),
    )
