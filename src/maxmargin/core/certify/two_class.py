"""The certificate of a two-class fit: what its rows add up to, in float64."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.losses import bend, conjugate, kink, largest, slope, target, value
from ..problem.problem import Problem
from ..rows.rows import anchor, combine, scores
from .certificate import Certificate
from .conclude import Tally, conclude, norms_of
from .sharpen import rounding_counts, sharpen

# A hard margin is met with equality, and may carry a multiplier, but for this.
ON_MARGIN = 1e-6


def certify(problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, f=None) -> Certificate:
    """Recompute primal, dual and KKT residuals of (w, b, α) from the data.

    ``f`` = Xw may be given by a caller who has just computed it from the data.
    """
    found = tally(problem, w, b, alpha, f)
    norms = norms_of(w, found.w)
    return conclude(found, norms, b, problem.bias, problem.summary(), problem.hard)


def tally(
    problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, f=None, place=None, parts: int = 1
) -> Tally:
    """What the rows of ``problem`` add to the certificate of (w, b, α).

    ``place`` lies among all rows; of rows that are all there are it is computed.  ``parts``: how
    many more parts like this one there may be.
    """
    if f is None:
        f = scores(problem.rows, w)
    w_alpha = combine(problem.rows, alpha * problem.y)
    r = float(alpha @ problem.y)
    if problem.bias and r != 0.0:
        # What rounding left of r belongs to some rows; far from the origin it would count.
        w_alpha -= r * (anchor(problem.rows) if place is None else place)
    z = 1.0 - problem.y * (f + b)
    cancels = not problem.hard and target(problem.loss) == 1.0
    if cancels and rounding_counts(problem.c, parts * len(z), float(w @ w)):
        z = sharpen(problem, w, b, z)
    return margin_tally(problem, alpha, z, r, w_alpha)


def margin_tally(problem: Problem, alpha: np.ndarray, z: np.ndarray, r: float, w) -> Tally:
    """The tally of rows whose slacks z = 1 − m are known."""
    hinge = problem.hard or kink(problem.loss) == 1.0
    # Half a change of the slope 2(1 − m) is a change of the margin; a logistic slope stands.
    resistance = bend(problem.loss)
    per_slope = resistance if resistance > 0.0 else 1.0
    loss, conjugates, kkt, box, closest = sums(
        problem.loss, problem.c, problem.cap, alpha, z, problem.hard, hinge, per_slope
    )
    return Tally(len(z), loss, conjugates, float(alpha.sum()), r, w, kkt, box, closest)


def from_margins(problem: Problem, margins: np.ndarray) -> np.ndarray:
    """Multipliers that would be optimal if the margins were: −c ℓ′(m)."""
    if problem.hard:
        return np.where((problem.c > 0) & (margins <= 1.0 + ON_MARGIN), 1.0, 0.0)
    return _from_margins(problem.loss, problem.c, margins)


@njit(cache=True, nogil=True)
def _from_margins(loss, c, m):
    alpha = np.empty(len(m))
    for i in range(len(m)):
        alpha[i] = -c[i] * slope(loss, m[i])
    return alpha


@njit(cache=True, nogil=True)
def sums(loss, c, cap, alpha, z, hard, hinge, per_slope):
    """Σ c ℓ(m), Σ c ℓ*(−α/c), worst KKT violation by kind, box violation, smallest margin."""
    loss_sum, conjugate_sum, box, closest = 0.0, 0.0, 0.0, np.inf
    zero, free, bound = 0.0, 0.0, 0.0
    for i in range(c.shape[0]):
        if c[i] <= 0.0:
            box = max(box, abs(alpha[i]))
            continue
        slack, a = z[i], alpha[i]
        m = 1.0 - slack
        closest = min(closest, m)
        if hard:
            conjugate_sum -= a
            box = max(box, -a)
        else:
            loss_sum += c[i] * max(0.0, slack) if hinge else c[i] * value(loss, m)
            unit = min(max(a, 0.0), cap[i]) / c[i]
            conjugate_sum += c[i] * conjugate(loss, min(unit, largest(loss)))
            box = max(box, -a / c[i], (a - cap[i]) / c[i])
        if not hinge:
            free = max(free, per_slope * abs(a / c[i] + slope(loss, m)))
        elif a <= 0.0:
            zero = max(zero, slack)
        elif a >= cap[i]:
            bound = max(bound, -slack)
        else:
            free = max(free, abs(slack))
    return loss_sum, conjugate_sum, (zero, free, bound), box, closest
