"""A certificate in rational arithmetic, for problems small enough: no rounding, at any scale.

    dual(α) = Σ_g (…) − ½‖Σ α_p a_p‖²  ≤  optimum  ≤  primal(w, b)

as everywhere, but the multipliers are given to many more digits than float64 has: where sums of
large rows must cancel, multipliers of 16 digits prove nothing.  They are made whole numbers times a
power of two that obey Σ α_p e_p = 0 exactly, and both sides are then summed without rounding;
logarithms are decimal numbers of many digits, charged with far more than they can be off by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..problem.demands import Demands, Penalty, whole
from ..rows.decimals import many_digits
from .certificate import Certificate

METHOD = "recomputed from the data in rational arithmetic, with multipliers of many digits"
# Digits of multipliers and of logarithms, and of what rows of size one are solved in.
DIGITS = 100
# Multipliers are whole multiples of 2⁻ᵇ of the largest cost, with so many bits for a digit; all of
# them are made shorter by so much, relatively, that each has room to mend Σ α e.
BITS_PER_DIGIT, SHORTER_BITS = 3, 130
# Far more than logarithms of so many digits are off by, relatively, if their arguments are not as
# near to one as this.
LOG_ERROR, NEAR_ONE = Fraction(1, 10**60), Fraction(1, 10**30)
# A loss is said to be at least this: exp(−10⁸) as a fraction has a hundred million digits.
LEAST_LOSS = Decimal("1e-400")


def rational_certificate(
    demands: Demands, W: np.ndarray, b: np.ndarray, alpha: Iterable[Decimal], near: Certificate
) -> Certificate:
    """``near``, with the primal of (W, b) and the dual of α as they are without rounding.

    α: a multiplier for every demand.  Where it is not feasible, ``near`` itself.
    """
    with many_digits(digits_for(demands)):
        primal = primal_of(demands, W, b)
        dual = dual_of(demands, alpha)
    if dual is None or primal is None:
        return near
    return replace(
        near, primal=above(primal), dual=-above(-dual), box_violation=0.0, bias_residual=0.0,
        method=METHOD, rounding=0.0,
    )  # fmt: skip


def digits_for(demands: Demands) -> int:
    """Of inseparable rows of size 10ᵉ multipliers cancel to as many digits more."""
    most = max((abs(number) for number in demands.a.numbers.ravel()), default=0)
    return DIGITS + max(0, int((most.bit_length() + demands.a.exponent) / BITS_PER_DIGIT))


def margins(demands: Demands, W: np.ndarray, b: np.ndarray) -> list[Fraction]:
    """m_p = a_p·w + e_p·b."""
    w, bias = whole(W.ravel()), whole(np.atleast_1d(b))
    scored = demands.a.numbers @ w.numbers
    lifted = demands.e.astype(object) @ bias.numbers if demands.e.shape[1] else 0 * scored
    unit, other = _power(demands.a.exponent + w.exponent), _power(bias.exponent)
    return [p * unit + q * other for p, q in zip(scored, lifted, strict=True)]


def primal_of(demands: Demands, W: np.ndarray, b: np.ndarray) -> Fraction | None:
    """½‖w‖² + Σ c ℓ, or no less; None where it is infinite."""
    if demands.e.shape[1] == 0 and np.any(b):  # there must be none
        return None
    w = whole(W.ravel())
    total = int((w.numbers * w.numbers).sum()) * _power(2 * w.exponent) / 2
    m = margins(demands, W, b)
    if demands.penalty is Penalty.HARD:
        closest = min(m)  # (w, b) made longer until it has a margin of one
        return total / min(closest, Fraction(1)) ** 2 if closest > 0 else None
    for cost, members in _groups(demands, m):
        worst = max(Fraction(0), 1 - min(members))
        if demands.penalty is Penalty.LOG:
            total += cost * _log_loss(members)
        else:
            total += cost * (worst if demands.penalty is Penalty.HINGE else worst * worst)
    return total


def dual_of(demands: Demands, alpha: Iterable[Decimal]) -> Fraction | None:
    """The bound that multipliers amount to, once they balance; None where they cannot."""
    found = feasible_units(demands, alpha, digits_for(demands))
    if found is None:
        return None
    numbers, unit = found
    v = demands.a.numbers.T @ numbers
    scale = unit * _power(demands.a.exponent)
    total = -int((v * v).sum()) * scale * scale / 2
    for cost, members in _groups(demands, [n * unit for n in numbers]):
        mass = sum(members, Fraction(0))
        total += _conjugate(demands.penalty, cost, members, mass)
    return total


def feasible_units(
    demands: Demands, alpha: Iterable[Decimal], digits: int
) -> tuple[np.ndarray, Fraction] | None:
    """Multipliers near α, as whole numbers times a unit, that balance exactly and are within their
    limits; None where there are none."""
    exponent = math.frexp(_largest(demands, alpha))[1] - BITS_PER_DIGIT * digits
    unit = _power(exponent)
    shorter = 1 - Fraction(1, 2**SHORTER_BITS)
    least = decimal(unit)  # smaller ones are none; as fractions they may have a million digits
    whole_units = [int(Fraction(a) * shorter / unit) if a > least else 0 for a in alpha]
    numbers = np.array(whole_units, dtype=object)
    numbers[~on_cycles(demands.e)] = 0
    if not _balance(demands, numbers, _room(demands, numbers, unit)):
        return None
    bounded = demands.penalty not in UNBOUNDED
    for cost, members in _groups(demands, [n * unit for n in numbers]):
        if min(members) < 0 or (bounded and sum(members, Fraction(0)) > cost):
            return None
    return numbers, unit


UNBOUNDED = (Penalty.HARD, Penalty.SQUARE)


def _conjugate(penalty: Penalty, cost: Fraction, members: list[Fraction], mass: Fraction):
    """−c ℓ*(α/c), or less."""
    if penalty is Penalty.SQUARE:
        return mass - mass * mass / (4 * cost)
    if penalty is Penalty.LOG:
        shares = [a / cost for a in [*members, cost - mass]]
        return cost * sum(map(_entropy, shares), Fraction(0))
    return mass


def _groups(demands: Demands, values: list):
    """The cost and the values of every group."""
    starts = [*demands.starts.tolist(), len(values)]
    for g, cost in enumerate(demands.cost.tolist()):
        exact = Fraction(0) if math.isinf(cost) else Fraction(cost)
        yield exact, values[starts[g] : starts[g + 1]]


def _largest(demands: Demands, alpha: Iterable[Decimal]) -> float:
    most = float(demands.cost.max())
    return most if math.isfinite(most) else max([float(a) for a in alpha]) or 1.0


def _room(demands: Demands, numbers: np.ndarray, unit: Fraction) -> np.ndarray:
    """How far every multiplier may be moved either way."""
    room = numbers.copy()
    if demands.penalty in UNBOUNDED:
        return room
    starts = [*demands.starts.tolist(), len(numbers)]
    for g, (cost, members) in enumerate(_groups(demands, list(numbers))):
        left = int(cost / unit) - sum(members)
        room[starts[g] : starts[g + 1]] = [min(number, left) for number in members]
    return room


def _balance(demands: Demands, numbers: np.ndarray, room: np.ndarray) -> bool:
    """Make Σ α e zero, in place: what a class lacks is brought along a tree of demands.

    With a single column of e, of two classes, the multiplier with most room bears it.
    """
    e = demands.e
    if e.shape[1] == 0:
        return True
    rest = [int(r) for r in e.T.astype(object) @ numbers]
    for c, parent, p in reversed(_tree(e, room)):
        flow = rest[c] * int(e[p, c])
        numbers[p] -= flow
        for other in (c, parent):
            if other >= 0:
                rest[other] -= flow * int(e[p, other])
    for p in np.flatnonzero(
        numbers < 0
    ).tolist():  # a round of all demands on the way, so that none is
        numbers[[p, *_way_back(e, p)]] -= numbers[p]
    return not any(e.T.astype(object) @ numbers)


def _way_back(e: np.ndarray, p: int) -> list[int]:
    """Demands that take back what this one brings from class to class, the fewest."""
    over, under = e.argmax(axis=1), e.argmin(axis=1)
    before: dict[int, int] = {int(over[p]): -1}
    queue = [int(over[p])]
    while queue and under[p] not in before:
        c = queue.pop(0)
        for q in np.flatnonzero(under == c):
            if int(over[q]) not in before:
                before[int(over[q])] = int(q)
                queue.append(int(over[q]))
    way, c = [], int(under[p])
    while before.get(c, -1) >= 0:
        way.append(before[c])
        c = int(under[before[c]])
    return way


def on_cycles(e: np.ndarray) -> np.ndarray:
    """Whether what a demand brings into a class can come back: the others have no multipliers."""
    if e.shape[1] < 2:
        return np.ones(len(e), dtype=bool)
    over, under = e.argmax(axis=1), e.argmin(axis=1)
    graph = csr_array((np.ones(len(e)), (over, under)), shape=(e.shape[1],) * 2)
    _, part = connected_components(graph, directed=True, connection="strong")
    return part[over] == part[under]


def _tree(e: np.ndarray, room: np.ndarray) -> list[tuple[int, int, int]]:
    """(class, class before it, demand between them), those nearest to a root first.

    Demands whose multipliers have most room are taken.
    """
    some = [int(p) for p in np.argsort(-room) if room[p] > 0]
    if e.shape[1] == 1:
        return [(0, -1, p) for p in some[:1]]
    ends = {p: (int(e[p].argmax()), int(e[p].argmin())) for p in some}
    found: list[tuple[int, int, int]] = []
    seen: set[int] = set()
    while len(seen) < e.shape[1]:
        steps = ((p, a, b) for p in some for a, b in (ends[p], ends[p][::-1]))
        step = next(((p, a, b) for p, a, b in steps if a in seen and b not in seen), None)
        if step is None:  # the root of another part
            seen.add(min(set(range(e.shape[1])) - seen))
        else:
            p, before, c = step
            seen.add(c)
            found.append((c, before, p))
    return found


def _log_loss(members: list[Fraction]) -> Fraction:
    """log(1 + Σ exp(−m)), or a little more."""
    least = min(Fraction(0), *members)
    beside = sum((decimal(least - m).exp() for m in members), Decimal(0))
    if least == 0 and beside < decimal(NEAR_ONE):
        return Fraction(max(beside, LEAST_LOSS)) * (1 + LOG_ERROR)  # log(1 + t) ≤ t
    total = decimal(least).exp() + beside
    return (Fraction(total.ln()) - least) * (1 + LOG_ERROR)


def _entropy(share: Fraction) -> Fraction:
    """−p log p, or a little less."""
    if share <= 0:
        return Fraction(0)
    if 1 - share < NEAR_ONE:
        return share * (1 - share)  # −log(1 − t) ≥ t
    return -share * Fraction(decimal(share).ln()) * (1 - LOG_ERROR)


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def above(number: Fraction) -> float:
    """The next float that is no less."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -np.finfo(float).max
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
