"""The certificate of a k-class hinge fit: what its rows add up to, and how far rounding is in it.

Multipliers β_ic ≥ 0 of the wrong classes stand for α_iy = Σ_c β_ic and α_ic = −β_ic; the dual is

    −½‖W_β‖² − Σ c_i ℓ*(β_i / c_i),        W_β = Σ_i α_i x_iᵀ,        Σ_i α_i = 0 for free biases
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..problem.class_losses import (
    boxed_classes,
    class_conjugate,
    class_value,
    one_slack,
    slacks_each,
)
from ..problem.multiclass import MulticlassProblem
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import DenseRows, anchor
from ..rows.twofold import two_sum, twofold_combine, twofold_reach, twofold_scores
from .certificate import Certificate
from .conclude import (
    METHOD,
    SHARP_METHOD,
    SHARPEST,
    Tally,
    as_sharp_as_needed,
    conclude,
    norms_of,
)
from .rounding import SMALLEST, SPARE, UNIT, Rounding, gamma, length_above

ROOT_2 = math.sqrt(2.0)
# Roundings of a few operations; where ``add_up`` has Σ of multipliers by size.
FEW, PULLED = 4.0 * UNIT, 11
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


def exact_residual(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """The same, each sum rounded once."""
    flows = ([*beta[problem.y == c].flat, *(-beta[:, c])] for c in range(problem.k))
    return np.array([math.fsum(flow) for flow in flows])


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
    problem: MulticlassProblem,
    W: np.ndarray,
    b: np.ndarray,
    beta: np.ndarray,
    worst=None,
    tol: float = SHARPEST,
) -> Certificate:
    """Recompute primal, dual and KKT residuals of (W, b, β) from the data.

    ``worst``, if given, receives every row's largest 1 − s_y + s_c and the sum of those above
    zero: (n, 2).  ``tol``: the gap that is to be proved, with more digits if they are needed.
    """

    def prove(sharp: bool) -> Certificate:
        found = class_tally(problem, W, b, beta, worst, sharp=sharp)
        norms = norms_of(W, found.w, found.rounding.w)
        method = SHARP_METHOD if sharp else METHOD
        return conclude(found, norms, b, problem.bias, problem.summary(), problem.hard, method)

    return as_sharp_as_needed(prove, tol)


def class_tally(
    problem: MulticlassProblem, W, b, beta: np.ndarray, worst=None, place=None, sharp: bool = False
) -> Tally:
    """What the rows of ``problem`` add to the certificate of (W, b, β), as for two classes."""
    sums = new_sums()
    worst = np.empty((0, 2)) if worst is None else worst
    if sharp:
        return _sharp_tally(problem, W, b, beta, worst, place)
    n, d = problem.shape
    lengths, terms = problem.lengths, d + 2
    slope = SPARE * ROOT_2 * gamma(terms) * length_above(W)
    blur = slope, 8.0 * UNIT, 2.0 * terms * SMALLEST
    for part, s in score_chunks(problem.rows, W):
        s += b
        add_up(
            problem.loss, problem.c[part], problem.y[part], s, beta[part], problem.hard,
            *_rule(problem), lengths[part], *blur, sums, worst[part],
        )  # fmt: skip
    W_beta = class_combine(problem.rows, problem.k, signed(problem, beta))
    found = sums_tally(problem, sums, beta, residual(problem, beta), W_beta, float(np.ptp(b)))
    lost = SPARE * ROOT_2 * gamma(n + problem.k + 4) * float(sums[PULLED])
    hidden = 2.0 * gamma(n + problem.k) * found.mass
    reach = float(lengths.max(initial=0.0))
    return replace(found, rounding=found.rounding._replace(w=lost, r=hidden, reach=reach))


def _sharp_tally(problem: MulticlassProblem, W, b, beta, worst, place) -> Tally:
    """The same in twice the digits; W_β about ``place``."""
    if problem.bias:
        place = anchor(problem.rows) if place is None else place
    else:
        place = np.zeros(problem.shape[1])
    sums = new_sums()
    s, off = twofold_scores(problem.rows, W, b, problem.y, 1.0)
    add_up(
        problem.loss, problem.c, problem.y, s, beta, problem.hard, *_rule(problem),
        off, 1.0, 0.0, 0.0, sums, worst,
    )  # fmt: skip
    some, wrong = np.nonzero(beta)
    flow = beta[some, wrong]
    summed = twofold_combine(
        problem.rows, np.tile(some, 2), np.concatenate([wrong, problem.y[some]]),
        np.concatenate([-flow, flow]), problem.k, place,
    )  # fmt: skip
    found = sums_tally(problem, sums, beta, summed.r, summed.W, range_at(W, b, place))
    reach = twofold_reach(problem.rows, place) if problem.bias else 0.0
    bounds = found.rounding._replace(w=summed.lost, r=summed.hidden, reach=reach)
    return replace(found, rounding=bounds)


def range_at(W: np.ndarray, b: np.ndarray, place: np.ndarray) -> float:
    """No less than by how much the scores of two classes differ at a place."""
    leads, off = twofold_scores(DenseRows(place[None]), W, b, np.zeros(1, dtype=np.int64), 0.0)
    return SPARE * (float(np.ptp(leads)) + 2.0 * float(off[0]))


def scored_tally(
    problem: MulticlassProblem, s: np.ndarray, off: np.ndarray, beta, slacks, apart: float, reach,
    sharp: bool = False,
) -> Tally:  # fmt: skip
    """The tally of rows whose leads s_c − s_y + 1 are known up to ``off``, and whose weights are
    not formed.  ``apart`` and ``reach``: at and from the place of w.  ``sharp``: Σ_i α_i is summed
    without rounding, for far from the origin a large score multiplies it."""
    sums, rule = new_sums(), _rule(problem)
    add_up(
        problem.loss, problem.c, problem.y, s, beta, problem.hard, *rule,
        off, 1.0, 0.0, 0.0, sums, slacks,
    )  # fmt: skip
    r = exact_residual(problem, beta) if sharp else residual(problem, beta)
    found = sums_tally(problem, sums, beta, r, 0.0, apart)
    hidden = 2.0 * gamma(len(s) + problem.k) * found.mass
    if sharp:
        hidden = 2.0 * UNIT * float(np.abs(r).sum())
    return replace(found, rounding=found.rounding._replace(r=hidden, reach=reach))


def _rule(problem: MulticlassProblem) -> tuple[bool, bool]:
    """Whether a row has one slack in all, and whether it is charged as it is, not squared."""
    return one_slack(problem.loss), problem.hard or boxed_classes(problem.loss)


def new_sums() -> np.ndarray:
    """For ``add_up``: Σ c ℓ, Σ c ℓ*, three KKT violations, that of the box, the least margin; what
    the two sums leave, by how much they may be larger, Σ of multipliers by size, the largest score,
    and what the least margin is at least."""
    sums = np.zeros(14)
    sums[6], sums[13] = np.inf, np.inf
    return sums


def sums_tally(problem: MulticlassProblem, sums, beta: np.ndarray, r, w, apart: float) -> Tally:
    """``apart``: by how much the scores of two classes may differ at the place of w."""
    n, (loss, conjugates, zero, free, bound, box, closest) = len(problem.y), sums[:7].tolist()
    loss, conjugates = loss + float(sums[7]), conjugates + float(sums[8])
    mass = float(beta.sum())
    shared = FEW + 4.0 * (n * UNIT) ** 2  # of a sum with its rests
    rounding = Rounding(
        loss=SPARE * float(sums[9]) + shared * loss,
        conjugate=SPARE * float(sums[10]) + shared * abs(conjugates),
        swing=SPARE * (2.0 * float(sums[12]) + apart),
        closest=float(sums[13]),
    )
    price = np.bincount(problem.y, weights=problem.c, minlength=problem.k)
    kkt = zero, free, bound
    return Tally(n, loss, conjugates, mass, r, w, kkt, box, closest, price, rounding)


@plain_at_first(when=lambda loss, *_: slacks_each(loss, 2) > 0)
@njit(cache=True, nogil=True)
def add_up(loss, c, y, s, beta, hard, each, hinge, size, per_size, per_score, base, sums, out):
    """Add a chunk's sums as ``new_sums`` lists them.

    1 − s_y + s_c may be off by per_size · size + per_score (1 + the row's largest |s|) + base and
    a few roundings of its own.
    """
    k = s.shape[1]
    unit = np.empty(k)
    for i in range(c.shape[0]):
        own, total, least, most, worst, slacks = y[i], 0.0, 0.0, 0.0, -np.inf, 0.0
        largest = 0.0
        for j in range(k):
            largest = max(largest, abs(s[i, j])) if abs(s[i, j]) < np.inf else np.inf
        off = per_size * size[i] + per_score * (1.0 + largest) + base
        raised, blur = 0.0, 0.0
        for j in range(k):
            total += beta[i, j]
            least, most = min(least, beta[i, j]), max(most, beta[i, j])
            if not beta[i, j] >= 0.0:  # below its domain, or no number: it proves nothing
                sums[10] = np.inf
            if j != own:
                z = 1.0 - s[i, own] + s[i, j]
                worst = max(worst, z)
                slacks += max(0.0, z)
                here, there = max(0.0, z), max(0.0, z + off + FEW * abs(z))
                raised = max(raised, there)
                blur += there - here if hinge else there * there - here * here
                blur += FEW * here if hinge else FEW * here * here
        if out.shape[0] > 0:
            out[i, 0], out[i, 1] = worst, slacks
        if c[i] <= 0.0:
            sums[5] = max(sums[5], most, -least)
            if total != 0.0:
                sums[10] = np.inf
            continue
        if not off < np.inf:  # no number bounds it
            sums[9], sums[13] = np.inf, -np.inf
        if beta[i, own] != 0.0:
            sums[10] = np.inf
        sums[6] = min(sums[6], 1.0 - worst)
        sums[13] = min(sums[13], 1.0 - worst - off - FEW * (1.0 + abs(worst)))
        sums[11] += abs(total) * size[i]
        sums[12] = max(sums[12], largest + off)
        lost = (k + 8) * UNIT * abs(total)  # with what a sum that seems to be at its cap has more
        if hard:
            _add_sharply(sums, 1, -total)
            sums[5] = max(sums[5], -least)
        else:
            _add_sharply(sums, 0, c[i] * class_value(loss, s[i], own))
            if each:
                top = max(0.0, worst)
                blur = raised - top if hinge else raised * raised - top * top
                blur += FEW * top if hinge else FEW * top * top
            sums[9] += c[i] * blur
            if hinge:
                over = total if each else most
                _add_sharply(sums, 1, -total)
                sums[5] = max(sums[5], (over - c[i]) / c[i])
            else:
                for j in range(k):
                    unit[j] = max(beta[i, j], 0.0) / c[i]
                _add_sharply(sums, 1, c[i] * class_conjugate(loss, unit, own))
                lost += (k + 8) * UNIT * total * (total / c[i])
            sums[5] = max(sums[5], -least / c[i])
        sums[10] += lost
        _add_violations(c[i], own, s[i], beta[i], total, max(0.0, worst), hard, each, hinge, sums)


@plain_at_first
@njit(cache=True, nogil=True)
def _add_sharply(sums, at, term):
    """One of the first two sums, with what each addition loses seven places on."""
    sums[at], rest = two_sum(sums[at], term)
    sums[at + 7] += rest


@plain_at_first
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
