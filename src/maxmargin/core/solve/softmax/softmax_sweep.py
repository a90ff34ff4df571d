"""The inner loop of dual block coordinate descent for softmax.

    max over p    −½‖W‖² − Σ c_i Σ_c p_ic log p_ic − b·r − ½τ‖r‖²

with W = Σ α_i (x_i − μ)ᵀ, r = Σ α_i and α_i = c_i (e_y − p_i), every p_i a distribution.  One
step gives one row its best p_i: with s its scores W(x_i − μ) + b + τr at the present p₀ and
a = c_i (‖x_i − μ‖² + τ),

    log p = s + a (p₀ − p) − λ,        λ such that Σ p = 1,

by Newton's method on u = log p, where the equation is nearly linear for small p and p stays
positive.  As in ``class_sweep.py`` rows are not centred in memory: with U = Σ α_i x_iᵀ,
s = U x_i − (μ·x_i) r + h and h = b − Uμ + (τ + ‖μ‖²) r.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...rows.class_products import class_nudge, class_scores
from ...rows.exponential import exponentials
from ...rows.prefetch import prefetch

# What a step needs to know of its row.
SOFTMAX_ROW_DTYPE = np.dtype(
    [("y", np.int64), ("c", np.float64), ("q", np.float64), ("centre", np.float64)]
)

# Newton steps per visit, and the squared length (in nats, weighted by p) that ends them.
NEWTON_STEPS_PER_VISIT = 4
STEP_LENGTH_TOL = 1e-4
# A probability may grow this many times e in one Newton step: further out the equation bends.
MAX_LOG_GROWTH = 1.5
# Rows between the one asked for from memory and the one in use.
PREFETCH_DISTANCE = 2


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nsz", "reassoc", "contract"})
def sweep(rows, order, k, pull, points, logs, U, r, h, s, u, p, step):
    """Give every row in ``order`` its best probabilities once.

    Returns what the rows saw before their steps: Σ c ½Var_p(s − log p), near the optimum
    the duality gap, and their losses −Σ c log p_y.
    """
    gap, loss = 0.0, 0.0
    count = order.shape[0]
    for t in range(count):
        if t + PREFETCH_DISTANCE < count:
            prefetch(rows, order[t + PREFETCH_DISTANCE])
        i = order[t]
        point = points[i]
        centre, log = np.float32(point.centre), logs[i]
        class_scores(rows, i, U, s)
        for j in range(k):
            s[j] += h[j] - centre * r[j]
            u[j] = log[j]
        loss -= point.c * log[point.y]
        gap += point.c * improve(np.float32(point.c * point.q), k, s, u, p, step)
        cost = np.float32(point.c)
        for j in range(k):
            log[j] = u[j]
            step[j] = cost * (step[j] - p[j])
        class_nudge(rows, i, step, U)
        reach = np.float32(pull) - centre
        for j in range(k):
            r[j] += step[j]
            h[j] += reach * step[j]
    return gap, loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nsz", "reassoc", "contract"})
def improve(a, k, s, u, p, old):
    """Move u = log p to the best p; returns ½Var_p(s − u) as it was; ``old``: p as it was."""
    first = np.float32(0.0)
    one, longest = np.float32(1.0), np.float32(MAX_LOG_GROWTH)
    for j in range(k):
        old[j] = u[j]
    exponentials(old[:k])
    for j in range(k):
        p[j] = old[j]
    for tries in range(NEWTON_STEPS_PER_VISIT):
        weights, mean = np.float32(0.0), np.float32(0.0)
        for j in range(k):
            w = p[j] / (one + a * p[j])
            weights += w
            mean += w * (s[j] + a * (old[j] - p[j]) - u[j])
        mean /= weights
        length = np.float32(0.0)
        for j in range(k):
            delta = (s[j] + a * (old[j] - p[j]) - u[j] - mean) / (one + a * p[j])
            length += p[j] * delta * delta * (one + a * p[j])
            u[j] += min(delta, longest)
            p[j] = u[j]
        exponentials(p[:k])
        total = np.float32(0.0)
        for j in range(k):
            total += p[j]
        log_total = math.log(total)
        for j in range(k):
            u[j] -= log_total
            p[j] /= total
        if tries == 0:
            first = np.float32(0.5) * length
        if length < STEP_LENGTH_TOL:
            break
    return first
