"""The certificate of a k-class hinge fit: what its rows add up to, in float64.

Multipliers β_ic ≥ 0 of the wrong classes stand for α_iy = Σ_c β_ic and α_ic = −β_ic; the dual is

    −½‖W_β‖² − Σ c_i ℓ*(β_i / c_i),        W_β = Σ_i α_i x_iᵀ,        Σ_i α_i = 0 for free biases
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.class_losses import (
    boxed_classes,
    class_conjugate,
    class_value,
    one_slack,
)
from ..problem.multiclass import MulticlassProblem
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import anchor
from .certificate import Certificate
from .conclude import Tally, conclude, norms_of
from .sharpen import rounding_counts, sharpen_classes

# A sum of multipliers this close to its cap, relatively, is at it but for rounding.
AT_CAP_SHARE = 1.0 - 1e-12


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
    squared = not boxed_classes(problem.loss)
    one_each = one_slack(problem.loss)
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
    found = class_tally(problem, W, b, beta, worst)
    norms = norms_of(W, found.w)
    return conclude(found, norms, b, problem.bias, problem.summary(), problem.hard)


def class_tally(
    problem: MulticlassProblem, W, b, beta: np.ndarray, worst=None, place=None, parts: int = 1
) -> Tally:
    """What the rows of ``problem`` add to the certificate of (W, b, β), as for two classes."""
    W_beta = class_combine(problem.rows, problem.k, signed(problem, beta))
    r, sums, none = residual(problem, beta), new_sums(), np.empty((0, 2))
    if problem.bias:  # what rounding left of r belongs to some rows
        W_beta -= np.outer(r, anchor(problem.rows) if place is None else place)
    square, n = float(np.vdot(W, W)), len(problem.y)
    counts = not problem.hard and rounding_counts(problem.c, parts * n, square)
    for part, s in score_chunks(problem.rows, W):
        s += b
        if counts:
            sharpen_classes(problem, part, W, b, s)
        add_up(
            problem.loss, problem.c[part], problem.y[part], s, beta[part], problem.hard,
            *_rule(problem), sums, none if worst is None else worst[part],
        )  # fmt: skip
    return sums_tally(sums, n, float(beta.sum()), r, W_beta)


def scored_tally(problem: MulticlassProblem, s: np.ndarray, beta: np.ndarray, slacks) -> Tally:
    """The tally of rows whose scores s are known, and whose weights are not formed."""
    sums = new_sums()
    rule = _rule(problem)
    add_up(problem.loss, problem.c, problem.y, s, beta, problem.hard, *rule, sums, slacks)
    return sums_tally(sums, len(s), float(beta.sum()), residual(problem, beta), 0.0)


def _rule(problem: MulticlassProblem) -> tuple[bool, bool]:
    """Whether a row has one slack in all, and whether it is charged as it is, not squared."""
    return one_slack(problem.loss), problem.hard or boxed_classes(problem.loss)


def new_sums() -> np.ndarray:
    """For ``add_up``: Σ c ℓ, Σ c ℓ*, three KKT violations, that of the box, the least margin."""
    return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.inf])


def sums_tally(sums: np.ndarray, rows: int, mass: float, r: np.ndarray, w) -> Tally:
    loss, conjugates, zero, free, bound, box, closest = sums.tolist()
    return Tally(rows, loss, conjugates, mass, r, w, (zero, free, bound), box, closest)


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
                kind = 4 if hinge and total >= AT_CAP_SHARE * c else 3
                sums[kind] = max(sums[kind], slack - z)
        elif not hinge:
            sums[3] = max(sums[3], abs(max(0.0, z) - 0.5 * beta[j] / c))
        elif beta[j] <= 0.0:
            sums[2] = max(sums[2], z)
        elif beta[j] >= AT_CAP_SHARE * c:
            sums[4] = max(sums[4], -z)
        else:
            sums[3] = max(sums[3], abs(z))
    if each and not hinge:
        sums[3] = max(sums[3], abs(slack - 0.5 * total / c))
    elif each and (hard or total < AT_CAP_SHARE * c):
        kind = 3 if total > 0.0 else 2
        sums[kind] = max(sums[kind], slack)
