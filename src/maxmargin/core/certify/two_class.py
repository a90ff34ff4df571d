"""The certificate of a two-class fit: what its rows add up to, and how far rounding is in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..problem.losses import Hinge, bend, conjugate, kink, largest, slope, value
from ..problem.problem import Problem
from ..rows.one_pass import Seen
from ..rows.rows import DenseRows, anchor, combine, scores, terms_of
from ..rows.twofold import two_sum, twofold_combine, twofold_reach, twofold_slacks
from ..rule import otherwise, rule, verb
from ..team import in_shares
from . import at_once
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
from .rounding import FEW, SPARE, UNIT, Blur, Rounding, gamma, score_blur

# A hard margin is met with equality, and may carry a multiplier, but for this.
ON_MARGIN = 1e-6
# Rows that are tallied apart, at least: of a hinge they take 0.8 ms.
MIN_SHARE_ROWS = 1 << 16
# Roundings of a loss and its conjugate with what they do to an argument.
MANY = 160.0 * UNIT


def certify(
    problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, f=None, tol: float = SHARPEST
) -> Certificate:
    """Recompute primal, dual and KKT residuals of (w, b, α) from the data.

    ``f`` = Xw may be given by a caller who has just computed it from the data, or what was ``Seen``
    of them with v = αy.  ``tol``: the gap that is to be proved, for which more digits are used if
    they are needed.
    """

    def prove(sharp: bool) -> Certificate:
        found = tally(problem, w, b, alpha, f, sharp=sharp)
        norms = norms_of(w, found.w, found.rounding.w)
        method = SHARP_METHOD if sharp else METHOD
        return conclude(found, norms, b, problem.bias, problem.summary(), problem.hard, method)

    return as_sharp_as_needed(prove, tol)


def tally(
    problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, f=None, place=None, sharp=False
) -> Tally:
    """What the rows of ``problem`` add to the certificate of (w, b, α).

    ``sharp``: in twice the digits, w_α about ``place``, which lies among all rows; of rows that
    are all there are it is computed.
    """
    if sharp:
        return _sharp_tally(problem, w, b, alpha, place)
    if not isinstance(f, Seen):
        f = scores(problem.rows, w) if f is None else f
        f = Seen(f, combine(problem.rows, alpha * problem.y), problem.lengths)
    blur, lost = score_blur(w, f.lengths), gamma(terms_of(problem.rows) + 2)
    y, c, nothing = problem.y, problem.c, np.zeros_like(f.w)

    def share(i: int, j: int) -> Tally:
        here, m = slice(i, j), y[i:j] * (f.f[i:j] + b)
        some = problem if j - i == len(y) else replace(problem, rows=None, y=y[here], c=c[here])
        w_alpha = nothing if i else f.w
        off = blur._replace(size=blur.size[here])
        return margin_tally(some, alpha[here], 1.0 - m, off, w_alpha, lost, abs(b))

    first, *rest = in_shares(share, len(y), MIN_SHARE_ROWS)
    return sum(rest, first)


def _sharp_tally(problem: Problem, w, b: float, alpha, place) -> Tally:
    """The same in twice the digits."""
    if problem.bias:
        place = anchor(problem.rows) if place is None else place
    else:
        place = np.zeros(problem.shape[1])
    n = len(alpha)
    z, off = twofold_slacks(problem.rows, w, b, problem.y)
    alone = np.zeros(n, dtype=np.int64)
    summed = twofold_combine(problem.rows, np.arange(n), alone, alpha * problem.y, 1, place)
    here, unsure = twofold_slacks(DenseRows(place[None]), w, b, np.ones(1))  # 1 − (w·a + b)
    base = 1.0 + abs(float(here[0])) + float(unsure[0])
    found = margin_tally(problem, alpha, z, Blur(off, 1.0, 0.0), summed.W[0], 0.0, base)
    reach = twofold_reach(problem.rows, place) if problem.bias else 0.0
    return replace(found, rounding=found.rounding._replace(w=summed.lost, reach=reach))


def margin_tally(
    problem: Problem, alpha: np.ndarray, z: np.ndarray, blur: Blur, w, lost: float = 0.0,
    at_place: float = np.inf,
) -> Tally:  # fmt: skip
    """The tally of rows whose slacks z = 1 − m are known, up to ``blur``.

    Where the sizes of ``blur`` are ‖x‖, rounding may have moved w by ``lost`` Σ α‖x‖, and the reach
    is the largest of them; a caller with other sizes puts the bounds in their place.  ``at_place``:
    no less than |w·a + b|.
    """
    # Of a hinge, hard or not, nothing but its slacks is asked.
    shape = Hinge() if problem.hard or kink(problem.loss) == 1.0 else problem.loss
    # Half a change of the slope 2(1 − m) is a change of the margin; a logistic slope stands.
    resistance = bend(problem.loss)
    per_slope = resistance if resistance > 0.0 else 1.0
    loss, conjugates, mass, r, price, kkt, box, closest, rounding = sums(
        shape, problem.c, problem.cap, alpha, problem.y, z, *blur, lost, at_place, problem.hard,
        per_slope,
    )  # fmt: skip
    return Tally(
        len(z), loss, conjugates, mass, r, w, kkt, box, closest, np.array(price),
        Rounding(*rounding),
    )  # fmt: skip


def from_margins(problem: Problem, margins: np.ndarray) -> np.ndarray:
    """Multipliers that would be optimal if the margins were: −c ℓ′(m)."""
    if problem.hard:
        return np.where((problem.c > 0) & (margins <= 1.0 + ON_MARGIN), 1.0, 0.0)
    return _from_margins(problem.loss, problem.c, margins)


def _quadratic_pieces(loss, *_) -> bool:
    """Whether a loss and its conjugate are computed without ``exp`` and ``log``."""
    return not np.isnan(bend(loss))


@plain_at_first(when=_quadratic_pieces)
@njit(cache=True, nogil=True)
def _from_margins(loss, c, m):
    alpha = np.empty(len(m))
    for i in range(len(m)):
        alpha[i] = -c[i] * slope(loss, m[i])
    return alpha


def losses_of(problem: Problem, margins: np.ndarray) -> np.ndarray:
    """c ℓ(m) of every row; no hard margin."""
    return _losses(problem.loss, problem.c, margins)


@plain_at_first(when=_quadratic_pieces)
@njit(cache=True, nogil=True)
def _losses(loss, c, m):
    out = np.empty(len(m))
    for i in range(len(m)):
        out[i] = c[i] * value(loss, m[i])
    return out


@verb
def lost_by(loss, c, slack, off):
    """c ℓ(m), by how much more it may be where m is ``off``, and how far it is with its own."""


@verb
def gained_by(loss, c, alpha):
    """c ℓ*(−α/c) of a multiplier in its box, and a bound on its rounding."""


@verb
def violations(loss, alpha, c, cap, slack, per_slope):
    """By how much a row violates KKT if α = 0, if it is free, and if it is at its cap."""


# The hinge in its own words: a first fit has four verbs less to compile.
@rule(lost_by, Hinge)
def _(loss, c, slack, off):
    return c * max(0.0, slack), c * max(0.0, min(off, slack + off)), off


@rule(gained_by, Hinge)
def _(loss, c, alpha):
    return -alpha, 0.0


@rule(violations, Hinge)
def _(loss, alpha, c, cap, slack, per_slope):
    if alpha <= 0.0:
        return slack, 0.0, 0.0
    if alpha >= cap:
        return 0.0, 0.0, -slack
    return 0.0, abs(slack), 0.0


@otherwise(lost_by)
def _(loss, c, slack, off):
    m, off = 1.0 - slack, off + FEW * (1.0 + abs(slack))
    here, there = value(loss, m), value(loss, m - off)
    return c * here, c * (max(0.0, there - here) + MANY * here), off


@otherwise(gained_by)
def _(loss, c, alpha):
    unit = alpha / c
    star = conjugate(loss, min(unit, largest(loss)))
    return c * star, c * (FEW * abs(star) + MANY * unit * (1.0 + unit))


@otherwise(violations)
def _(loss, alpha, c, cap, slack, per_slope):
    return 0.0, per_slope * abs(alpha / c + slope(loss, 1.0 - slack)), 0.0


@plain_at_first(when=_quadratic_pieces, arrays=at_once.sums)
@njit(cache=True, nogil=True)
def sums(loss, c, cap, alpha, y, z, size, per_size, base, lost, at_place, hard, per_slope):
    """Σ c ℓ(m), Σ c ℓ*(−α/c), Σ α, Σ αy, Σ c by class, worst KKT violation by kind, box violation,
    smallest margin; and the fields of ``Rounding``."""
    n = c.shape[0]
    loss_sum, loss_rest, conjugate_sum, conjugate_rest = 0.0, 0.0, 0.0, 0.0
    r, r_rest, mass, minus, plus = 0.0, 0.0, 0.0, 0.0, 0.0
    loss_error, conjugate_error, pulled, largest_size = 0.0, 0.0, 0.0, 0.0
    box, closest, surely, farthest = 0.0, np.inf, np.inf, 0.0
    zero, free, bound = 0.0, 0.0, 0.0
    for i in range(n):
        a = alpha[i]
        if c[i] <= 0.0:
            box = max(box, abs(a))
            if a != 0.0:
                conjugate_error = np.inf
            continue
        slack = z[i]
        m = 1.0 - slack
        off = per_size * size[i] + base + FEW * abs(slack)
        closest, surely = min(closest, m), min(surely, m - off - FEW * abs(m))
        farthest = max(farthest, abs(m) + off)
        mass += a
        r, rest = two_sum(r, a * y[i])
        r_rest += rest
        pulled += abs(a) * size[i]
        largest_size = max(largest_size, size[i])
        if y[i] > 0.0:
            plus += c[i]
        else:
            minus += c[i]
        if not a >= 0.0:  # below its box, or no number: it proves nothing
            conjugate_error = np.inf
        if hard:
            term, rise, blur, blunt = 0.0, -a, 0.0, 0.0
            box = max(box, -a)
        else:
            term, blur, off = lost_by(loss, c[i], slack, off)
            rise, blunt = gained_by(loss, c[i], min(max(a, 0.0), cap[i]))
            box = max(box, -a / c[i], (a - cap[i]) / c[i])
        if not off < np.inf:  # no number bounds it
            loss_error, surely = np.inf, -np.inf
        loss_sum, rest = two_sum(loss_sum, term)
        loss_rest += rest
        conjugate_sum, rest = two_sum(conjugate_sum, rise)
        conjugate_rest += rest
        loss_error += blur
        conjugate_error += blunt
        idle, bent, capped = violations(loss, a, c[i], cap[i], slack, per_slope)
        zero, free, bound = max(zero, idle), max(free, bent), max(bound, capped)
    loss_sum += loss_rest
    conjugate_sum += conjugate_rest
    r += r_rest
    shared = FEW + 4.0 * (n * UNIT) ** 2  # of a sum with its rests
    rounding = (
        SPARE * loss_error + shared * loss_sum,
        SPARE * conjugate_error + shared * abs(conjugate_sum),
        SPARE * lost * pulled,
        FEW * abs(r) + 4.0 * (n * UNIT) ** 2 * mass,
        SPARE * largest_size,
        SPARE * (farthest + at_place),
        surely,
    )
    price = (minus, plus)
    kkt = (zero, free, bound)
    return loss_sum, conjugate_sum, mass, r, price, kkt, box, closest, rounding
