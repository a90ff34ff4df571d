"""Semismooth Newton: one loop for all functions that are quadratic on pieces.

    min over v    f(v),        f convex, once differentiable, its gradient piecewise linear

A step solves the Newton system of the present piece and goes to the exact minimum along that
direction.  A full step that stays on its piece leaves only rounding, so the loop ends there.
The augmented Lagrangians of two classes, of k classes and of pairs of labels are such functions;
each says how it looks, aims and moves.  ``two_class/tiny.py`` writes the loop out again, in one
compiled call: for a hundred rows the calls between Python and kernels would take most of the time.
[Qi & Sun 1993; Yan & Li 2019]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..first_use import plain_at_first
from ..rule import otherwise, verb
from .contract import Monitor

# A line search ends when the slope has fallen to this share of what it was.
LINE_SEARCH_TOL = 1e-3
MAX_LINE_STEPS = 60
# While the slope is negative still, a step grows at most so much.
MAX_STEP_GROWTH = 4.0
# A full step is one that differs from 1 by no more than the line search can tell.
FULL_STEP_TOL = 1e-6


class Terms(NamedTuple):
    """The gap at one point, Σ(cℓ + cℓ* − αz) and what is lacking of stationarity; the objective
    and the share of it that is the norm's."""

    complementarity: float
    stationarity: float
    primal: float
    norm: float

    @property
    def gap(self) -> float:
        return self.complementarity + self.stationarity


class PiecewiseQuadratic(ABC):
    """A function at the point where its minimisation stands."""

    exact = True  # whether the last direction solved its system exactly

    @abstractmethod
    def look(self) -> tuple[Terms, Any]:
        """What the gap is here, and a mark of the piece: equal marks, equal pieces."""

    @abstractmethod
    def aim(self) -> None:
        """Newton's direction from here."""

    @abstractmethod
    def step_length(self) -> float:
        """The exact minimum along the direction; 0 where it does not lead downhill."""

    @abstractmethod
    def move(self, t: float) -> None:
        """Go t times the direction."""


def minimise(
    f: PiecewiseQuadratic, monitor: Monitor, enough: Callable[[Terms], bool], max_steps: int
) -> tuple[Terms, bool]:
    """Newton steps until ``enough(terms)``: the last terms, and whether it was."""
    whole, before = False, np.nan  # the mark of no piece
    for _ in range(max_steps):
        terms, piece = f.look()
        if enough(terms) or (whole and np.array_equal(piece, before)):
            return terms, True
        if not np.isfinite(terms.gap):
            break
        monitor.step()
        before = piece
        f.aim()
        t = f.step_length()
        if t == 0.0:
            break
        whole = f.exact and abs(t - 1.0) < FULL_STEP_TOL
        f.move(t)
    return terms, False


@verb
def slope_along(line, t):
    """Derivative and second derivative of the losses t along a line, without the norm's share."""


@verb
def in_order(line):
    """Whether sums along a line are added up in order, as plain Python would."""


@otherwise(in_order)
def _(line):
    return False


@plain_at_first(when=lambda line, *_: in_order(line))
@njit(cache=True, nogil=True, error_model="numpy")
def exact_step(line, start, slope0, curvature0):
    """The root of the increasing, piecewise linear derivative along a line.

    ``start`` is the derivative at 0; ``slope0`` and ``curvature0`` are the norm's share of it.
    """
    if not start < 0.0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(MAX_LINE_STEPS):
        slope, curvature = slope_along(line, t)
        slope += slope0 + t * curvature0
        curvature += curvature0
        if abs(slope) <= LINE_SEARCH_TOL * -start:
            return t
        if slope < 0.0:
            low = t
        else:
            high = t
        new = t - slope / curvature if curvature > 0.0 else np.inf
        if high == np.inf:
            new = min(new, MAX_STEP_GROWTH * t)
        elif not low < new < high:
            new = 0.5 * (low + high)
        if new == t:
            return t
        t = new
    return t
