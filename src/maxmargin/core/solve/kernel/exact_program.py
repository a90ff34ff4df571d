"""The dual of few rows as a small program in two hundred digits: scaled, started, and solved."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...kernels.decimal_values import few_enough
from ...kernels.kernel_block import KernelPoints
from ...rows.decimals import (
    NOTHING,
    ONE,
    ZERO,
    Deficient,
    decimals,
    floats,
    independent,
    solved,
)
from ...rows.lattice import MAX_LATTICE, nearest
from ..active_set import INFINITE, Minimum, Program, minimised
from ..contract import Monitor

# Multipliers up to which there is time.
MAX_EXACT_VARIABLES = 240
# Of the gap asked for, what each of these may cost: room at bounds, errors of scores, of Σ αy.
SHARE = Decimal("0.05")
# No objective is taken for less, so that there is something to spare.
LEAST_WORTH = Decimal("1e-300")
# Multiples of the room at bounds that curvature alone would allow, in turn.
GENEROUS = (1e12, 1e8, 1e4, 1.0)


def within_reach(points: KernelPoints, variables: int) -> bool:
    """Whether a problem is small enough."""
    every = np.arange(len(points))
    return variables <= MAX_EXACT_VARIABLES and few_enough(points, every, points)


def roundable(variables: int) -> bool:
    """Whether so many multipliers and biases can be rounded together."""
    return variables <= MAX_LATTICE


class Solved(NamedTuple):
    """Multipliers and biases in many digits; the biases belong to the centred kernel."""

    x: np.ndarray
    biases: np.ndarray


def limits(cap: np.ndarray) -> np.ndarray:
    """Caps as Decimals, which may be infinite."""
    return np.array([INFINITE if np.isinf(c) else Decimal(c) for c in cap.tolist()], dtype=object)


def centred(K: np.ndarray) -> np.ndarray:
    means = K.sum(axis=0) / Decimal(len(K))
    return K - means - means[:, None] + means.sum() / Decimal(len(K))


def solve_scaled(H, A, r, upper, start, monitor: Monitor, twin, lower=None) -> Minimum | None:
    """Scaled to unit curvature, with x ≥ ``lower``; ``twin``: of variables without curvature, whose
    scale they have."""
    lower = decimals(np.zeros(len(start))) if lower is None else lower
    r, upper, start = r - A.dot(lower), upper - 2 * lower, start - lower
    curved = np.array([H[t, t] for t in twin], dtype=object)
    least = max(curved) * NOTHING or ONE
    unit = np.array([ONE / max(h, least).sqrt() for h in curved], dtype=object)
    rows = np.array([max(abs(row)) for row in A * unit], dtype=object)
    scaled = A * unit / rows[:, None]
    g = np.array([ONE if t == j else ZERO for j, t in enumerate(twin)], dtype=object)
    g = g - H.dot(lower)
    program = Program(H * unit * unit[:, None], g * unit, scaled, r / rows, upper / unit, unit)
    begin = _feasible(program, start / unit)
    if begin is None:
        return None
    found = minimised(program, begin, lambda: monitor.seconds < monitor.max_seconds)
    if found is None:
        return None
    x = np.where(found.x == program.upper, upper, found.x * unit)  # what is at its cap is there
    return Minimum(x + lower, found.multipliers / rows)


def _feasible(program: Program, x: np.ndarray) -> np.ndarray | None:
    """x with Ax = r for certain: what is inside its bounds takes what is missing, by its room."""
    x = np.array(
        [min(max(a, ZERO), u) for a, u in zip(x, program.upper, strict=True)], dtype=object
    )
    missing = program.A.dot(x) - program.r
    if not missing.any():
        return x
    room = np.array([min(a, u - a) for a, u in zip(x, program.upper, strict=True)], dtype=object)
    inside = np.flatnonzero(room > 0)
    if not len(inside):
        return None
    weight = (room[inside] / max(room[inside])) ** 2
    rows, _ = independent(program.A[:, inside])
    A = program.A[sorted(rows)][:, inside]
    try:
        x[inside] -= weight * A.T.dot(solved((A * weight).dot(A.T), missing[sorted(rows)]))
    except Deficient:
        return None
    good = all(0 <= a <= u for a, u in zip(x, program.upper, strict=True))
    left = abs(program.A.dot(x) - program.r)
    return x if good and max(left) <= NOTHING else None


def away_from_bounds(
    solve: Callable[[np.ndarray], np.ndarray | None], H, x, upper, slack, spare: Decimal
) -> np.ndarray | None:
    """Room for float64 on either side of every multiplier: how far it is kept from its bounds.

    Room costs that times the slack, and half its square times the curvature, or less where others
    make up for it: more is tried first.  ``solve(room)``: the multipliers then; ``spare``: what
    each may cost.
    """
    best = _value(H, x)
    for generous in GENEROUS:
        room = _room(x, upper, slack, H.diagonal(), spare, Decimal(generous))
        inner = solve(room)
        if inner is not None and best - _value(H, inner) <= spare * len(x):
            return room
    return None


def _value(H: np.ndarray, x: np.ndarray) -> Decimal:
    return x.sum() - x.dot(H).dot(x) / 2


def _room(x, upper, slack, curved, spare: Decimal, generous: Decimal) -> np.ndarray:
    """None of what is inside already is moved."""
    each = []
    for value, most, z, h in zip(x, upper, slack, curved, strict=True):
        least = min(spare / max(abs(z), SHARE), most / 4)
        if h > 0:
            least = min(least, generous * (spare / h).sqrt())
        inside = min(value, most - value)
        each.append(min(least, inside / 4) if inside > 0 else least)
    return np.array(each, dtype=object)


def imbalance_demand(K, scores, biases, spare: Decimal, gap: Decimal) -> Decimal:
    """How far Σ αy may be from zero, which is charged at about the largest score, and at how much
    that can change within the gap."""
    reach = (2 * gap * max(K.diagonal())).sqrt()
    return spare / (ONE + max(abs(scores).ravel()) + max(abs(biases)) + 2 * reach)


def rounded_together(x, units, effect, demands, room, monitor: Monitor) -> np.ndarray | None:
    """Float64 near x, multiples of ``units``, with  effect · (what they are off)  within demands.

    ``effect`` (N, m): of every variable on every sum; ``room``: how far each may move.
    """
    begin = np.array([(a / u).to_integral_value() * u for a, u in zip(x, units, strict=True)])
    effect = effect / demands
    z = nearest(
        units[:, None] * effect, np.diag(units / room), (begin - x).dot(effect),
        lambda: monitor.seconds < monitor.max_seconds,
    )  # fmt: skip
    return None if z is None else floats(begin + z * units)
