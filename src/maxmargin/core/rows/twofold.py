"""Sums over rows in twice the digits of float64: what cancels there is not lost.

A sum and a product of two floats are two floats exactly,

    a + b = s + e,   s = fl(a + b)        ab = p + e,   p = fl(ab),  e = fl(ab − p) fused

so running sums keep what each step loses beside them.  A sum of n terms is then off by no more than
(γ_2n)² Σ|terms|, before it is rounded to one float.  [Ogita, Rump and Oishi, 2005: Dot2]
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from ..first_use import plain_at_first
from ..rule import rule, verb
from .rows import DenseRows, PairRows, SparseRows, entries, shape

UNIT = 2.0**-53
SMALLEST = 2.0**-1074


def fused(a, b, c):
    """ab + c, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@intrinsic
def _fma(typingctx, a, b, c):
    def codegen(context, builder, signature, args):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        return builder.call(builder.module.declare_intrinsic("llvm.fma", (double,), kind), args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@overload(fused)
def _fused(a, b, c):
    return lambda a, b, c: _fma(a, b, c)  # type: ignore[call-arg]


@plain_at_first
@njit(cache=True, nogil=True)
def two_sum(a, b):
    """fl(a + b) and what it lacks.  [Knuth]"""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True)
def spare(terms):
    """The bound of a twofold sum of so many terms, relative to the sum of their sizes."""
    return 16.0 * ((terms + 4) * UNIT) ** 2


@verb
def add_products(rows, i, w, sums):
    """sums += (Σ_j x_j w_j in two floats, Σ |x_j w_j|) for row i."""


@verb
def add_multiple(rows, i, step, high, low, size):
    """high + low += step · x_i, and size += |step · x_i|."""


@verb
def farthest(rows, i, place):
    """The largest |x_j − place_j| of row i, or more."""


@rule(add_products, DenseRows)
def _(rows, i, w, sums):
    x = rows.X[i]
    high, low, size = sums[0], sums[1], sums[2]
    for j in range(x.shape[0]):
        value = np.float64(x[j])
        product = value * w[j]
        high, rest = two_sum(high, product)
        low += rest + fused(value, w[j], -product)
        size += abs(product)
    sums[0], sums[1], sums[2] = high, low, size


@rule(add_products, SparseRows)
def _(rows, i, w, sums):
    high, low, size = sums[0], sums[1], sums[2]
    for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        value, weight = np.float64(rows.data[k]), w[rows.indices[k]]
        product = value * weight
        high, rest = two_sum(high, product)
        low += rest + fused(value, weight, -product)
        size += abs(product)
    sums[0], sums[1], sums[2] = high, low, size


@rule(add_products, PairRows)
def _(rows, i, w, sums):
    add_products(rows.items, rows.loser[i], w, sums)
    sums[0], sums[1] = -sums[0], -sums[1]
    add_products(rows.items, rows.winner[i], w, sums)


@rule(add_multiple, DenseRows)
def _(rows, i, step, high, low, size):
    x = rows.X[i]
    for j in range(x.shape[0]):
        value = np.float64(x[j])
        product = step * value
        high[j], rest = two_sum(high[j], product)
        low[j] += rest + fused(step, value, -product)
        size[j] += abs(product)


@rule(add_multiple, SparseRows)
def _(rows, i, step, high, low, size):
    for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        j, value = rows.indices[k], np.float64(rows.data[k])
        product = step * value
        high[j], rest = two_sum(high[j], product)
        low[j] += rest + fused(step, value, -product)
        size[j] += abs(product)


@rule(add_multiple, PairRows)
def _(rows, i, step, high, low, size):
    add_multiple(rows.items, rows.winner[i], step, high, low, size)
    add_multiple(rows.items, rows.loser[i], -step, high, low, size)


@rule(farthest, DenseRows)
def _(rows, i, place):
    x, most = rows.X[i], 0.0
    for j in range(x.shape[0]):
        most = max(most, abs(np.float64(x[j]) - place[j]))
    return most


@rule(farthest, SparseRows)
def _(rows, i, place):
    most = 0.0
    for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        most = max(most, abs(np.float64(rows.data[k])))
    return most + np.abs(place).max() if rows.width > 0 else most


@rule(entries, PairRows)
def _(rows, i):
    return entries(rows.items, rows.winner[i]) + entries(rows.items, rows.loser[i])


# --- all rows -----------------------------------------------------------------------------


def twofold_slacks(rows, w: np.ndarray, b: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z = 1 − y(w·x + b) of every row, rounded once, and a bound on what else it is off by."""
    z, off = np.empty(len(y)), np.empty(len(y))
    _slacks(rows, w, float(b), y, z, off)
    return z, off


@njit(cache=True, nogil=True)
def _slacks(rows, w, b, y, z, off):
    sums = np.zeros(3)
    for i in range(y.shape[0]):
        sums[0], sums[1], sums[2] = 0.0, 0.0, 1.0
        add_products(rows, i, w, sums)
        score, rest = two_sum(sums[0], b)
        slack, more = two_sum(1.0, -y[i] * score)
        z[i] = slack + (more - y[i] * (rest + sums[1]))
        terms = entries(rows, i) + 4
        off[i] = spare(terms) * (sums[2] + abs(b)) + terms * SMALLEST


def twofold_scores(rows, W: np.ndarray, b: np.ndarray, y: np.ndarray, own: float):
    """s_c − s_y + own for s = Wx + b and every row, rounded once, and bounds for each row.

    1 − s_y + s_c is then what it is without rounding: for hinges ``own`` is 1.
    """
    n, k = len(y), len(W)
    S, off = np.empty((n, k)), np.empty(n)
    _scores(rows, W, b, y, own, S, off)
    return S, off


@njit(cache=True, nogil=True)
def _scores(rows, W, b, y, own, S, off):
    k = W.shape[0]
    sums = np.zeros((k, 3))
    for i in range(y.shape[0]):
        size = 0.0
        for c in range(k):
            sums[c, 0], sums[c, 1], sums[c, 2] = 0.0, 0.0, abs(b[c])
            add_products(rows, i, W[c], sums[c])
            sums[c, 0], rest = two_sum(sums[c, 0], b[c])
            sums[c, 1] += rest
            size = max(size, sums[c, 2])
        at = y[i]
        for c in range(k):
            lead, rest = two_sum(sums[c, 0], -sums[at, 0])
            lead, more = two_sum(lead, own)
            S[i, c] = lead + (more + rest + sums[c, 1] - sums[at, 1])
        S[i, at] = own
        terms = entries(rows, i) + 6
        off[i] = spare(terms) * (2.0 * size + own) + 2.0 * terms * SMALLEST


def twofold_pair_slacks(rows, W: np.ndarray, b: np.ndarray, example, winner, loser):
    """z = 1 − (s_a − s_b) of every pair, rounded once, and a bound on what else it is off by."""
    z, off = np.empty(len(example)), np.empty(len(example))
    _pair_slacks(rows, W, b, example, winner, loser, z, off)
    return z, off


@njit(cache=True, nogil=True)
def _pair_slacks(rows, W, b, example, winner, loser, z, off):
    ahead, behind = np.zeros(3), np.zeros(3)
    for p in range(example.shape[0]):
        i, over, under = example[p], winner[p], loser[p]
        ahead[:], behind[:] = 0.0, 0.0
        add_products(rows, i, W[over], ahead)
        add_products(rows, i, W[under], behind)
        lead, rest = two_sum(behind[0], -ahead[0])
        lifted, more = two_sum(b[under], -b[over])
        lead, third = two_sum(lead, lifted)
        lead, fourth = two_sum(lead, 1.0)
        z[p] = lead + (fourth + third + more + rest + behind[1] - ahead[1])
        terms = entries(rows, i) + 6
        size = ahead[2] + behind[2] + abs(b[over]) + abs(b[under]) + 1.0
        off[p] = spare(terms) * size + 2.0 * terms * SMALLEST


class Combined(NamedTuple):
    """Σ step (x − place) and Σ step of every class, with bounds on what they are off by."""

    W: np.ndarray
    lost: float  # the length of the error of W
    r: np.ndarray
    hidden: float  # Σ of the errors of r


def twofold_combine(rows, example, column, step, k: int, place: np.ndarray) -> Combined:
    """W[column] += step (x_example − place) for all of these, (k, d)."""
    W, off = np.zeros((k, shape(rows)[1])), np.zeros((k, shape(rows)[1]))
    r, hidden = _combine(rows, example, column, step, place, W, off)
    lost = float(np.linalg.norm(off)) * (1.0 + 1e-9)
    return Combined(W, lost, r, float(hidden.sum()) * (1.0 + 1e-9))


@njit(cache=True, nogil=True)
def _combine(rows, example, column, step, place, W, off):
    n, k = step.shape[0], W.shape[0]
    high, low, size = W, np.zeros_like(W), np.zeros_like(W)
    total, rest, mass = np.zeros(k), np.zeros(k), np.zeros(k)
    for p in range(n):
        if step[p] != 0.0:
            c = column[p]
            add_multiple(rows, example[p], step[p], high[c], low[c], size[c])
            total[c], lost = two_sum(total[c], step[p])
            rest[c] += lost
            mass[c] += abs(step[p])
    off_by = 4.0 * spare(2 * n)
    for c in range(k):
        for j in range(W.shape[1]):
            away = total[c] * place[j]
            lost = fused(total[c], place[j], -away)
            found, more = two_sum(high[c, j], -away)
            W[c, j] = found + (low[c, j] + more - lost - rest[c] * place[j])
            off[c, j] = off_by * (size[c, j] + mass[c] * abs(place[j]))
            off[c, j] += 4.0 * n * SMALLEST * (mass[c] > 0.0)
            off[c, j] += 2.0 * UNIT * abs(W[c, j])
    r = total + rest
    return r, 2.0 * UNIT * np.abs(r) + off_by * mass


def distances(rows, place: np.ndarray) -> np.ndarray:
    """‖x − place‖ of every row, or more, by no more than √d."""
    out = np.empty(shape(rows)[0])
    _distances(rows, place, np.sqrt(len(place)) * (1.0 + 1e-9), out)
    return out


@njit(cache=True, nogil=True)
def _distances(rows, place, root, out):
    for i in range(out.shape[0]):
        out[i] = root * farthest(rows, i, place)


def twofold_reach(rows, place: np.ndarray) -> float:
    """‖x − place‖ of no row is more."""
    return float(distances(rows, place).max(initial=0.0))
