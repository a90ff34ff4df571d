"""The point of a lattice that is nearest to a given one, by enumeration; and how near any can be.

    min over z in ℤⁿ   ‖rest − zB‖²

With B = RᵀQᵀ, R upper triangular, the squared distance is a sum of (y_k − Σ_{j ≥ k} R_kj z_j)², of
which the last terms are chosen first, nearest integers first, and no further than the best point so
far, or than asked for.  Of a reduced basis few combinations are left.  [Schnorr and Euchner 1994]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Combinations looked at: some hundredths of a second.
MAX_NODES = 20_000
# By how much a squared distance must be less to count.
LESS = 1e-9


class Closest(NamedTuple):
    """Multiples of the basis, the squared distance that they leave, and one that none is below."""

    steps: np.ndarray
    square: float
    bound: float


def closest(
    B: np.ndarray, rest: np.ndarray, most: int = MAX_NODES, within: float = np.inf
) -> Closest:
    """From the basis B (n, m), reduced, of which ``rest`` (m,) has been taken off before.

    ``within``: points no nearer than that, squared, are of no interest, and are left out.
    """
    n = len(B)
    none = np.zeros(n)
    square = float(rest @ rest)
    if not np.isfinite(B).all() or not np.isfinite(square) or n == 0:
        return Closest(none, square, 0.0)
    Q, R = np.linalg.qr(B.T)
    y = Q.T @ rest
    beside = max(0.0, square - float(y @ y))
    if not np.abs(np.diag(R)).min() > 0.0:
        return Closest(none, square, beside)
    near = min(float(y @ y), max(0.0, within - beside))
    steps, best, complete = _enumerate(R.tolist(), y.tolist(), near, most)
    last = abs(y[-1] / R[-1, -1])
    least = best if complete else (min(last % 1.0, 1.0 - last % 1.0) * R[-1, -1]) ** 2
    found = np.array(steps)
    return Closest(found, square if not found.any() else best + beside, float(least) + beside)


def _enumerate(R: list, y: list, best: float, most: int) -> tuple[list[float], float, bool]:
    """Steps, their squared distance, and whether all that could be nearer was looked at."""
    n = len(y)
    z, found, nodes = [0.0] * n, [0.0] * n, 0
    square = [0.0] * (n + 1)  # of the terms from k on
    middle, turn = [0.0] * n, [0.0] * n  # what z_k would be best, and the next one to be tried
    k = n - 1
    middle[k] = y[k] / R[k][k]
    z[k] = float(round(middle[k]))
    turn[k] = 1.0 if middle[k] >= z[k] else -1.0
    while True:
        nodes += 1
        if nodes > most:
            return found, best, False
        off = (middle[k] - z[k]) * R[k][k]
        here = square[k + 1] + off * off
        if here < best * (1.0 - LESS):
            if k == 0:
                found, best = z.copy(), here
            else:
                square[k] = here
                k -= 1
                row = R[k]
                middle[k] = (y[k] - sum(row[j] * z[j] for j in range(k + 1, n))) / row[k]
                z[k] = float(round(middle[k]))
                turn[k] = 1.0 if middle[k] >= z[k] else -1.0
                continue
        else:
            k += 1
            if k == n:
                return found, best, True
        z[k] += turn[k]
        turn[k] = -turn[k] - (1.0 if turn[k] > 0 else -1.0)
