"""The perceptron's update, for two classes or k, one point or a batch at a time.

    two classes   while  y (w·x + b) ≤ margin :       w ← w + η y x,      b ← b + η y
    k classes     while  the predicted class z is not the right one ℓ :
                      w_ℓ ← w_ℓ + η x,  b_ℓ ← b_ℓ + η     w_z ← w_z − η x,  b_z ← b_z − η

z is the highest-scoring class, the smaller label on a tie.  With a margin above zero, z is
the best *other* class, and an update happens while ℓ does not lead it by more than
``margin``.  η may differ between classes (``rate``: one number per right class).

A batch is scored with the weights it began with; then all its violating points are added:
Δw = η Σ y x.  A batch of one is the lectures' perceptron, a batch of n its batch mode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...rows.prefetch import prefetch
from ...rows.rows import nudge, score, sqnorm

# Rows asked for ahead of their use when they are visited out of order.
PREFETCH_DISTANCE = 8


class PerceptronWeights(NamedTuple):
    """What a run changes: weights and biases, and what their average needs.

    W is (1, d) for two classes and (k, d) otherwise, b is (1,) or (k,), always float64.
    Averages are lazy: with Δ_t the change at step t, the mean of W over T steps is
    W − U/T, where U = Σ (t − 1) Δ_t, so only updates touch U.  Without averaging U has no
    columns.
    """

    W: np.ndarray
    b: np.ndarray
    U: np.ndarray
    u: np.ndarray


class Rule(NamedTuple):
    """When to update, and by how much: the numbers in the formulas above."""

    rate: np.ndarray
    margin: float
    bias: float


@njit(cache=True, nogil=True)
def single_two(rows, codes, update, order, far, clock, weights, alpha, log):
    """Visit ``order`` once, a point at a time; returns the updates and the loss met on the way."""
    w, b, margin = weights.W[0], weights.b[0], update.margin
    average = weights.U.shape[1] > 0
    updates, loss, n = 0, 0.0, order.shape[0]
    for t in range(n):
        i = order[t]
        if far and t + PREFETCH_DISTANCE < n:
            prefetch(rows, order[t + PREFETCH_DISTANCE])
        y = 2.0 * codes[i] - 1.0
        m = y * (score(rows, i, w) + b)
        if not m > margin:
            _note(log, updates, clock + t, i, 1 - codes[i], margin - m)
            step = y * update.rate[codes[i]]
            nudge(rows, i, step, w)
            b += update.bias * step
            if average:
                _remember(rows, i, step, update.bias, clock + t, weights, 0)
            alpha[i, 0] += 1
            updates += 1
            loss += margin - m
    weights.b[0] = b
    return updates, loss


@njit(cache=True, nogil=True)
def batch_two(rows, codes, update, order, size, far, clock, weights, alpha, log):
    """The same with ``size`` points scored before their updates are added."""
    w, b = weights.W[0], weights.b
    margin = update.margin
    hits = np.empty(size, dtype=np.int64)
    updates, loss, n = 0, 0.0, order.shape[0]
    for start in range(0, n, size):
        found = 0
        for t in range(start, min(start + size, n)):
            i = order[t]
            if far and t + PREFETCH_DISTANCE < n:
                prefetch(rows, order[t + PREFETCH_DISTANCE])
            m = (2.0 * codes[i] - 1.0) * (score(rows, i, w) + b[0])
            if not m > margin:
                hits[found] = i
                found += 1
                loss += margin - m
                _note(log, updates + found - 1, clock, i, 1 - codes[i], margin - m)
        for h in range(found):
            i = hits[h]
            alpha[i, 0] += 1
            step = (2.0 * codes[i] - 1.0) * update.rate[codes[i]]
            _add(rows, i, step, update.bias, clock, weights, 0)
        updates += found
        clock += 1.0
    return updates, loss


@njit(cache=True, nogil=True)
def batch_many(rows, codes, update, order, size, far, clock, weights, alpha, log):
    """k classes, where ``alpha`` is (n, k): +1 for the right class, −1 for z."""
    hits, rivals = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    margin = update.margin
    updates, loss, n = 0, 0.0, order.shape[0]
    for start in range(0, n, size):
        found = 0
        for t in range(start, min(start + size, n)):
            i = order[t]
            if far and t + PREFETCH_DISTANCE < n:
                prefetch(rows, order[t + PREFETCH_DISTANCE])
            lead, z = _lead(rows, i, codes[i], weights.W, weights.b)
            if _violates(lead, margin, z, codes[i]):
                hits[found], rivals[found] = i, z
                found += 1
                loss += margin - lead
                _note(log, updates + found - 1, clock, i, z, margin - lead)
        for h in range(found):
            i, z, right = hits[h], rivals[h], codes[hits[h]]
            alpha[i, right] += 1
            alpha[i, z] -= 1
            _add(rows, i, update.rate[right], update.bias, clock, weights, right)
            _add(rows, i, -update.rate[right], update.bias, clock, weights, z)
        updates += found
        clock += 1.0
    return updates, loss


@njit(cache=True, nogil=True)
def _lead(rows, i, right, W, b):
    """By how much the right class leads the best other one, and which that is."""
    z, mine, best = -1, 0.0, -np.inf
    for c in range(W.shape[0]):
        s = score(rows, i, W[c]) + b[c]
        if c == right:
            mine = s
        elif z < 0 or s > best:
            z, best = c, s
    return mine - best, z


@njit(cache=True, nogil=True)
def _violates(lead, margin, z, right):
    """Whether the rule updates; at margin 0 a tie goes to the smaller label."""
    if lead == margin:
        return margin > 0.0 or z < right
    return not lead > margin


@njit(cache=True, nogil=True)
def _add(rows, i, step, bias, clock, weights, c):
    """w_c += step x_i and b_c += step."""
    nudge(rows, i, step, weights.W[c])
    weights.b[c] += bias * step
    if weights.U.shape[1] > 0:
        _remember(rows, i, step, bias, clock, weights, c)


@njit(cache=True, nogil=True)
def _remember(rows, i, step, bias, clock, weights, c):
    """What the average needs to know of a change."""
    nudge(rows, i, clock * step, weights.U[c])
    weights.u[c] += clock * bias * step


@njit(cache=True, nogil=True)
def _note(log, line, clock, i, z, loss):
    """One line of the trace: which step, which point, which class lost, the loss."""
    if log.shape[0] > 0:
        log[line, 0] = clock
        log[line, 1] = i
        log[line, 2] = z
        log[line, 3] = loss


@njit(cache=True, nogil=True)
def audit(rows, codes, margin, W, b):
    """Misclassified points, points the rule would still update, their loss, and max ‖x‖²."""
    wrong, violating, loss, radius = 0, 0, 0.0, 0.0
    for i in range(codes.shape[0]):
        if W.shape[0] == 1:
            f = score(rows, i, W[0]) + b[0]
            lead = (2.0 * codes[i] - 1.0) * f
            astray = (f > 0.0) != (codes[i] == 1)
            violates = not lead > margin
        else:
            lead, z = _lead(rows, i, codes[i], W, b)
            astray = _violates(lead, 0.0, z, codes[i])
            violates = _violates(lead, margin, z, codes[i])
        wrong += astray
        violating += violates
        loss += margin - lead if violates else 0.0
        radius = max(radius, sqnorm(rows, i))
    return wrong, violating, loss, radius


def violations(F, codes, margin):
    """The rule on scores F, (m, 1) or (m, k), already computed: who violates, rival, shortfall."""
    if F.shape[1] == 1:
        lead, rival = (2.0 * codes - 1.0) * F[:, 0], 1 - codes
        return ~(lead > margin), rival, margin - lead
    everyone = np.arange(len(codes))
    others = F.copy()
    others[everyone, codes] = -np.inf
    rival = others.argmax(axis=1)
    lead = F[everyone, codes] - others[everyone, rival]
    tie = (lead == margin) & ((margin > 0.0) | (rival < codes))
    return tie | ~(lead >= margin), rival, margin - lead
