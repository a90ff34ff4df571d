"""k classes under a kernel, few rows: the dual solved in two hundred digits, then rounded.

min ½ Σ k_ij α_i·α_j − Σ β_ic        α_i = Σ_c β_ic (e_y − e_c),   Σ_i α_i = 0,   β ≥ 0,
                                     Σ_c β_ic ≤ c_i  ("max"),  or  β_ic ≤ c_i  ("sum")
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...certify.kernelised import MAX_BALANCE_MOVES
from ...kernels.decimal_values import decimal_values
from ...kernels.kernel_block import KernelPoints
from ...problem.class_losses import one_slack
from ...problem.multiclass import MulticlassProblem
from ...rows.decimals import ONE, ZERO, decimals, floats, many_digits, together
from ..contract import ClassPoint, Monitor
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
from .other_coefficients import DecimalMachine, decimal_machine

# By which a machine is made longer where rounding may leave slack on the margin.
LONGER = Decimal("1.0000000000001")
TINY = float(np.finfo(float).tiny)


def exact_classes(
    problem: MulticlassProblem, points: KernelPoints, beta: np.ndarray, monitor: Monitor
) -> Iterator[ClassPoint]:
    """The exact multipliers, rounded: each to the nearest, a little longer, and all together."""
    with many_digits():
        K = decimal_values(points, np.arange(len(beta)), points)
        found = _classes(problem, K, beta, monitor)
        if found is None:
            return
        for longer in (ONE, LONGER):
            yield _rounded_classes(problem, K, found, longer)
        if roundable(len(_variables(problem).rows) + problem.k):
            point = _rounded_together(problem, K, found, monitor)
            if point is not None:
                yield point


def machine_of_classes(
    problem: MulticlassProblem, points: KernelPoints, beta: np.ndarray, monitor: Monitor
) -> DecimalMachine | None:
    """The optimum in many digits, for coefficients that are not its multipliers; inside
    ``many_digits``."""
    K = decimal_values(points, np.arange(len(beta)), points)
    found = _classes(problem, K, beta, monitor)
    return None if found is None else decimal_machine(problem, points, K, found)


class Variables(NamedTuple):
    """Which row and wrong class every β belongs to, and what it moves between classes (N, k)."""

    rows: np.ndarray
    wrong: np.ndarray
    flow: np.ndarray


def _variables(problem: MulticlassProblem) -> Variables:
    alive = np.flatnonzero(problem.c > 0)
    rows, wrong = np.nonzero(np.arange(problem.k) != problem.y[alive, None])
    rows = alive[rows]
    flow = np.eye(problem.k)[problem.y[rows]] - np.eye(problem.k)[wrong]
    return Variables(rows, wrong, decimals(flow))


def _classes(problem: MulticlassProblem, K, beta, monitor: Monitor, room=None) -> Solved | None:
    """β (n, k), and a bias for every class; ``room``: how far from its bounds every β is kept."""
    alive = np.flatnonzero(problem.c > 0)
    rows, wrong, flow = _variables(problem)
    H = centred(K)[rows][:, rows] * flow.dot(flow.T)
    A, r, twin = flow.T, np.full(problem.k, ZERO, dtype=object), np.arange(len(rows))
    cap, many = problem.c[rows], len(rows)
    if one_slack(problem.loss) and not problem.hard:  # Σ_c β_ic and what it leaves of c_i
        H, A, twin = _with_rests(H, A, rows, alive)
        r = together(r, decimals(problem.c[alive]))
        cap = np.full(len(twin), np.inf)
    lower = np.full(len(twin), ZERO, dtype=object)
    if room is not None:
        lower[:many] = room
        lower[many:] = room[twin[many:]]
    for begin in (decimals(beta[rows, wrong]), lower[:many]):
        start = np.full(len(twin), ZERO, dtype=object)
        start[:many] = begin
        if len(twin) > many:
            start[many:] = r[problem.k :] - A[problem.k :, :many].dot(start[:many])
        found = solve_scaled(H, A, r, limits(cap), start, monitor, twin, lower)
        if found is not None:
            x = np.full(beta.shape, ZERO, dtype=object)
            x[rows, wrong] = found.x[:many]
            return Solved(x, found.multipliers[: problem.k])
    return None


def _with_rests(H, A, rows, alive):
    """With a variable more for every row, c_i − Σ_c β_ic, that bends nothing."""
    m, r = len(rows), len(alive)
    wider = np.full((m + r, m + r), ZERO, dtype=object)
    wider[:m, :m] = H
    taller = np.full((len(A) + r, m + r), ZERO, dtype=object)
    taller[: len(A), :m] = A
    taller[len(A) :, :m] = decimals(alive[:, None] == rows)
    taller[len(A) :, m:] = decimals(np.eye(r))
    first = np.searchsorted(rows, alive)
    return wider, taller, np.concatenate([np.arange(m), first])


def _rounded_classes(problem: MulticlassProblem, K, found: Solved, longer: Decimal) -> ClassPoint:
    """The nearest float64 whose sums are exact, with the biases that suit them."""
    x = found.x * longer
    beta = _balanced_classes(problem, _to_common_digits(floats(x)))
    signed = _signed(problem, x)
    apart = centred(K).dot(signed) + found.biases * longer
    apart = apart - K.dot(_signed(problem, decimals(beta)))
    support = np.flatnonzero(beta.any(axis=1))
    apart = apart[support if len(support) else slice(None)]
    b = np.array([sorted(column)[len(column) // 2] for column in apart.T], dtype=object)
    return ClassPoint(np.empty((problem.k, 0)), floats(b - b.sum() / Decimal(problem.k)), beta)


def _rounded_together(problem: MulticlassProblem, K, found: Solved, monitor) -> ClassPoint | None:
    """Float64 near the exact ones whose scores are near, too; None where there are none."""
    rows, wrong, flow = _variables(problem)
    x, tol, cap = found.x[rows, wrong], Decimal(monitor.tol), limits(problem.c[rows])
    H = centred(K)[rows][:, rows] * flow.dot(flow.T)
    slack = ONE - H.dot(x) - flow.dot(found.biases)
    worth = max((x * (ONE + slack)).sum() / 2, LEAST_WORTH)
    spare = SHARE * tol * worth / len(x)
    # Room of one β is room of its row's sum, too, which costs the row's own slack.
    paid = np.array(list(map(max, abs(slack), _paid(problem, rows, slack))), dtype=object)
    inner, room = _with_room(problem, K, found, (H, x, cap, paid, spare), monitor)
    if inner is None:
        return None
    # A margin a little wider than one forgives errors, where no row is at its cap.
    total = inner.x.sum(axis=1)[rows]
    wider = SHARE * tol if (total < cap - 2 * problem.k * room).all() else ZERO
    F = K.dot(_signed(problem, inner.x))
    b = (centred(K).dot(_signed(problem, inner.x)) + inner.biases - F)[rows[0]]
    b = b - b.sum() / Decimal(problem.k)
    x = (ONE + wider) * together(inner.x[rows, wrong], b)
    balance = np.full(problem.k, imbalance_demand(K, F, b, spare, tol * worth), dtype=object)
    demands = together(_demands(problem, rows, slack, spare, wider), balance)
    effect = np.vstack([K[rows][:, rows] * flow.dot(flow.T), flow.T])
    still = np.full((problem.k, problem.k), ZERO, dtype=object)
    effect = np.column_stack([effect, np.vstack([flow, still])])
    units = decimals(np.spacing(np.abs(floats((ONE + wider) * together(total, b)))))
    reach = together(room / 2, abs(b) + ONE)
    moved = rounded_together(x, units, effect, demands, reach, monitor)
    if moved is None:
        return None
    beta = np.zeros(found.x.shape)
    beta[rows, wrong] = np.maximum(moved[: len(rows)], 0.0)
    return ClassPoint(np.empty((problem.k, 0)), moved[len(rows) :], beta)


def _with_room(problem: MulticlassProblem, K, found: Solved, program: tuple, monitor: Monitor):
    """The solution away from its bounds, and how far."""
    rows, wrong, _ = _variables(problem)
    solutions = []

    def solve(room: np.ndarray) -> np.ndarray | None:
        solutions.append(_classes(problem, K, floats(found.x), monitor, room))
        return None if solutions[-1] is None else solutions[-1].x[rows, wrong]

    room = away_from_bounds(solve, *program)
    return (None, None) if room is None else (solutions[-1], room)


def _demands(problem: MulticlassProblem, rows, slack, spare, wider: Decimal) -> np.ndarray:
    """How far the lead of a class may be off: so that its cost is spared, or it stays on its side;
    where one slack is paid for, that of the largest."""
    each = []
    for cost, z, level in zip(problem.c[rows], slack, _paid(problem, rows, slack), strict=True):
        spared = ZERO if np.isinf(cost) else spare / Decimal(float(cost))
        each.append(max(spared, (level - z) / 2, wider / 2))
    return np.array(each, dtype=object)


def _paid(problem: MulticlassProblem, rows, slack) -> list[Decimal]:
    """Of every β the slack that its row pays for, where that is one; else zero."""
    if not one_slack(problem.loss):
        return [ZERO] * len(rows)
    worst = {i: max(ZERO, *slack[rows == i]) for i in set(rows.tolist())}
    return [worst[i] for i in rows.tolist()]


def _signed(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """α_i = Σ_c β_ic (e_y − e_c)."""
    return decimals(np.eye(problem.k)[problem.y]) * beta.sum(axis=1)[:, None] - beta


def _to_common_digits(beta: np.ndarray) -> np.ndarray:
    """Every row in units of the last place of its sum, so that the sum is exact."""
    unit = np.spacing(np.maximum(beta.sum(axis=1), TINY))[:, None]
    return np.rint(beta / unit) * unit


def _balanced_classes(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """Σ_i α_i = 0 exactly, where moving free multipliers by a rounding can do it."""
    beta, k = beta.copy(), problem.k
    for _ in range(MAX_BALANCE_MOVES * k):
        r = [_flow(problem, beta, m) for m in range(k)]
        a, b = int(np.argmax(r)), int(np.argmin(r))
        if r[a] <= 0.0:
            break
        step = min(r[a], -r[b])
        more = np.flatnonzero((problem.y == b) & (beta[:, a] > 2.0 * step))
        less = np.flatnonzero((problem.y == a) & (beta[:, b] > 2.0 * step))
        moves = [(beta[i, a], i, a, step) for i in more] + [(beta[i, b], i, b, -step) for i in less]
        if not moves:
            break
        _, i, c, by = min(moves)
        beta[i, c] += by
    return beta


def _flow(problem: MulticlassProblem, beta: np.ndarray, m: int) -> float:
    """Σ_i α_im without rounding but its last."""
    own = beta[problem.y == m]
    return math.fsum([*own.ravel().tolist(), *(-beta[:, m]).tolist()])
