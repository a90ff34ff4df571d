"""The certificate of a small problem, in one compiled call.

The sums and bounds of ``two_class.py`` and the conclusion of ``conclude.py``, without an object for
each of a hundred thousand fits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem.losses import Hinge, SquaredHinge, bend, boxed
from ..problem.problem import Bias, two_class_summary
from .bias import bias_for
from .certificate import NEGATIVE_GAP_TOL, SUM_ROUNDING, TINY, Certificate
from .conclude import KINDS, norms_of, objective_bounds, one_imbalance
from .repair import repair_in_place
from .rounding import SPARE, Rounding, gamma, score_blur
from .two_class import sums

# What is told of every fit, in this order.
FIELDS = (
    "primal", "dual", *KINDS, "stationarity", "bias_residual", "box_violation", "rounding",
)  # fmt: skip
REORDER = {"reassoc", "contract", "nsz"}


class SmallProblem(NamedTuple):
    """A small problem and its multipliers; ``X`` has a line for every column."""

    X: np.ndarray
    lengths: np.ndarray  # ‖x‖ of every row, or a little more
    y: np.ndarray
    c: np.ndarray
    cap: np.ndarray
    alpha: np.ndarray
    bias: bool
    hard: bool  # always False: a literal would have kernels compiled anew
    squared: bool
    per_slope: float


def empty_problem(n: int, d: int, loss: Hinge | SquaredHinge, bias: Bias) -> SmallProblem:
    """Arrays for a problem of n rows and d columns, without values."""
    resistance = bend(loss)
    per_slope = resistance if resistance > 0.0 else 1.0
    lengths, y, c, cap, alpha = np.empty((5, n))
    X, squared = np.empty((d, n)), not boxed(loss)
    return SmallProblem(X, lengths, y, c, cap, alpha, bool(bias), False, squared, per_slope)


@njit(cache=True, nogil=True)
def prove(loss, small, w, b, told):
    """Make α feasible, in place; fill ``told`` with ``FIELDS``; return the best bias for w.

    Without a bias b stays zero.
    """
    X, y, c, cap, alpha = small.X, small.y, small.c, small.cap, small.alpha
    n = len(y)
    repair_in_place(alpha, cap, y, small.bias)
    z, signed = np.empty(n), np.empty(n)
    scores_of(X, w, z)
    if small.bias:
        b = bias_for(loss, z, y, c, b)
    for i in range(n):
        z[i] = 1.0 - y[i] * (z[i] + b)
        signed[i] = alpha[i] * y[i]
    w_alpha = np.empty(len(w))
    sums_by_column(X, signed, w_alpha)
    blur = score_blur(w, small.lengths)
    loss_sum, conjugate, mass, r, price, kkt, box, _, errors = sums(
        loss, c, cap, alpha, y, z, small.lengths, blur.slope, blur.base, gamma(n + 2), abs(b),
        small.hard, small.per_slope,
    )  # fmt: skip
    rounding = Rounding(*errors)
    norms = norms_of(w, w_alpha, rounding.w)
    primal, dual, above, below = objective_bounds(norms, loss_sum, conjugate, mass, box, rounding)
    residual = abs(b)
    if small.bias:
        residual = abs(r) / max(mass, TINY)
        gap = primal - dual + above + below
        below += one_imbalance(r, min(price[0], price[1]), rounding, primal + above, gap)
    told[0], told[1] = primal + SPARE * above, dual - SPARE * below
    told[2], told[3], told[4] = kkt
    told[5] = norms.apart / np.sqrt(max(1.0, norms.w))
    told[6], told[7], told[8] = residual, box, SPARE * (above + below)
    return b


@njit(cache=True, nogil=True, fastmath=REORDER)
def scores_of(X, w, out):
    """w·x of every row."""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(w)):
        for i in range(len(out)):
            out[i] += w[j] * X[j, i]


@njit(cache=True, nogil=True, fastmath=REORDER)
def sums_by_column(X, v, out):
    """Σ v_i x_i."""
    for j in range(len(out)):
        total = 0.0
        for i in range(len(v)):
            total += X[j, i] * v[i]
        out[j] = total


def relative_gaps(told: np.ndarray) -> np.ndarray:
    """``Certificate.relative_gap`` of many: (…, FIELDS) to (…)."""
    primal, dual = told[..., 0], told[..., 1]
    gap, slack = primal - dual, NEGATIVE_GAP_TOL * np.maximum(np.abs(primal), np.abs(dual))
    feasible = (told[..., 7] <= SUM_ROUNDING) & (told[..., 6] <= 1e3 * SUM_ROUNDING)
    sound = (dual < np.inf) & (gap >= -slack)
    with np.errstate(invalid="ignore"):
        relative = np.maximum(gap, 0.0) / np.maximum(np.abs(primal), TINY)
    return np.where(np.isfinite(primal) & feasible & sound, relative, np.inf)


def as_certificate(
    told: np.ndarray, loss: Hinge | SquaredHinge, bias: Bias, n: int, d: int
) -> Certificate:
    """The certificate of one fit."""
    values = dict(zip(FIELDS, told.tolist(), strict=True))
    kkt = {kind: values.pop(kind) for kind in KINDS}
    problem = two_class_summary(loss, bias, n, d, False)
    return Certificate.from_dict(values | {"kkt_violation": kkt, "problem": problem})


def told_of(certificate: Certificate) -> list[float]:
    """The fields of a certificate that was made elsewhere."""
    values = certificate.to_dict() | certificate.kkt_violation
    return [float(values[field]) for field in FIELDS]
