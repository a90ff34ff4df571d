"""Hinges of any kind by a primal-dual interior point method, in decimal numbers.

    min ½ρ‖v‖² + Σ γ_g ξ_g  (or γ_g ξ_g², or no ξ)     with   E_p x + ξ_g(p) − 1 = s_p ≥ 0,   ξ ≥ 0

Multipliers α_p of s_p and ν_g of ξ_g; with μ falling to zero

    ρv = Σ α_p a_p,   0 = Σ α_p e_p,   α_p s_p = μ,     hinge    γ_g = Σ_g α_p + ν_g,  ν_g ξ_g = μ
                                                        square   2γ_g ξ_g = Σ_g α_p
                                                        hard     ξ_g = 0

Newton's method on these, each step corrected once for its own curvature [Mehrotra 1992].  With 100
digits nothing is ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...problem.demands import Penalty
from ...rows.decimals import ONE, ZERO
from .system import DecimalSystem, Factor, Numbers, above_zero, curvature

# The relative gap of the answer: more digits than any certificate can ask of float64 weights.
GAP = Decimal("1e-17")
# Σ α e relative to Σ α, and α outside of its box, at the end.
BALANCE = Decimal("1e-30")
INFINITY = Decimal("Infinity")
MAX_STEPS = 150
# The share of the way to the nearest bound that a step goes, at least: more of it, the better the
# first step would do.
STEP_SHARE = Decimal("0.995")
# Weights of 1/ρ are no start from some ρ on; multipliers of a hard margin of columns of very
# different size.
LEAST_RHO, FAR_OUT = Decimal("1e-60"), Decimal("1e20")
# After so many steps that did not halve μ another start is tried, and then other steps are made:
# they aim at this share of it, and go that part of the way.
MAX_IDLE_STEPS, CAREFUL_AIM, CAREFUL_SHARE = 6, Decimal("0.2"), Decimal("0.9")
# Multipliers of a hard margin of rows of size one; beyond it there is none.
MAX_MULTIPLIER = Decimal("1e60")


class DecimalOptimum(NamedTuple):
    """x = (v, u) and a multiplier for every demand; ``gap``: relative to the objective."""

    x: Numbers
    alpha: Numbers
    gap: Decimal


class Iterate(NamedTuple):
    x: Numbers
    s: Numbers
    alpha: Numbers
    xi: Numbers
    nu: Numbers


def interior(system: DecimalSystem, tick: Callable[[], None]) -> DecimalOptimum:
    """The optimum; ``tick`` is called before every step, and may raise."""
    hinge = system.penalty is Penalty.HINGE
    state, best, least, idle = _start(system), None, INFINITY, 0
    elsewhere = system.penalty is Penalty.HARD or (hinge and system.rho > LEAST_RHO)
    for _ in range(MAX_STEPS):
        found = _answer(system, state)
        if best is None or found.gap < best.gap:
            best = found
        if best.gap <= GAP or max(state.alpha) > MAX_MULTIPLIER:
            break
        tick()
        if elsewhere and idle == MAX_IDLE_STEPS:
            state, least, idle, elsewhere = _start_far_out(system), INFINITY, 0, False
        try:
            state = _step(system, state, idle >= MAX_IDLE_STEPS)
        except ArithmeticError:  # no digit is left: a hard margin that there is not
            break
        mu = _complementarity(state, hinge)
        idle = idle + 1 if 2 * mu > least else 0
        least = min(least, mu) if idle < MAX_IDLE_STEPS else mu
    assert best is not None
    return best


def _start(system: DecimalSystem) -> Iterate:
    """No weights: every row has a slack of one, half of it paid for."""
    (P, N), group = system.E.shape, system.group
    size = system.total(np.array([ONE] * P, dtype=object))
    s = np.array([ONE] * P, dtype=object)
    if system.penalty is Penalty.HARD:
        return Iterate(_zeros(N), s, s.copy(), _zeros(len(size)), _zeros(len(size)))
    xi = np.array([Decimal(2)] * len(size), dtype=object)
    if system.penalty is Penalty.SQUARE:
        return Iterate(_zeros(N), s, (4 * system.gamma / size)[group], xi, _zeros(len(size)))
    half = system.gamma / 2
    return Iterate(_zeros(N), s, (half / size)[group], xi, half)


def _start_far_out(system: DecimalSystem) -> Iterate:
    """For hinges: the weights of the multipliers, ρv = Σ α a, and as much slack as they ask for;
    for a hard margin multipliers and room as large as they ever are.

    From no weights μ may fall to nothing long before weights of 10¹⁰ are reached, and then no step
    has room: "sum" with a row far out did not end.  From here it takes about thirty steps, but
    fifteen are the rule from no weights.
    """
    near = _start(system)
    if system.penalty is Penalty.HARD:
        return near._replace(s=FAR_OUT * near.s, alpha=FAR_OUT * near.alpha)
    x = near.x
    x[: system.weights] = (system.E.T @ near.alpha)[: system.weights] / system.rho
    m = system.E @ x
    xi = np.maximum(near.xi, 2 - np.minimum.reduceat(m, system.starts))
    return near._replace(s=m + xi[system.group] - ONE, xi=xi)


def _zeros(n: int) -> Numbers:
    return np.array([ZERO] * n, dtype=object)


def _answer(system: DecimalSystem, state: Iterate) -> DecimalOptimum:
    """The weights and multipliers now, and by how much their objectives differ."""
    x, alpha = state.x, state.alpha
    v = x[: system.weights]
    slack = ONE - np.minimum.reduceat(system.E @ x, system.starts)
    slack = above_zero(slack)
    pull = system.E.T @ alpha
    mass = system.total(alpha)
    most = sum(mass, ZERO)
    if system.weights < len(x) and max(abs(pull[system.weights :])) > BALANCE * most:
        return DecimalOptimum(x, alpha, INFINITY)
    norm = sum(v * v, ZERO) * system.rho / 2
    w_alpha = pull[: system.weights]
    dual = most - sum(w_alpha * w_alpha, ZERO) / (2 * system.rho)
    if system.penalty is Penalty.HARD:
        closest = ONE - max(slack)
        primal = norm / (closest * closest) if closest > 0 else INFINITY
    elif system.penalty is Penalty.SQUARE:
        primal = norm + sum(system.gamma * slack * slack, ZERO)
        dual -= sum(mass * mass / (4 * system.gamma), ZERO)
    else:
        primal = norm + sum(system.gamma * slack, ZERO)
    if not 0 < primal < INFINITY:
        return DecimalOptimum(x, alpha, INFINITY if primal else ZERO)
    return DecimalOptimum(x, alpha, abs(primal - dual) / primal)


def _step(system: DecimalSystem, now: Iterate, careful: bool) -> Iterate:
    """A step of Newton's method towards μ = 0, corrected, and as far as it stays inside; where such
    steps went round in circles, one towards a part of μ, without correction."""
    hinge, hard = system.penalty is Penalty.HINGE, system.penalty is Penalty.HARD
    D, group = now.alpha / now.s, system.group
    if hard:
        soft = _zeros(len(now.xi))
    else:
        kappa = now.nu / now.xi if hinge else 2 * system.gamma
        soft = ONE / (kappa + system.total(D))
    factor = Factor(curvature(system, D, soft))
    behind = system.E @ now.x + now.xi[group] - ONE - now.s
    slope = system.quadratic() * now.x - system.E.T @ now.alpha

    def toward(q: Numbers, t: Numbers) -> Iterate:
        """The step with α s + … = q and ν ξ + … = t, both linearised."""
        f = (q - now.alpha * behind) / now.s
        missing = system.gamma - system.total(now.alpha) - now.nu - t / now.xi if hinge else (
            2 * system.gamma * now.xi - system.total(now.alpha)
        )  # fmt: skip
        short = system.total(f) - missing
        pulled = (system.total(system.E * D[:, None]) * (soft * short)[:, None]).sum(axis=0)
        dx = factor.solve(system.E.T @ f - pulled - slope)
        along = system.E @ dx
        dxi = soft * (short - system.total(D * along))
        dalpha = f - D * (along + dxi[group])
        ds = along + dxi[group] + behind
        dnu = (t - now.nu * dxi) / now.xi if hinge else _zeros(len(dxi))
        return Iterate(dx, ds, dalpha, dxi, dnu)

    count = len(now.s) + (len(now.xi) if hinge else 0)
    mu = _complementarity(now, hinge) / count
    if careful:
        step = toward(CAREFUL_AIM * mu - now.alpha * now.s, CAREFUL_AIM * mu - now.nu * now.xi)
        room = min(ONE, CAREFUL_SHARE * _room(now, step, hinge))
        return Iterate(*(a + room * d for a, d in zip(now, step, strict=True)))
    first = toward(-now.alpha * now.s, -now.nu * now.xi)
    room = _room(now, first, hinge)
    after = Iterate(*(a + room * d for a, d in zip(now, first, strict=True)))
    ratio = _complementarity(after, hinge) / count / mu
    aim = mu * ratio**3
    q = aim - now.alpha * now.s - first.alpha * first.s
    t = aim - now.nu * now.xi - first.nu * first.xi
    step = toward(q, t)
    share = max(STEP_SHARE, ONE - ratio * ratio)
    room = min(ONE, share * _room(now, step, hinge))
    return Iterate(*(a + room * d for a, d in zip(now, step, strict=True)))


def _complementarity(state: Iterate, hinge: bool) -> Decimal:
    total = sum(state.alpha * state.s, ZERO)
    return total + sum(state.nu * state.xi, ZERO) if hinge else total


def _room(now: Iterate, step: Iterate, hinge: bool) -> Decimal:
    """How far along the step all that must be positive is so."""
    pairs = [(now.s, step.s), (now.alpha, step.alpha)]
    if hinge:
        pairs += [(now.xi, step.xi), (now.nu, step.nu)]
    room = Decimal(1) / STEP_SHARE
    for value, change in pairs:
        for a, d in zip(value, change, strict=True):
            if d < 0:
                room = min(room, -a / d)
    return room
