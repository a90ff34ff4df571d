"""KernelSVM with k classes, two at a time: each against the rest, or every pair."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.kernelised import Scored
from ...core.certify.repair import repair
from ...core.kernels.enclosed import Enclosed
from ...core.kernels.kernel_block import KernelPoints
from ...core.solve.contract import Ending, Monitor
from ...core.solve.kernel.form import dual_point, solve_kernel
from ...core.solve.kernel.other_coefficients import METHOD
from ..fitting import note
from ..svm.reduced import Machines, count_machines, dual_coef, questions, together
from . import two_class as kernel_two

__all__ = ["dual_coef", "fit", "recertify"]


def part(points: KernelPoints, some: np.ndarray) -> KernelPoints:
    """Some of the points; of a Gram matrix, those rows and columns."""
    X = points.X[some]
    return KernelPoints(X[:, some] if points.kernel.precomputed else X, points.kernel, like=points)


def fit(model, points: KernelPoints, codes, weight, monitor: Monitor) -> Ending:
    n = len(codes)
    count = count_machines(model, n)
    warm = model.warm_start and getattr(model, "alpha_", np.empty(0)).shape == (n, count)
    machines, whole = Machines(n, count), kernel_two.pose(model, points, codes, weight)
    all_coefficients, others, parts = np.zeros((n, count)), False, []
    for q, (problem, some) in enumerate(questions(model, codes, whole, part)):
        start = dual_point(repair(problem, model.alpha_[some, q])) if warm else None
        solution = solve_kernel(problem, monitor, model.cache_mb, start)
        beta = kernel_two.coefficients(problem, solution.point)
        machines.add(problem, some, solution, float(beta @ solution.scores))
        parts.append((problem, solution))
        all_coefficients[some, q], others = beta, others or len(solution.point.w) > 0
    machines.keep(model)
    if others:
        kernel_two.keep_coefficients(model, all_coefficients)
        model.support_kind_ = machines.kinds(model.support_)
    proof = kernel_two.beyond(_together(model, machines.parts), parts, model.tol)
    note(model, solution._replace(n_iter=max(1, monitor.n_iter)), proof)
    return machines.ending


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data; multipliers are rebuilt where the rows are not the same."""
    expansion = model._expansion
    points = expansion.prepare(X)
    scored = cache(lambda sharp: expansion.scored(points, X, sharp))
    whole = kernel_two.pose(model, points, codes, weight)
    same = len(model.alpha_) == len(codes)
    proofs = []
    for q, (problem, some) in enumerate(questions(model, codes, whole, part)):
        b = float(model.intercept_[q])
        alpha = model.alpha_[some, q] if same else np.empty(0)
        w = partial(_machine, scored, some, q)
        near = kernel_two.best_proof(problem, w, b, alpha, model.tol)
        proofs.append(kernel_two.sharpened(model, problem, q, near))
    return _together(model, proofs)


def _together(model, proofs: list[Certificate]) -> Certificate:
    """Of all machines; it says so where one of them took many digits."""
    found = together(model, proofs)
    exact = any(METHOD in proof.method for proof in proofs)
    return replace(found, method=METHOD) if exact else found


def _machine(scored, some, q: int, sharp: bool) -> Scored:
    """One of the machines, on the rows it is about."""
    f, norm, error = scored(sharp)[q]
    return Scored(Enclosed(*(part[some] for part in f)), norm, error)
