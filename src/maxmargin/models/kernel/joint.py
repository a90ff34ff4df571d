"""KernelSVM with k classes at once: the "max" and the "sum" rule.

The kernel matrix is factored, K = ZZᵀ, and the linear solvers for k classes work on Z: the
same problem, exactly.  What they find is certified from kernel values.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import first_that_proves
from ...core.certify.kernelised import Scored, certify_kernel_classes, enclosed_scores
from ...core.certify.multiclass import signed
from ...core.kernels.enclosed import Enclosed
from ...core.kernels.features import centred_features
from ...core.kernels.kernel_block import KernelPoints
from ...core.problem.class_losses import CLASS_LOSSES
from ...core.problem.multiclass import MulticlassProblem
from ...core.problem.problem import costs
from ...core.rows.decimals import ONE, floats, many_digits
from ...core.rows.double_double import OUTWARDS
from ...core.rows.rows import DenseRows
from ...core.solve.contract import ClassPoint, Ending, Monitor, settled
from ...core.solve.far import MULTIPLIER_LIMIT
from ...core.solve.kernel.exact_classes import exact_classes, machine_of_classes
from ...core.solve.kernel.exact_program import roundable, within_reach
from ...core.solve.kernel.no_coefficients import NO_COEFFICIENTS, none_within_gap
from ...core.solve.kernel.other_coefficients import (
    DecimalMachine,
    better_function,
    has_digits,
    proved,
)
from ...core.solve.many_class.form import solve_classes
from ..fitting import note
from ..svm import joint as svm_joint
from ..svm.joint import dual_coef
from . import two_class as kernel_two

__all__ = ["dual_coef", "fit", "recertify"]

# Rows up to which K is held and factored.
MAX_JOINT_KERNEL_ROWS = 5000
# What the multipliers alone leave of the gap is larger than that of W itself: go on, closer.
CONTINUATION_TOL_SHARE, MAX_CONTINUATIONS = 0.1, 8
# Rows up to which the model is solved to rounding, so that it depends on nothing but the data.
MAX_EXACT_JOINT_ROWS, EXACT_JOINT_TOL, ACCEPTED_JOINT_TOL = 200, 1e-13, 1e-11


def pose(model, Z, codes, weight) -> MulticlassProblem:
    """The k-class problem on explicit features Z."""
    c = costs(float(model.C), weight, len(codes))
    loss = CLASS_LOSSES[model.multiclass, "hinge"]
    k = len(model.classes_)
    return MulticlassProblem(DenseRows(Z), codes.astype(np.int64, copy=False), c, loss, k)


def fit(model, points: KernelPoints, codes, weight, monitor: Monitor) -> Ending:
    n = len(codes)
    if n > MAX_JOINT_KERNEL_ROWS:
        raise ValueError(
            f"multiclass={model.multiclass!r} with a kernel factors the {n} × {n} kernel matrix, "
            f"and does so for at most {MAX_JOINT_KERNEL_ROWS} rows. Use multiclass='pairs' or "
            "'rest', or "
            "rank=1000 for an approximation."
        )
    problem = pose(model, centred_features(points, np.arange(n)), codes, weight)
    solution, certificate, slacks, beta, b, *others = _solve(problem, points, monitor)
    norm = others[1] if others else _norm(problem, beta)
    svm_joint.keep(model, problem, beta, slacks, b, norm)
    if others:
        kernel_two.keep_coefficients(model, others[0])
        model.support_kind_ = svm_joint.support_kinds(problem, beta, slacks[:, 0])[model.support_]
    note(model, solution, certificate)
    return settled(solution.ending, certificate, monitor.tol)


def _solve(problem: MulticlassProblem, points: KernelPoints, monitor: Monitor):
    """Ever closer, until the multipliers prove what was asked for."""
    tol, start, best = monitor.tol, None, None
    slacks, small = np.empty((len(problem.y), 2)), len(problem.y) <= MAX_EXACT_JOINT_ROWS
    few = within_reach(points, problem.k * len(problem.y))
    try:
        for power in range(MAX_CONTINUATIONS):
            monitor.tol = EXACT_JOINT_TOL if small else tol * CONTINUATION_TOL_SHARE**power
            solution = solve_classes(problem, monitor, "auto", start)
            start = solution.point
            beta, b, F = _uncentred(problem, points, start, slacks)
            certificate = certify_kernel_classes(problem, points, None, b, beta, slacks, F, tol)
            if best is None or certificate.relative_gap < best[1].relative_gap:
                best = solution, certificate, slacks.copy(), beta, b
            stuck = solution.ending is not Ending.REACHED and not small
            stuck = stuck or (not best[1].holds(tol) and few)  # which is then solved exactly
            if best[1].holds(ACCEPTED_JOINT_TOL if small else tol) or stuck:
                break
    finally:
        monitor.tol = tol
    assert best is not None
    return _better(problem, points, monitor, best) if few and not best[1].holds(tol) else best


def _better(problem: MulticlassProblem, points: KernelPoints, monitor: Monitor, best):
    """What few rows give in many digits, where that proves more."""
    solution, slacks, tried = best[0], np.empty((len(problem.y), 2)), False
    for point in exact_classes(problem, points, best[3], monitor):
        given, tried = (point.b, point.beta, slacks), True
        certificate = certify_kernel_classes(problem, points, None, *given, None, monitor.tol)
        if certificate.relative_gap < best[1].relative_gap:
            why = f"{solution.solver} stopped at a relative gap of {best[1].relative_gap:.1e}"
            told = solution._replace(solver="exact", why=why, ending=Ending.REACHED)
            best = told, certificate, slacks.copy(), point.beta, point.b
        if best[1].holds(monitor.tol):
            return best
    if not tried:
        return best
    with many_digits():
        machine = machine_of_classes(problem, points, best[3], monitor)
        if machine is not None:
            best = _of_the_same_function(machine, monitor, best)
        if best[1].holds(monitor.tol) or not roundable(problem.k * len(problem.y)):
            return best
        none = machine is not None and none_within_gap([machine], [], monitor.tol)
    return _exhausted(best, NO_COEFFICIENTS.format(monitor.tol) if none else MULTIPLIER_LIMIT)


def _of_the_same_function(machine: DecimalMachine, monitor: Monitor, best):
    """``best``, or coefficients (n, k) that are not the multipliers, where these prove more, and
    their ‖W‖²."""
    better = better_function(
        machine, best[1], monitor.tol, lambda: monitor.seconds < monitor.max_seconds
    )
    if better is None:
        return best
    given, certificate = better
    z = floats(ONE - machine.margins(given.K.dot(given.u) + given.b))
    why = f"{best[0].solver} stopped at a relative gap of {best[1].relative_gap:.1e}"
    told = best[0]._replace(solver="exact", why=why, ending=Ending.REACHED)
    slacks = np.zeros((len(best[3]), 2))
    slacks[machine.rows, 0] = -np.inf
    np.maximum.at(slacks[:, 0], machine.rows, z)
    np.add.at(slacks[:, 1], machine.rows, np.maximum(z, 0.0))
    norm = float((given.u * given.own.dot(given.u)).sum())
    return told, certificate, slacks, best[3], floats(given.b), floats(given.u), norm


def _exhausted(best, limit: str):
    """The same, with the reason why there is no more to be had."""
    solution, certificate, *others = best
    certificate = replace(certificate, method=f"{certificate.method}; {limit}")
    return solution._replace(why=f"{solution.why}: {MULTIPLIER_LIMIT}"), certificate, *others


def _uncentred(problem: MulticlassProblem, points: KernelPoints, point: ClassPoint, slacks):
    """Multipliers, biases and scores under the kernel itself; at C = ∞ scaled to margin one."""
    alpha = signed(problem, point.beta)(slice(None))
    F = enclosed_scores(points, alpha, False)
    Z = problem.rows.X  # type: ignore[union-attr]
    b = point.b - (F.hi - Z @ (Z.T @ alpha)).mean(axis=0)  # features are about some point
    if problem.hard:
        certify_kernel_classes(problem, points, None, b, point.beta, slacks, F, np.inf)
        closest = 1.0 - float(slacks[problem.c > 0, 0].max())
        if closest > 0.0:
            beta = point.beta / closest
            alpha = signed(problem, beta)(slice(None))
            return beta, b / closest, enclosed_scores(points, alpha, False)
    return point.beta, b, F


def _norm(problem: MulticlassProblem, beta) -> float:
    """‖W‖² of the multipliers, from the factor."""
    alpha = signed(problem, beta)(slice(None))
    return float(np.sum((problem.rows.X.T @ alpha) ** 2))  # type: ignore[union-attr]


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data; without a multiplier for every row, the dual bound is zero."""
    points = model._expansion.prepare(X)
    n, k = len(codes), len(model.classes_)
    problem = pose(model, np.empty((n, 0)), codes, weight)
    slacks, b = np.empty((n, 2)), model.intercept_

    @cache
    def w(sharp: bool) -> Scored:
        each = model._expansion.scored(points, X, sharp)
        parts = zip(*(machine.f for machine in each), strict=True)
        f = Enclosed(*(np.column_stack(part) for part in parts))
        return Scored(f, sum(m.norm for m in each), sum(m.norm_error for m in each) * OUTWARDS)

    def prove(beta: np.ndarray) -> Certificate:
        return certify_kernel_classes(problem, points, w, b, beta, slacks, tol=model.tol)

    known = [model.alpha_] if np.shape(model.alpha_) == (n, k) else []
    near = first_that_proves(*(partial(prove, beta) for beta in [*known, np.zeros((n, k))]))
    if near.holds(model.tol) or not kernel_two.told_in_digits(model):
        return near
    if not has_digits(points, k * n):
        return near
    with many_digits():
        machine = machine_of_classes(problem, points, np.zeros((n, k)), Monitor())
        given = model._expansion.in_many_digits(points, list(range(k)), b)
        found = near if machine is None else proved(machine, given, near)
    return found if found.relative_gap < near.relative_gap else near
