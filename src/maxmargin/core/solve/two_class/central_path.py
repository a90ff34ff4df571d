"""Small dense problems by the thousand: a predictor–corrector interior point in one compiled call.

    min over w̃ = (w, b)    ½ Σ D_j w̃_j² + Σ c_i ξ_i    with   m_i + ξ_i = 1 + s_i,   ξ, s ≥ 0
                           m_i = y_i z_i·w̃,   z = (x − mean, 1),   D = 1, and for the bias 0

Multipliers a of the margins and u = c − a of ξ ≥ 0 stay positive while the products a·s and u·ξ
go to zero together; what remains of a Newton step is (D + Σ z zᵀ/θ) dw̃ with θ = s/a + ξ/u.  The
squared hinge has no u: ξ = a/(2c) there, and θ = s/a + 1/(2c).  Nine to thirteen factorisations are
enough, whatever the labels, where steps from piece to piece (``tiny.py``) need thirty to seventy.
Columns lie one after the other, so that every loop over rows is vectorised, and what is divided by
is inverted once a step.  [Mehrotra 1992]

All labellings share their rows, so the path begins at the weights of least squares, whose system is
factored once: a tenth fewer steps than from no weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...certify.small import SmallProblem, empty_problem
from ...rows.rows import LENGTH_SPARE, UNDERFLOW_LENGTH

MAX_CENTRAL_STEPS = 60
# Fraction of the way to the boundary, and the shortest step that is one.
BOUNDARY_FRACTION = 0.995
MIN_STEP = 1e-8
# The multiplier of a slack that stays is zero: below this share of the slack and of its cap.
ZERO_MULTIPLIER_RATIO = 1e-3
# Added to a diagonal of ones before it is factored, and the least pivot.
DIAGONAL_ROUNDING, MIN_PIVOT = 1e-14, 1e-15
# Weights to start from are those of least squares, so many times as long, and slacks are so much
# longer than these need: of lengths from 1.5 to 3 and slacks from 0.5 to 1.5 the fewest steps on 25
# kinds of made problems (60 × 5 to 1,000 × 50, labels by lot and not, C from 0.01 to 100).
START_LENGTH, START_SLACK = 2.0, 1.0
# Of the diagonal of the system of least squares, added to it: columns may depend on one another.
START_RIDGE = 1e-3
# Products of so many times the gap asked for leave a larger gap: it is about half of them.
OPEN_PRODUCTS = 4.0
# Columns whose products are summed side by side, in registers.
TILE = 4
# No test for what is no number inside loops, which could not be vectorised with it; ``follow`` and
# the proof look at what comes out.
FAST = {"reassoc", "contract", "nsz", "arcp", "nnan"}


class ColumnDesign(NamedTuple):
    """What the path makes of the rows: lines of ``Z`` are columns, centred where the bias is free,
    then ones for it, then zeros to fill a tile."""

    Z: np.ndarray
    mean: np.ndarray
    width: int


class CentralPath(NamedTuple):
    """Where the path stands, its step, and room to compute in; entries per row but ``w``.

    ``by_a``, ``by_s``, ``by_u``, ``by_xi``: one divided by each.
    """

    w: np.ndarray
    a: np.ndarray
    s: np.ndarray
    xi: np.ndarray
    m: np.ndarray
    da: np.ndarray
    ds: np.ndarray
    dxi: np.ndarray
    dm: np.ndarray
    weight: np.ndarray
    q: np.ndarray
    v: np.ndarray
    by_a: np.ndarray
    by_s: np.ndarray
    by_u: np.ndarray
    by_xi: np.ndarray


class NewtonSystem(NamedTuple):
    """D + Σ z zᵀ/θ, factored, with a diagonal of ones by ``scale``; ``W``: z/θ; ``T``: a tile."""

    H: np.ndarray
    W: np.ndarray
    T: np.ndarray
    scale: np.ndarray
    step: np.ndarray


class Room(NamedTuple):
    """All arrays for problems of one size; ``fill`` and ``start`` put the values in."""

    small: SmallProblem
    design: ColumnDesign
    path: CentralPath
    system: NewtonSystem
    squares: NewtonSystem


def room_for(n: int, d: int, loss, bias) -> Room:
    """Room for problems of n rows and d columns."""
    width = d + 1 if bias else d
    padded = -(-width // TILE) * TILE
    return Room(
        empty_problem(n, d, loss, bias),
        ColumnDesign(np.zeros((padded, n)), np.empty(d), width),
        CentralPath(np.empty(width), *np.empty((15, n))),
        _system(n, width, padded),
        _system(n, width, padded),
    )


def _system(n: int, width: int, padded: int) -> NewtonSystem:
    return NewtonSystem(
        np.empty((padded, padded)), np.empty((padded, n)), np.empty((TILE, TILE)),
        np.empty(width), np.empty(width),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def fill(small, design, X, rows, columns):
    """The chosen rows and columns of X; plain loops compile several times as fast as slices."""
    n, d = len(rows), len(columns)
    for i in range(n):
        square = 0.0
        for j in range(d):
            value = X[rows[i], columns[j]]
            small.X[j, i] = value
            square += value * value
        small.lengths[i] = np.sqrt(square) * LENGTH_SPARE + UNDERFLOW_LENGTH * np.sqrt(d)
    for j in range(d):
        total = 0.0
        for i in range(n):
            total += small.X[j, i]
        design.mean[j] = total / n if small.bias else 0.0
        for i in range(n):
            design.Z[j, i] = small.X[j, i] - design.mean[j]
    for j in range(d, design.width):
        for i in range(n):
            design.Z[j, i] = 1.0


@njit(cache=True, nogil=True)
def prepare(design, path, squares):
    """Factor the system of least squares, of which ``start`` asks for every labelling."""
    for i in range(len(path.weight)):
        path.weight[i] = 1.0
    _weighted_gram(design.Z, path.weight, squares.W, squares.H, squares.T)
    for j in range(design.width):
        squares.H[j, j] *= 1.0 + START_RIDGE
    _factor(squares.H, squares.scale, squares.T)


@njit(cache=True, nogil=True, fastmath=FAST)
def start(small, design, path, squares):
    """Weights of least squares; slacks and multipliers that belong to them, inside every box."""
    y, c = small.y, small.c
    _combine(design.Z, y, path.w)
    _solve_factored(squares.H, squares.scale, path.w)
    for j in range(len(path.w)):
        path.w[j] *= START_LENGTH
    _scores(design.Z, path.w, path.m)
    for i in range(len(c)):
        m = y[i] * path.m[i]
        s, xi = max(m - 1.0, 0.0) + START_SLACK, max(1.0 - m, 0.0) + START_SLACK
        path.a[i] = 2.0 * c[i] * xi if small.squared else c[i] * xi / (s + xi)
        path.s[i], path.xi[i], path.m[i] = s, xi, m
        path.da[i], path.ds[i], path.dxi[i] = 0.0, 0.0, 0.0


@njit(cache=True, nogil=True)
def follow(small, design, path, system, tol):
    """Go on until the relative gap is ``tol``, or as far as float64 lets; the steps taken."""
    for taken in range(MAX_CENTRAL_STEPS):
        gap, primal, left = _gap(small, design, path, system.step, tol)
        if not gap > tol * primal:  # there, or no number any more
            return taken
        _invert(path, small.c, small.squared)
        _weighted_gram(design.Z, path.weight, system.W, system.H, system.T)
        for j in range(len(design.mean)):
            system.H[j, j] += 1.0
        _factor(system.H, system.scale, system.T)
        worst = _aim(small, design, path, system, 0.0, 0.0)
        target = _target(small, path, 1.0 / max(1.0, worst), left)
        worst = _aim(small, design, path, system, 1.0, target)
        t = BOUNDARY_FRACTION / max(BOUNDARY_FRACTION, worst)
        if not t > MIN_STEP:
            return taken
        _move(path, system.step, t, small.squared)
    return MAX_CENTRAL_STEPS


@njit(cache=True, nogil=True, fastmath=FAST)
def _gap(small, design, path, pulled, tol):
    """primal − dual as they stand, the primal, and what is left of all products, which stand for
    the gap as long as they are large.

    ``pulled``: room for Σ a y z.
    """
    y, c, squared = small.y, small.c, small.squared
    products, loss, dual = 0.0, 0.0, 0.0
    for i in range(len(y)):
        a, z = path.a[i], max(0.0, 1.0 - path.m[i])
        products += a * path.s[i]
        if squared:
            loss += c[i] * z * z
            dual += a - 0.25 * a * a / c[i]
        else:
            loss += c[i] * z
            dual += a
            products += (c[i] - a) * path.xi[i]
        path.v[i] = a * y[i]
    norm, d = 0.0, len(design.mean)
    for j in range(d):
        norm += path.w[j] * path.w[j]
    if products > OPEN_PRODUCTS * tol * (0.5 * norm + loss):
        return products, 0.5 * norm + loss, products
    _combine(design.Z, path.v, pulled)
    for j in range(d):
        dual -= 0.5 * pulled[j] * pulled[j]
    if small.bias:
        dual -= abs(pulled[d] * path.w[d])
    primal = 0.5 * norm + loss
    return primal - dual, primal, products


@njit(cache=True, nogil=True, fastmath=FAST)
def _invert(path, c, squared):
    """What a step divides by; and 1/θ of every row."""
    for i in range(len(c)):
        by_a = 1.0 / path.a[i]
        theta = path.s[i] * by_a
        path.by_a[i], path.by_s[i] = by_a, 1.0 / path.s[i]
        if squared:
            path.by_u[i] = 0.5 / c[i]
            theta += path.by_u[i]
        else:
            by_u = 1.0 / (c[i] - path.a[i])
            theta += path.xi[i] * by_u
            path.by_u[i], path.by_xi[i] = by_u, 1.0 / path.xi[i]
        path.weight[i] = 1.0 / theta


@njit(cache=True, nogil=True, fastmath=FAST)
def _aim(small, design, path, system, second, target):
    """Newton's step towards products of ``target``, with the ``second`` order terms of the step
    before; returns how many times too long it is to stay inside."""
    y, squared = small.y, small.squared
    _wanted(small, path, second, target)
    step, d = system.step, len(design.mean)
    _combine(design.Z, path.v, step)
    for j in range(d):
        step[j] -= path.w[j]
    _solve_factored(system.H, system.scale, step)
    _scores(design.Z, step, path.dm)
    worst = 0.0
    for i in range(len(y)):
        dm, s, by_a = y[i] * path.dm[i], path.s[i], path.by_a[i]
        da = path.weight[i] * (path.q[i] - dm)
        ds = (target - second * path.da[i] * path.ds[i] - s * da) * by_a - s
        worst = max(worst, -da * by_a, -ds * path.by_s[i])
        if not squared:
            xi, by_u = path.xi[i], path.by_u[i]
            dxi = (target + second * path.da[i] * path.dxi[i] + xi * da) * by_u - xi
            worst = max(worst, da * by_u, -dxi * path.by_xi[i])
            path.dxi[i] = dxi
        path.dm[i], path.da[i], path.ds[i] = dm, da, ds
    return worst


@njit(cache=True, nogil=True, fastmath=FAST)
def _wanted(small, path, second, target):
    """What the margins are to change by, q, but for the rows' own give; and (a + q/θ) y."""
    y, squared = small.y, small.squared
    for i in range(len(y)):
        a, by_u = path.a[i], path.by_u[i]
        q = 1.0 - path.m[i] + (target - second * path.da[i] * path.ds[i]) * path.by_a[i]
        if squared:
            q -= a * by_u
        else:
            q -= (target + second * path.da[i] * path.dxi[i]) * by_u
        path.q[i], path.v[i] = q, (a + path.weight[i] * q) * y[i]


@njit(cache=True, nogil=True, fastmath=FAST)
def _target(small, path, t, products):
    """Products to aim at: the less, the more of them the predicted step t would take away."""
    c, squared = small.c, small.squared
    left, n = 0.0, len(c)
    for i in range(n):
        left += (path.a[i] + t * path.da[i]) * (path.s[i] + t * path.ds[i])
        if not squared:
            u = c[i] - path.a[i] - t * path.da[i]
            left += u * (path.xi[i] + t * path.dxi[i])
    return (left / products) ** 3 * products / (n if squared else 2 * n)


@njit(cache=True, nogil=True, fastmath=FAST)
def _move(path, step, t, squared):
    """Go t times the step."""
    for i in range(len(path.a)):
        path.a[i] += t * path.da[i]
        path.s[i] += t * path.ds[i]
        path.m[i] += t * path.dm[i]
        if not squared:
            path.xi[i] += t * path.dxi[i]
    for j in range(len(path.w)):
        path.w[j] += t * step[j]


@njit(cache=True, nogil=True)
def multipliers(small, path):
    """Those of the path, with the ones that vanish in the limit put on their bounds."""
    c, squared, alpha = small.c, small.squared, small.alpha
    largest = 0.0
    for i in range(len(alpha)):
        largest = max(largest, path.a[i])
    for i in range(len(alpha)):
        a, size = path.a[i], largest if squared else c[i]
        if a < ZERO_MULTIPLIER_RATIO * path.s[i] * size:
            a = 0.0
        elif not squared and c[i] - a < ZERO_MULTIPLIER_RATIO * path.xi[i] * c[i]:
            a = c[i]
        alpha[i] = a


@njit(cache=True, nogil=True, fastmath=FAST)
def _combine(Z, v, out):
    """Z v, line by line."""
    for j in range(len(out)):
        total = 0.0
        for i in range(len(v)):
            total += Z[j, i] * v[i]
        out[j] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _scores(Z, w, out):
    """Zᵀ w, four lines at a time."""
    n, whole = len(out), len(w) // TILE * TILE
    for i in range(n):
        out[i] = 0.0
    for j in range(0, whole, TILE):
        p, q, r, s = w[j], w[j + 1], w[j + 2], w[j + 3]
        for i in range(n):
            out[i] += (p * Z[j, i] + q * Z[j + 1, i]) + (r * Z[j + 2, i] + s * Z[j + 3, i])
    for j in range(whole, len(w)):
        for i in range(n):
            out[i] += w[j] * Z[j, i]


@njit(cache=True, nogil=True, fastmath=FAST)
def _weighted_gram(Z, weight, W, H, T):
    """The lower triangle of Σ weight z zᵀ, tile by tile."""
    padded, n = Z.shape
    for j in range(padded):
        for i in range(n):
            W[j, i] = weight[i] * Z[j, i]
    for j in range(0, padded, TILE):
        for k in range(0, j + TILE, TILE):
            _tile(W, Z, j, k, n, T)
            for p in range(TILE):
                for q in range(TILE):
                    H[j + p, k + q] = T[p, q]


@njit(cache=True, nogil=True, fastmath=FAST)
def _tile(A, B, j, k, count, T):
    """Products of four lines of A with four of B: sixteen sums stay in registers."""
    s00, s01, s02, s03 = 0.0, 0.0, 0.0, 0.0
    s10, s11, s12, s13 = 0.0, 0.0, 0.0, 0.0
    s20, s21, s22, s23 = 0.0, 0.0, 0.0, 0.0
    s30, s31, s32, s33 = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        a, b, c, d = A[j, i], A[j + 1, i], A[j + 2, i], A[j + 3, i]
        p, q, r, s = B[k, i], B[k + 1, i], B[k + 2, i], B[k + 3, i]
        s00, s01, s02, s03 = s00 + a * p, s01 + a * q, s02 + a * r, s03 + a * s
        s10, s11, s12, s13 = s10 + b * p, s11 + b * q, s12 + b * r, s13 + b * s
        s20, s21, s22, s23 = s20 + c * p, s21 + c * q, s22 + c * r, s23 + c * s
        s30, s31, s32, s33 = s30 + d * p, s31 + d * q, s32 + d * r, s33 + d * s
    T[0, 0], T[0, 1], T[0, 2], T[0, 3] = s00, s01, s02, s03
    T[1, 0], T[1, 1], T[1, 2], T[1, 3] = s10, s11, s12, s13
    T[2, 0], T[2, 1], T[2, 2], T[2, 3] = s20, s21, s22, s23
    T[3, 0], T[3, 1], T[3, 2], T[3, 3] = s30, s31, s32, s33


@njit(cache=True, nogil=True, fastmath=FAST)
def _factor(H, scale, T):
    """H = S⁻¹ L Lᵀ S⁻¹ with S = diag(scale), in place; the diagonal holds 1/L_jj."""
    padded, width = len(H), len(scale)
    for j in range(width):
        scale[j] = 1.0 / np.sqrt(H[j, j]) if H[j, j] > 0.0 else 1.0
    for j in range(padded):
        for k in range(min(j, width)):
            H[j, k] *= scale[j] * scale[k] if j < width else 0.0
        H[j, j] = 1.0 + DIAGONAL_ROUNDING
    for j in range(0, padded, TILE):
        for k in range(0, j, TILE):
            _tile(H, H, j, k, k, T)
            _eliminate(H, j, k, T)
        _tile(H, H, j, j, j, T)
        _factor_tile(H, j, T)


@njit(cache=True, nogil=True, fastmath=FAST)
def _eliminate(H, j, k, T):
    """The tile at (j, k): what is left of it, less T, by the factor of the tile at (k, k)."""
    d0, d1, d2, d3 = H[k, k], H[k + 1, k + 1], H[k + 2, k + 2], H[k + 3, k + 3]
    l10, l20, l21 = H[k + 1, k], H[k + 2, k], H[k + 2, k + 1]
    l30, l31, l32 = H[k + 3, k], H[k + 3, k + 1], H[k + 3, k + 2]
    for p in range(TILE):
        row = H[j + p]
        x0 = (row[k] - T[p, 0]) * d0
        x1 = (row[k + 1] - T[p, 1] - x0 * l10) * d1
        x2 = (row[k + 2] - T[p, 2] - x0 * l20 - x1 * l21) * d2
        x3 = (row[k + 3] - T[p, 3] - x0 * l30 - x1 * l31 - x2 * l32) * d3
        row[k], row[k + 1], row[k + 2], row[k + 3] = x0, x1, x2, x3


@njit(cache=True, nogil=True, fastmath=FAST)
def _factor_tile(H, j, T):
    """The tile on the diagonal, less T, factored."""
    for p in range(TILE):
        for q in range(p + 1):
            left = H[j + p, j + q] - T[p, q]
            for l in range(q):
                left -= H[j + p, j + l] * H[j + q, j + l]
            pivot = 1.0 / np.sqrt(max(left, MIN_PIVOT)) if p == q else left * H[j + q, j + q]
            H[j + p, j + q] = pivot


@njit(cache=True, nogil=True, fastmath=FAST)
def _solve_factored(H, scale, x):
    """x ← the solution of H x, in place."""
    width = len(scale)
    for j in range(width):
        total = 0.0
        for l in range(j):
            total += H[j, l] * x[l]
        x[j] = (x[j] * scale[j] - total) * H[j, j]
    for j in range(width - 1, -1, -1):
        x[j] *= H[j, j]
        for l in range(j):
            x[l] -= H[j, l] * x[j]
    for j in range(width):
        x[j] *= scale[j]
