"""KernelSVM with ``rank=r``: Nyström features from r landmarks, then the linear machine on them.

The kernel k̃(x, z) = k(x, L) K_LL⁻¹ k(L, z) takes the place of k.  Its machine is solved exactly,
and its certificate says so.  w lies in the span of the landmarks, so its objective is also a
true one of the exact problem: an upper bound of that optimum, without a lower one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.kernels.features import Landmarks, landmarks, nystrom_features
from ...core.kernels.kernel_block import KernelPoints
from ...core.problem.kernelised import describe
from ...core.solve.contract import Ending, Monitor
from ...core.solve.threads import one_blas_thread
from ..svm.linear_svm import LinearSVM
from .expansion import Expansion

COPIED_ATTRIBUTES = [
    *("alpha_", "intercept_", "slack_", "support_", "support_kind_", "margin_"),
    *("history_", "n_iter_", "solver_", "solver_reason_"),
]


def fit(model, points: KernelPoints, codes, weight, monitor: Monitor) -> Ending:
    with one_blas_thread():
        marks = landmarks(points, int(model.rank), monitor.seed, weight)
        Z = nystrom_features(marks, points, points.X.dtype.type)
    linear = LinearSVM(model.C, multiclass=model.multiclass, warm_start=model.warm_start)
    if model.warm_start and hasattr(model, "_linear"):
        linear.__dict__.update(model._linear.__dict__)
    linear.classes_, linear._codes = model.classes_, codes
    linear.n_features_in_ = Z.shape[1]
    ending = linear._form().fit(linear, Z, codes, weight, monitor)
    for name in COPIED_ATTRIBUTES:
        setattr(model, name, getattr(linear, name))
    error = trace_error(points, Z)
    model._linear, model._about = linear, _about(marks, error)
    model.rank_, model.trace_error_ = marks.features.shape[1], error
    model.certificate_ = replace(linear.certificate_, about=model._about)
    model._map = marks.features
    model._expansion = Expansion.of(points, marks.places, marks.features @ linear.coef_.T)
    return ending


def trace_error(points: KernelPoints, Z: np.ndarray) -> float:
    """1 − tr K̃ / tr K: the share of the kernel that the features leave out."""
    whole = float(points.diagonal.sum())
    kept = float(np.einsum("ij,ij->", Z, Z, dtype=np.float64))
    return max(0.0, 1.0 - kept / whole) if whole > 0.0 else 0.0


def _about(marks: Landmarks, error: float) -> str:
    return (
        f"the problem of a rank-{marks.features.shape[1]} approximation of the "
        f"{describe(marks.points.kernel)}, which leaves out {error:.1%} of its trace; of the exact "
        "kernel's optimum the objective is an upper bound only"
    )


def dual_coef(model) -> np.ndarray:
    return model._linear.dual_coef_


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate of the approximated problem on any data."""
    expansion = model._expansion
    marks = Landmarks(expansion.points, expansion.places, model._map)
    with one_blas_thread():
        Z = nystrom_features(marks, expansion.prepare(X), X.dtype.type)
    certificate = model._linear._recertify(Z, codes, weight)
    return replace(certificate, about=model._about)
