"""The certificate of a kernel machine: recomputed from kernel values in float64.

As for linear machines, with w = Σ β_i φ(x_i): all that weak duality needs are the scores
f = Kβ of the training points, for ‖w‖² = βᵀf.  They are computed afresh, a block of K at a time.
Where w is that of the multipliers themselves it cannot be lengthened without them, and is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.kernel_block import KernelPoints, kernel_sums
from ..problem.kernelised import KernelProblem, describe
from ..problem.multiclass import MulticlassProblem
from .certificate import Certificate
from .conclude import Norms, conclude
from .multiclass import scored_tally, signed
from .rounding import Blur
from .separability import WEIGHT_ROUNDING, Separation
from .two_class import margin_tally

CERTIFICATE_METHOD = "recomputed from kernel values in float64"
# Rounding of a squared distance of class means, in units of k(x, x).
SQUARED_DISTANCE_ROUNDING = 1e4 * np.finfo(np.float64).eps


def kernel_scores(points: KernelPoints, coefficients: np.ndarray) -> np.ndarray:
    """Σ_j k(x_i, x_j) coefficients_j of all points; one column, or several."""
    columns = coefficients.reshape(len(coefficients), -1)
    support = np.flatnonzero(columns.any(axis=1))
    F = kernel_sums(points, support, columns[support])
    return F.reshape(coefficients.shape)


class Scored(NamedTuple):
    """What a certificate asks of w: its scores w·φ(x_i) on the training points, and ‖w‖²."""

    f: np.ndarray
    norm: float


def certify_kernel(
    problem: KernelProblem, w: Scored | None, b: float, alpha, f=None
) -> Certificate:
    """Primal of (w, b), dual of α and KKT residuals; ``w`` is None where w is Σ α_i y_i φ(x_i).

    ``f`` = K(αy) may be given by a caller who has just computed it from the data.
    """
    beta = alpha * problem.y
    f = kernel_scores(problem.rows, beta) if f is None else f
    norms, scores = _norms(w, beta, f)
    blur = Blur(np.zeros(len(alpha)), 0.0, 0.0)
    found = margin_tally(problem, alpha, 1.0 - problem.y * (scores + b), blur, 0.0, at_place=0.0)
    return conclude(
        found, norms, b, problem.bias, problem.summary(), problem.hard, CERTIFICATE_METHOD
    )


def _norms(w: Scored | None, beta: np.ndarray, f: np.ndarray) -> tuple[Norms, np.ndarray]:
    """‖w‖², ‖w_α‖² and ‖w − w_α‖ by scalar products, and w's scores."""
    square = float(np.vdot(beta, f))
    if w is None:
        return Norms(square, square, 0.0), f
    apart = w.norm + square - 2.0 * float(np.vdot(beta, w.f))
    return Norms(w.norm, square, float(np.sqrt(max(0.0, apart)))), w.f


def certify_kernel_classes(
    problem: MulticlassProblem, points: KernelPoints, w: Scored | None, b, beta, slacks, F=None
) -> Certificate:
    """The same for k classes at once; ``w`` is None where W_c = Σ α_ic φ(x_i).

    Of ``problem`` only labels, costs and loss are asked, not its rows.  ``slacks`` (n, 2)
    receives every row's largest 1 − s_y + s_c and the sum of those above zero.  ``F`` = Kα may
    be given by a caller who has just computed it from the data.
    """
    alpha = signed(problem, beta)(slice(None))
    F = kernel_scores(points, alpha) if F is None else F
    norms, scores = _norms(w, alpha, F)
    about = (
        f"{type(problem.loss).__name__}, {problem.k} classes, {describe(points.kernel)}: "
        f"{len(beta)} × {problem.k} multipliers, {problem.k} biases"
    )
    found = scored_tally(problem, scores + b, beta, slacks)
    return conclude(found, norms, b, problem.bias, about, problem.hard, CERTIFICATE_METHOD)


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
