"""A small quadratic program in two hundred digits, by active sets.

    min over x   ½ xᵀHx − gᵀx      with   Ax = r,   0 ≤ x ≤ u,       H positive semidefinite

Some variables are free, the others at a bound.  Free ones go to where the objective is least,
or along a direction in which it does not bend, until one of them meets a bound and is no longer
free; at the least value a variable at its bound, whose multiplier has the wrong sign, becomes free.
The columns of A that are free have full rank throughout: a variable that stops a step depends on
the others.    [Gill, Murray, Wright, Practical Optimization, 5.5]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ..rows.decimals import NOTHING, ONE, ZERO, Deficient, independent, solved

# Steps per variable, and multiplications in all: about five seconds.
STEPS_EACH, MAX_PRODUCTS = 12, 1.5e7
# Of these so many take no time.
FEW_PRODUCTS = 3e5
# Slopes below this share of their unit are level.
SIGN = Decimal("1e-60")
INFINITE = Decimal("Infinity")


@dataclass
class Program:
    """All of Decimals, ``upper`` perhaps infinite; H and A of size one.  ``unit``: what a slope
    of every variable is measured by."""

    H: np.ndarray
    g: np.ndarray
    A: np.ndarray
    r: np.ndarray
    upper: np.ndarray
    unit: np.ndarray


class Minimum(NamedTuple):
    """x, and λ with Hx − g + Aᵀλ = 0 where x is free."""

    x: np.ndarray
    multipliers: np.ndarray


def minimised(
    program: Program, start: np.ndarray, go_on: Callable[[], bool] = lambda: True
) -> Minimum | None:
    """The minimum, from a point with As = r inside the bounds; None where there is none, or where
    finding it takes too long."""
    search = _Search(program, start)
    for _ in range(STEPS_EACH * len(start) + 50):
        if search.products > MAX_PRODUCTS or (search.products > FEW_PRODUCTS and not go_on()):
            return None
        if not search.step():
            return search.found
    return None


class _Search:
    """A point, which of its variables are free, and what that has cost so far."""

    def __init__(self, program: Program, start: np.ndarray):
        rows, _ = independent(program.A)
        self.p, self.rows, self.x = program, sorted(rows), start.copy()
        self.A = program.A[self.rows]
        inside = [j for j in range(len(start)) if 0 < start[j] < program.upper[j]]
        order = inside + [j for j in range(len(start)) if j not in set(inside)]
        needed = independent(self.A[:, order])[1]
        self.free = sorted({*inside, *(order[j] for j in needed)})
        self.products, self.steps = 0.0, 0
        self.found: Minimum | None = None

    def step(self) -> bool:
        """Whether there is more to do."""
        self.steps += 1
        slope = self.p.H.dot(self.x) - self.p.g
        try:
            move, multipliers = self._newton(slope)
            longest = ONE
        except Deficient as flat:
            move, multipliers, longest = self._downhill(flat.null, slope), None, INFINITE
        length, stopped = self._room(move, longest)
        if length == INFINITE:  # it falls for ever
            return False
        self.x[self.free] += length * move
        if stopped is not None:
            self._hold(stopped, move)
            return True
        return multipliers is not None and self._release(multipliers)

    def _newton(self, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The way to the least value of all that is free, and λ there."""
        f, m = len(self.free), len(self.rows)
        system = np.full((f + m, f + m), ZERO, dtype=object)
        system[:f, :f] = self.p.H[np.ix_(self.free, self.free)]
        system[f:, :f] = self.A[:, self.free]
        system[:f, f:] = system[f:, :f].T
        right = np.full(f + m, ZERO, dtype=object)
        right[:f] = -slope[self.free]
        self.products += (f + m) ** 3 / 3
        found = solved(system, right)
        return found[:f], found[f:]

    def _downhill(self, null: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """A direction that does not bend the objective; where that is level, the one that ends."""
        move = null[: len(self.free)]
        fall = slope[self.free].dot(move)
        if abs(fall) <= SIGN * abs(move).dot(self.p.unit[self.free]):
            ends = self._room(move, INFINITE)[0] < INFINITE
            return move if ends else -move
        return -move if fall > 0 else move

    def _room(self, move: np.ndarray, longest: Decimal) -> tuple[Decimal, int | None]:
        """How far it goes, and the place in ``free`` of what stops it."""
        stopped = None
        for place, j in enumerate(self.free):
            if abs(move[place]) <= NOTHING:
                continue
            left = self.x[j] if move[place] < 0 else self.p.upper[j] - self.x[j]
            reach = max(left, ZERO) / abs(move[place])
            if reach < longest:
                longest, stopped = reach, place
        return longest, stopped

    def _hold(self, place: int, move: np.ndarray) -> None:
        """What met its bound stays there, exactly."""
        j = self.free.pop(place)
        self.x[j] = ZERO if move[place] < 0 else self.p.upper[j]

    def _release(self, multipliers: np.ndarray) -> bool:
        """Free what would gain most, or the first where rounds may repeat; False: nothing does."""
        cost = self.p.H.dot(self.x) - self.p.g + self.A.T.dot(multipliers)
        lower = np.array([2 * x <= u for x, u in zip(self.x, self.p.upper, strict=True)])
        gains = np.where(lower, -cost, cost)
        gains = gains / self.p.unit
        gains[self.free] = ZERO
        gains[self.p.upper == 0] = ZERO
        best = int(np.argmax(gains))
        if gains[best] <= SIGN:
            self.found = Minimum(self.x, self._all(multipliers))
            return False
        if self.steps > 4 * len(self.x):
            best = int(np.flatnonzero(gains > SIGN)[0])
        self.free = sorted([*self.free, best])
        return True

    def _all(self, multipliers: np.ndarray) -> np.ndarray:
        whole = np.full(len(self.p.A), ZERO, dtype=object)
        whole[self.rows] = multipliers
        return whole
