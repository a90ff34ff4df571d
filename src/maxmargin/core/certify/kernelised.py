"""The certificate of a kernel machine: recomputed from kernel values, with bounds on their errors.

As for linear machines, with w = Σ β_i φ(x_i): all that weak duality needs are the scores
f = Kβ of the training points, for ‖w‖² = βᵀf.  They are computed afresh, a block of K at a time,
and known up to e, so that slacks are known up to e and ‖w‖² up to Σ|β_i| e_i
(``kernels/enclosed.py``).
Where w is that of the multipliers themselves it cannot be lengthened without them, and is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..kernels.enclosed import Enclosed, enclosed_sums
from ..kernels.kernel_block import KernelPoints, kernel_sums
from ..problem.kernelised import KernelProblem, describe
from ..problem.multiclass import MulticlassProblem
from ..rows.double_double import OUTWARDS, Pair, U, gamma, product, two_sum
from .certificate import Certificate
from .conclude import SHARPEST, Norms, as_sharp_as_needed, conclude
from .multiclass import scored_tally
from .rounding import SMALLEST, Blur
from .separability import WEIGHT_ROUNDING, Separation
from .two_class import margin_tally

CERTIFICATE_METHOD = "recomputed from kernel values in float64"
SHARP_KERNEL_METHOD = "recomputed from kernel values in twice the digits of float64"
# Rounding of a squared distance of class means, in units of k(x, x).
SQUARED_DISTANCE_ROUNDING = 1e4 * np.finfo(np.float64).eps
# Times that a multiplier is moved for the sum of all to be zero.
MAX_BALANCE_MOVES = 4


def kernel_scores(points: KernelPoints, coefficients: np.ndarray) -> np.ndarray:
    """Σ_j k(x_i, x_j) coefficients_j of all points; one column, or several."""
    columns = coefficients.reshape(len(coefficients), -1)
    support = np.flatnonzero(columns.any(axis=1))
    F = kernel_sums(points, support, columns[support])
    return F.reshape(coefficients.shape)


def enclosed_scores(points: KernelPoints, coefficients: np.ndarray, sharp: bool) -> Enclosed:
    """The same with bounds on their errors."""
    columns = coefficients.reshape(len(coefficients), -1)
    support = np.flatnonzero(columns.any(axis=1))
    found = enclosed_sums(points, support, columns[support], sharp=sharp)
    return Enclosed(*(each.reshape(coefficients.shape) for each in found))


def balanced(problem: KernelProblem, alpha: np.ndarray) -> np.ndarray:
    """Multipliers with Σ αy = 0 exactly, where moving free ones by a rounding can do it.

    Far from the origin w·x multiplies what is missing.  The smallest that can bear it is moved:
    its last digit is the finest.
    """
    alpha = alpha.copy()
    for _ in range(MAX_BALANCE_MOVES):
        r = math.fsum((alpha * problem.y).tolist())
        room = np.where(problem.c > 0, np.minimum(alpha, problem.cap - alpha), 0.0)
        able = np.flatnonzero(room > 2.0 * abs(r))
        if r == 0.0 or len(able) == 0:
            break
        k = able[np.argmin(alpha[able])]
        alpha[k] -= problem.y[k] * r
    return alpha


class Scored(NamedTuple):
    """What a certificate asks of w: its scores w·φ(x_i) on the training points, and ‖w‖², with
    bounds on their errors."""

    f: Enclosed
    norm: float
    norm_error: float


def squared_norm(beta: np.ndarray, f: Enclosed, rest=None) -> tuple[float, float]:
    """βᵀf, and how far that may be off; ``rest``: what rounding left of sums that β are."""
    beta = beta.ravel()
    hi, lo = f.hi.ravel(), f.lo.ravel()
    size = np.abs(beta)
    if not lo.any():
        square, terms = float(beta @ hi), gamma(len(beta) + 2 + np.shape(f.hi)[-1])
    else:
        high, low = product(beta[None, :], hi[:, None])
        more = beta @ lo if rest is None else beta @ lo + rest.ravel() @ hi
        square = float(high[0, 0] + (low[0, 0] + more))
        terms = 8.0 * gamma(len(beta) + 2 + np.shape(f.hi)[-1]) ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        error = terms * float(size @ np.abs(hi)) + float(size @ f.error.ravel())
    error = OUTWARDS * error + 2.0 * U * abs(square)
    return square, error if error < np.inf else np.inf


def certify_kernel(
    problem: KernelProblem,
    w: Callable[[bool], Scored] | None,
    b: float,
    alpha,
    f: Enclosed | None = None,
    tol: float = SHARPEST,
) -> Certificate:
    """Primal of (w, b), dual of α and KKT residuals; ``w`` is None where w is Σ α_i y_i φ(x_i).

    ``f`` = K(αy) may be given by a caller who has just computed it from the data.  ``w(sharp)``:
    in twice the digits, as all is computed where only rounding keeps the gap from ``tol``.
    """
    beta = alpha * problem.y

    def prove(sharp: bool) -> Certificate:
        own = enclosed_scores(problem.rows, beta, sharp) if f is None or sharp else f
        norms, scores = _norms(None if w is None else w(sharp), beta, own)
        z, off = _slacks(scores, b, problem.y)
        found = margin_tally(problem, alpha, z, Blur(off, 1.0, 0.0), 0.0, 0.0, abs(b))
        reach = _reach(problem.rows)
        found = replace(found, rounding=found.rounding._replace(reach=reach))
        method = SHARP_KERNEL_METHOD if sharp else CERTIFICATE_METHOD
        return conclude(found, norms, b, problem.bias, problem.summary(), problem.hard, method)

    return as_sharp_as_needed(prove, tol)


def _slacks(f: Enclosed, b, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1 − y(f + b), and bounds on its errors but for one rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        s, rest = two_sum(f.hi, b)
        z, more = two_sum(1.0, -y * s)
        off = f.error + 16.0 * U * U * (np.abs(f.hi) + abs(b) + 1.0) + SMALLEST
        return z + (more - y * (rest + f.lo)), np.where(np.isnan(off), np.inf, off)


def _reach(points: KernelPoints) -> float:
    """‖φ(x)‖ of the farthest point, or a little more."""
    return 1.001 * math.sqrt(max(0.0, float(points.diagonal.max(initial=0.0))))


def _norms(w: Scored | None, beta: np.ndarray, f: Enclosed, rest=None) -> tuple[Norms, Enclosed]:
    """‖w‖², ‖w_α‖² and ‖w − w_α‖ by scalar products, and w's scores."""
    square, error = squared_norm(beta, f, rest)
    if w is None:
        return Norms(square, square, 0.0, error, error), f
    apart = w.norm + square - 2.0 * float(np.vdot(beta, w.f.hi))
    length = float(np.sqrt(max(0.0, apart)))
    return Norms(w.norm, square, length, w.norm_error, error), w.f


def certify_kernel_classes(
    problem: MulticlassProblem,
    points: KernelPoints,
    w: Callable[[bool], Scored] | None,
    b,
    beta,
    slacks,
    F: Enclosed | None = None,
    tol: float = SHARPEST,
) -> Certificate:
    """The same for k classes at once; ``w`` is None where W_c = Σ α_ic φ(x_i).

    Of ``problem`` only labels, costs and loss are asked, not its rows.  ``slacks`` (n, 2)
    receives every row's largest 1 − s_y + s_c and the sum of those above zero.  ``F`` = Kα may
    be given by a caller who has just computed it from the data.
    """
    alpha, rest = _signed_pair(problem, beta)
    about = (
        f"{type(problem.loss).__name__}, {problem.k} classes, {describe(points.kernel)}: "
        f"{len(beta)} × {problem.k} multipliers, {problem.k} biases"
    )

    def prove(sharp: bool) -> Certificate:
        own = _class_scores(points, alpha, rest, sharp) if F is None or sharp else F
        norms, scores = _norms(None if w is None else w(sharp), alpha, own, rest)
        leads, off = _leads(scores, b, problem.y)
        apart, reach = float(np.ptp(b)), _reach(points)
        found = scored_tally(problem, leads, off, beta, slacks, apart, reach, sharp)
        method = SHARP_KERNEL_METHOD if sharp else CERTIFICATE_METHOD
        return conclude(found, norms, b, problem.bias, about, problem.hard, method)

    return as_sharp_as_needed(prove, tol)


def _signed_pair(problem: MulticlassProblem, beta: np.ndarray) -> Pair:
    """α_ic = −β_ic and α_iy = Σ_c β_ic, with what rounding leaves of the sums."""
    rows, own, rest = np.arange(len(beta)), np.zeros(len(beta)), np.zeros(len(beta))
    for c in range(problem.k):
        own, lost = two_sum(own, np.where(problem.y == c, 0.0, beta[:, c]))
        rest = rest + lost
    alpha, left = -beta, np.zeros_like(beta)
    alpha[rows, problem.y], left[rows, problem.y] = own, rest
    return Pair(alpha, left)


def _class_scores(points: KernelPoints, alpha, rest, sharp: bool) -> Enclosed:
    """Kα for α = alpha + rest; in float64 what is left is within the bounds."""
    F = enclosed_scores(points, alpha, sharp)
    if not sharp or not rest.any():
        return F
    more = enclosed_scores(points, rest, sharp)
    return Enclosed(F.hi, F.lo + more.hi, F.error + more.error + 2.0 * U * np.abs(more.hi))


def _leads(F: Enclosed, b, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s_c − s_y + 1 for s = F + b, and per row a bound on the errors but for one rounding."""
    rows = np.arange(len(y))
    with np.errstate(over="ignore", invalid="ignore"):
        s, rest = two_sum(F.hi, b)
        low = F.lo + rest
        lead, more = two_sum(s, -s[rows, y][:, None])
        low = low - low[rows, y][:, None] + more
        lead, more = two_sum(lead, 1.0)
        out = lead + (more + low)
        size = np.abs(F.hi).max(axis=1) + np.abs(b).max() + 1.0
        off = 2.0 * F.error.max(axis=1) + 64.0 * U * U * size + 4.0 * U * np.abs(out).max(axis=1)
    out[rows, y] = 1.0
    return out, np.where(np.isnan(off), np.inf, off + SMALLEST)


def kernel_inseparability(problem: KernelProblem, alpha: np.ndarray) -> Separation | None:
    """The proof that weights α amount to, recomputed from kernel values; None if they prove none.

    The weighted means of the two classes differ by ρ in the space of the kernel, ρ² = λᵀKλ.
    """
    y = problem.y
    weights = np.where(alpha > WEIGHT_ROUNDING * alpha.max(initial=0.0), alpha, 0.0)
    plus, minus = float(weights[y > 0].sum()), float(weights[y < 0].sum())
    if not min(plus, minus) > 0.0:
        return None
    weights = weights / np.where(y > 0, plus, minus)
    beta = weights * y
    square = max(0.0, float(beta @ kernel_scores(problem.rows, beta)))
    size = float(weights @ problem.rows.diagonal) / 2.0
    if square > SQUARED_DISTANCE_ROUNDING * size:
        return None
    return Separation(
        separable=False,
        margin=0.5 * float(np.sqrt(square)),
        weights=weights,
        residual=float(np.sqrt(square / size)) if size > 0.0 else 0.0,
    )
