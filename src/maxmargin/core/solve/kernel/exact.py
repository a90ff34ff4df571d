"""Few rows whose proof falls short: the dual solved in two hundred digits, then rounded.

    min ½ Σ α_i α_j y_i y_j k_ij − Σ α_i          Σ αy = 0,   0 ≤ α ≤ c

The kernel is centred, which a free bias allows, and variables are scaled to unit curvature
(``exact_program.py``).  What is left of a gap then is the rounding of α and b to float64: of each
to the nearest, or, where that moves scores too far, of all together (``rows/lattice.py``).  For
that they need room, so α stays away from its bounds by as much as the gap asked for allows.
Where that is not enough, either, the machine is given coefficients that are not its multipliers
(``other_coefficients.py``).
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ...certify.bias import best_bias
from ...certify.certificate import Certificate
from ...certify.conclude import lengthened
from ...certify.kernelised import balanced, certify_kernel, enclosed_scores
from ...kernels.decimal_values import decimal_values
from ...problem.kernelised import KernelProblem
from ...rows.decimals import ONE, ZERO, decimals, floats, many_digits, together
from ..contract import Ending, Monitor, Point, Proved
from .exact_program import (
    LEAST_WORTH,
    SHARE,
    Solved,
    away_from_bounds,
    centred,
    imbalance_demand,
    limits,
    roundable,
    rounded_together,
    solve_scaled,
)
from .other_coefficients import (
    DecimalMachine,
    KernelFunction,
    better_function,
    decimal_machine,
    proved,
)


def exact(problem: KernelProblem, monitor: Monitor, megabytes, start) -> tuple[Proved, Ending]:
    """The exact multipliers, rounded, and their proof; where there are none, the start.

    STALLED where more could be tried, with more time.
    """
    alpha = np.zeros(len(problem.y)) if start is None else start.alpha
    with many_digits():
        K = decimal_values(problem.rows, np.arange(len(alpha)), problem.rows)
        found = _solve(problem, K, alpha, monitor)
    if found is None:
        point = Point(np.empty(0), 0.0 if start is None else start.b, alpha)
        return _proved(problem, point, monitor.tol), Ending.STALLED

    def prove(longer: float) -> Proved:
        with many_digits():
            point = _rounded(problem, K, found, Decimal(longer))
        return _proved(problem, point, monitor.tol)

    best = lengthened(prove(1.0), monitor.tol, prove)
    if best.gap <= monitor.tol:
        return best, Ending.REACHED
    if not roundable(len(alpha) + 1):
        return best, Ending.STALLED
    with many_digits():
        other = _rounded_together(problem, K, found, monitor)
    if other is not None:
        tried = _proved(problem, other, monitor.tol)
        best = tried if tried.gap < best.gap else best
    if best.gap > monitor.tol:
        best = _of_the_same_function(problem, K, found, best, monitor)
    return best, Ending.STALLED if other is None else Ending.REACHED


def _of_the_same_function(problem: KernelProblem, K, found: Solved, best: Proved, monitor: Monitor):
    """``best``, or other coefficients, which are then the point's weights, that prove more."""
    with many_digits():
        machine = decimal_machine(problem, problem.rows, K, found)
        if machine is None:
            return best
        better = better_function(
            machine, best.certificate, monitor.tol, lambda: monitor.seconds < monitor.max_seconds
        )
        if better is None:
            return best
        given, proof = better
        point = best.point._replace(w=floats(given.u[:, 0]), b=float(given.b[0]))
        return Proved(point, proof, floats(K.dot(given.u[:, 0])))


def proof_of_function(problem: KernelProblem, given: KernelFunction, near: Certificate):
    """``near``, or the proof of float64 coefficients beside multipliers sought in many digits."""
    with many_digits():
        machine = machine_of(problem, np.zeros(len(problem.y)))
        return near if machine is None else proved(machine, given, near)


def machine_of(problem: KernelProblem, alpha: np.ndarray) -> DecimalMachine | None:
    """The optimum in many digits, from multipliers that may be nearly right; inside
    ``many_digits``."""
    K = decimal_values(problem.rows, np.arange(len(alpha)), problem.rows)
    found = _solve(problem, K, alpha, Monitor())
    return None if found is None else decimal_machine(problem, problem.rows, K, found)


def _proved(problem: KernelProblem, point: Point, tol: float) -> Proved:
    f = enclosed_scores(problem.rows, point.alpha * problem.y, False)
    proof = certify_kernel(problem, None, point.b, point.alpha, f, tol)
    return Proved(point, proof, f.hi)


def _solve(problem: KernelProblem, K, alpha, monitor: Monitor, lower=None) -> Solved | None:
    """From multipliers nearly right, else from none; no closer to its bounds than ``lower``."""
    alive = np.flatnonzero(problem.c > 0)
    y = decimals(problem.y[alive])
    H = centred(K)[alive][:, alive] * y * y[:, None]
    none, twin = np.array([ZERO], dtype=object), np.arange(len(alive))
    least = decimals(np.zeros(len(alive))) if lower is None else lower[alive]
    for start in (decimals(alpha[alive]), least):
        given = none, limits(problem.cap[alive]), start, monitor, twin, least
        if (found := solve_scaled(H, y[None], *given)) is not None:
            x = np.full(len(alpha), ZERO, dtype=object)
            x[alive] = found.x
            return Solved(x, found.multipliers)
    return None


def _rounded(problem: KernelProblem, K, found: Solved, longer: Decimal) -> Point:
    """The nearest float64 with Σ αy = 0, and the best bias there."""
    y = decimals(problem.y)
    alpha = balanced(problem, np.minimum(floats(found.x * longer), problem.cap))
    F = K.dot(decimals(alpha) * y)
    shift = F[0] - _scores(problem, K, found)[0] * longer
    b = best_bias(problem, floats(F - shift))
    return Point(np.empty(0), float(Decimal(b) - shift), alpha)


def _scores(problem: KernelProblem, K, found: Solved) -> np.ndarray:
    """f + b, of size one."""
    return centred(K).dot(found.x * decimals(problem.y)) + found.biases[0]


# --- rounded together ----------------------------------------------------------------------


def _rounded_together(problem: KernelProblem, K, found: Solved, monitor: Monitor) -> Point | None:
    """Float64 near the exact ones whose scores are near, too; None where there are none."""
    alive, tol = np.flatnonzero(problem.c > 0), Decimal(monitor.tol)
    y, cap = decimals(problem.y), limits(problem.cap)
    slack = ONE - y * _scores(problem, K, found)
    worth = max((found.x * (ONE + slack)).sum() / 2, LEAST_WORTH)
    spare = SHARE * tol * worth / len(alive)
    inner, room = _with_room(problem, K, found, slack, spare, monitor)
    if inner is None:
        return None
    # A margin a little wider than one forgives errors, where no multiplier is at its cap.
    wider = SHARE * tol if (inner.x < cap - 2 * room)[alive].all() else ZERO
    F = K.dot(inner.x * y)
    b = (_scores(problem, K, inner) - F)[alive[0]]
    x = (ONE + wider) * together(inner.x[alive], b)
    balance = imbalance_demand(K, F, np.array([b]), spare, tol * worth)
    demands = together(_demands(problem, slack, spare, wider)[alive], balance)
    effect = np.vstack([(K[alive][:, alive] * y[alive]).T, np.full(len(alive), ONE)])
    effect = np.column_stack([effect, together(y[alive], ZERO)])
    units, reach = decimals(np.spacing(np.abs(floats(x)))), together(room[alive] / 2, abs(b) + ONE)
    moved = rounded_together(x, units, effect, demands, reach, monitor)
    if moved is None:
        return None
    alpha = np.zeros(len(problem.y))
    alpha[alive] = np.clip(moved[:-1], 0.0, problem.cap[alive])
    return Point(np.empty(0), float(moved[-1]), alpha)


def _with_room(problem: KernelProblem, K, found: Solved, slack, spare, monitor: Monitor):
    """The solution away from its bounds, and how far."""
    y, solutions = decimals(problem.y), []

    def solve(room: np.ndarray) -> np.ndarray | None:
        solutions.append(_solve(problem, K, floats(found.x), monitor, room))
        return None if solutions[-1] is None else solutions[-1].x

    H = centred(K) * y * y[:, None]
    room = away_from_bounds(solve, H, found.x, limits(problem.cap), slack, spare)
    return (None, None) if room is None else (solutions[-1], room)


def _demands(problem: KernelProblem, slack, spare: Decimal, wider: Decimal) -> np.ndarray:
    """How far every score may be off: so that its cost is spared, or it stays on its side."""
    each = [
        max(ZERO if np.isinf(c) else spare / Decimal(c or 1.0), -z / 2, wider / 2)
        for c, z in zip(problem.c.tolist(), slack, strict=True)
    ]
    return np.array(each, dtype=object)
