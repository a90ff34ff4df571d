"""KernelSVM, each row left out: two classes, k at once, two at a time, or with landmarks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ...core.certify.circulation import repair_classes
from ...core.certify.kernelised import Scored, certify_kernel
from ...core.kernels.enclosed import Enclosed
from ...core.kernels.features import Landmarks, centred_features, nystrom_features
from ...core.kernels.kernel_block import KernelPoints
from ...core.kernels.kernels import check_square
from ...core.rows.rows import DenseRows
from ...core.solve.contract import ClassPoint
from ...core.solve.left_out.answer import LeftOutScores
from ...core.solve.left_out.kernel import leave_out_kernel_rows
from ...core.solve.left_out.many_class import leave_out_classes
from ...core.solve.threads import one_blas_thread
from ..kernel import joint, reduced, two_class
from ..svm.reduced import questions
from .linear import leave_out_svm, put_together
from .same_data import check_count, check_objective


def leave_out_kernel(model, X, codes, weight) -> LeftOutScores:
    check_count(model, len(codes), len(model.alpha_))
    if model._expansion.points.kernel.precomputed:
        check_square(X)
    if model.rank is not None:
        return _with_landmarks(model, X, codes, weight)
    points = model._expansion.prepare(X)
    joint_form = len(model.classes_) > 2 and model.multiclass in ("max", "sum")
    with one_blas_thread():
        return (_joint if joint_form else _machines)(model, points, codes, weight)


def _with_landmarks(model, X, codes, weight) -> LeftOutScores:
    """The linear machine on the features of the landmarks, which stay."""
    expansion = model._expansion
    marks = Landmarks(expansion.points, expansion.places, model._map)
    with one_blas_thread():
        Z = nystrom_features(marks, expansion.prepare(X), X.dtype.type)
    return leave_out_svm(model._linear, Z, codes, weight)


def _joint(model, points: KernelPoints, codes, weight) -> LeftOutScores:
    """The linear machine on exact features; biases follow the rows, not their centre."""
    n = len(codes)
    Z = centred_features(points, np.arange(n))
    problem = joint.pose(model, Z, codes, weight)
    check_objective(model, joint.recertify(model, points.X, codes, weight).primal)
    alpha = -model.alpha_.copy()
    alpha[np.arange(n), codes] = -alpha.sum(axis=1)
    W = (Z.T @ alpha).T
    start = ClassPoint(W, model.intercept_, repair_classes(problem, model.alpha_))
    return leave_out_classes(replace(problem, rows=DenseRows(Z)), start)


def _machines(model, points: KernelPoints, codes, weight) -> LeftOutScores:
    whole = two_class.pose(model, points, codes, weight)
    F = model._expansion.scores(points)
    if len(model.classes_) == 2:
        _check(model, [(whole, slice(None))], points)
        return leave_out_kernel_rows(whole, model.alpha_, model.cache_mb)
    machines = list(questions(model, codes, whole, reduced.part))
    _check(model, machines, points)
    found = [
        (some, leave_out_kernel_rows(problem, model.alpha_[some, q], model.cache_mb))
        for q, (problem, some) in enumerate(machines)
    ]
    return put_together(F + model.intercept_, found)


def _check(model, machines, points: KernelPoints) -> None:
    """The objective of all machines on these rows."""
    scored, primal, rounding = model._expansion.scored(points, points.X, False), 0.0, 0.0
    for q, (problem, some) in enumerate(machines):
        f, norm, error = scored[q]
        own = Scored(Enclosed(*(part[some] for part in f)), norm, error)
        none, b = np.zeros(len(problem.y)), float(model.intercept_[q])
        certificate = certify_kernel(problem, partial(_known, own), b, none)
        primal, rounding = primal + certificate.primal, rounding + certificate.rounding
    check_objective(model, primal, rounding)


def _known(own: Scored, sharp: bool) -> Scored:
    """An objective is asked for, no proof: float64 will do."""
    return own
