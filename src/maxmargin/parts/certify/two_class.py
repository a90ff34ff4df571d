"""The certificate of a two-class fit over parts: feasible multipliers, the best bias, and sums.

Nothing here is taken from a solver: primal, dual and KKT residuals are recomputed from the rows of
every part in float64, by the same function as in memory, and added up.  Multipliers never leave
their part; a question or an answer is a handful of numbers, or one vector as long as w.
"""

from __future__ import annotations

import numpy as np

from ...core.certify.bias import SUM_EQUALITY_TOL
from ...core.certify.certificate import Certificate
from ...core.certify.conclude import (
    SHARPEST,
    Tally,
    as_sharp_as_needed,
    conclude,
    first_that_proves,
    norms_of,
)
from ...core.certify.repair import (
    MAX_REPAIR_MOVES,
    RESIDUAL_ROUNDING,
    SINGLE_REPAIR_SHARE,
    bear,
    freedom,
    lighten,
    shift,
)
from ...core.certify.two_class import tally
from ...core.problem.losses import boxed
from ...core.problem.problem import Problem, two_class_summary
from ...core.rows.rows import scores
from ..parts import Parts
from ..solve.tasks import ask, ask_total
from ..solve.two_class.tasks import BinarySpec, BinaryState

# Breakpoints of the bias that a part may list, and places at which it weighs what lies below.
MAX_LISTED_BREAKPOINTS = 64
BIAS_GRID_POINTS = 64


def certify_parts(
    parts: Parts,
    spec: BinarySpec,
    w: np.ndarray,
    b: float,
    mean: np.ndarray,
    tol: float = SHARPEST,
) -> Certificate:
    """The proof for (w, b) and the parts' multipliers.

    ``mean`` is a place among the rows, ``tol`` the gap to be proved: see ``core.certify``.
    """

    def prove(sharp: bool) -> Certificate:
        found = ask_total(parts, _tally, spec, w, b, mean, sharp)
        about = two_class_summary(spec.loss, spec.bias, found.rows, len(w), False)
        norms = norms_of(w, found.w, found.rounding.w)
        return conclude(found, norms, b, spec.bias, about, method=method_of(parts, sharp))

    return as_sharp_as_needed(prove, tol)


def method_of(parts: Parts, sharp: bool = False) -> str:
    digits = "in twice the digits of float64" if sharp else "in float64"
    return f"recomputed from {parts.n_parts} parts of the data {digits}"


def _tally(
    problem: Problem, state: BinaryState, w, b, mean, sharp: bool
) -> tuple[BinaryState, Tally]:
    return state, tally(problem, w, b, state.alpha, place=mean, sharp=sharp)


def prove_parts(
    parts: Parts, spec: BinarySpec, w: np.ndarray, b: float, mean: np.ndarray, tol: float = SHARPEST
) -> Certificate:
    """The proof of (w, b) with the parts' multipliers, or with none where these prove more."""

    def without() -> Certificate:
        ask_total(parts, set_none, spec)
        return certify_parts(parts, spec, w, b, mean, tol)

    return first_that_proves(lambda: certify_parts(parts, spec, w, b, mean, tol), without)


# --- feasible multipliers ---------------------------------------------------------------


def repair_parts(parts: Parts, spec: BinarySpec) -> None:
    """Multipliers in their box with Σαy = 0 over all parts, as ``repair`` makes them in memory."""
    r, plus, minus, free = ask_total(parts, _shift, spec, 0.0)
    if not spec.bias:
        return
    for _ in range(MAX_REPAIR_MOVES):
        if r == 0.0 or free == 0:
            break
        r, plus, minus, free = ask_total(parts, _shift, spec, r / free)
    left, heavy = abs(plus - minus), 1.0 if plus > minus else -1.0
    if left <= RESIDUAL_ROUNDING * (plus + minus):
        return
    if left <= SINGLE_REPAIR_SHARE * (plus + minus):
        known = list(ask(parts, _freedom, spec, heavy, left))
        freest = max(known)
        if freest >= 0.0:  # parts whose freest are equally free bear it together
            load = left / known.count(freest)
            ask_total(parts, _bear, spec, heavy, left, freest, load)
            return
    ask_total(parts, _lighten, spec, heavy, min(plus, minus) / max(plus, minus))


def _shift(problem: Problem, state: BinaryState, step: float) -> tuple[BinaryState, tuple]:
    alpha = state.alpha.copy()
    sums = shift(alpha, problem.cap, problem.y, step)
    return state._replace(alpha=alpha), sums


def _freedom(problem: Problem, state: BinaryState, heavy, left) -> tuple[BinaryState, float]:
    return state, freedom(state.alpha, problem.cap, problem.y, heavy, left)


def _bear(problem: Problem, state: BinaryState, *payload) -> tuple[BinaryState, int]:
    alpha = state.alpha.copy()
    bear(alpha, problem.cap, problem.y, *payload)
    return state._replace(alpha=alpha), 0


def _lighten(problem: Problem, state: BinaryState, heavy, factor) -> tuple[BinaryState, int]:
    alpha = state.alpha.copy()
    lighten(alpha, problem.y, heavy, factor)
    return state._replace(alpha=alpha), 0


def set_none(problem: Problem, state: BinaryState) -> tuple[BinaryState, int]:
    """No multipliers at all: a dual of zero, where others prove less."""
    return state._replace(alpha=np.zeros_like(state.alpha)), 0


# --- the best bias ------------------------------------------------------------------------


def best_bias_parts(parts: Parts, spec: BinarySpec, w: np.ndarray, guess: float) -> float:
    """The bias that minimises the objective for weights w, exactly, in a few small rounds.

    The slope in b rises from one breakpoint y_i − f_i to the next.  Every part tells the slope at
    some places; the interval in which it changes sign is told again, until few breakpoints
    are left in it: these are listed, and the slope between them is a straight line.
    """
    low, high = np.inf, -np.inf
    for lowest, highest in ask(parts, _breakpoints, spec, w):
        low, high = min(low, lowest), max(high, highest)
    if not (np.isfinite(low) and np.isfinite(high)):
        return guess
    span = max(high - low, 1e-12 * max(1.0, abs(low), abs(high)))
    edges = np.linspace(low - 1e-3 * span, high + 1e-3 * span, BIAS_GRID_POINTS)
    for _ in range(BIAS_GRID_POINTS):
        slopes, size, inside = _look(parts, spec, edges)
        first, last = _bracket(slopes, size, inside)
        listed = inside[first:last].sum() <= MAX_LISTED_BREAKPOINTS
        if listed or not edges[first + 1] > edges[first]:
            break
        edges = np.linspace(edges[first], edges[last], BIAS_GRID_POINTS)
    points = np.unique(
        np.concatenate([*ask(parts, _list, spec, edges[first], edges[last]), edges[[first, last]]])
    )
    slopes, size, _ = _look(parts, spec, points)
    return _root(points, slopes, size, jumps=not spec.squared)


def _look(parts: Parts, spec: BinarySpec, edges):
    """Slope at every edge, the size of its terms, and the breakpoints from each to the next."""
    return ask_total(parts, _slopes, spec, edges)


def _bracket(slopes, size, inside) -> tuple[int, int]:
    """The first and the last edge of the place where the slope passes zero."""
    below = np.flatnonzero(slopes < -SUM_EQUALITY_TOL * size)
    above = np.flatnonzero(slopes > SUM_EQUALITY_TOL * size)
    first = int(below[-1]) if len(below) else 0
    last = int(above[0]) if len(above) else len(slopes) - 1
    return first, max(last, first + 1)


def _root(points, slopes, size, jumps: bool) -> float:
    """Where the slope passes zero; the middle if that is an interval.

    The hinge's slope jumps at every point and is constant up to the next; that of its square is
    a straight line in between.
    """
    last = len(points) - 1
    flat = np.flatnonzero(np.abs(slopes) <= SUM_EQUALITY_TOL * size)
    if len(flat):
        end = min(int(flat[-1]) + 1, last) if jumps else flat[-1]
        return 0.5 * float(points[flat[0]] + points[end])
    k = min(int(np.searchsorted(slopes > 0.0, True)), last)
    if jumps or k == 0:
        return float(points[k])
    rise = slopes[k] - slopes[k - 1]
    return float(points[k - 1] - slopes[k - 1] * (points[k] - points[k - 1]) / rise)


def _breakpoints(
    problem: Problem, state: BinaryState, w
) -> tuple[BinaryState, tuple[float, float]]:
    f = scores(problem.rows, w)
    point = np.where(problem.c > 0, problem.y - f, np.nan)
    state = state._replace(z=f)
    if not np.isfinite(f).all() or not (problem.c > 0).any():
        return state, (np.inf, -np.inf)
    return state, (float(np.nanmin(point)), float(np.nanmax(point)))


def _slopes(problem: Problem, state: BinaryState, edges) -> tuple[BinaryState, tuple]:
    """The slope just right of every edge, by sums from both ends of the sorted breakpoints."""
    assert state.z is not None
    alive = problem.c > 0
    y, c, point = problem.y[alive], problem.c[alive], (problem.y - state.z)[alive]
    slopes, size = np.zeros(len(edges)), np.zeros(len(edges))
    # A positive row has slack left of its breakpoint, a negative one right of it.
    for side in (1.0, -1.0):
        mine = y == side
        place = np.searchsorted(edges, point[mine], side="left")
        weight = np.bincount(place, c[mine], len(edges) + 1)
        if boxed(problem.loss):
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
    return state, (slopes, size, inside[1:-1])


def _beyond(by_place, side: float) -> np.ndarray:
    """What lies right of every edge (side 1), or at it and left of it (side −1)."""
    up = np.cumsum(by_place)
    return up[-1] - up[:-1] if side > 0 else up[:-1]


def _list(
    problem: Problem, state: BinaryState, low: float, high: float
) -> tuple[BinaryState, np.ndarray]:
    assert state.z is not None
    point = (problem.y - state.z)[problem.c > 0]
    return state, np.unique(point[(point >= low) & (point <= high)])[: 4 * MAX_LISTED_BREAKPOINTS]
