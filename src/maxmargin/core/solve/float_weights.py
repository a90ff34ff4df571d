"""Float64 weights whose bias is not lost: data far from the origin.

w·x + b is small there, but w·x and b are not, and b has few digits left below them.  At a place a
among the rows the score w·a + b then misses what it should be by up to half a unit of b, which a
large C charges every row.  Weights that differ in their last digits move w·a by other fractions of
that unit, so a few are tried for the one that leaves the least:

    min over t    |w_t·a + b_t − score|,        w_t = w + t units of its last place,  b_t rounded

Two columns are moved at once; products and sums are exact, in rationals.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

# Units of the last place by which a weight is moved, in turn: fewer leave the weights as they were,
# more find a better score.
MOST_UNITS = (64, 1024, 16384, 262144)


class Aligned(NamedTuple):
    w: np.ndarray
    b: float


def aligned(w: np.ndarray, place: np.ndarray, score: Fraction, units: int) -> Aligned:
    """Weights within so many units of their last places, and b, with w·place + b near ``score``."""
    bias = score - exact_product(w, place)
    unit = Fraction(float(np.spacing(abs(float(bias)))))
    t, columns = np.arange(-units, units + 1), _largest(w, place)
    if not columns:
        return Aligned(w, float(bias))
    shares = [(t * _share(w, place, column, unit)) % 1.0 for column in columns]
    moves = _complement((float(bias / unit % 1) + shares[0]) % 1.0, [*shares, np.zeros(1)][1])
    w = w.copy()
    for column, move in zip(columns, moves, strict=False):
        w[column] += t[move] * np.spacing(w[column])
    return Aligned(w, float(score - exact_product(w, place)))


def exact_product(w: np.ndarray, place: np.ndarray) -> Fraction:
    """w·place, without rounding."""
    pairs = zip(w.tolist(), place.tolist(), strict=True)
    return sum((Fraction(p) * Fraction(q) for p, q in pairs if p and q), Fraction(0))


def _largest(w, place) -> list[int]:
    """The two columns whose last places move w·place most, or fewer."""
    effect = np.abs(np.spacing(w) * place) * (w != 0.0)
    return [int(j) for j in np.argsort(-effect)[:2] if effect[j] > 0.0]


def _share(w, place, column: int, unit: Fraction) -> float:
    """By what share of a unit of the bias it moves if a weight moves by one of its own."""
    step = Fraction(float(np.spacing(w[column]))) * Fraction(float(place[column]))
    return float(-step / unit % 1)


def _complement(left: np.ndarray, moved: np.ndarray) -> tuple[int, int]:
    """i, j with left_i + moved_j nearest to a whole number."""
    order = np.argsort(moved)
    ring = np.concatenate([moved[order] - 1.0, moved[order], moved[order] + 1.0])
    wanted = 1.0 - left
    at = np.clip(np.searchsorted(ring, wanted), 1, len(ring) - 1)
    at -= np.abs(ring[at - 1] - wanted) < np.abs(ring[at] - wanted)
    i = int(np.argmin(np.abs(ring[at] - wanted)))
    return i, int(order[at[i] % len(order)])
