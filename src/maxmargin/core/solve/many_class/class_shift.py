"""Better biases for given weights: Newton's method in k unknowns.

    min over t    Σ_i max over β_i of { β_i's gain at scores s_i + t − ½A_i‖α_i − α⁰_i‖² }

Every row answers a shift t of the biases by the multipliers that suit it best
(``row_subproblem.py``), held by its own stiffness A_i = ‖x_i − μ‖² to those it has.  The sum is a
smooth stand-in for Σ c_i ℓ(s_i + t), exact where the answers are the present multipliers; at its
minimum the answers balance, Σ α_i = 0.  [one step of the proximal point method, in b alone]
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...team import in_shares
from .row_subproblem import cost, scaled, share

MAX_SHIFT_HALVINGS = 5
# Scores that are worth a thread: 0.2 to 0.7 ms.
MIN_SHARE_VALUES = 1 << 17
# Less than this share of the losses is not worth a step.
MIN_LOSS_DECREASE = 1e-10
# Weak curvature: this share of the mean keeps a class that no free row touches where it is.
CURVATURE_FLOOR_SHARE = 1e-9


def best_shift(rates, points, beta, s, losses, steps) -> tuple[np.ndarray, float, float]:
    """A shift of the biases, Σ c_i ℓ after it, and how much less it could still be.

    s holds the present scores of all rows, ``losses`` that sum before.
    """
    k = s.shape[1]
    t, owed = np.zeros(k), 0.0
    for _ in range(steps):
        r, H = _all_answers(rates, points, k, beta, s, t)
        step = newton_step(r, H)
        owed = 0.5 * float(r @ step)
        if not owed > MIN_LOSS_DECREASE * losses:
            break
        for _ in range(MAX_SHIFT_HALVINGS):
            after = _all_losses(rates, points, k, s, t + step)
            if after < losses:
                break
            step = 0.5 * step
        else:
            break
        t, losses = t + step, after
    return t, losses, owed


def _all_answers(rates, points, k, beta, s, t) -> tuple[np.ndarray, np.ndarray]:
    """``answers`` of all rows, by as many threads as there are."""
    (r, H), *rest = in_shares(
        lambda i, j: answers(rates, points[i:j], k, beta[i:j], s[i:j], t),
        len(points), MIN_SHARE_VALUES // k,
    )  # fmt: skip
    for more in rest:
        r, H = r + more[0], H + more[1]
    return r, H


def _all_losses(rates, points, k, s, t) -> float:
    """Likewise."""
    return sum(
        in_shares(
            lambda i, j: shifted_losses(rates, points[i:j], k, s[i:j], t),
            len(points), MIN_SHARE_VALUES // k,
        )
    )  # fmt: skip


def newton_step(r: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Newton's step, no bias moving by more than a margin.

    A class that no free row touches has no curvature: it goes that far down the slope.
    """
    k = len(r)
    curvature = float(np.trace(H)) / k
    if not curvature > 0.0:
        return r / max(float(np.abs(r).max()), np.finfo(float).tiny)
    H = H + curvature * (CURVATURE_FLOOR_SHARE * np.eye(k) + 1.0 / k)
    return np.clip(np.linalg.solve(H, r), -1.0, 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def answers(rates, points, k, beta, s, t):
    """Σ_i α_i of the rows' answers to the shift t, and how it falls with t."""
    r, H = np.zeros(k), np.zeros((k, k))
    D, new, free = np.empty(k), np.empty(k), np.empty(k, dtype=np.int64)
    for i in range(points.shape[0]):
        point = points[i]
        if point.c <= 0.0:
            continue
        y, A, total, rival = point.y, point.q, 0.0, -np.inf
        own = s[i, y] + t[y]
        for c in range(k):
            score = s[i, c] + t[c]
            D[c] = 1.0 + score + A * beta[i, c]
            total += beta[i, c]
            rival = max(rival, score if c != y else -np.inf)
        if total == 0.0 and own - rival >= 1.0:
            continue
        D[y] = -np.inf
        limit = scaled(rates, point.c)
        cap_each, each, cap_all, all_ = limit
        _, total = share(limit, D, k, y, own - A * total, A, own, new)
        count, weight = 0, 0.0
        for c in range(k):
            r[c] -= new[c]
            if 0.0 < new[c] < cap_each:
                free[count] = c
                count += 1
        weight = count / (A + each)
        own_weight = 1.0 / (A + all_) if total < cap_all * (1.0 - 1e-9) else 0.0
        weight += own_weight
        r[y] += total
        if count == 0 or weight == 0.0:
            continue
        w = 1.0 / (A + each)
        for a in range(count):
            H[free[a], free[a]] += w
            H[free[a], y] -= w * own_weight / weight
            H[y, free[a]] -= w * own_weight / weight
            for c in range(count):
                H[free[a], free[c]] -= w * w / weight
        H[y, y] += own_weight - own_weight * own_weight / weight
    return r, H


@njit(cache=True, nogil=True)
def shifted_losses(rates, points, k, s, t):
    total, shifted = 0.0, np.empty(k)
    for i in range(points.shape[0]):
        if points[i].c > 0.0:
            for c in range(k):
                shifted[c] = s[i, c] + t[c]
            total += points[i].c * cost(rates, shifted, k, points[i].y)
    return total
