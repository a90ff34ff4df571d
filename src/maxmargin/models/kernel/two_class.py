"""KernelSVM with two classes: one multiplier per row, w in the space of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from ...core.rows.decimals import many_digits
from ...core.solve.contract import Ending, Monitor, Point, Solution
from ...core.solve.far import MULTIPLIER_LIMIT
from ...core.solve.kernel.exact import machine_of, proof_of_function
from ...core.solve.kernel.form import dual_point, solve_kernel
from ...core.solve.kernel.no_coefficients import NO_COEFFICIENTS, none_within_gap
from ...core.solve.kernel.other_coefficients import METHOD, has_digits
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
    w, b, alpha = solution.point
    beta = coefficients(problem, solution.point)
    svm_two.keep(model, problem, alpha, solution.scores, b, float(beta @ solution.scores))
    if len(w):
        keep_coefficients(model, beta[:, None])
        kinds = svm_two.support_kinds(problem, alpha, model.slack_, model.support_)
        model.support_kind_ = kinds
    note(model, solution, beyond(solution.certificate, [(problem, solution)], model.tol))
    return solution.ending


def beyond(found: Certificate, parts: list[tuple[KernelProblem, Solution]], tol: float):
    """``found``, of all machines together; where it falls short, with the reason if one of those
    whose exact multipliers are known can be no better."""
    known = [part for part in parts if MULTIPLIER_LIMIT in part[1].certificate.method]
    proofs = [each.certificate for _, each in parts]
    others = [proof for proof in proofs if MULTIPLIER_LIMIT not in proof.method]
    if found.holds(tol) or not known:
        return found
    with many_digits():
        machines = [machine_of(problem, each.point.alpha) for problem, each in known]
        solved = [machine for machine in machines if machine is not None]
        if len(solved) < len(known) or not none_within_gap(solved, others, tol):
            return found
    return replace(found, method=f"{found.method}; {NO_COEFFICIENTS.format(tol)}")


def coefficients(problem: KernelProblem, point: Point) -> np.ndarray:
    """Of every row: its signed multiplier, or another number where float64 multipliers do not say
    the machine's function, and others do (``core/solve/kernel/other_coefficients.py``)."""
    return point.w if len(point.w) else point.alpha * problem.y


def keep_coefficients(model, beta: np.ndarray) -> None:
    """Coefficients (n, machines) that are not the multipliers: rows that have one are supports."""
    model._coefficients = beta
    model.support_ = np.union1d(model.support_, np.flatnonzero(beta.any(axis=1)))


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data; multipliers are rebuilt where the rows are not the same."""
    points = model._expansion.prepare(X)
    problem = pose(model, points, codes, weight)

    @cache
    def w(sharp: bool) -> Scored:
        return model._expansion.scored(points, X, sharp)[0]

    near = best_proof(problem, w, float(model.intercept_[0]), model.alpha_, model.tol)
    return sharpened(model, problem, 0, near)


def has_other_coefficients(model) -> bool:
    """Whether the coefficients of a model, of whatever classes, are not its multipliers."""
    own = np.abs(model.dual_coef_.T)
    alpha = model.alpha_[model.support_].reshape(own.shape)
    some = alpha > 0
    return not np.array_equal(own[some], alpha[some])


def told_in_digits(model) -> bool:
    """Whether a fit's own coefficients were proved beside multipliers of many digits."""
    return has_other_coefficients(model) or METHOD in model.certificate_.method


def sharpened(model, problem: KernelProblem, q: int, near: Certificate) -> Certificate:
    """``near``, or the proof of the machine's own coefficients in many digits, if that is more."""
    if near.holds(model.tol) or not told_in_digits(model):
        return near
    if not has_digits(problem.rows, len(problem.y)):
        return near
    with many_digits():
        given = model._expansion.in_many_digits(problem.rows, [q], model.intercept_[[q]])
    found = proof_of_function(problem, given, near)
    return found if found.relative_gap < near.relative_gap else near


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
