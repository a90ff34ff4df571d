"""From weights of many digits to float64 weights that lose as little of the objective as may be.

First each is rounded alone, and the bias follows the rounded weights.  Then they are rounded
together (``rows/lattice.py``), those of all classes at once, in the metric

    I + Σ_p D_p (a_p, e_p)(a_p, e_p)ᵀ                of the weights, and of the weights and biases

where D_p lets a margin move by as much as costs a share of the gap asked for: by little on the
margin, where a hinge charges c for each unit; by the slack or the room that a row has, elsewhere;
logistic losses and squares have a curvature of their own.  Either way weights may also be a little
longer, where slack costs more than length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...problem.demands import Demands, Penalty
from ...rows.decimals import ONE, ZERO, decimals
from ...rows.lattice import nearest_floats
from ..float_weights import exact_product
from .system import Numbers, above_zero, from_whole

# Shares of the gap asked for by which weights are made longer, in turn.
LONGER = (0.0, 1e-6, 1e-4, 1e-2, 0.1)
# Of that gap, what the length of a hard margin may differ by.
LENGTH_SHARE = Decimal("0.1")
# Of the largest bias, what another is when it is to say what rounding has lost of it.
NEAR_ZERO = Decimal(2) ** -30


class Precise(NamedTuple):
    """Weights w (D,), scores at the place (B,), multipliers of the demands."""

    w: Numbers
    at_place: Numbers
    alpha: Numbers


def float_weights(
    asked: Demands, answer: Precise, tol: float, go_on: Callable[[], bool] = lambda: True
) -> Iterator[tuple]:
    """W, one row per class, and their biases, if there are such: the simplest first."""
    goals = [1 + Decimal(share * tol) for share in LONGER]
    W = answer.w.reshape(-1, len(asked.place))
    for longer in goals:
        yield _each_alone(asked, longer * W, longer * answer.at_place)
    biases = biases_of(asked, answer)
    share, H = _metric(asked, answer, biases, Decimal(tol))
    for b in _shifted(biases):
        for longer in goals:
            yield _together(longer * W, longer * b, H / share, share.sqrt(), go_on)
    for moved in _moved_weights(W, share):
        yield _together(moved, biases, H / share, share.sqrt(), go_on)
    if asked.penalty is Penalty.HARD:
        longer = 1 + LENGTH_SHARE * Decimal(tol)
        soft = _of_any_length(np.concatenate([W.ravel(), biases]), H / share, Decimal(tol))
        yield _together(longer * W, longer * biases, soft, share.sqrt(), go_on)


def _moved_weights(W: Numbers, share: Decimal) -> Iterator[Numbers]:
    """Weights of several classes, too, matter up to a shift of all, but for their length: where
    that costs no more than a part of the gap, those of one class are made so small that they say
    what rounding has lost of the others."""
    for own in W if len(W) > 1 else ():
        apart = W - own
        moved = apart + max(abs(apart).ravel()) * NEAR_ZERO
        if (moved * moved).sum() - (W * W).sum() <= share:
            yield moved
    least = np.array([min(column, key=abs) for column in W.T], dtype=object)
    costs, spent = len(W) * least * least, ZERO
    moved = W.copy()
    for j in np.argsort(costs) if len(W) > 1 else ():
        spent += costs[j]
        if spent <= share:
            moved[:, j] += max(abs(W[:, j])) * NEAR_ZERO - least[j]
            yield moved


def _of_any_length(x: Numbers, H: Numbers, tol: Decimal) -> Numbers:
    """The metric of a hard margin, for which weights may be longer by a part of the gap."""
    along = H.dot(x)
    stiff = along.dot(x)
    soft = min(stiff, 1 / (LENGTH_SHARE * tol) ** 2)
    return H - np.multiply.outer(along, along) * ((ONE - soft / stiff) / stiff)


def _shifted(biases: Numbers) -> Iterator[Numbers]:
    """Biases of several classes matter up to a shift of all: one of them near zero is finer."""
    yield biases
    if len(biases) > 1:
        for own in biases:
            yield biases - own + max(abs(biases - own)) * NEAR_ZERO


def _each_alone(asked: Demands, W: Numbers, at_place: Numbers) -> tuple:
    rounded = np.array([[float(w) for w in row] for row in W])
    pairs = zip(rounded, at_place, strict=False)
    b = [float(Fraction(score) - exact_product(w, asked.place)) for w, score in pairs]
    return rounded, np.array(b)


def _together(W: Numbers, b: Numbers, H: Numbers, reach: Decimal, go_on) -> tuple:
    """``reach``: how far a weight may move for its own length; biases are as free as they are."""
    free = np.array([reach] * W.size + [abs(each) + ONE for each in b], dtype=object)
    found = nearest_floats(np.concatenate([W.ravel(), b]), H, free, go_on)
    return found[: W.size].reshape(W.shape), found[W.size :]


def biases_of(asked: Demands, answer: Precise) -> Numbers:
    """Scores at the origin."""
    place = decimals(asked.place)
    W = answer.w.reshape(-1, len(place))[: len(answer.at_place)]
    return answer.at_place - W @ place if len(W) else answer.at_place


def _metric(asked: Demands, answer: Precise, biases: Numbers, tol: Decimal):
    """What the gap asked for amounts to, and Σ D (a, e)(a, e)ᵀ."""
    a, e = from_whole(asked.a), decimals(asked.e)
    share, D = _stiffness(asked, answer, a @ answer.w + e @ biases, tol)
    E = np.concatenate([a, e], axis=1)
    return share, (E * D[:, None]).T @ E


def _stiffness(asked: Demands, answer: Precise, m: Numbers, tol: Decimal):
    """A share of the gap asked for, and D_p: that, relative to the square of what a margin may move
    by for it."""
    z, hard = ONE - m, asked.penalty is Penalty.HARD
    norm = sum(answer.w * answer.w, ZERO) / 2
    cost = decimals(np.ones(len(asked.cost)) if hard else asked.cost)[asked.group]
    if asked.penalty is Penalty.LOG:
        return tol * (norm or ONE), answer.alpha * (ONE - answer.alpha / cost)
    late = above_zero(z)
    if asked.penalty is Penalty.SQUARE:
        share = tol * (norm + sum(cost * late * late, ZERO))
        room = above_zero(-z) ** 2 + share / (2 * cost)
        return share, share / room
    share = tol * (norm if hard else norm + sum(cost * late, ZERO))
    least = share / (len(z) * (2 * norm if hard else cost))
    return share, share / (least + above_zero(abs(z) - least)) ** 2
