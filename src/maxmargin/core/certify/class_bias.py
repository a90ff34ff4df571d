"""The middle of the optimal biases of k classes.

For given weights and multipliers, complementary slackness bounds differences of biases only:
b_c − b_a ≤ B_ac.  When rows leave room between these bounds, the optimal biases are not
unique, and a solver's choice would depend on where it came from.  Shortest paths make the
bounds tight, and

    b_c = 1/(2k) Σ_a (B_ac − B_ca)

obeys all of them, sums to zero, and for two classes is the middle of the interval.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..problem.class_losses import boxed_classes, one_slack
from ..problem.multiclass import MulticlassProblem
from ..rows.class_products import score_chunks

# A multiplier this close to its cap, relatively, is at it.
AT_CAP_SHARE = 1.0 - 1e-12


def middle_biases(problem: MulticlassProblem, W, b, beta) -> np.ndarray:
    """The middle of the biases that (W, β) allow; ``b`` is taken to be one of them."""
    return middle_of(bounds_of(problem, W, beta), b)


def bounds_of(problem: MulticlassProblem, W, beta) -> np.ndarray:
    """B_ac: what the rows allow b_c − b_a to be at most."""
    k = problem.k
    bounds = np.full((k, k), np.inf)
    np.fill_diagonal(bounds, 0.0)
    each = one_slack(problem.loss)
    hinge = boxed_classes(problem.loss)
    for part, f in score_chunks(problem.rows, W):
        if each:
            _bounds_of_max(f, problem.c[part], problem.y[part], beta[part], hinge, bounds)
        else:
            _bounds_of_sum(f, problem.c[part], problem.y[part], beta[part], hinge, bounds)
    return bounds


def middle_of(bounds: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The middle of the biases within ``bounds``."""
    # Up to the accuracy of the fit, b itself obeys them.
    here = b[None, :] - b[:, None]
    bounds = np.where(np.isfinite(bounds), np.maximum(bounds, here), np.inf)
    _shortest_paths(bounds)
    bounds = np.where(np.isfinite(bounds), bounds, here)
    return (bounds - bounds.T).sum(axis=0) / (2.0 * len(b))


@plain_at_first
@njit(cache=True, nogil=True)
def _bounds_of_max(f, c, y, beta, hinge, bounds):
    """Classes with β > 0 attain the row's slack: none while T < c, T/(2c) when squared."""
    k = f.shape[1]
    for i in range(f.shape[0]):
        if c[i] <= 0.0:
            continue
        own, total, guilty = y[i], 0.0, y[i]
        for j in range(k):
            total += beta[i, j]
            if beta[i, j] > beta[i, guilty]:
                guilty = j
        slack = 0.0 if hinge else 0.5 * total / c[i]
        full = hinge and total >= AT_CAP_SHARE * c[i]
        for j in range(k):
            if j == own:
                continue
            tight = f[i, own] - f[i, j] - 1.0 + slack  # b_j − b_own when z_j is the slack
            if not full:
                bounds[own, j] = min(bounds[own, j], tight)
            elif guilty != own and j != guilty:
                bounds[guilty, j] = min(bounds[guilty, j], f[i, guilty] - f[i, j])
            if beta[i, j] > 0.0:
                bounds[j, own] = min(bounds[j, own], -tight)
                if full and j != guilty:
                    bounds[j, guilty] = min(bounds[j, guilty], f[i, j] - f[i, guilty])


@plain_at_first
@njit(cache=True, nogil=True)
def _bounds_of_sum(f, c, y, beta, hinge, bounds):
    """Every pair by itself: no slack where β = 0, some where β = c, its exact value between."""
    for i in range(f.shape[0]):
        if c[i] <= 0.0:
            continue
        own = y[i]
        for j in range(f.shape[1]):
            if j == own:
                continue
            slack = 0.0 if hinge else 0.5 * beta[i, j] / c[i]
            tight = f[i, own] - f[i, j] - 1.0 + slack
            if not hinge or beta[i, j] < AT_CAP_SHARE * c[i]:
                bounds[own, j] = min(bounds[own, j], tight)
            if beta[i, j] > 0.0:
                bounds[j, own] = min(bounds[j, own], -tight)


@plain_at_first
@njit(cache=True, nogil=True)
def _shortest_paths(bounds):
    """[Floyd and Warshall]"""
    k = bounds.shape[0]
    for via in range(k):
        for a in range(k):
            for c in range(k):
                bounds[a, c] = min(bounds[a, c], bounds[a, via] + bounds[via, c])
