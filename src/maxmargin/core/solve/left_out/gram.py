"""Where paths get scalar products from: rows, or a kernel matrix.

A Gram matrix tells products between rows, ``answers`` of near rows to any row (``tableau.py``), and
at the ``ends`` of paths what they are worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...problem.problem import Problem
from ...rows.rows import combine, dense, scores, shape, sqnorms
from .gaps import line_gaps
from .tableau import Optimum, Tableau, bordered

# Rows that are looked at to prove a path's end, at most this many for each near row; if they do
# not suffice, all.
GUARD_ROWS_PER_NEAR = 10
# Singular values below this share of the largest entry are rounding.
RANK_TOL = 1e-9


class Ends(NamedTuple):
    """Of every path the duality gap at its end, the bias's change, that of its own row's y w·x,
    the near row, free there, that ties the bias (−1: none does), and rows that are not near and
    have crossed their margin (−1: no more, or not told)."""

    gap: np.ndarray
    shift: np.ndarray
    change: np.ndarray
    tie: np.ndarray
    crossed: np.ndarray


class Lines(NamedTuple):
    """Paths, by row left out: the row, its point, its place among the near rows (−1: it is not)
    and how far its multiplier goes."""

    rows: np.ndarray
    points: np.ndarray
    place: np.ndarray
    pull: np.ndarray


class LinearGram:
    """Q_ij = y_i y_j (x_i − μ)·(x_j − μ)."""

    def __init__(self, problem: Problem):
        self.problem = problem
        n, d = shape(problem.rows)
        self.mu = combine(problem.rows, np.full(n, 1.0 / n)) if problem.bias else np.zeros(d)
        q = sqnorms(problem.rows) - 2.0 * scores(problem.rows, self.mu) + float(self.mu @ self.mu)
        self.lengths = np.sqrt(np.maximum(q, 0.0))
        self.width = d

    def points(self, index) -> np.ndarray:
        """y (x − μ)."""
        X = dense(self.problem.rows, index).astype(np.float64, copy=False)
        X -= self.mu  # a copy already
        X *= self.problem.y[index][:, None]
        return X

    def extended(self, index) -> np.ndarray:
        """y (x − μ, 1), the 1 as large as the rest; without it where there is no bias."""
        points = self.points(index)
        if not self.problem.bias:
            return points
        scale = float(np.abs(points).max(initial=0.0)) or 1.0
        return np.column_stack([points, scale * self.problem.y[index]])

    def rank(self, index) -> int:
        """In how many directions rows (x, 1) differ."""
        points = self.extended(index)
        return int(np.linalg.matrix_rank(points, tol=RANK_TOL * float(np.abs(points).max())))

    def block(self, one, two) -> np.ndarray:
        return self.points(one) @ self.points(two).T

    def with_slacks(self, here: Optimum) -> Optimum:
        """The optimum with its slacks computed afresh."""
        w = combine(self.problem.rows, here.alpha * self.problem.y)
        f = scores(self.problem.rows, w) - float(self.mu @ w)
        return replace(here, z=1.0 - self.problem.y * (f + here.b))

    def prepare(self, table: Tableau, order: np.ndarray, again: bool) -> None:
        """R (K, d + 1) such that near rows answer R (y(x − μ), y); the rows nearest by."""
        F, P = table.F, self.points(table.near)
        L = np.zeros((len(table.G), P.shape[1] + 1))
        L[:, :-1] = table.G[:, : len(F)] @ P[F]
        if self.problem.bias:
            L[:, -1] = table.G[:, len(F)]
        R = np.column_stack([P, np.zeros(len(P))]) - table.H.T @ L
        R[F] = L[: len(F)]
        self.R = R
        self.guard = order if again else order[: GUARD_ROWS_PER_NEAR * len(table.near)]
        self.P = self.points(self.guard)

    def answers(self, table: Tableau, rows, points) -> np.ndarray:
        """What near rows answer to Δα of ``rows``, with the sign turned: (rows, K)."""
        return points @ self.R[:, :-1].T + self.problem.y[rows][:, None] * self.R[:, -1]

    def ends(self, here: Optimum, key, lines: Lines, alpha) -> Ends:
        """``key``: |z|/√(1 + ‖x − μ‖²) of all rows in order; α (lines, K) at the ends."""
        y, c, guard = self.problem.y, self.problem.c, self.guard
        found = Ends(*line_gaps(
            self.P, y[guard], c[guard], here.z[guard], key, here.alpha[guard],
            alpha, lines.place, lines.points, lines.pull, bool(self.problem.bias),
        ))  # fmt: skip
        return found._replace(crossed=np.where(found.crossed < 0, -1, guard[found.crossed]))


class KernelGram:
    """Q_ij = y_i y_j k(x_i, x_j), held whole."""

    def __init__(self, problem: Problem, K: np.ndarray):
        """K becomes Q."""
        self.problem = problem
        self.lengths = np.sqrt(np.maximum(K.diagonal(), 0.0))
        K *= problem.y[:, None]
        K *= problem.y
        self.Q, self.width = K, len(K)

    def points(self, index) -> np.ndarray:
        """Their products with all rows."""
        return self.Q[index]

    def rank(self, index) -> int:
        """As if there was no end of features."""
        return len(self.Q) + 1

    def extended(self, index) -> np.ndarray:
        """Rows of Q between these, whose dependence is that of their points."""
        one = self.lengths.max() * self.problem.y[index]
        return np.column_stack([self.block(index, index), one])

    def block(self, one, two) -> np.ndarray:
        return self.Q[np.ix_(one, two)]

    def with_slacks(self, here: Optimum) -> Optimum:
        return replace(here, z=1.0 - self.Q @ here.alpha - self.problem.y * here.b)

    def prepare(self, table: Tableau, order: np.ndarray, again: bool) -> None:
        """All other values are at hand."""
        self.near = table.near

    def answers(self, table: Tableau, rows, points) -> np.ndarray:
        F = table.F
        Q = points[:, table.near]
        T = table.G @ bordered(Q[:, F].T, self.problem.y[rows], bool(self.problem.bias))
        out = Q - T.T @ table.H
        out[:, F] = T[: len(F)].T
        return out

    def ends(self, here: Optimum, key, lines: Lines, alpha) -> Ends:
        """By products with the rows of Q whose multipliers have changed, for all rows."""
        rows, points, place, pull = lines
        near, line, inside = self.near, np.arange(len(rows)), np.flatnonzero(place >= 0)
        own = inside, place[inside]
        y, c = self.problem.y, self.problem.c
        change = alpha - here.alpha[near]
        change[own] = 0.0
        moved = np.flatnonzero(change.any(axis=0))
        margins = change[:, moved] @ self.Q[near[moved]]
        margins -= pull[:, None] * points
        told = margins[line, rows]
        room = np.minimum(alpha, c[near] - alpha)
        room[own] = 0.0
        tie = np.where(room.max(axis=1) > 0.0, room.argmax(axis=1), -1)
        tied = near[tie]
        shift = np.where(tie >= 0, y[tied] * (here.z[tied] - margins[line, tied]), 0.0)
        z = np.subtract(here.z, margins, out=margins)
        z -= shift[:, None] * y
        none = np.full((len(rows), 1), -1)
        return Ends(self._gaps(here, rows, alpha, z), shift, told, tie, none)

    def _gaps(self, here: Optimum, rows, alpha, z) -> np.ndarray:
        """Σ c max(0, z) − αz, of the row itself nothing: term by term, for the sums cancel."""
        held = np.repeat(here.alpha[None], len(rows), axis=0)
        held[:, self.near] = alpha
        terms = self.problem.c * np.maximum(z, 0.0) - np.multiply(held, z, out=held)
        terms[np.arange(len(rows)), rows] = 0.0
        return terms.sum(axis=1)
