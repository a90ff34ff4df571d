"""From nearly feasible multipliers of k classes to feasible ones.

The multipliers are a flow on the graph of classes, F_yc = Σ_{i of class y} β_ic, and a free
bias asks that as much flows into every class as out of it: a circulation.  A solver ends
with one that is so only nearly; the dual bounds the optimum only if it is so exactly.

First the free multipliers are moved, which near the optimum costs the dual only at second
order.  What remains is removed by scaling β_ic by exp(u_y − u_c), where the potentials u
minimise Σ F_yc exp(u_y − u_c): at its minimum in- and outflow agree.  [Osborne 1960]
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from ..first_use import plain_at_first
from ..problem.class_losses import hinge_rates
from ..problem.multiclass import MulticlassProblem
from .multiclass import residual

# A residual below this share of the flow is the rounding of its own sum.
RESIDUAL_ROUNDING = 1e-15
MAX_REPAIR_MOVES = 4
# Multipliers up to which a move is tried on a copy and kept only if it helps.
MAX_COPIED_MULTIPLIERS = 20_000_000
# Classes up to which Laplacian systems are solved directly; steps of the iteration otherwise.
MAX_DIRECT_CLASSES, MAX_CG_STEPS = 400, 200
# A multiplier this close to its limit, relatively, is at its limit but for rounding.
LIMIT_SNAP_TOL = 1e-6
MAX_BALANCING_STEPS = 50


def repair_classes(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """Multipliers in their domain with Σ_i α_i = 0 (float64), as close as is cheap."""
    beta = np.array(beta[:, : problem.k], dtype=np.float64)
    beta[np.arange(len(beta)), problem.y] = 0.0
    into_domain(problem, beta)
    if not problem.bias or not beta.any():
        return beta
    for _ in range(MAX_REPAIR_MOVES):
        r = residual(problem, beta)
        if np.abs(r).max() <= RESIDUAL_ROUNDING * beta.sum():
            return beta
        level = potential(room_to_move(problem, beta), r)
        moved = beta if beta.size > MAX_COPIED_MULTIPLIERS else beta.copy()
        move(problem, moved, level)
        if not np.abs(residual(problem, moved)).sum() < 0.5 * np.abs(r).sum():
            break
        beta = moved
    over = rescale(problem, beta, balancing_factors(flow_between(problem, beta)))
    if over > 1.0:
        beta /= over
    return beta


def room_to_move(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """The Laplacian (k, k) of the graph along whose edges free multipliers can be moved."""
    laplacian = np.zeros((problem.k, problem.k))
    _room(problem.y, beta, *_caps(problem), laplacian)
    return laplacian


def move(problem: MulticlassProblem, beta: np.ndarray, level: np.ndarray) -> None:
    """Move the free multipliers, in place, down a potential of the classes."""
    _move(problem.y, beta, *_caps(problem), level)
    confine(problem, beta)


def flow_between(problem: MulticlassProblem, beta: np.ndarray) -> np.ndarray:
    """F_yc: what the rows of class y hold against class c."""
    flow = np.zeros((problem.k, problem.k))
    _add_flow(problem.y, beta, flow)
    return flow


def rescale(problem: MulticlassProblem, beta: np.ndarray, factor: np.ndarray) -> float:
    """Scale β_ic in place by factor_yc; returns how far beyond its cap some row now is, or 1."""
    return _scale(problem.y, beta, factor, *_caps(problem))


def ties_all_classes(problem: MulticlassProblem, beta: np.ndarray, least: float = 0.0) -> bool:
    """Whether free multipliers tie every class to every other: then the biases are unique.

    Those with no more room than ``least`` in all are at their limits but for rounding.
    """
    room = room_to_move(problem, beta)
    return connected_components(np.abs(room) > least, directed=False)[0] == 1


def potential(laplacian: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The least solution of a Laplacian system; iteratively where k is large."""
    k = len(r)
    if k <= MAX_DIRECT_CLASSES:
        return np.linalg.lstsq(laplacian, r, rcond=1e-13)[0]
    scale = 1.0 / np.sqrt(np.where(laplacian.diagonal() > 0.0, laplacian.diagonal(), np.inf))
    system = LinearOperator((k, k), matvec=lambda v: scale * (laplacian @ (scale * v)))
    return scale * cg(system, scale * r, rtol=1e-10, maxiter=MAX_CG_STEPS)[0]


def into_domain(problem: MulticlassProblem, beta: np.ndarray) -> None:
    """Put multipliers, in place, inside their domain, and on the limits they miss by rounding."""
    _snap(beta, *_caps(problem))
    confine(problem, beta)


def confine(problem: MulticlassProblem, beta: np.ndarray) -> None:
    """Put multipliers, in place, inside their domain."""
    _into_domain(beta, *_caps(problem))


def _caps(problem: MulticlassProblem) -> tuple[np.ndarray, np.ndarray]:
    """The largest β_ic and the largest Σ_c β_ic of every row."""
    none = np.where(problem.c > 0, np.inf, 0.0)
    if problem.hard:
        return none, none
    cap_each, _, cap_all, _ = hinge_rates(problem.loss)
    each = problem.c if cap_each < np.inf else none
    total = problem.c if cap_all < np.inf else none
    return each, total


@plain_at_first
@njit(cache=True, nogil=True)
def _snap(beta, cap_each, cap_all):
    """Put multipliers on the limits that they miss by rounding (float32 solvers) only."""
    for i in range(beta.shape[0]):
        total = 0.0
        for c in range(beta.shape[1]):
            if abs(beta[i, c] - cap_each[i]) <= LIMIT_SNAP_TOL * cap_each[i] < np.inf:
                beta[i, c] = cap_each[i]
            total += beta[i, c]
        if abs(total - cap_all[i]) <= LIMIT_SNAP_TOL * cap_all[i] < np.inf and total > 0.0:
            for c in range(beta.shape[1]):
                beta[i, c] *= cap_all[i] / total


@plain_at_first
@njit(cache=True, nogil=True)
def _into_domain(beta, cap_each, cap_all):
    for i in range(beta.shape[0]):
        total = 0.0
        for c in range(beta.shape[1]):
            beta[i, c] = min(max(beta[i, c], 0.0), cap_each[i])
            total += beta[i, c]
        if total > cap_all[i]:
            shrink = cap_all[i] / total
            for c in range(beta.shape[1]):
                beta[i, c] *= shrink


@plain_at_first
@njit(cache=True, nogil=True)
def _weights(own, row, cap_each, cap_all, w):
    """How freely each class of a row can move; ``w[own]`` tells whether their sum can.

    Returns Σw over the wrong classes.
    """
    total, sum_w = 0.0, 0.0
    for c in range(row.shape[0]):
        w[c] = max(0.0, min(row[c], cap_each - row[c]))
        total += row[c]
        sum_w += w[c]
    w[own] = 1.0 if total < cap_all else 0.0
    if w[own] > 0.0 and cap_all < np.inf and total > 0.0:
        shrink = min(1.0, (cap_all - total) / total)
        for c in range(row.shape[0]):
            w[c] = w[c] * shrink if c != own else 1.0
        sum_w *= shrink
    return sum_w


@plain_at_first
@njit(cache=True, nogil=True)
def _room(y, beta, cap_each, cap_all, laplacian):
    """The Laplacian of the graph along whose edges free multipliers can be moved.

    A row whose sum is free ties each of its classes to its own; at its cap it ties them to
    one another.
    """
    k = beta.shape[1]
    w = np.empty(k)
    for i in range(beta.shape[0]):
        own = y[i]
        sum_w = _weights(own, beta[i], cap_each[i], cap_all[i], w)
        if sum_w <= 0.0:
            continue
        for c in range(k):
            if c == own or w[c] <= 0.0:
                continue
            laplacian[c, c] += w[c]
            if w[own] > 0.0:
                laplacian[own, own] += w[c]
                laplacian[own, c] -= w[c]
                laplacian[c, own] -= w[c]
            else:
                for e in range(k):
                    if e != own and w[e] > 0.0:
                        laplacian[c, e] -= w[c] * w[e] / sum_w


@plain_at_first
@njit(cache=True, nogil=True)
def _move(y, beta, cap_each, cap_all, potential):
    """Move free multipliers down the potential: Σ_i α_i changes by −Laplacian · potential."""
    k = beta.shape[1]
    w = np.empty(k)
    for i in range(beta.shape[0]):
        own = y[i]
        sum_w = _weights(own, beta[i], cap_each[i], cap_all[i], w)
        if sum_w <= 0.0:
            continue
        level = potential[own]
        if w[own] <= 0.0:
            level = 0.0
            for c in range(k):
                if c != own:
                    level += w[c] * potential[c] / sum_w
        for c in range(k):
            if c != own:
                beta[i, c] += w[c] * (potential[c] - level)


def balancing_factors(flow: np.ndarray) -> np.ndarray:
    """(k, k) factors exp(u_y − u_c) that make ``flow`` a circulation; 0 between components."""
    k = len(flow)
    _, component = connected_components(flow > 0.0, directed=True, connection="strong")
    inside = component[:, None] == component[None, :]
    flow = np.where(inside, flow, 0.0)
    u = np.zeros(k)
    scaled = flow
    for _ in range(MAX_BALANCING_STEPS):
        out, into = scaled.sum(axis=1), scaled.sum(axis=0)
        if np.abs(out - into).max() <= RESIDUAL_ROUNDING * flow.sum():
            break
        laplacian = np.diag(out + into) - scaled - scaled.T
        step = -potential(laplacian, out - into)
        step /= max(1.0, np.abs(step).max())
        u += step
        scaled = flow * np.exp(u[:, None] - u[None, :])
    return np.where(inside, np.exp(u[:, None] - u[None, :]), 0.0)


@plain_at_first
@njit(cache=True, nogil=True)
def _add_flow(y, beta, flow):
    for i in range(beta.shape[0]):
        for c in range(beta.shape[1]):
            flow[y[i], c] += beta[i, c]


@plain_at_first
@njit(cache=True, nogil=True)
def _scale(y, beta, factor, cap_each, cap_all):
    """Scale in place; returns by how much some row is now beyond its cap."""
    over = 1.0
    for i in range(beta.shape[0]):
        total, most = 0.0, 0.0
        for c in range(beta.shape[1]):
            beta[i, c] *= factor[y[i], c]
            total += beta[i, c]
            most = max(most, beta[i, c])
        if total > 0.0:
            over = max(over, total / cap_all[i], most / cap_each[i])
    return over
