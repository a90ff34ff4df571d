"""The certificate of a label ranking: recomputed from the data in float64.

For any W, b and any multipliers 0 ≤ α_p ≤ c_p of pairs p = (i, a, b) that, for free biases,
flow out of every class as much as into it, weak duality says

    Σ α_p − ½‖W_α‖²  ≤  optimum  ≤  ½‖W‖² + Σ c_p max(0, 1 − s_ia + s_ib)

with W_α = Σ α_p (e_a − e_b) x_iᵀ.
"""

from __future__ import annotations

import numpy as np

from ..problem.label_pairs import LabelPairsProblem
from ..problem.losses import Hinge
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import anchor
from .certificate import Certificate
from .circulation import RESIDUAL_ROUNDING, balancing_factors, potential
from .conclude import Tally, conclude, norms_of
from .sharpen import rounding_counts, sharpen_pairs
from .two_class import sums

MAX_REPAIR_MOVES = 4


def pair_slacks(problem: LabelPairsProblem, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """z_p = 1 − (w_a − w_b)·x_i − (b_a − b_b)."""
    s = np.concatenate([part + b for _, part in score_chunks(problem.rows, W)])
    return 1.0 - s[problem.example, problem.winner] + s[problem.example, problem.loser]


def outflow(problem: LabelPairsProblem, alpha: np.ndarray) -> np.ndarray:
    """r: what flows out of every class, less what flows into it."""
    won = np.bincount(problem.winner, weights=alpha, minlength=problem.k)
    return won - np.bincount(problem.loser, weights=alpha, minlength=problem.k)


def by_example(problem: LabelPairsProblem, alpha: np.ndarray) -> np.ndarray:
    """(n, k): what the pairs of each example amount to for each class."""
    n, k = problem.shape[0], problem.k
    place = problem.example * k
    sums = np.bincount(place + problem.winner, weights=alpha, minlength=n * k)
    sums -= np.bincount(place + problem.loser, weights=alpha, minlength=n * k)
    return sums.reshape(n, k)


def certify_label_pairs(
    problem: LabelPairsProblem, W: np.ndarray, b: np.ndarray, alpha: np.ndarray
) -> Certificate:
    """Recompute primal, dual and KKT residuals of (W, b, α) from the data."""
    z, r = pair_slacks(problem, W, b), outflow(problem, alpha)
    pulls = by_example(problem, alpha)
    W_alpha = class_combine(problem.rows, problem.k, lambda part: pulls[part])
    if problem.bias:  # what rounding left of r belongs to some rows
        W_alpha -= np.outer(r, anchor(problem.rows))
    norms = norms_of(W, W_alpha)
    if rounding_counts(problem.c, len(z), norms.w):
        z = sharpen_pairs(problem, W, b, z)
    loss, conjugates, kkt, box, _ = sums(Hinge(), problem.c, problem.c, alpha, z, False, True, 1.0)
    found = Tally(len(z), loss, conjugates, float(alpha.sum()), r, W_alpha, kkt, box)
    return conclude(found, norms, b, problem.bias, problem.summary())


def repair_label_pairs(problem: LabelPairsProblem, alpha: np.ndarray) -> np.ndarray:
    """Multipliers inside their box that form a circulation, as close as is cheap.

    As in ``circulation.py``: free ones move down a potential, the rest is scaled.
    """
    alpha = np.clip(alpha, 0.0, problem.c)
    if not problem.bias:
        return alpha
    a, b, k = problem.winner, problem.loser, problem.k
    for _ in range(MAX_REPAIR_MOVES):
        r = outflow(problem, alpha)
        if np.abs(r).max() <= RESIDUAL_ROUNDING * alpha.sum():
            return alpha
        room = np.minimum(alpha, problem.c - alpha)
        level = potential(_laplacian(a, b, room, k), r)
        moved = np.clip(alpha - room * (level[a] - level[b]), 0.0, problem.c)
        if not np.abs(outflow(problem, moved)).sum() < 0.5 * np.abs(r).sum():
            break
        alpha = moved
    flow = np.bincount(a * k + b, weights=alpha, minlength=k * k).reshape(k, k)
    alpha = alpha * balancing_factors(flow)[a, b]
    over = np.max(alpha / np.where(problem.c > 0.0, problem.c, 1.0), initial=1.0)
    return alpha / over


def _laplacian(a, b, weight, k: int) -> np.ndarray:
    place, size = np.concatenate([a * k + b, b * k + a]), k * k
    between = np.bincount(place, weights=np.tile(weight, 2), minlength=size).reshape(k, k)
    return np.diag(between.sum(axis=1)) - between
