"""Steps that lead too far, cut where the objective without their row is least along them.

Away from the optimum a hinge is not curved as it is there: in a direction that few rows hold, one
step would go as far as the norm allows, though other rows soon meet their kinks.  Along a step that
moves the scores of all rows by δ the slope of the objective without row i is

    φ(s) = −α_i |δ_i| + s ‖Δw‖² + Σ_{j ≠ i} c_j δ_j (Φ((f_j + s δ_j − y_j)/h) − Φ((f_j − y_j)/h)),

Φ the hinge's slope spread over its width h (``slopes.py``).  It rises, and is zero at s = 1 if no
curvature has changed on the way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...core.first_use import plain_at_first

# A step of a score from which it is looked at: from its margin to the boundary.
LONG_STEP = 1.0
# Halvings of a step's exponent: to a hundredth of steps up to 1e9.
HALVINGS = 12


class Kinks(NamedTuple):
    """Where the scores' kinks are, how far those are spread, and the prices c of rows."""

    place: np.ndarray
    width: float
    price: np.ndarray


class LongSteps(NamedTuple):
    """Rows left out, how far each step moves all scores (rows, n), and ‖Δw‖² of each."""

    rows: np.ndarray
    moved: np.ndarray
    norms: np.ndarray


def shares(steps: LongSteps, scores: np.ndarray, slope: np.ndarray, kinks: Kinks) -> np.ndarray:
    """Which share of each step to take; ``slope``: what the rows left out had pulled, (rows,)."""
    pull = np.abs(slope * steps.moved[np.arange(len(steps.rows)), steps.rows])
    h = kinks.width  # lengths are counted in widths
    off = (scores - kinks.place) / h
    return _shares(steps.moved / h, steps.rows, steps.norms, pull, off, kinks.price * h)


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _shares(moved, rows, norms, pull, off, price):
    """Of every step the least s ≤ 1 at which the objective rises, by halving its exponent."""
    out = np.empty(len(rows))
    for i in range(len(rows)):
        far = 0.0
        for j in range(len(off)):
            far = max(far, abs(moved[i, j]))
        low, high = min(1.0, 1.0 / far) * 1e-3, 1.0
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            rise = middle * norms[i] + _held(moved[i], rows[i], off, price, middle)
            if rise >= pull[i]:
                high = middle
            else:
                low = middle
        out[i] = high
    return out


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _held(moved, left_out, off, price, share):
    """What the other rows hold against a share of a step."""
    total = 0.0
    for j in range(len(off)):
        if j != left_out:
            change = _spread_slope(off[j] + share * moved[j]) - _spread_slope(off[j])
            total += price[j] * moved[j] * change
    return total


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _spread_slope(t):
    """The area of a triangle of width one on either side of zero, up to t."""
    t = min(max(t, -1.0), 1.0)
    return 0.5 + t - 0.5 * t * abs(t)
