"""Semismooth-Newton augmented Lagrangian for the four hinge losses of k classes.

    min over V    ½ Σ_cj E_j V_cj² + Σ c_i ℓ(s_i, y_i),        s_i = V z_i

z_i = (x_i − μ, 1), V = [W b]; E = 1, and for the bias 0.  Given
multipliers β⁰ and stiffnesses A_i = 1/σ_i, one outer step minimises the smooth function in
which row i pays the maximum that ``row_subproblem.py`` computes; its gradient in s_i is (β_c for
c ≠ y, −Σβ for y).  That vector is row i of B, so the gradient in V is VE + BᵀZ.

A row's curvature is M = diag(u) − uuᵀ/Σu over the classes that may still trade blame:
u_c = 1/(A + each) where 0 < β_c < cap, and u_y = 1/(A + all) unless Σβ is at its cap.
Then β⁰ becomes the best β and σ grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...first_use import plain_at_first
from ...rule import rule
from ..contract import Monitor
from ..semismooth import PiecewiseQuadratic, Terms, exact_step, in_order, slope_along
from ..semismooth import minimise as newton_steps
from .class_direction import Trades, class_direction
from .row_subproblem import MAX_ORDERED_CLASSES, share

MAX_INNER_STEPS = 60
# A mark of the piece has so many bits: a million times it is still an integer of 64.
MARK_BITS = 2**42 - 1


class ClassRows(NamedTuple):
    """Rows z, labels, the four limits of ``share`` for each row, and E."""

    Z: np.ndarray
    y: np.ndarray
    limit: tuple
    E: np.ndarray


class RowReply(NamedTuple):
    """How the rows answer to scores: B, θ, and whether Σβ is below its cap."""

    B: np.ndarray
    theta: np.ndarray
    own: np.ndarray


def minimise(rows: ClassRows, V, B0, A, monitor: Monitor, enough) -> tuple:
    """Newton steps on the smooth function until ``enough(terms)``.

    Returns V, the multipliers B that answer to it, the terms, and whether it was enough:
    multipliers of an unfinished minimisation would lead the outer steps astray.
    """
    f = _SmoothedClassHinge(rows, V, B0, A)
    terms, finished = newton_steps(f, monitor, enough, MAX_INNER_STEPS)
    return f.V, f.reply.B, terms, finished


def stationary_terms(E, V, g) -> tuple[float, float]:
    """What V lacks of being stationary, and ½‖V‖² with the weights E.

    What Σα lacks of zero costs as much as the biases may still have to move.
    """
    idle = float(np.abs(g[:, -1]) @ (np.abs(V[:, -1]) + 1.0)) if E[-1] == 0.0 else 0.0
    return 0.5 * float(np.vdot(E * g, g)) + idle, 0.5 * float(np.vdot(E * V, V))


class _SmoothedClassHinge(PiecewiseQuadratic):
    """The rows' smoothed losses with the norm, at V."""

    def __init__(self, rows: ClassRows, V, B0, A):
        self.rows, self.V, self.B0, self.A = rows, V, B0, A
        Z, y, _, _ = rows
        self.S = S = Z @ V.T
        own = S[np.arange(len(y)), y]
        self.reply = RowReply(np.empty_like(S), own, np.empty(len(y), dtype=np.bool_))

    def look(self) -> tuple[Terms, int]:
        Z, y, limit, E = self.rows
        complementarity, loss, piece = _answer(limit, self.A, self.S, y, self.B0, *self.reply)
        self.g = self.V * E + self.reply.B.T @ Z
        stationarity, norm = stationary_terms(E, self.V, self.g)
        return Terms(complementarity, stationarity, norm + loss, norm), piece

    def aim(self) -> None:
        Z, y, limit, E = self.rows
        trades = Trades(*_traders(limit, self.A, y, self.reply.B, self.reply.own))
        self.dV, self.exact = class_direction(Z, E, trades, 1.0 / float(self.A.min()), self.g)

    def step_length(self) -> float:
        Z, y, limit, E = self.rows
        line = ClassLine(limit, self.A, self.S, Z @ self.dV.T, y, self.B0, self.reply.theta.copy())
        way = E * self.dV
        slope, curvature = float(np.vdot(way, self.V)), float(np.vdot(way, self.dV))
        start, _ = class_slope(*line, 0.0)
        return exact_step(line, start + slope, slope, curvature)

    def move(self, t: float) -> None:
        self.V = self.V + t * self.dV
        # Afresh: a long step that is taken back would leave its rounding in S + t dS.
        self.S = self.rows.Z @ self.V.T


def _added_in_order(limit, A, S, *_) -> bool:
    """Whether ``share`` adds up as plain Python does."""
    return S.shape[1] <= MAX_ORDERED_CLASSES


@plain_at_first(when=_added_in_order)
@njit(cache=True, nogil=True, error_model="numpy")
def _answer(limit, A, S, y, B0, B, theta, own):
    """Fill B, θ (a guess before) and ``own``; return Σ(cℓ + cℓ* − β·z), Σcℓ and the piece."""
    n, k = S.shape
    D = np.empty(k)
    complementarity, loss, mark = 0.0, 0.0, 1
    for i in range(n):
        row, z = (limit[0][i], limit[1][i], limit[2][i], limit[3][i]), y[i]
        for c in range(k):
            D[c] = 1.0 + S[i, c] + A[i] * B0[i, c]
        D[z] = -np.inf
        e = S[i, z] + A[i] * B0[i, z]
        theta[i], T = share(row, D, k, z, e, A[i], theta[i], B[i])
        own[i] = (theta[i] - e) / (A[i] + row[3]) < row[2]
        if not own[i]:  # a large σ multiplies the rounding of θ into Σβ, which is the cap here
            for c in range(k):
                B[i, c] *= row[2] / T
            T = row[2]
        worst, total, squares, earned, charge = 0.0, 0.0, 0.0, 0.0, 0.5 * row[3] * T * T
        for c in range(k):
            if c != z:
                slack, beta = 1.0 + S[i, c] - S[i, z], B[i, c]
                if slack > 0.0:
                    worst = max(worst, slack)
                    total += slack
                    squares += slack * slack
                if beta > 0.0:
                    earned += beta * slack
                    charge += 0.5 * row[1] * beta * beta
                    if beta < row[0]:
                        mark = (mark * 1_000_003 ^ (i * k + c)) & MARK_BITS
        if T > 0.0 and own[i]:
            mark = (mark * 1_000_003 ^ (i * k + z)) & MARK_BITS
        B[i, z] = -T
        price = _price(row, worst, total, squares)
        loss += price
        complementarity += price - earned + charge
    return complementarity, loss, mark


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _price(row, worst, total, squares):
    """c ℓ, by the only limit of the row that bites: a resistance is 1/(2c)."""
    cap_each, each, cap_all, all_ = row
    if cap_all < np.inf:
        return cap_all * worst
    if cap_each < np.inf:
        return cap_each * total
    return 0.5 * worst * worst / all_ if all_ > 0.0 else 0.5 * squares / each


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _traders(limit, A, y, B, own):
    """The rows that two classes or more compete for, these classes, and their u."""
    n, k = B.shape
    index, start = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    size = 0
    for i in range(n):
        if B[i, y[i]] < 0.0:
            for c in range(k):
                size += 0.0 < B[i, c] < limit[0][i]
            size += 1
    who, u = np.empty(size, dtype=np.int64), np.empty(size)
    count, end = 0, 0
    for i in range(n):
        if B[i, y[i]] < 0.0:
            for c in range(k):
                inner = own[i] if c == y[i] else 0.0 < B[i, c] < limit[0][i]
                if inner:
                    who[end] = c
                    u[end] = 1.0 / (A[i] + (limit[3][i] if c == y[i] else limit[1][i]))
                    end += 1
            if end - start[count] > 1:
                index[count] = i
                count += 1
                start[count] = end
            else:
                end = start[count]
    return index[:count], start[: count + 1], who[:end], u[:end]


class ClassLine(NamedTuple):
    """Scores S + t dS of rows with limits, stiffnesses A and multipliers B0; θ is a guess."""

    limit: tuple
    A: np.ndarray
    S: np.ndarray
    dS: np.ndarray
    y: np.ndarray
    B0: np.ndarray
    theta: np.ndarray


@rule(in_order, ClassLine)
def _(line):
    return _added_in_order(*line)


@rule(slope_along, ClassLine)
def _(line, t):
    return class_slope(line.limit, line.A, line.S, line.dS, line.y, line.B0, line.theta, t)


@plain_at_first(when=_added_in_order)
@njit(cache=True, nogil=True, error_model="numpy")
def class_slope(limit, A, S, dS, y, B0, theta, t):
    """Derivative and second derivative at S + t dS along dS, without the norm's share."""
    n, k = S.shape
    D, beta = np.empty(k), np.empty(k)
    slope, curvature = 0.0, 0.0
    for i in range(n):
        row, z = (limit[0][i], limit[1][i], limit[2][i], limit[3][i]), y[i]
        for c in range(k):
            D[c] = 1.0 + S[i, c] + t * dS[i, c] + A[i] * B0[i, c]
        D[z] = -np.inf
        e = S[i, z] + t * dS[i, z] + A[i] * B0[i, z]
        theta[i], T = share(row, D, k, z, e, A[i], theta[i], beta)
        if T == 0.0:
            continue
        steep, flat = 1.0 / (A[i] + row[1]), 1.0 / (A[i] + row[3])
        weight, mean, square = 0.0, 0.0, 0.0
        if (theta[i] - e) * flat < row[2]:
            weight = flat
        for c in range(k):
            if beta[c] > 0.0:  # relative to the own class, whose step then is zero
                step = dS[i, c] - dS[i, z]
                slope += beta[c] * step
                if beta[c] < row[0]:
                    weight += steep
                    mean += steep * step
                    square += steep * step * step
        if weight > 0.0:
            curvature += square - mean * mean / weight
    return slope, curvature
