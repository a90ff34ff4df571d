"""The certificate of a hinge in one pass over many rows, and the slacks that it saw.

    z_i = 1 − y_i (w·x_i + b),    w_α = Σ α_i y_i x_i,    Σ c max(0, z),  Σ α,  Σ αy

The same sums as in ``two_class.py``, taken while a block of rows is in the cache: reading the rows
takes 1.0 ms of 40 MB, and one pass after another for scores, lengths, w_α and sums 5 ms, this one
2.2.  Of lengths only ‖block‖, which is no less than any of its rows', is computed: with
Σ c‖x‖ ≤ √(Σc²) ‖block‖ bounds on rounding are about twice as long as with every row's own.  Where
that matters, or anything is not as it should be, ``certify`` has the last word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..problem.problem import Problem
from ..rows.one_pass import by_rows, see
from ..rows.rows import UNDERFLOW_LENGTH, DenseRows, SparseRows, nudge, score
from ..rows.twofold import two_sum
from ..rule import otherwise, rule, verb
from .certificate import Certificate
from .conclude import Tally, conclude, norms_of
from .rounding import SPARE, UNIT, Rounding, gamma, score_blur
from .two_class import FEW, certify

# Values of a block, and rows, whose sums are taken at once.
BLOCK_VALUES, MIN_BLOCK_ROWS, MAX_BLOCK_ROWS = 1 << 15, 16, 512
# Rows read three times in a row, by what is done with them: they are in the nearest cache still.
FEW_ROWS = 16


class HingeProof(NamedTuple):
    """A certificate and what was seen of the data: the slacks z, w_α and who has a multiplier."""

    certificate: Certificate
    z: np.ndarray
    w_alpha: np.ndarray
    support: np.ndarray


def prove_hinge(
    problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, tol: float
) -> HingeProof:
    """The certificate of (w, b, α), recomputed from the data; a finite C."""
    support = np.flatnonzero(alpha != 0.0)
    if not by_rows(problem.rows):
        return _pass_by_pass(problem, w, b, alpha, support, tol)
    n, d = problem.shape
    size = min(MAX_BLOCK_ROWS, max(MIN_BLOCK_ROWS, BLOCK_VALUES // max(1, d)))
    z, w_alpha = np.empty(n), np.zeros(d)
    regular, loss, mass, r, price, kkt, closest, farthest, blurred, off, longest, norms = _sums(
        problem.rows, problem.y, problem.c, alpha, support, w, b, size, z, w_alpha
    )
    # Sums of a block are in any order, those of blocks in twice the digits.
    shared = SPARE * (gamma(size + 4) + 8.0 * (n * UNIT) ** 2)
    rounding = Rounding(
        SPARE * blurred + shared * loss,
        shared * mass,
        off,
        shared * mass,
        SPARE * longest,
        SPARE * (farthest + abs(b)),
        -np.inf,
    )
    tally = Tally(n, loss, -mass, mass, r, w_alpha, kkt, 0.0, closest, np.array(price), rounding)
    proof = conclude(tally, norms, b, problem.bias, problem.summary())
    if not regular or not np.isfinite(longest) or proof.blurred(tol):
        return _pass_by_pass(problem, w, b, alpha, support, tol)
    return HingeProof(proof, z, w_alpha, support)


def _pass_by_pass(problem: Problem, w, b: float, alpha, support, tol: float) -> HingeProof:
    seen = see(problem.rows, w, alpha * problem.y)
    z = 1.0 - problem.y * (seen.f + b)
    return HingeProof(certify(problem, w, b, alpha, seen, tol), z, seen.w, support)


@verb
def squares(rows, start, stop):
    """Σ ‖x_i‖² of the rows from ``start`` to ``stop``."""


@rule(squares, DenseRows, fastmath={"reassoc", "contract", "nsz"})
def _(rows, start, stop):
    values = rows.X[start:stop].reshape(-1)
    total = 0.0
    for k in range(values.shape[0]):
        value = np.float64(values[k])
        total += value * value
    return total


@rule(squares, SparseRows, fastmath={"reassoc", "contract", "nsz"})
def _(rows, start, stop):
    values = rows.data[rows.indptr[start] : rows.indptr[stop]]
    total = 0.0
    for k in range(values.shape[0]):
        value = np.float64(values[k])
        total += value * value
    return total


@verb
def nudge_listed(rows, places, steps, t, w):
    """w += Σ steps_k x of the four rows named from ``places[t]`` on."""


@rule(nudge_listed, DenseRows, fastmath=True)
def _(rows, places, steps, t, w):
    a, b = rows.X[places[t]], rows.X[places[t + 1]]
    c, d = rows.X[places[t + 2]], rows.X[places[t + 3]]
    p, q, r, s = steps[t], steps[t + 1], steps[t + 2], steps[t + 3]
    for j in range(w.shape[0]):
        w[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])


@otherwise(nudge_listed)
def _(rows, places, steps, t, w):
    for k in range(t, t + 4):
        nudge(rows, places[k], steps[k], w)


@njit(cache=True, nogil=True)
def _sums(rows: Any, y, c, alpha, support, w, b, size, z, w_alpha):
    n = y.shape[0]
    _, per_size, base = score_blur(w, w)
    loss, mass, r, pulled, blurred = 0.0, 0.0, 0.0, 0.0, 0.0
    loss_rest, mass_rest, r_rest = 0.0, 0.0, 0.0
    minus, plus, idle, bent, capped = 0.0, 0.0, 0.0, 0.0, 0.0
    closest, farthest, longest, regular = np.inf, 0.0, 0.0, True
    steps, t = alpha[support] * y[support], 0
    for start in range(0, n, size):
        stop = min(n, start + size)
        total = 0.0
        for first in range(start, stop, FEW_ROWS):
            last = min(stop, first + FEW_ROWS)
            for i in range(first, last):
                z[i] = score(rows, i, w)
            total += squares(rows, first, last)
            while t + 4 <= len(support) and support[t + 3] < last:
                nudge_listed(rows, support, steps, t, w_alpha)
                t += 4
        length = np.sqrt(total) * SPARE + UNDERFLOW_LENGTH * np.sqrt(size * w.shape[0])
        here = _block(
            z[start:stop], y[start:stop], c[start:stop], alpha[start:stop], b,
            SPARE * (per_size * length + base),
        )  # fmt: skip
        regular &= here[0] == 0
        loss, rest = two_sum(loss, here[1])
        loss_rest += rest
        mass, rest = two_sum(mass, here[2])
        mass_rest += rest
        r, rest = two_sum(r, here[3])
        r_rest += rest
        blurred += per_size * length * (np.sqrt(here[4]) + UNDERFLOW_LENGTH * size)
        blurred += base * here[5] + FEW * here[1]
        pulled += length * (np.sqrt(here[6]) + UNDERFLOW_LENGTH * size)
        minus, plus = minus + here[7], plus + here[8]
        idle, bent, capped = max(idle, here[9]), max(bent, here[10]), max(capped, here[11])
        closest, farthest = min(closest, 1.0 - here[12]), max(farthest, 1.0 + here[13])
        longest = max(longest, length)
        if not length < np.inf:
            longest = np.inf
    for k in range(t, len(support)):
        nudge(rows, support[k], steps[k], w_alpha)
    off = SPARE * gamma(n + 4) * pulled  # the length of the error of w_α
    return (
        regular, loss + loss_rest, mass + mass_rest, r + r_rest, (minus, plus),
        (idle, bent, capped), closest, farthest, blurred, off, longest, norms_of(w, w_alpha, off),
    )  # fmt: skip


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _block(z, y, c, alpha, b, off):
    """Scores to slacks, and what a block adds; ``off``: how far a slack near 0 may be off."""
    odd, loss, mass, r, squared, near, masses = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    minus, plus, idle, bent, capped, most, size = 0.0, 0.0, 0.0, 0.0, 0.0, -np.inf, 0.0
    for i in range(z.shape[0]):
        a, cost, sign = alpha[i], c[i], y[i]
        slack = 1.0 - sign * (z[i] + b)
        z[i] = slack
        odd += 0 if (a >= 0.0) & (a <= cost) else 1
        loss += cost * max(0.0, slack)
        mass += a
        r += a * sign
        masses += a * a
        charged = cost if slack > -off else 0.0
        squared += charged * charged
        near += charged
        plus += cost if sign > 0.0 else 0.0
        minus += cost if sign <= 0.0 else 0.0
        there = slack if cost > 0.0 else 0.0
        idle = max(idle, there if a <= 0.0 else 0.0)
        capped = max(capped, -there if a >= cost else 0.0)
        bent = max(bent, abs(there) if (a > 0.0) & (a < cost) else 0.0)
        most = max(most, slack if cost > 0.0 else -np.inf)
        size = max(size, abs(there))
    return (
        odd, loss, mass, r, squared, near, masses, minus, plus, idle, bent, capped, most, size,
    )  # fmt: skip
