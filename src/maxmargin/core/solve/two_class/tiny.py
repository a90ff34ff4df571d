"""Small data in one compiled call: the augmented Lagrangian of ``lagrangian.py``, dense.

    min over w̃ = (w, b)    ½ Σ D_j w̃_j² + Σ max over a in [0, cap_i] of  a z_i
                           z_i = 1 − y_i x̃_i·w̃

x̃ = (x − mean, 1); D = 1, and for the bias 0; without one x̃ = x.  Python and BLAS cost
more than the arithmetic here, so everything, the Cholesky factor included, is a
plain loop.  It runs on until float64 has no more to give: exactness costs microseconds, but on
tens of thousands of values, where a rough answer may be asked for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...certify import at_once
from ...first_use import plain_at_first
from ...problem.losses import Hinge, SquaredHinge, boxed
from ...problem.problem import Problem
from ...rows.rows import dense
from ..contract import Ending, Monitor, Point, serves

MAX_TINY_VALUES = 40_000
MAX_TINY_COLUMNS = 40

MAX_OUTER_STEPS = 30
MAX_INNER_STEPS = 60
# Of σ from one outer step to the next: many digits ask for a few large ones, few digits for small
# ones, each of which has fewer pieces to cross (a quarter of the time on thirty made problems).
KAPPA_GROWTH, ROUGH_KAPPA_GROWTH = 15.0, 4.0
# Curvature lent to the bias while no row has any, relative to one row's.
BIAS_CURVATURE_SHARE = 1e-2
# Relative gap below which float64 sums of this size cannot see an improvement.
IMPROVEMENT_ROUNDING = 1e-15
# Values up to which exactness costs microseconds; beyond, a gap this large is not closed further
# than to a share of it.
MAX_EXACT_VALUES, MIN_ROUGH_TOL, ROUGH_TOL_SHARE = 10_000, 1e-4, 0.3


def fits(problem: Problem) -> bool:
    n, d = problem.shape
    return d <= MAX_TINY_COLUMNS and n * d <= MAX_TINY_VALUES


def is_rough(problem: Problem, tol: float) -> bool:
    """Whether an exact answer would cost more than the one asked for, to be felt."""
    n, d = problem.shape
    return tol >= MIN_ROUGH_TOL and n * d > MAX_EXACT_VALUES


@serves(Hinge, SquaredHinge)
def tiny(problem: Problem, monitor: Monitor, start: Point | None = None) -> tuple[Point, Ending]:
    """Solve ``problem`` from scratch (a warm start would cost more than it saves)."""
    n, d = problem.shape
    X = dense(problem.rows, np.arange(n))
    width = d + 1 if problem.bias else d
    Z = np.ones((n, width))
    Z[:, :d] = X
    mu = Z[:, :d].mean(axis=0) if problem.bias else np.zeros(d)
    Z[:, :d] -= mu
    D = np.ones(width)
    if problem.bias:
        D[d] = 0.0
    squared = not boxed(problem.loss)
    rough = is_rough(problem, monitor.tol)
    enough = ROUGH_TOL_SHARE * monitor.tol if rough else IMPROVEMENT_ROUNDING
    w, alpha, primal, dual, steps = _solve(Z, problem.y, problem.c, D, squared, enough)
    monitor.n_iter += steps
    b = float(w[d] - mu @ w[:d]) if problem.bias else 0.0
    reached = monitor.record(primal, dual)
    return Point(w[:d].copy(), b, alpha), Ending.REACHED if reached else Ending.STALLED


def _solve(Z, y, c, D, squared, enough):
    """Outer loop, to a relative gap that is ``enough``.

    Returns w̃, the multipliers, primal and dual, and Newton steps taken.  It is some ten steps and
    not compiled: that took a second of a first fit, and saved 50 µs of each.
    """
    n, width = Z.shape
    columns = np.ascontiguousarray(Z.T)
    w, z, pull = np.zeros(width), np.ones(n), np.zeros(width)
    a, a_hat, free = np.zeros(n), np.zeros(n), np.empty(n, dtype=np.int64)
    sigma = (2.0 if squared else 0.5) * c
    cap = np.where(c > 0.0, np.inf, c) if squared else c
    best_w, best_a, best_primal, best_dual = w.copy(), a.copy(), np.inf, -np.inf
    steps, idle, grown, polished = 0, 0, 1.0, False
    precision = 1e-4
    growth_of_sigma = ROUGH_KAPPA_GROWTH if enough > IMPROVEMENT_ROUNDING else KAPPA_GROWTH
    for _ in range(MAX_OUTER_STEPS):
        goal = (precision, 0.0, -np.inf, MAX_INNER_STEPS)
        taken, _ = minimise(Z, columns, y, a, sigma, cap, D, pull, goal, w, z, a_hat, free)
        steps += taken
        if not squared:
            a[:] = a_hat
        primal, dual = _bounds(Z, y, c, D, squared, w, z, a_hat)
        # Within rounding the latest point is preferred: its multipliers are the sharpest.
        improved = primal < best_primal - IMPROVEMENT_ROUNDING * abs(primal)
        improved = improved or dual > best_dual + IMPROVEMENT_ROUNDING * abs(dual)
        if primal <= best_primal + IMPROVEMENT_ROUNDING * abs(primal):
            best_primal, best_w = primal, w.copy()
        if dual >= best_dual - IMPROVEMENT_ROUNDING * abs(dual):
            best_dual, best_a = dual, a_hat.copy()
        idle = 0 if improved else idle + 1
        closed = best_primal - best_dual <= enough * abs(best_primal)
        if closed and enough > IMPROVEMENT_ROUNDING:
            break
        if polished or (squared and (closed or precision <= 1e-12)):
            break
        growth = 1.0 if squared else growth_of_sigma
        precision = max(1e-15, precision * 1e-4)
        if closed or idle >= 2:
            # A large σ blurs aᵏ + σz by σ times the rounding of z: one last step without.
            polished, growth, precision = True, 1.0 / grown, 1e-15
        grown *= growth
        sigma *= growth
    return best_w, best_a, best_primal, best_dual, steps


@plain_at_first
@njit(cache=True, nogil=True)
def minimise(Z, columns, y, a, sigma, cap, D, pull, goal, w, z, a_hat, free):
    """Newton steps with exact line search on what the outer steps smooth, less pull·w̃.

    ``goal``: the gradient is to be small against w̃, or what it may cost against the
    complementarity; an objective below which there is nothing to be found; and how many steps at
    most.  Returns how many, and whether it ended before; ``a_hat`` then belongs to w̃.
    """
    n, width = Z.shape
    precision, share, floor, most = goal
    g, step, dz = np.empty(width), np.empty(width), np.empty(n)
    H = np.empty((width, width))
    whole, piece = False, -1  # whether the last step was a full one, and on which piece
    for taken in range(most):
        count, mark = 0, 0
        for j in range(width):
            g[j] = D[j] * w[j] - pull[j]
        for i in range(n):
            t = a[i] + sigma[i] * z[i]
            if t <= 0.0:
                t = 0.0
            elif t >= cap[i]:
                t = cap[i]
            else:
                free[count] = i
                count += 1
                mark = (mark * 31 + i + 1) % 1_000_000_007
            a_hat[i] = t
            if t != 0.0:
                t *= y[i]
                for j in range(width):
                    g[j] -= t * Z[i, j]
        slope, size = 0.0, 0.0
        for j in range(width):
            size += D[j] * w[j] * w[j]
            slope += g[j] * g[j]
        if slope <= precision * precision * size and (taken > 0 or size > 0.0):
            return taken, True
        if whole and mark == piece:  # a full Newton step on a quadratic: only rounding is left
            return taken, True
        if share > 0.0:
            loss, complementarity = _open(z, a_hat, cap)
            cost, value = _cost(D, g, w, pull)
            if cost <= share * complementarity or value + loss < floor:
                return taken, True
        piece = mark
        # Its size in the array, for a number that begins as 0 has the kernel compiled twice.
        _newton_step(Z, sigma, free[:count], D, g, H, step)
        quad1, quad2 = 0.0, 0.0
        for j in range(width):
            quad1 += (D[j] * w[j] - pull[j]) * step[j]
            quad2 += D[j] * step[j] * step[j]
        _signed_scores(columns, y, step, dz)
        t = _line_search(z, dz, a, sigma, cap, quad1, quad2)
        if t == 0.0:
            return taken, False
        whole = abs(t - 1.0) < 1e-6
        for j in range(width):
            w[j] += t * step[j]
        _signed_scores(columns, y, w, z)  # afresh, so that z is always exactly that of w̃
        for i in range(n):
            z[i] += 1.0
    return most, False


@plain_at_first
@njit(cache=True, nogil=True)
def _cost(D, g, w, pull):
    """What a gradient may cost the dual: ½‖g_w‖², and of a bias as much as it may still move; and
    the objective's value without losses."""
    cost, value = 0.0, 0.0
    for j in range(g.shape[0]):
        cost += 0.5 * g[j] * g[j] if D[j] > 0.0 else abs(g[j]) * (abs(w[j]) + 1.0)
        value += (0.5 * D[j] * w[j] - pull[j]) * w[j]
    return cost, value


@plain_at_first
@njit(cache=True, nogil=True)
def _open(z, a, cap):
    """Σ cap z₊, and by how much Σ az is less: how far both are from complementary."""
    loss, total = 0.0, 0.0
    for i in range(z.shape[0]):
        hinge = cap[i] * max(0.0, z[i])
        loss += hinge
        total += hinge - a[i] * z[i]
    return loss, total


@plain_at_first
@njit(cache=True, nogil=True)
def _signed_scores(columns, y, w, out):
    """−y_i x̃_i·w of all rows, column by column: side by side in the registers, where the sum of
    one row alone waits for every term."""
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(columns.shape[0]):
        for i in range(n):
            out[i] += columns[j, i] * w[j]
    for i in range(n):
        out[i] *= -y[i]


@plain_at_first
@njit(cache=True, nogil=True)
def _newton_step(Z, sigma, free, D, g, H, step):
    """Solve (D + Σ σ x̃ x̃ᵀ) step = −g by a Cholesky factor with unit-scaled diagonal."""
    width = g.shape[0]
    for j in range(width):
        for k in range(j + 1):
            H[j, k] = 0.0
        H[j, j] = D[j]
    if len(free) == 0:  # a free bias still has to move: lend it some curvature
        lent = 0.0
        for i in range(sigma.shape[0]):
            lent = max(lent, sigma[i])
        H[width - 1, width - 1] += BIAS_CURVATURE_SHARE * lent
    fours = len(free) - len(free) % 4
    for p in range(0, fours, 4):  # H is read and written once for four rows
        i, i1, i2, i3 = free[p], free[p + 1], free[p + 2], free[p + 3]
        for j in range(width):
            t, t1 = sigma[i] * Z[i, j], sigma[i1] * Z[i1, j]
            t2, t3 = sigma[i2] * Z[i2, j], sigma[i3] * Z[i3, j]
            for k in range(j + 1):
                H[j, k] = H[j, k] + t * Z[i, k] + t1 * Z[i1, k] + t2 * Z[i2, k] + t3 * Z[i3, k]
    for i in free[fours:]:
        for j in range(width):
            t = sigma[i] * Z[i, j]
            for k in range(j + 1):
                H[j, k] += t * Z[i, k]
    for j in range(width):
        step[j] = 1.0 / np.sqrt(H[j, j]) if H[j, j] > 0.0 else 1.0
    for j in range(width):
        for k in range(j + 1):
            H[j, k] *= step[j] * step[k]
        H[j, j] = max(H[j, j], 1.0) + 1e-14
    scaled = np.empty(width)
    for l in range(width):  # H = L Lᵀ, column by column: what is left changes side by side
        H[l, l] = np.sqrt(H[l, l]) if H[l, l] > 1e-15 else 1e8  # no curvature left: stay put
        for j in range(l + 1, width):
            H[j, l] /= H[l, l]
            scaled[j] = H[j, l]
        for j in range(l + 1, width):
            t = H[j, l]
            for k in range(l + 1, j + 1):
                H[j, k] -= t * scaled[k]
    for j in range(width):
        t = -g[j] * step[j]
        for l in range(j):
            t -= H[j, l] * scaled[l]
        scaled[j] = t / H[j, j]
    for j in range(width - 1, -1, -1):
        t = scaled[j]
        for l in range(j + 1, width):
            t -= H[l, j] * scaled[l]
        scaled[j] = t / H[j, j]
    for j in range(width):
        step[j] *= scaled[j]


@plain_at_first
@njit(cache=True, nogil=True)
def _line_search(z, dz, a, sigma, cap, quad1, quad2):
    """The root of the increasing, piecewise linear derivative along the step."""
    lo, hi, t, start = 0.0, np.inf, 0.0, 0.0
    for trial in range(60):
        slope, curvature = quad1 + t * quad2, quad2
        for i in range(z.shape[0]):
            u = a[i] + sigma[i] * (z[i] + t * dz[i])
            between = 0.0 < u < cap[i]  # chosen, not branched upon: which it is cannot be foreseen
            slope += (u if between else cap[i] if u > 0.0 else 0.0) * dz[i]
            curvature += sigma[i] * dz[i] * dz[i] if between else 0.0
        if trial == 0:
            if not slope < 0.0:
                return 0.0
            start, t = -slope, 1.0
            continue
        if abs(slope) <= 1e-9 * start:
            return t
        if slope < 0.0:
            lo = t
        else:
            hi = t
        new = t - slope / curvature if curvature > 0.0 else np.inf
        if not lo < new < hi:
            new = 0.5 * (lo + hi) if hi < np.inf else 8.0 * t
        if hi == np.inf:
            new = min(new, 1e3 * t)
        if new == t:
            return t
        t = new
    return t


@plain_at_first(arrays=at_once.bounds)
@njit(cache=True, nogil=True)
def _bounds(Z, y, c, D, squared, w, z, a):
    """Primal and dual values; a free bias's dual after scaling the heavier class to Σay = 0."""
    n, width = Z.shape
    plus, minus = 0.0, 0.0
    for i in range(n):
        if c[i] > 0.0:
            if y[i] > 0.0:
                plus += a[i]
            else:
                minus += a[i]
    scale_plus, scale_minus = 1.0, 1.0
    if width > 0 and D[width - 1] == 0.0 and plus != minus:
        scale_plus = min(1.0, minus / plus) if plus > 0.0 else 1.0
        scale_minus = min(1.0, plus / minus) if minus > 0.0 else 1.0
    v = np.zeros(width)
    primal, dual = 0.0, scale_plus * plus + scale_minus * minus
    for i in range(n):
        if c[i] > 0.0:
            t = a[i] * (scale_plus if y[i] > 0.0 else scale_minus)
            for j in range(width):
                v[j] += t * y[i] * Z[i, j]
            slack = max(0.0, z[i])
            if squared:
                primal += c[i] * slack * slack
                dual -= 0.25 * t * t / c[i]
            else:
                primal += c[i] * slack
    norm, dual_norm = 0.0, 0.0
    for j in range(width):
        norm += D[j] * w[j] * w[j]
        dual_norm += D[j] * v[j] * v[j]
    return primal + 0.5 * norm, dual - 0.5 * dual_norm
