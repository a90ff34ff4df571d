"""The certificate of a k-class hinge fit: recomputed from the data in float64.

For any W, b and any multipliers β ≥ 0 in the domain of the loss, with Σ_i α_i = 0 where
α_iy = Σ_c β_ic and α_ic = −β_ic, weak duality says

    dual(β) = −½‖W_β‖² − Σ c_i ℓ*(β_i / c_i)  ≤  optimum  ≤  ½‖W‖² + Σ c_i ℓ(W x_i + b) = primal

with W_β = Σ_i α_i x_iᵀ.  As for two classes, nothing is taken from a solver's sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.class_losses import (
    MaxHinge,
    MaxSquaredHinge,
    SumHinge,
    SumSquaredHinge,
    class_conjugate,
    class_value,
)
from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import anchor
from .certificate import Certificate

# A sum of multipliers this close to its cap, relatively, is at it but for rounding.
FULL = 1.0 - 1e-12


def signed(problem: MulticlassProblem, beta: np.ndarray):
    """α of a slice of rows: β_y's place takes the row's sum, the others change sign."""

    def steps(part: slice) -> np.ndarray:
        alpha = -np.asarray(beta[part, : problem.k], dtype=np.float64)
        own = problem.y[part]
        alpha[np.arange(len(own)), own] = -alpha.sum(axis=1)
        return alpha

    return steps


def residual(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """r = Σ_i α_i, which a free bias wants to be zero."""
    received = np.bincount(problem.y, weights=beta.sum(axis=1), minlength=problem.k)
    return received - beta.sum(axis=0)


def from_scores(problem: MulticlassProblem, W, b) -> np.ndarray:
    """Multipliers that would be optimal if W were: a subgradient of every row's loss."""
    n, _ = problem.shape
    beta = np.zeros((n, problem.k))
    squared = isinstance(problem.loss, MaxSquaredHinge | SumSquaredHinge)
    one_each = isinstance(problem.loss, MaxHinge | MaxSquaredHinge)
    for part, f in score_chunks(problem.rows, W):
        y = problem.y[part]
        index = np.arange(len(y))
        z = 1.0 + (f + b) - (f + b)[index, y][:, None]
        z[index, y] = -np.inf
        if problem.hard:
            beta[part] = (problem.c[part] > 0)[:, None] & (z > -1e-6)
            continue
        wrong = z > 0.0
        if one_each:
            wrong &= z == z.max(axis=1, keepdims=True)
        size = 2.0 * np.maximum(z, 0.0) if squared else 1.0
        beta[part] = np.where(wrong, size, 0.0) * problem.c[part][:, None]
    return beta


def certify_classes(
    problem: MulticlassProblem, W: np.ndarray, b: np.ndarray, beta: np.ndarray, worst=None
) -> Certificate:
    """Recompute primal, dual and KKT residuals of (W, b, β) from the data.

    ``worst``, if given, receives every row's largest 1 − s_y + s_c and the sum of those above
    zero: (n, 2).
    """
    W_beta = class_combine(problem.rows, problem.k, signed(problem, beta))
    r = residual(problem, beta)
    if problem.bias:  # what rounding left of r belongs to some rows
        W_beta -= np.outer(r, anchor(problem.rows))
    sums = class_sums(problem, W, b, beta, worst)
    mass, hard = float(beta.sum()), problem.hard
    return conclude(W, b, W_beta, r, mass, sums, problem.bias, problem.summary(), hard)


def class_sums(problem: MulticlassProblem, W, b, beta, worst=None) -> np.ndarray:
    """Σ c ℓ, Σ c ℓ*; the largest KKT violation of three kinds and of the box; the least margin."""
    sums = np.zeros(7)
    sums[6] = np.inf
    each = isinstance(problem.loss, MaxHinge | MaxSquaredHinge)
    hinge = problem.hard or isinstance(problem.loss, MaxHinge | SumHinge)
    none = np.empty((0, 2))
    for part, s in score_chunks(problem.rows, W):
        s += b
        add_up(
            problem.loss, problem.c[part], problem.y[part], s, beta[part],
            problem.hard, each, hinge, sums, none if worst is None else worst[part],
        )  # fmt: skip
    return sums


def conclude(W, b, W_beta, r, mass: float, sums, bias: Bias, about: str, hard=False) -> Certificate:
    """The certificate from sums over all rows: W_β, r = Σ α_i, Σβ and ``class_sums``."""
    loss_sum, conjugate_sum, zero, free, bound, box, closest = sums.tolist()
    norm, norm_beta = float(np.sum(W * W)), float(np.sum(W_beta * W_beta))
    primal, dual = 0.5 * norm + loss_sum, -0.5 * norm_beta - conjugate_sum
    bias_residual = float(np.abs(b).max())  # where there must be none
    if bias:
        bias_residual = float(np.abs(r).max()) / max(mass, np.finfo(float).tiny)
    if hard and closest < 1.0 - 1e-9:
        primal = np.inf
    return Certificate(
        primal=primal,
        dual=dual,
        kkt_violation={"zero": zero, "free": free, "bound": bound},
        stationarity=float(np.linalg.norm(W - W_beta)) / max(1.0, float(np.sqrt(norm))),
        bias_residual=bias_residual,
        box_violation=box,
        problem=about,
    )


@njit(cache=True, nogil=True)
def add_up(loss, c, y, s, beta, hard, each, hinge, sums, out):
    """Add a chunk's Σ c ℓ, Σ c ℓ*, KKT violations by kind, box violation, smallest margin."""
    k = s.shape[1]
    unit = np.empty(k)
    for i in range(c.shape[0]):
        own, total, least, most, worst, slacks = y[i], 0.0, 0.0, 0.0, -np.inf, 0.0
        for j in range(k):
            total += beta[i, j]
            least, most = min(least, beta[i, j]), max(most, beta[i, j])
            if j != own:
                z = 1.0 - s[i, own] + s[i, j]
                worst = max(worst, z)
                slacks += max(0.0, z)
        if out.shape[0] > 0:
            out[i, 0], out[i, 1] = worst, slacks
        if c[i] <= 0.0:
            sums[5] = max(sums[5], most, -least)
            continue
        sums[6] = min(sums[6], 1.0 - worst)
        if hard:
            sums[1] -= total
            sums[5] = max(sums[5], -least)
        else:
            sums[0] += c[i] * class_value(loss, s[i], own)
            over = total if each else most
            shrink = min(1.0, c[i] / over) if hinge and over > 0.0 else 1.0
            for j in range(k):
                unit[j] = max(beta[i, j], 0.0) / c[i] * shrink
            if hinge:  # rounding must not put a multiplier outside its domain
                inside = 0.0
                for j in range(k):
                    unit[j] = min(unit[j], 1.0)
                    inside += unit[j]
                sums[1] -= c[i] * inside
                sums[5] = max(sums[5], (over - c[i]) / c[i])
            else:
                sums[1] += c[i] * class_conjugate(loss, unit, own)
            sums[5] = max(sums[5], -least / c[i])
        _add_violations(c[i], own, s[i], beta[i], total, max(0.0, worst), hard, each, hinge, sums)


@njit(cache=True, nogil=True)
def _add_violations(c, own, s, beta, total, slack, hard, each, hinge, sums):
    """A class with β > 0 must attain the row's slack; slack must be paid for in full.

    For the "sum" rule every pair (row, class) has a slack of its own.
    """
    for j in range(s.shape[0]):
        if j == own:
            continue
        z = 1.0 - s[own] + s[j]
        if each:
            if beta[j] > 0.0:
                kind = 4 if hinge and total >= FULL * c else 3
                sums[kind] = max(sums[kind], slack - z)
        elif not hinge:
            sums[3] = max(sums[3], abs(max(0.0, z) - 0.5 * beta[j] / c))
        elif beta[j] <= 0.0:
            sums[2] = max(sums[2], z)
        elif beta[j] >= FULL * c:
            sums[4] = max(sums[4], -z)
        else:
            sums[3] = max(sums[3], abs(z))
    if each and not hinge:
        sums[3] = max(sums[3], abs(slack - 0.5 * total / c))
    elif each and (hard or total < FULL * c):
        kind = 3 if total > 0.0 else 2
        sums[kind] = max(sums[kind], slack)
