"""The kernels of a first proof on whole arrays: nothing to compile, and the same bits.

A loop adds its terms one after the other, as ``np.cumsum`` does and ``np.sum`` does not; everything
else is done to each row by itself.  What a loop treats apart, which is rare, is left to it
(``NotImplemented``): numbers that are none, multipliers outside their box, rows without a weight
that carry one.
"""

from __future__ import annotations

import numpy as np

from ..problem.losses import kink
from ..rows.twofold import two_sum
from .rounding import FEW, SPARE, UNIT


def total(terms: np.ndarray) -> float:
    """Their sum, from the first to the last."""
    return float(np.cumsum(terms)[-1]) + 0.0 if len(terms) else 0.0


def total_by_column(terms: np.ndarray) -> np.ndarray:
    """The same of every column; NumPy adds row to row where a row is more than one number."""
    if terms.shape[1] == 1 or not len(terms):
        return np.array([total(column) for column in terms.T])
    return np.add.reduce(terms, axis=0) + 0.0


def twofold_total(terms: np.ndarray) -> tuple[float, float]:
    """Their sum, and the sum of what each step of it lost."""
    if not len(terms):
        return 0.0, 0.0
    reached = np.cumsum(terms)
    _, rests = two_sum(np.concatenate(([0.0], reached[:-1])), terms)
    return float(reached[-1]) + 0.0, total(rests)


def _greatest(values: np.ndarray, least: float = 0.0) -> float:
    return float(values.max(initial=least)) + 0.0


def sums(loss, c, cap, alpha, y, z, size, per_size, base, lost, at_place, hard, per_slope):
    """``two_class.sums`` of the hinge, and of the hard margin."""
    n = len(c)
    if kink(loss) != 1.0 or not (np.isfinite(z).all() and np.isfinite(alpha).all()):
        return NotImplemented
    alive = c > 0.0
    if not alive.all():
        if alpha[~alive].any():
            return NotImplemented
        c, cap, alpha, y, z, size = (v[alive] for v in (c, cap, alpha, y, z, size))
    m, far = 1.0 - z, np.abs(z)
    off = per_size * size + base + FEW * far
    if not np.isfinite(off).all() or (alpha < 0.0).any():
        return NotImplemented
    near = np.abs(m)
    closest = float(m.min(initial=np.inf))
    surely = float((m - off - FEW * near).min(initial=np.inf))
    positive, loss_sum, loss_error, rises, box = y > 0.0, 0.0, 0.0, -alpha, 0.0
    if not hard:
        loss_sum, loss_rest = twofold_total(c * np.maximum(z, 0.0))
        loss_sum += loss_rest
        loss_error = total(c * np.maximum(np.minimum(off, z + off), 0.0))
        rises = -np.minimum(alpha, cap)
        box = _greatest((alpha - cap) / c)
    conjugate_sum, conjugate_rest = twofold_total(rises)
    r, r_rest = twofold_total(alpha * y)
    conjugate_sum, r, mass = conjugate_sum + conjugate_rest, r + r_rest, total(alpha)
    idle, capped = alpha <= 0.0, alpha >= cap
    shared = FEW + 4.0 * (n * UNIT) ** 2
    rounding = (
        SPARE * loss_error + shared * loss_sum,
        shared * abs(conjugate_sum),
        SPARE * lost * total(alpha * size),
        FEW * abs(r) + 4.0 * (n * UNIT) ** 2 * mass,
        SPARE * _greatest(size),
        SPARE * (_greatest(near + off) + at_place),
        surely,
    )
    price = (total(c[~positive]), total(c[positive]))
    kkt = (_greatest(z[idle]), _greatest(far[~(idle | capped)]), _greatest(-z[capped & ~idle]))
    return loss_sum, conjugate_sum, mass, r, price, kkt, box, closest, rounding


def hinge_bias(f, y, c, guess, equality: float):
    """``bias._hinge_bias`` by sorting.

    Costs that are no units are added up in another order here: where that could decide whether two
    sums are equal, which they are up to ``equality``, it is left to the loop.
    """
    alive = c > 0.0
    points = (y - f)[alive]
    if not np.isfinite(total(points)):
        return NotImplemented
    biggest = float(c.max(initial=0.0))
    target = total(c[y > 0.0] / biggest)
    order = np.argsort(points)
    points, cost = points[order], c[alive][order] / biggest
    slack = equality * max(1.0, target)
    last = np.append(points[1:] > points[:-1], True)  # of the points that are equal
    points, below = points[last], np.cumsum(cost)[last]
    doubt = 0.0 if (cost == 1.0).all() else 4.0 * len(cost) * UNIT * float(below[-1])
    apart = np.abs(below - target)
    if (np.abs(apart - slack) <= doubt).any():
        return NotImplemented
    at = int(np.searchsorted(below, target - slack))
    if apart[at] > slack:
        return float(points[at])
    return 0.5 * float(points[at] + points[at + 1]) if at + 1 < len(points) else guess


def shift(alpha, cap, y, step):
    """``repair.shift``."""
    if not np.isfinite(alpha).all():
        return NotImplemented
    np.minimum(np.maximum(alpha, 0.0, out=alpha), cap, out=alpha)
    if step != 0.0:
        free = (alpha > 0.0) & (alpha < cap)
        moved = np.minimum(np.maximum(alpha - y * step, 0.0), cap)
        np.copyto(alpha, moved, where=free)
    positive = y > 0.0
    free = np.count_nonzero((alpha > 0.0) & (alpha < cap))
    return total(alpha * y), total(alpha[positive]), total(alpha[~positive]), int(free)


def bounds(Z, y, c, D, squared, w, z, a):
    """``tiny._bounds``."""
    if squared or not (np.isfinite(z).all() and np.isfinite(a).all()):
        return NotImplemented
    alive, positive = c > 0.0, y > 0.0
    if not alive.all():
        Z, y, c, z, a, positive = (v[alive] for v in (Z, y, c, z, a, positive))
    plus, minus = total(a[positive]), total(a[~positive])
    up, down = 1.0, 1.0
    if len(D) and D[-1] == 0.0 and plus != minus:
        up = min(1.0, minus / plus) if plus > 0.0 else 1.0
        down = min(1.0, plus / minus) if minus > 0.0 else 1.0
    t = a * np.where(positive, up, down)
    v = total_by_column((t * y)[:, None] * Z)
    primal = total(c * np.maximum(z, 0.0)) + 0.5 * total(D * w * w)
    return primal, up * plus + down * minus - 0.5 * total(D * v * v)
