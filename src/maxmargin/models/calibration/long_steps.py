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
    each = np.arange(len(steps.rows))
    price = np.repeat(kinks.price[None], len(each), axis=0)
    price[each, steps.rows] = 0.0
    off = scores - kinks.place
    before = _spread_slope(off / kinks.width)
    pull = np.abs(slope * steps.moved[each, steps.rows])
    weight = price * steps.moved

    def rises(s: np.ndarray) -> np.ndarray:
        there = _spread_slope((off + s[:, None] * steps.moved) / kinks.width)
        return s * steps.norms + np.sum(weight * (there - before), axis=1) >= pull

    return _first_that(rises, 1.0 / np.abs(steps.moved).max(axis=1))


def _first_that(rises, least: np.ndarray) -> np.ndarray:
    """The least s ≤ 1 at which the objective rises, between ``least``/1000 and 1."""
    low, high = np.log(np.minimum(1.0, least) * 1e-3), np.zeros(len(least))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        up = rises(np.exp(middle))
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    return np.exp(high)


def _spread_slope(t: np.ndarray) -> np.ndarray:
    """The area of a triangle of width one on either side of zero, up to t."""
    t = np.clip(t, -1.0, 1.0)
    return 0.5 + t - 0.5 * t * np.abs(t)
