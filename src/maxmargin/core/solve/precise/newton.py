"""Logistic losses of two classes or k by Newton's method, in decimal numbers.

    min ½ρ‖v‖² + Σ γ_g log(1 + Σ_{p in g} exp(−m_p)),        m = E x

Multipliers α_p = γ_g exp(−m_p)/(1 + Σ exp(−m)); at the optimum ρv = Σ α_p a_p and 0 = Σ α_p e_p.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from typing import NamedTuple

import numpy as np

from ...rows.decimals import ONE, ZERO
from .interior import BALANCE, GAP, INFINITY, DecimalOptimum
from .system import DecimalSystem, Factor, Numbers, above_zero, curvature

MAX_STEPS = 1000
# Most steps are made with fewer digits, until no more is gained by them.
FIRST_DIGITS, FIRST_GAP = 40, Decimal("1e-15")
# log(1 + t) = t − t²/2 to 80 digits below this.
SMALL = Decimal("1e-40")
# By no more than this may the objective rise for rounding.
UNCHANGED = ONE + Decimal("1e-30")
# Steps that gain less than this, relatively, and leave more than that of the slope are idle; after
# so many in a row digits are missing.
IDLE_GAIN, IDLE_SLOPE, MAX_IDLE_STEPS = Decimal("1e-20"), Decimal("0.9"), 20
# A step counts as downhill with this share of the decrease that it promises.
ARMIJO_SHARE = Decimal("1e-4")


class Evaluated(NamedTuple):
    x: Numbers
    value: Decimal
    alpha: Numbers


def newton(system: DecimalSystem, start: Numbers, tick: Callable[[], None]) -> DecimalOptimum:
    """The optimum, from ``start`` or from the origin, whichever is lower."""
    with localcontext() as fewer:
        fewer.prec = min(FIRST_DIGITS, getcontext().prec)
        first = _descend(system, start, tick, FIRST_GAP)
    return _descend(system, first.x, tick, GAP)


def _descend(
    system: DecimalSystem, start: Numbers, tick: Callable[[], None], enough: Decimal
) -> DecimalOptimum:
    here = min(_at(system, start), _at(system, 0 * start), key=lambda place: place.value)
    gap, stuck, idle, steepness = INFINITY, False, 0, INFINITY
    for _ in range(MAX_STEPS):
        tick()
        slope = _slope(system, here)
        gap = _gap(system, here, slope)
        if gap <= enough or stuck or idle == MAX_IDLE_STEPS:
            break
        H = curvature(system, here.alpha, ONE / system.gamma)
        step = -Factor(H).solve(slope)
        there = _longer(system, here, step, _downhill(system, here, step, slope))
        stuck = there.value >= here.value
        small = here.value - there.value <= IDLE_GAIN * here.value
        idle = idle + 1 if small and max(abs(slope)) > IDLE_SLOPE * steepness else 0
        here, steepness = there, min(steepness, max(abs(slope)))
    return DecimalOptimum(here.x, here.alpha, gap)


def _gap(system: DecimalSystem, here: Evaluated, slope: Numbers) -> Decimal:
    """What the multipliers prove, relative to the objective: ‖ρv − Σ αa‖²/2ρ is missing."""
    rest = abs(slope[system.weights :])
    if len(rest) and max(rest) > BALANCE * sum(here.alpha, ZERO):
        return INFINITY
    missing = slope[: system.weights]
    return sum(missing * missing, ZERO) / (2 * system.rho * here.value)


def _slope(system: DecimalSystem, here: Evaluated) -> Numbers:
    return system.quadratic() * here.x - system.E.T @ here.alpha


def _longer(system: DecimalSystem, here: Evaluated, step: Numbers, there: Evaluated) -> Evaluated:
    """Twice as far, and again, while that more than halves the slope and does not lead uphill.

    Losses of rows that are far on their side fall exponentially: a step of Newton's method gains
    one unit of margin, and there may be hundreds to go.
    """
    length, slope = ONE, max(abs(_slope(system, there)))
    while (there.x == here.x + length * step).all():
        length *= 2
        beyond = _at(system, here.x + length * step)
        steepness = max(abs(_slope(system, beyond)))
        if not (2 * steepness < slope and beyond.value <= there.value * UNCHANGED):
            break
        there, slope = beyond, steepness
    return there


def _downhill(system: DecimalSystem, here: Evaluated, step: Numbers, slope: Numbers) -> Evaluated:
    """The point so far along the step that it is lower."""
    length, promised = ONE, -sum(slope * step, ZERO)
    while True:
        there = _at(system, here.x + length * step)
        if there.value <= here.value - ARMIJO_SHARE * length * promised or length < SMALL:
            return there
        length /= 2


def _at(system: DecimalSystem, x: Numbers) -> Evaluated:
    m, v = system.E @ x, x[: system.weights]
    least = -above_zero(-np.minimum.reduceat(m, system.starts))
    parts = np.frompyfunc(Decimal.exp, 1, 1)(least[system.group] - m)
    beside = system.total(parts)
    total = np.frompyfunc(Decimal.exp, 1, 1)(least) + beside
    logs = np.frompyfunc(_log, 3, 1)(total, beside, least)
    value = sum(v * v, ZERO) * system.rho / 2 + sum(system.gamma * logs, ZERO)
    return Evaluated(x, value, parts / total[system.group] * system.gamma[system.group])


def _log(total: Decimal, beside: Decimal, least: Decimal) -> Decimal:
    """log(1 + Σ exp(−m)), of which 100 digits of 1 + t leave nothing where t is too small."""
    return beside - beside * beside / 2 if least == 0 and beside < SMALL else total.ln() - least
