"""The certificate of a hinge on a stream, recomputed from all rows in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import (
    METHOD,
    SHARP_METHOD,
    Tally,
    as_sharp_as_needed,
    conclude,
    norms_of,
)
from ...core.certify.two_class import tally
from ...core.problem.losses import Hinge
from ...core.problem.problem import Problem, two_class_summary
from ...core.rows.rows import combine, scores
from ..parts import add_all
from .plane import HingeTask, Multipliers, StreamPlane
from .rows import StreamedRows

# Slack this near to zero may have another sign when it is computed in another order.
UNSURE_SLACK = 1e-9


class StreamedProof(NamedTuple):
    """A plane's certificate, and the rows whose multipliers its own slack does not tell."""

    plane: StreamPlane
    certificate: Certificate
    rows: np.ndarray
    alpha: np.ndarray


def exceptions(alpha: np.ndarray, z: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The rows whose multiplier is not, or may not be, c or 0 as their slack says."""
    return np.flatnonzero((alpha != np.where(z > 0.0, c, 0.0)) | (np.abs(z) < UNSURE_SLACK))


def certify_hinge(
    rows: StreamedRows, task: HingeTask, plane: StreamPlane, found: Multipliers
) -> StreamedProof:
    """Primal, dual and KKT residuals of a plane and multipliers over all rows."""

    def prove(sharp: bool) -> StreamedProof:
        return _certify(rows, task, plane, found, sharp)

    return as_sharp_as_needed(prove, task.monitor.tol)


def _certify(
    rows: StreamedRows, task: HingeTask, plane: StreamPlane, found: Multipliers, sharp: bool
) -> StreamedProof:
    """One pass; ``sharp``: in twice the digits."""
    odd_rows, odd_alpha = [], []

    def tallies() -> Iterator[Tally]:
        place = None
        for first, block in rows.blocks():
            X, y, c = task.terms(block)
            f = scores(X, plane.w)
            z = 1.0 - y * (f + plane.b)
            alpha = found.of(first, X, y, c)
            odd = exceptions(alpha, z, c)
            odd_rows.append(odd + first)
            odd_alpha.append(alpha[odd])
            if place is None:  # the mean of the first rows
                place = combine(X, np.full(len(z), 1.0 / len(z)))
            problem = Problem(X, y, c, Hinge(), task.bias)
            yield tally(problem, plane.w, plane.b, alpha, f, place, sharp)

    sums: Tally = add_all(tallies())
    about = two_class_summary(Hinge(), task.bias, rows.n, rows.n_features, False)
    norms, method = norms_of(plane.w, sums.w, sums.rounding.w), SHARP_METHOD if sharp else METHOD
    certificate = conclude(sums, norms, plane.b, task.bias, about, method=method)
    return StreamedProof(plane, certificate, np.concatenate(odd_rows), np.concatenate(odd_alpha))
