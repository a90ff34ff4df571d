"""Scores for the proof of a hinge under a kernel: in float64 where they count, else in float32.

A row without a multiplier whose slack is zero adds nothing to a certificate, and float32 scores
with a bound on their error can tell that it is.  Rows with a multiplier, and those that float32
leaves open, have theirs computed in float64; the former meet each other, so that half of their
kernel values suffice.  Of 8,000 images with 1,862 support vectors an eighth of the values
are computed in float64.
"""

from __future__ import annotations

import numpy as np

from ..kernels.enclosed import Enclosed, enclosed_sums, rough_sums
from ..problem.kernelised import KernelProblem
from .bias import best_bias
from .kernelised import enclosed_scores

# Kernel values of rows without a multiplier from which two precisions are worth their calls.
MIN_SCREENED_VALUES = 1 << 18
# How often rows are found open: the bias moves a little once they are known.
MAX_LOOKS = 3
# Of a slack, more than what the certificate adds to its bound.
TINY = 1e-9


def screened_scores(problem: KernelProblem, beta: np.ndarray) -> Enclosed:
    """Kβ with bounds on its errors: those of rows that have no slack may be of float32."""
    points = problem.rows
    support, others = np.flatnonzero(beta), np.flatnonzero(beta == 0.0)
    if problem.hard or len(support) * len(others) < MIN_SCREENED_VALUES:
        return enclosed_scores(points, beta, False)
    rough = rough_sums(points, support, beta[support], others)
    if rough is None:
        return enclosed_scores(points, beta, False)
    f = Enclosed(*(np.zeros(len(beta)) for _ in range(3)))
    _write(f, others, rough)
    inner = points.taken(support)
    _write(f, support, enclosed_sums(inner, np.arange(len(support)), beta[support, None]))
    for _ in range(MAX_LOOKS):
        b = best_bias(problem, f.hi)
        slack = 1.0 - problem.y * (f.hi + b) + 1.01 * f.error + TINY * (1.0 + np.abs(f.hi))
        left = (problem.c[others] > 0) & ~(slack[others] < 0.0)
        if not left.any():
            break
        near, others = others[left], others[~left]
        _write(f, near, enclosed_sums(points, support, beta[support, None], points.taken(near)))
    return f


def _write(f: Enclosed, rows: np.ndarray, found: Enclosed) -> None:
    for whole, part in zip(f, found, strict=True):
        whole[rows] = part.ravel()
