"""What a pass over the scores of softmax adds up, for its certificate: compiled.

Σ c ℓ,    Σ c Σ p log p,    Σ α,    and bounds on their rounding
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..rows.exponential import exponentials
from .rounding import UNIT

# Exponentials that are taken at once.
EXP_BLOCK_VALUES = 2048
# Roundings of an exponential and what is made of it; scores that are off by less than this leave
# 1 − p_y of a row within this factor.
EXP_ROUNDINGS, SMALL_SCORE_ERROR, SPARED_WRONG = 64, 0.02, 1.1


class SoftmaxSums(NamedTuple):
    """What a pass over the scores adds up."""

    loss: float
    entropy: float
    multipliers: float
    residual: np.ndarray
    loss_error: float = 0.0  # by how much the loss may be larger for the rounding of scores
    entropy_error: float = 0.0
    pulled: float = 0.0  # Σ of multipliers by size


class SoftmaxScores(NamedTuple):
    """Scores of all rows without biases, (n, k), and bounds on the errors of their differences.

    Of row i they are off by slope · size_i + base, and the loss of a row by as much.  In twice the
    digits W_p is about a ``place``, where scores of two classes may be so far ``apart``.  Σ α may
    be as large as costs ``spare`` of the objective.
    """

    S: np.ndarray
    size: np.ndarray
    slope: float
    base: float
    place: np.ndarray | None = None
    apart: float = 0.0
    spare: float = 0.0


def weigh(problem, scored: SoftmaxScores, b) -> SoftmaxSums:
    residual = np.zeros(problem.k)
    loss, entropy, multipliers, *bounds = weigh_rows(problem.y, problem.c, scored, b, residual)
    return SoftmaxSums(loss, entropy, multipliers, residual, *bounds)


def weigh_rows(y, c, scored: SoftmaxScores, b, residual) -> list[float]:
    base = scored.base + 4.0 * UNIT * float(np.abs(b).max(initial=0.0))
    found = _add_up(scored.S, b, y, c, residual, scored.size, scored.slope, base)
    return found.tolist()


@njit(cache=True, nogil=True)
def _add_up(S, b, y, c, residual, size, slope, base):
    """Σ c ℓ, Σ c Σ p log p, Σ c (1 − p_y), by how much the first two may be larger, and
    Σ c (1 − p_y) size; adds Σ α to ``residual``, without cancellation."""
    n, k = S.shape
    some = max(1, EXP_BLOCK_VALUES // k)
    room, e, sums = np.empty(some * k), np.empty(some * k), np.zeros(6)
    for start in range(0, n, some):
        stop = min(n, start + some)
        _lower(S[start:stop], b, room)
        for j in range((stop - start) * k):
            e[j] = room[j]
        exponentials(e[: (stop - start) * k])
        off = size[start:stop] * slope + base
        _add_block(room, e, y[start:stop], c[start:stop], residual, off, size[start:stop], sums)
    return sums


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lower(S, b, room):
    """S + b, less every row's largest, rounded alike wherever it is computed.

    Far from the origin S and b are large and cancel; Σα and W_p must mean the same p.
    """
    k = S.shape[1]
    for i in range(S.shape[0]):
        s, out = S[i], room[i * k : (i + 1) * k]
        for j in range(k):
            out[j] = s[j] + b[j]
        top = out[0]
        for j in range(1, k):
            top = max(top, out[j])
        for j in range(k):
            out[j] -= top


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _add_block(room, exps, y, c, residual, off, size, sums):
    k = len(residual)
    uneven = (k + EXP_ROUNDINGS) * UNIT
    for i in range(y.shape[0]):
        if c[i] <= 0.0:
            continue
        s, e = room[i * k : (i + 1) * k], exps[i * k : (i + 1) * k]
        own, mean, others = e[y[i]], 0.0, 0.0
        for j in range(k):
            mean += e[j] * s[j]
        e[y[i]] = 0.0
        for j in range(k):
            others += e[j]
        total, certain = own + others, s[y[i]] == 0.0
        scale = c[i] / total
        log_total = math.log1p(others) if certain else math.log(total)
        loss = log_total - s[y[i]]
        wrong = scale * others
        sums[0] += c[i] * loss
        sums[1] += scale * mean - c[i] * log_total
        sums[2] += wrong
        # A row that is right for certain hardly feels the rounding of its scores.
        felt = SPARED_WRONG * wrong if certain and off[i] < SMALL_SCORE_ERROR else c[i]
        sums[3] += off[i] * felt + uneven * (c[i] * loss + (wrong if certain else c[i]))
        sums[4] += uneven * (c[i] * log_total - scale * mean + (wrong if certain else c[i]))
        sums[5] += wrong * size[i]
        for j in range(k):
            residual[j] -= scale * e[j]
        residual[y[i]] += wrong


@njit(cache=True, nogil=True)
def multipliers(S, b, y, c, alpha):
    """α = c (e_y − softmax(s + b)) of every row."""
    n, k = S.shape
    flat, some = alpha.reshape(n * k), max(1, EXP_BLOCK_VALUES // k)
    for start in range(0, n, some):
        stop = min(n, start + some)
        room = flat[start * k : stop * k]
        _lower(S[start:stop], b, room)
        exponentials(room)
        _scale(room, y[start:stop], c[start:stop], k)


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _scale(room, y, c, k):
    for i in range(y.shape[0]):
        e = room[i * k : (i + 1) * k]
        own, others = e[y[i]], 0.0
        e[y[i]] = 0.0
        for j in range(k):
            others += e[j]
        scale = c[i] / (own + others)
        for j in range(k):
            e[j] *= -scale
        e[y[i]] = scale * others
