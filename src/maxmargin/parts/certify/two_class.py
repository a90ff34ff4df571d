"""The certificate of a two-class fit over parts: feasible multipliers, the best bias, and sums.

Nothing here is taken from a solver: primal, dual and KKT residuals are recomputed from the rows of
every part in float64, by the same function as in memory, and added up.  Multipliers never leave
their part; a question or an answer is a handful of numbers, or one vector as long as w.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.certify.bias import SAME
from ...core.certify.certificate import Certificate, sums
from ...core.certify.repair import ROUNDING
from ...core.problem.losses import Hinge, SquaredHinge
from ...core.problem.problem import Problem, two_class_summary
from ...core.rows.rows import combine, scores
from ..parts import Parts
from ..solve.hinge_tasks import BinarySpec, BinaryState
from ..solve.tasks import ask, ask_total

# Breakpoints of the bias that a part may list, and places at which it weighs what lies below.
LISTED = 64
EDGES = 64
# Times the free multipliers are moved before what is left is scaled away, as in memory.
MOVES = 3


class Tally(NamedTuple):
    """Σ over one part of everything a certificate adds up."""

    rows: int
    loss: float
    conjugate: float
    w: np.ndarray
    r: float
    alpha: float


def certify_parts(
    parts: Parts, machine: BinarySpec, w: np.ndarray, b: float, mean: np.ndarray
) -> tuple[Certificate, np.ndarray]:
    """The proof for (w, b) and the parts' multipliers, and w_α = Σ α y x.

    ``mean`` is a place among the rows, to which what rounding left of Σαy is charged.
    """
    tallies, kkt, box = [], np.zeros(3), 0.0
    for tally, part_kkt, part_box in ask(parts, _tally, machine, w, b):
        tallies.append(tally)
        kkt, box = np.maximum(kkt, part_kkt), max(box, part_box)
    rows, loss, conjugate, w_alpha, r, alpha = (
        sum(column) for column in zip(*tallies, strict=True)
    )
    if machine.bias:
        w_alpha = w_alpha - r * mean
    primal = 0.5 * float(w @ w) + loss
    dual = -0.5 * float(w_alpha @ w_alpha) - conjugate
    residual = abs(b)  # where there must be none
    if machine.bias:
        residual = abs(r) / max(alpha, np.finfo(float).tiny)
    certificate = Certificate(
        primal=primal,
        dual=dual,
        kkt_violation=dict(zip(("zero", "free", "bound"), kkt.tolist(), strict=True)),
        stationarity=float(np.linalg.norm(w - w_alpha)) / max(1.0, float(np.sqrt(w @ w))),
        bias_residual=residual,
        box_violation=box,
        problem=two_class_summary(machine.loss, machine.bias, rows, len(w), False),
        method=f"recomputed from {parts.n_parts} parts of the data in float64",
    )
    return certificate, w_alpha


def _tally(problem: Problem, share: BinaryState, w, b) -> tuple[BinaryState, tuple]:
    z = 1.0 - problem.y * (scores(problem.rows, w) + b)
    squared = isinstance(problem.loss, SquaredHinge)
    loss, conjugate, kkt, box, _ = sums(
        problem.loss, problem.c, problem.cap, share.alpha, z, False, not squared,
        0.5 if squared else 1.0,
    )  # fmt: skip
    v = share.alpha * problem.y
    tally = Tally(
        len(z), loss, conjugate, combine(problem.rows, v), float(v.sum()), float(share.alpha.sum())
    )
    return share, (tally, np.array(kkt), box)


# --- feasible multipliers ---------------------------------------------------------------


def repair_parts(parts: Parts, machine: BinarySpec) -> None:
    """Multipliers in their box with Σαy = 0 over all parts, as ``repair`` makes them in memory."""
    plus, minus, free = ask_total(parts, _shift, machine, 0.0)
    if not machine.bias:
        return
    for _ in range(MOVES):
        if plus == minus or free == 0:
            break
        plus, minus, free = ask_total(parts, _shift, machine, (plus - minus) / free)
    for _ in range(MOVES):  # rounding in the first scaling is mended by the next
        if abs(plus - minus) <= ROUNDING * (plus + minus):
            return
        heavy = 1.0 if plus > minus else -1.0
        factor = min(plus, minus) / max(plus, minus)
        plus, minus = ask_total(parts, _scale, machine, heavy, factor)


def _shift(problem: Problem, share: BinaryState, step: float) -> tuple[BinaryState, tuple]:
    """Move the free multipliers by −y step inside their box; Σ₊α, Σ₋α and the free ones left."""
    alpha = np.clip(share.alpha, 0.0, problem.cap)
    if step:
        free = (alpha > 0.0) & (alpha < problem.cap)
        alpha[free] = np.clip(alpha[free] - problem.y[free] * step, 0.0, problem.cap[free])
    free = int(np.count_nonzero((alpha > 0.0) & (alpha < problem.cap)))
    plus, minus = _both_sides(problem, alpha)
    return share._replace(alpha=alpha), (plus, minus, free)


def _scale(
    problem: Problem, share: BinaryState, side: float, factor: float
) -> tuple[BinaryState, tuple]:
    alpha = np.where(problem.y == side, factor * share.alpha, share.alpha)
    return share._replace(alpha=alpha), _both_sides(problem, alpha)


def _both_sides(problem: Problem, alpha) -> tuple[float, float]:
    return float(alpha[problem.y > 0].sum()), float(alpha[problem.y < 0].sum())


def set_none(problem: Problem, share: BinaryState) -> tuple[BinaryState, int]:
    """No multipliers at all: a dual of zero, where others prove less."""
    return share._replace(alpha=np.zeros_like(share.alpha)), 0


def from_margins(problem: Problem, share: BinaryState, w, b) -> tuple[BinaryState, int]:
    """Multipliers that would be optimal if w were: −c ℓ′(margin)."""
    z = 1.0 - problem.y * (scores(problem.rows, w) + b)
    squared = isinstance(problem.loss, SquaredHinge)
    alpha = problem.c * (2.0 * np.maximum(z, 0.0) if squared else (z > 0.0))
    return share._replace(alpha=alpha), 0


# --- the best bias ------------------------------------------------------------------------


def best_bias_parts(parts: Parts, machine: BinarySpec, w: np.ndarray, guess: float) -> float:
    """The bias that minimises the objective for weights w, exactly, in a few small rounds.

    The slope in b rises from one breakpoint y_i − f_i to the next.  Every part tells the slope at
    some places; the interval in which it changes sign is told again, until few breakpoints
    are left in it: these are listed, and the slope between them is a straight line.
    """
    low, high = np.inf, -np.inf
    for lowest, highest in ask(parts, _breakpoints, machine, w):
        low, high = min(low, lowest), max(high, highest)
    if not (np.isfinite(low) and np.isfinite(high)):
        return guess
    span = max(high - low, 1e-12 * max(1.0, abs(low), abs(high)))
    edges = np.linspace(low - 1e-3 * span, high + 1e-3 * span, EDGES)
    for _ in range(EDGES):
        slopes, size, inside = _look(parts, machine, edges)
        first, last = _bracket(slopes, size, inside)
        listed = inside[first:last].sum() <= LISTED
        if listed or not edges[first + 1] > edges[first]:
            break
        edges = np.linspace(edges[first], edges[last], EDGES)
    points = np.unique(
        np.concatenate(
            [*ask(parts, _list, machine, edges[first], edges[last]), edges[[first, last]]]
        )
    )
    slopes, size, _ = _look(parts, machine, points)
    return _root(points, slopes, size, jumps=not machine.squared)


def _look(parts: Parts, machine: BinarySpec, edges):
    """Slope at every edge, the size of its terms, and the breakpoints from each to the next."""
    return ask_total(parts, _slopes, machine, edges)


def _bracket(slopes, size, inside) -> tuple[int, int]:
    """The first and the last edge of the place where the slope passes zero."""
    below = np.flatnonzero(slopes < -SAME * size)
    above = np.flatnonzero(slopes > SAME * size)
    first = int(below[-1]) if len(below) else 0
    last = int(above[0]) if len(above) else len(slopes) - 1
    return first, max(last, first + 1)


def _root(points, slopes, size, jumps: bool) -> float:
    """Where the slope passes zero; the middle if that is an interval.

    The hinge's slope jumps at every point and is constant up to the next; that of its square is
    a straight line in between.
    """
    last = len(points) - 1
    flat = np.flatnonzero(np.abs(slopes) <= SAME * size)
    if len(flat):
        end = min(int(flat[-1]) + 1, last) if jumps else flat[-1]
        return 0.5 * float(points[flat[0]] + points[end])
    k = min(int(np.searchsorted(slopes > 0.0, True)), last)
    if jumps or k == 0:
        return float(points[k])
    rise = slopes[k] - slopes[k - 1]
    return float(points[k - 1] - slopes[k - 1] * (points[k] - points[k - 1]) / rise)


def _breakpoints(
    problem: Problem, share: BinaryState, w
) -> tuple[BinaryState, tuple[float, float]]:
    f = scores(problem.rows, w)
    point = np.where(problem.c > 0, problem.y - f, np.nan)
    share = share._replace(z=f)
    if not np.isfinite(f).all() or not (problem.c > 0).any():
        return share, (np.inf, -np.inf)
    return share, (float(np.nanmin(point)), float(np.nanmax(point)))


def _slopes(problem: Problem, share: BinaryState, edges) -> tuple[BinaryState, tuple]:
    """The slope just right of every edge, by sums from both ends of the sorted breakpoints."""
    assert share.z is not None
    alive = problem.c > 0
    y, c, point = problem.y[alive], problem.c[alive], (problem.y - share.z)[alive]
    slopes, size = np.zeros(len(edges)), np.zeros(len(edges))
    # A positive row has slack left of its breakpoint, a negative one right of it.
    for side in (1.0, -1.0):
        mine = y == side
        place = np.searchsorted(edges, point[mine], side="left")
        weight = np.bincount(place, c[mine], len(edges) + 1)
        if isinstance(problem.loss, Hinge):
            mass = _beyond(weight, side)
            slopes -= side * mass
            size += mass
            continue
        mass = _beyond(weight, side)
        moment = _beyond(np.bincount(place, c[mine] * point[mine], len(edges) + 1), side)
        slack = side * (moment - mass * edges)
        slopes -= 2.0 * side * slack
        size += 2.0 * np.abs(slack)
    # Counted, not sorted: edges are few and rows many.
    inside = np.bincount(np.searchsorted(edges, point, side="right"), minlength=len(edges) + 1)
    return share, (slopes, size, inside[1:-1])


def _beyond(by_place, side: float) -> np.ndarray:
    """What lies right of every edge (side 1), or at it and left of it (side −1)."""
    up = np.cumsum(by_place)
    return up[-1] - up[:-1] if side > 0 else up[:-1]


def _list(
    problem: Problem, share: BinaryState, low: float, high: float
) -> tuple[BinaryState, np.ndarray]:
    assert share.z is not None
    point = (problem.y - share.z)[problem.c > 0]
    return share, np.unique(point[(point >= low) & (point <= high)])[: 4 * LISTED]
