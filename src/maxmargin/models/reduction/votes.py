"""Who wins when every pair of classes has a duel."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def votes(scores: np.ndarray, k: int) -> np.ndarray:
    """Duels won by each class, ties broken by how clearly they were won.

    The confidences stay below ½, so they never outweigh a duel.
    """
    n = len(scores)
    won, confidence = np.zeros((n, k)), np.zeros((n, k))
    for q, (a, c) in enumerate(combinations(range(k), 2)):
        first = scores[:, q] >= 0
        won[first, a] += 1.0
        won[~first, c] += 1.0
        confidence[:, a] += scores[:, q]
        confidence[:, c] -= scores[:, q]
    return won + confidence / (3.0 * (np.abs(confidence) + 1.0))
