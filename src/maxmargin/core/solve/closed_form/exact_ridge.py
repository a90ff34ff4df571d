"""Kernel ridge with few rows, where float64 loses its residual: many digits, then rounded.

    (K + α S⁻¹) u = y

Where K is large beside α, rounding u to the nearest float64 moves Ku by more than y.  Rounded
together (``rows/lattice.py``) the coefficients may differ from u as far as α allows, and Ku stays.
Where that is not far enough, others say the same function (``solve/same_function.py``).  They do
not solve the equations, but their function is as good, which weak duality proves with v = αu:

    P − D,     P = ½ Σ s_i (f_i − y_i)² + ½ α‖f‖²,     D = Σ v_i y_i − ½ Σ v_i²/s_i − vᵀKv/2α
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np

from ...certify.normal_equations import DUALITY, NormalEquations
from ...rows.decimals import DIGITS, decimals, factor, floats, many_digits
from ...rows.lattice import MAX_LATTICE, nearest, none_within
from ..same_function import Column, Numbers, definite_solution, roots, small_coefficients

# Seconds of computing for all targets together.
MAX_SECONDS = 2.0
# Digits that values of K, and objectives, may lose to rounding, relative to all that they are made
# of: far more than they do.
LOST_DIGITS = 56
# Digits by which values of K may be larger than α before more are taken.
COMMON_RATIO_DIGITS = 40
# What is asked for is taken for this much more, squared, so that rounding does not count.
GENEROUS = Decimal("1.02")
METHOD = "the function's objective, in {} digits, " + DUALITY


def digits_for(most: float, alpha: float) -> int:
    """More where α has fewer beside the largest value of K: squares of their ratio are taken."""
    ratio = np.log10(np.clip(most, 1e-300, 1e300)) - np.log10(alpha)
    return DIGITS + 2 * max(0, int(ratio) - COMMON_RATIO_DIGITS)


class ExactRidge:
    """The equations of all rows that have weight, K of Decimals of so many digits, and their
    solution ``u``; ``length``: of √S y, which residuals are relative to."""

    def __init__(self, K: Numbers, digits: int, Y, weight, alpha: float, length: float):
        s = np.ones(len(Y)) if weight is None else weight
        self.rows, self.alive = len(Y), np.flatnonzero(s > 0)
        self.alpha, self.length, self.digits = Decimal(alpha), Decimal(length), digits
        with many_digits(digits):
            self.K = K[np.ix_(self.alive, self.alive)]
            self.s = decimals(s[self.alive])
            self.y = decimals(np.asarray(Y, dtype=np.float64)[self.alive])
            self.M = self.K + np.diag(self.alpha / self.s)
            unit = 1 / roots(self.M.diagonal())[:, None]
            self.u = unit * definite_solution(unit * self.M * unit.T, unit * self.y)

    @property
    def roundable(self) -> bool:
        return len(self.alive) <= MAX_LATTICE

    def rounded(self, residual: float) -> list[np.ndarray]:
        """u (n, targets) rounded one by one, then together so that residuals are within this."""
        with many_digits(self.digits):
            one_by_one = self._whole(floats(self.u))
            if not self.roundable:
                return [one_by_one]
            asked = Decimal(residual) * self.length / self.rows / roots(self.s)
            columns = [_together(self.M, column, asked, self.alpha) for column in self.u.T]
            return [one_by_one, self._whole(np.column_stack(columns))]

    def excess(self, tol: float) -> Decimal:
        """What a function may have beyond the best: that of such a residual, or a relative gap."""
        with many_digits(self.digits):
            least = self._gap(self.u)[0]
            return max((Decimal(tol) * self.length) ** 2 / 2, Decimal(tol) * least)

    def of_the_same_function(self, tol: float) -> Iterator[np.ndarray]:
        """Float64 whose function is as near the best as one of such a residual, or nearly so; then
        as near as is enough."""
        end = time.thread_time() + MAX_SECONDS
        if not self.roundable:
            return
        strict, enough = Decimal(tol) * self.length, (2 * self.excess(tol)).sqrt()
        with many_digits(self.digits):
            A = np.vstack([roots(self.s)[:, None] * self.K, self.alpha.sqrt() * factor(self.K).T])
            for residual in (strict, enough) if enough > strict else (strict,):
                columns = [Column(A / residual, u) for u in self.u.T]
                least = self.alpha * residual * residual
                ways = small_coefficients(self.K, columns, least, lambda: time.thread_time() < end)
                yield from map(self._whole, ways)

    def no_floats(self, tol: float) -> bool:
        """Whether no float64 at all have a function as good as is asked for, for certain.

        P(f) − P(f*) = ½ (u − u*)ᵀ (KSK + αK) (u − u*), which residuals ρ, too, bound: by ½‖ρ‖².
        """
        end = time.thread_time() + MAX_SECONDS
        with many_digits(self.digits):
            residuals = self.rows * (Decimal(tol) * self.length) ** 2 / 2
            most = GENEROUS * max(residuals, self.excess(tol))
            H = ((self.K * self.s).dot(self.K) + self.alpha * self.K) / (2 * most)
            any_at_all = np.zeros(len(H), dtype=bool)
            return any(
                none_within(column, H, any_at_all, lambda: time.thread_time() < end)
                for column in self.u.T
            )

    def proof(self, u: np.ndarray, near: NormalEquations) -> NormalEquations:
        """That of these coefficients' function, with the residual that would leave as much."""
        with many_digits(self.digits):
            value, excess = self._gap(decimals(u[self.alive]))
            residual = (2 * excess).sqrt() / self.length
        return replace(
            near, objective=float(value), excess=_upwards(excess), rounding=0.0,
            relative_residual=_upwards(residual), method=METHOD.format(self.digits),
        )  # fmt: skip

    def _gap(self, u: Numbers) -> tuple[Decimal, Decimal]:
        s, y, v = self.s[:, None], self.y, self.alpha * self.u
        f, g = self.K.dot(u), self.K.dot(self.u)
        primal = (s * (f - y) ** 2 + self.alpha * u * f).sum() / 2
        dual = (v * y - v * v / (2 * s) - v * g / 2).sum()
        reach = roots(self.K.diagonal())  # |k_ij|, and all that it is made of, is below r_i r_j
        F, G = (reach[:, None] * reach.dot(abs(each)) for each in (u, self.u))
        size = s * (F + abs(y)) ** 2 + self.alpha * abs(u) * F + abs(v) * (abs(y) + abs(v) / s + G)
        return primal, primal - dual + size.sum() * Decimal(10) ** (LOST_DIGITS - self.digits)

    def _whole(self, u: np.ndarray) -> np.ndarray:
        """With zeros for rows without weight."""
        whole = np.zeros((self.rows, u.shape[1]))
        whole[self.alive] = u
        return whole


def _upwards(number: Decimal) -> float:
    return float(np.nextafter(float(number), np.inf))


def _together(M: Numbers, u: Numbers, asked: Numbers, alpha: Decimal) -> np.ndarray:
    """Float64 near u with M times them near Mu."""
    begin = floats(u)
    units = decimals(np.spacing(np.abs(begin)))
    effect = units[:, None] * M / asked
    moves = np.diag(units * alpha / asked)
    z = nearest(effect, moves, M.dot(decimals(begin) - u) / asked, lambda: True)
    return begin if z is None else floats(decimals(begin) + z * units)
