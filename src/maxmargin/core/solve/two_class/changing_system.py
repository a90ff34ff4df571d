"""Newton's directions of one minimisation: rows enter and leave the system from step to step.

    K d = −g,     K = [I + G  h; hᵀ  S] = K₀ + Uᵀ T U,      K⁻¹ = K₀⁻¹ − W (T + U W)⁻¹ U K₀⁻¹

K₀ was factored; the rows of U are √s (x − μ, 1) of those that entered since (T = 1) or left
(T = −1), and W = K₀⁻¹ Uᵀ.  A column of W costs d² once, where to factor anew costs d³/6, at a
quarter of the rate.
"""

from __future__ import annotations

import numpy as np

from ...problem.problem import Bias
from ...rows.changing_gram import ChangingGram
from ...rows.gram import weighted_rows
from ...rows.rows import AnyRows
from .direction import BIAS_CURVATURE_SHARE, newton_system, through_columns

# Columns of W per column of the data until the system is factored anew, which then costs as much.
CHANGED_ROWS_PER_COLUMN = 0.125
# With fewer rows than this per column a system of the rows themselves, anew each time, is quicker.
LEAST_ROWS_PER_COLUMN = 0.5
# What a direction may leave of its system, (g + K d)·d, as a share of g·d.
DIRECTION_TOL = 1e-7


class ChangingSystem:
    """Curvatures ``sigma`` are of all rows and stay; which rows count is told every time."""

    def __init__(self, rows: AnyRows, sigma: np.ndarray, mu: np.ndarray, bias: Bias):
        self.gram, self.bias = ChangingGram(rows, sigma, mu), bias
        self._factored: _Factored | None = None

    def direction(self, index: np.ndarray, g_w, g_b) -> tuple:
        """(dw, db) from the rows named by ``index``, in order."""
        gram = self.gram
        if len(index) == 0:
            return -g_w, -g_b / (BIAS_CURVATURE_SHARE * float(gram.s.max())) if self.bias else 0.0
        if self._factored is not None:
            found = self._factored.direction(gram, index, g_w, g_b)
            if found is not None:
                return found
        self._factored, s = None, gram.s[index]
        if not gram.keeps(index) or len(index) < LEAST_ROWS_PER_COLUMN * len(gram.mu):
            return newton_system(gram.rows, index, s, gram.mu, self.bias)(g_w, g_b)
        solve = through_columns(*gram.of(index), s, self.bias)
        self._factored = _Factored(index, solve, self.bias)
        return solve(g_w, g_b)

    def lost_digits(self, slope: float, curvature: float) -> bool:
        """Whether the last direction d, with g·d and d·K d, solves its system badly because of
        what changed since K₀; then K₀ is forgotten, and the next one is better."""
        updated = self._factored is not None and self._factored.used
        if not updated or abs(slope + curvature) <= DIRECTION_TOL * abs(slope):
            return False
        self._factored = None
        return True


class _Factored:
    """K₀ of the rows ``index``, and a column of W for every row that entered or left since."""

    def __init__(self, index: np.ndarray, solve, bias: Bias):
        self.index, self.solve, self.bias = index, solve, bias
        self.place: dict[int, int] = {}
        self.U, self.e, self.W, self.v = (np.empty(0),) * 4
        self.used = False  # whether the last direction needed W

    def direction(self, gram: ChangingGram, index: np.ndarray, g_w, g_b) -> tuple | None:
        """(dw, db) of the rows named; None where too many have changed, or none has: then the
        direction that was found for them was not good enough."""
        new = np.setdiff1d(index, self.index, assume_unique=True)
        old = np.setdiff1d(self.index, index, assume_unique=True)
        now = [*new.tolist(), *old.tolist()]
        fresh = [i for i in now if i not in self.place]
        most = CHANGED_ROWS_PER_COLUMN * len(gram.mu)
        if not now or len(self.place) + len(fresh) > most:
            return None
        if fresh:
            self._learn(gram, fresh)
        self.used, at = True, [self.place[i] for i in now]
        U, e, W, v = self.U[at], self.e[at], self.W[:, at], self.v[at]
        T = np.diag(np.repeat([1.0, -1.0], [len(new), len(old)]))
        p, q = self.solve(g_w, g_b)
        share = np.linalg.solve(T + U @ W + np.outer(e, v), U @ p + e * q)
        return p - W @ share, float(q - v @ share)

    def _learn(self, gram: ChangingGram, fresh: list[int]) -> None:
        """The columns of W of rows that have not changed before."""
        s = gram.s[fresh]
        U, e = weighted_rows(gram.rows, fresh, s, gram.mu), np.sqrt(s) * bool(self.bias)
        W, v = self.solve(-U.T, -e)
        if self.place:
            U, e = np.vstack([self.U, U]), np.append(self.e, e)
            W, v = np.hstack([self.W, W]), np.append(self.v, v)
        self.U, self.e, self.W, self.v = U, e, W, v
        self.place.update(zip(fresh, range(len(self.place), len(e)), strict=True))
