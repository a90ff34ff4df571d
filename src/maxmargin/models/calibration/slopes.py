"""Slopes and curvatures of the losses at a fitted linear model, row by row, for ``one_step``.

The multipliers of the fit are the slopes.  A hinge has no curvature but at its kink, where it is
infinite: leaving a row out moves the optimum until other rows get to theirs.  What they hold
against it on the way is the mean over that way, so the kink of a hinge is spread over a width in
which there are a few times as many rows as the optimum needs to be held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from .long_steps import Kinks

# Rows within the width of a kink, for every number that rows at kinks hold: two where these rows
# are few.  On six problems of 60 to 2,000 rows, means of the errors of 1, 2, 4 and 8 were lowest,
# or nearly, at 2.  Where every fourth row or more is at a kink, one: they hold what they hold.
ROWS_PER_NUMBER, ALL_AT_KINKS_SHARE = 2.0, 0.25
# Temperature of a soft maximum that is as steep in the middle as a triangle of width one.
TEMPERATURE = 0.25
# A price that is not zero.
LEAST_PRICE = float(np.finfo(float).tiny)


class Slopes(NamedTuple):
    """Scores s, slopes ℓ′ and curvatures ℓ″ of the rows: (n, m), (n, m) and (n, m, m).

    A row of weight two is two rows, of which one is left out: ``units`` (n,) says how many.
    ``kinks``: of hinges, by which steps are cut that lead too far.
    """

    scores: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    units: np.ndarray | None = None
    kinks: Kinks | None = None

    def of_one(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and curvatures of one unit of these rows."""
        if self.units is None:
            return self.slope[rows], self.curvature[rows]
        units = self.units[rows]
        return self.slope[rows] / units[:, None], self.curvature[rows] / units[:, None, None]


def hinge_slopes(f, y, alpha, c, numbers: int) -> Slopes:
    """max(0, 1 − ys) of a model made of so many numbers."""
    distance, price = np.abs(1.0 - y * f), _finite(c, alpha)
    width = _width(distance, numbers)
    kinks = Kinks(y, width, price)
    return _single(f, -alpha * y, price * _triangle(distance, width))._replace(kinks=kinks)


def squared_hinge_slopes(f, y, alpha, c) -> Slopes:
    """max(0, 1 − ys)²."""
    return _single(f, -alpha * y, 2.0 * _finite(c, alpha) * (alpha > 0))


def logistic_slopes(f, y, c) -> Slopes:
    """log(1 + exp(−ys))."""
    p = expit(-y * f)
    return _single(f, -c * p * y, c * p * (1.0 - p))


def square_slopes(F, T, c) -> Slopes:
    """½‖s − t‖²: then one step is leave-one-out itself."""
    return Slopes(F, c[:, None] * (F - T), c[:, None, None] * np.eye(F.shape[1]))


def softmax_slopes(F, codes, c) -> Slopes:
    """log Σ exp(s) − s_y."""
    P = softmax(F, axis=1)
    return Slopes(F, c[:, None] * (P - np.eye(F.shape[1])[codes]), c[:, None, None] * _spreads(P))


def max_hinge_slopes(F, codes, beta, c, numbers: int, squared: bool) -> Slopes:
    """max(0, max 1 + s_c − s_y), or its square: curved where two classes are close."""
    slope, c, total = _signed(beta, codes), _finite(c, beta.sum(axis=1)), beta.sum(axis=1)
    V = F + 1.0
    V[np.arange(len(F)), codes] -= 1.0
    if squared:  # its own class is no choice of the maximum
        V[np.arange(len(F)), codes] = -np.inf
    best = np.sort(V, axis=1)
    width = _width(best[:, -1] - best[:, -2], numbers)
    price = total if squared else c
    heat = TEMPERATURE * width
    curvature = (price / heat)[:, None, None] * _spreads(softmax(V / heat, axis=1))
    if squared:
        unit = slope / np.where(total > 0, total, 1.0)[:, None]
        curvature += 2.0 * c[:, None, None] * unit[:, :, None] * unit[:, None]
    return Slopes(F, slope, curvature)


def sum_hinge_slopes(F, codes, beta, c, numbers: int, squared: bool) -> Slopes:
    """Σ max(0, 1 + s_c − s_y), or squares: as many hinges as wrong classes."""
    n, k = F.shape
    rows, c = np.arange(n), _finite(c, beta.max(axis=1))
    slack = 1.0 + F - F[rows, codes][:, None]
    slack[rows, codes] = np.inf
    if squared:
        bend = 2.0 * c[:, None] * (beta > 0)
    else:
        bend = c[:, None] * _spread(np.abs(slack), numbers)
    bend[rows, codes] = 0.0
    curvature = bend[:, :, None] * np.eye(k)
    curvature[rows, :, codes] -= bend
    curvature[rows, codes] -= bend
    curvature[rows, codes, codes] = bend.sum(axis=1)
    return Slopes(F, _signed(beta, codes), curvature)


def free_multipliers(model, c) -> int:
    """How many multipliers of k classes are between their bounds; as many numbers are held."""
    beta = model.alpha_
    if model.multiclass == "sum":
        free = int(((beta > 0) & (beta < c[:, None])).sum())
    else:
        total = beta.sum(axis=1)
        held = (beta > 0).sum(axis=1) + (total < c) - 1
        free = int(held[total > 0].sum())
    return max(free, 1)


def _spread(distance, numbers: int) -> np.ndarray:
    """What a kink of each distance adds, spread over the width of so many numbers."""
    return _triangle(distance, _width(distance[np.isfinite(distance)], numbers))


def _triangle(distance, width: float) -> np.ndarray:
    """A triangle of area one around the kink."""
    return np.maximum(0.0, 1.0 - distance / width) / width


def _width(distance, numbers: int) -> float:
    crowded = min(1.0, numbers / (ALL_AT_KINKS_SHARE * len(distance)))
    rows = int((ROWS_PER_NUMBER + crowded * (1.0 - ROWS_PER_NUMBER)) * numbers)
    place = min(rows, distance.size - 1)
    width = float(np.partition(distance.ravel(), place)[place])
    return width if width > 0 else 1.0


def _spreads(P) -> np.ndarray:
    """diag p − ppᵀ."""
    return P[:, :, None] * np.eye(P.shape[1]) - P[:, :, None] * P[:, None]


def _finite(c, alpha) -> np.ndarray:
    """Prices; of a hard margin, the largest that anybody asks."""
    finite = np.isfinite(c)
    return c if finite.all() else np.where(finite, c, max(float(alpha.max()), LEAST_PRICE))


def _signed(beta, codes) -> np.ndarray:
    """The slope of a row's loss: β for the wrong classes, −Σβ for its own."""
    slope = beta.copy()
    slope[np.arange(len(beta)), codes] = -beta.sum(axis=1)
    return slope


def _single(f, slope, curvature) -> Slopes:
    return Slopes(f[:, None], slope[:, None], curvature[:, None, None])
