"""The certificate of a hinge on a stream, recomputed from all rows in float64 in one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.certify.certificate import Certificate, sums
from ...core.problem.losses import Hinge
from ...core.problem.problem import two_class_summary
from ...core.rows.rows import combine
from .plane import HingeTask, Multipliers, StreamPlane
from .rows import StreamedRows

# Slack this near to zero may have another sign when it is computed in another order.
UNSURE = 1e-9


class StreamedProof(NamedTuple):
    """The certificate, and the rows whose multipliers the plane's own slack does not tell."""

    certificate: Certificate
    rows: np.ndarray
    alpha: np.ndarray


def certify_hinge(
    rows: StreamedRows, task: HingeTask, plane: StreamPlane, found: Multipliers
) -> StreamedProof:
    """Primal, dual and KKT residuals of a plane and multipliers over all rows."""
    d = rows.n_features
    mu = np.zeros(d)
    w_alpha, r, mass, loss, conjugate = np.zeros(d), 0.0, 0.0, 0.0, 0.0
    kkt, box = np.zeros(3), 0.0
    odd_rows, odd_alpha = [], []
    for first, block in rows.blocks():
        X, y, c = task.terms(block)
        z = plane.slack(X, y)
        alpha = found.of(first, X, y, c)
        if first == 0:
            mu = combine(X, np.full(len(y), 1.0 / len(y)))  # a place among the data
        step = alpha * y
        w_alpha += combine(X, step) - float(step.sum()) * mu
        r += float(step.sum())
        mass += float(alpha.sum())
        some = sums(Hinge(), c, c, alpha, z, False, True, 1.0)
        loss, conjugate = loss + some[0], conjugate + some[1]
        kkt, box = np.maximum(kkt, some[2]), max(box, some[3])
        odd = np.flatnonzero((alpha != np.where(z > 0.0, c, 0.0)) | (np.abs(z) < UNSURE))
        odd_rows.append(odd + first)
        odd_alpha.append(alpha[odd])
    if not task.bias:
        w_alpha += r * mu
    primal = task.norm(plane) + loss
    dual = -0.5 * float(w_alpha @ w_alpha) - conjugate
    drift = float(np.linalg.norm(plane.w - w_alpha))
    residual = abs(plane.b)
    if task.bias:
        residual = abs(r) / max(mass, np.finfo(float).tiny)
    certificate = Certificate(
        primal=primal,
        dual=dual,
        kkt_violation=dict(zip(("zero", "free", "bound"), kkt.tolist(), strict=True)),
        stationarity=drift / max(1.0, float(np.linalg.norm(plane.w))),
        bias_residual=residual,
        box_violation=box,
        problem=two_class_summary(Hinge(), task.bias, rows.n, d, False),
    )
    return StreamedProof(certificate, np.concatenate(odd_rows), np.concatenate(odd_alpha))
