"""Pair accuracy: the share of preferences that scores agree with."""

from __future__ import annotations

import numpy as np

from ...core.rows.graded import Grades, by_score, tally
from ...core.types import ArrayLike
from .object_preferences import check_grades, check_pairs
from .preference_tables import one_per_row


def pair_accuracy(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The share of pairs whose winner has the higher score; a tie of scores counts one half.

    ``y`` holds (winner, loser[, weight]) rows, or one grade per item: then all pairs of
    different grade within a group count, without being listed.

    >>> from maxmargin import pair_accuracy
    >>> pair_accuracy([2, 1, 0, 0], [0.9, 0.1, 0.5, 0.1])
    0.7
    """
    scores = np.asarray(scores, dtype=np.float64)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if one_per_row(y):
        y = np.asarray(y)
        if len(y) != len(scores):
            raise ValueError(f"pair_accuracy got {len(y)} grades but {len(scores)} scores.")
        return graded_accuracy(check_grades(y, groups, weight), scores)
    winner, loser, each = check_pairs(y, len(scores))
    if weight is not None:
        each = each * weight[winner] * weight[loser]
    return listed_accuracy(scores[winner] - scores[loser], each)


def listed_accuracy(differences: np.ndarray, weight: np.ndarray) -> float:
    """Σ weights of the positive differences, and half of the zero ones, over Σ weights."""
    right = float(weight[differences > 0.0].sum()) + 0.5 * float(weight[differences == 0.0].sum())
    return right / float(weight.sum())


def graded_accuracy(grades: Grades, scores: np.ndarray) -> float:
    """The same over all pairs that grades imply, in O(n log n)."""
    f = np.unique(scores, return_inverse=True)[1].astype(np.float64)  # whole numbers: ties are safe
    order = by_score(grades, f)
    total = tally(grades, order, f, np.inf).total
    wrong, wrong_or_tied = tally(grades, order, f, 0.0).total, tally(grades, order, f, 1.0).total
    return 1.0 - 0.5 * (wrong + wrong_or_tied) / total
