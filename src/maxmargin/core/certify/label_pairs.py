"""The certificate of a label ranking: recomputed from the data in float64.

For any W, b and any multipliers 0 ≤ α_p ≤ c_p of pairs p = (i, a, b) that, for free biases,
flow out of every class as much as into it, weak duality says

    Σ α_p − ½‖W_α‖²  ≤  optimum  ≤  ½‖W‖² + Σ c_p max(0, 1 − s_ia + s_ib)

with W_α = Σ α_p (e_a − e_b) x_iᵀ.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..problem.label_pairs import LabelPairsProblem
from ..problem.losses import Hinge
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import anchor
from ..rows.twofold import twofold_combine, twofold_pair_slacks, twofold_reach
from .certificate import Certificate
from .circulation import RESIDUAL_ROUNDING, balancing_factors, potential
from .conclude import (
    METHOD,
    SHARP_METHOD,
    SHARPEST,
    Tally,
    as_sharp_as_needed,
    conclude,
    norms_of,
)
from .multiclass import range_at
from .rounding import SMALLEST, SPARE, UNIT, Blur, Rounding, gamma, length_above
from .two_class import sums

ROOT_2 = math.sqrt(2.0)

MAX_REPAIR_MOVES = 4


def pair_slacks(problem: LabelPairsProblem, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """z_p = 1 − (w_a − w_b)·x_i − (b_a − b_b)."""
    s = _pair_scores(problem, W, b)
    return 1.0 - s[problem.example, problem.winner] + s[problem.example, problem.loser]


def _pair_scores(problem: LabelPairsProblem, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([part + b for _, part in score_chunks(problem.rows, W)])


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
    problem: LabelPairsProblem,
    W: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    tol: float = SHARPEST,
) -> Certificate:
    """Recompute primal, dual and KKT residuals of (W, b, α) from the data."""

    def prove(sharp: bool) -> Certificate:
        found = pairs_tally(problem, W, b, alpha, sharp)
        norms, method = norms_of(W, found.w, found.rounding.w), SHARP_METHOD if sharp else METHOD
        return conclude(found, norms, b, problem.bias, problem.summary(), method=method)

    return as_sharp_as_needed(prove, tol)


def pairs_tally(problem: LabelPairsProblem, W, b, alpha: np.ndarray, sharp: bool = False) -> Tally:
    """What the pairs add to the certificate; ``sharp``: in twice the digits."""
    n_pairs, k = len(alpha), problem.k
    if sharp:
        pairs = problem.example, problem.winner, problem.loser
        place = anchor(problem.rows) if problem.bias else np.zeros(problem.shape[1])
        z, off = twofold_pair_slacks(problem.rows, W, b, *pairs)
        both = np.concatenate([problem.winner, problem.loser])
        steps = np.concatenate([alpha, -alpha])
        W_alpha, lost, r, hidden = twofold_combine(
            problem.rows, np.tile(problem.example, 2), both, steps, k, place
        )
        blur, reach = Blur(off, 1.0, 0.0), twofold_reach(problem.rows, place)
        apart = range_at(W, b, place)
    else:
        s, pulls = _pair_scores(problem, W, b), by_example(problem, alpha)
        z = 1.0 - s[problem.example, problem.winner] + s[problem.example, problem.loser]
        W_alpha = class_combine(problem.rows, k, lambda part: pulls[part])
        lengths, r = problem.lengths[problem.example], outflow(problem, alpha)
        blur = _pair_blur(W, lengths, float(np.abs(s).max(initial=0.0)))
        pulled = float(np.abs(alpha) @ lengths)
        lost = SPARE * ROOT_2 * gamma(n_pairs + problem.shape[0] + 2) * pulled
        hidden = 2.0 * gamma(n_pairs + 1) * float(np.abs(alpha).sum())
        reach, apart = float(lengths.max(initial=0.0)), float(np.ptp(b))
    loss, conjugates, mass, _, _, kkt, box, _, rounding = sums(
        Hinge(),
        problem.c,
        problem.c,
        alpha,
        np.ones(n_pairs),
        z,
        *blur,
        0.0,
        apart,
        False,
        1.0,
    )
    paths = max(1, k - 1)  # the scores of two classes are compared along so many pairs
    bounds = Rounding(*rounding)
    swing = paths * bounds.swing
    bounds = bounds._replace(w=lost, r=hidden, reach=paths * reach, swing=swing)
    price = _least_price(problem, alpha) / paths
    return Tally(
        n_pairs, loss, conjugates, mass, r, W_alpha, kkt, box, price=price, rounding=bounds
    )


def _pair_blur(W: np.ndarray, lengths: np.ndarray, largest_score: float) -> Blur:
    """Of 1 − s_a + s_b: two scores are rounded, and each again when its bias is added."""
    terms = W.shape[1] + 2
    slope = SPARE * ROOT_2 * gamma(terms) * length_above(W)
    return Blur(lengths, slope, 8.0 * UNIT * (1.0 + largest_score) + 2.0 * terms * SMALLEST)


def _least_price(problem: LabelPairsProblem, alpha: np.ndarray) -> float:
    """The least Σ c of a pair of classes on a cycle; 0 if a pair on none has a multiplier.

    It would flow where nothing can come back from, and scores there are not comparable.
    """
    if not problem.bias:
        return np.inf
    k, alive = problem.k, problem.c > 0.0
    arcs = problem.c[alive], (problem.winner[alive], problem.loser[alive])
    graph = csr_array(arcs, shape=(k, k))
    graph.sum_duplicates()
    _, group = connected_components(graph, directed=True, connection="strong")
    if (alpha[group[problem.winner] != group[problem.loser]] != 0.0).any():
        return 0.0
    over, under = graph.nonzero()
    within = group[over] == group[under]
    return float(graph.data[within].min(initial=np.inf))


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
