"""From the probabilities of duels to those of classes: pairwise coupling.

    min over p    Σ_i Σ_{j ≠ i} (r_ji p_i − r_ij p_j)²     with Σ p_i = 1

where r_ij is the probability of class i against class j alone; at the true p every bracket is 0.
The minimum is a linear system of k + 1 equations for every row, and no p_i is negative there.
[Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling, 2004]
"""

from __future__ import annotations

import numpy as np

# Numbers in the systems that are solved together.
MAX_SYSTEM_NUMBERS = 4_000_000
# Duels are never quite sure: with 0 and 1 going round in circles there would be no minimum.
LEAST_CHANCE = 1e-7


def coupled(second: np.ndarray, duels: np.ndarray, k: int) -> np.ndarray:
    """(n, k) from (n, duels): the probability that the second of each pair wins."""
    size = max(1, MAX_SYSTEM_NUMBERS // (k + 1) ** 2)
    parts = [_coupled(second[i : i + size], duels, k) for i in range(0, len(second), size)]
    return np.concatenate(parts) if parts else np.empty((0, k))


def _coupled(second: np.ndarray, duels: np.ndarray, k: int) -> np.ndarray:
    n, (low, high) = len(second), duels.T
    r = np.zeros((n, k, k))
    r[:, high, low] = np.clip(second, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    r[:, low, high] = 1.0 - r[:, high, low]
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, range(k), range(k)] = (r * r).sum(axis=1)
    system[:, k, k] = 0.0
    target = np.zeros((n, k + 1, 1))
    target[:, k] = 1.0
    P = np.maximum(np.linalg.solve(system, target)[:, :k, 0], 0.0)
    return P / P.sum(axis=1, keepdims=True)
