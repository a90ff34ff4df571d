"""Two classes with a smooth loss: every row left out by a Newton step from one factorisation.

    J_i(θ) = ½‖w‖² + Σ_{j ≠ i} c_j ℓ(m_j),    θ = (w, b),  x̃ = (x, 1),  H the Hessian with all rows

At the optimum with all rows ∇J_i = α_i y_i x̃_i and the Hessian is H − h_i x̃_i x̃_iᵀ, so with the
leverages q_i = x̃_iᵀ H⁻¹ x̃_i a step has the length λ = α_i √(q_i / (1 − h_i q_i)) in its own metric
and moves the score by −α_i y_i q_i / (1 − h_i q_i).

Logistic loss: |ℓ‴| ≤ ℓ″.  If no margin moves by more than r in the step, the gradient it leaves is
at most λ (eʳ − 1 − r)/r, and what the optimum is still away follows.  [Bach 2010]  Where that
bound does not suffice, and for the squared hinge, whose curvature jumps, more steps are taken with
the gradient itself, many rows at a time; by strong convexity the weights are then within ‖∇_w‖.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit

from ...problem.losses import Logistic
from ...problem.problem import Problem
from ...rows.rows import combine, dense, shape
from ..threads import one_blas_thread
from .answer import LeftOutScores, score_reach

# Columns up to which the Hessian is held and factored.
MAX_HELD_COLUMNS = 2000
# Steps to the optimum with all rows, and with one left out.
MAX_BASE_STEPS, MAX_STEPS = 50, 40
# A gradient below this share of what the rows could pull is rounding.
GRADIENT_ROUNDING = 1e-12
# The curvature in the bias changes a little from the optimum with all rows.
BIAS_SAFETY = 4.0
# Rows times rows left out that are looked at together.
CHUNK_VALUES = 1 << 22
# A tolerance relative to the score that is good enough; the best that gradients can tell.
GOOD_TOLERANCE, FINE_TOLERANCE = 1e-3, 1e-7


def slopes(loss, c, m) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers −cℓ′(m) and curvatures cℓ″(m), of any shape."""
    if isinstance(loss, Logistic):
        p = expit(-m)
        return c * p, c * p * (1.0 - p)
    z = np.maximum(1.0 - m, 0.0)
    return 2.0 * c * z, 2.0 * c * (z > 0.0)


class Leverages:
    """The optimum with all rows, its Hessian's factor and every row's leverage."""

    def __init__(self, problem: Problem, w: np.ndarray, b: float):
        self.problem, self.free = problem, bool(problem.bias)
        n, d = shape(problem.rows)
        self.mu = combine(problem.rows, np.full(n, 1.0 / n)) if self.free else np.zeros(d)
        self.theta = np.append(w, b + float(self.mu @ w)) if self.free else w.copy()
        self.mass = float(problem.c.sum())
        self._to_the_optimum()
        self.f = self.scores_of(self.theta[None])[:, 0]
        self.alpha, self.h = slopes(problem.loss, problem.c, problem.y * self.f)
        self.q = np.empty(n)
        for part, X in self._blocks():
            Z = solve_triangular(self.factor[0], X.T, lower=True, overwrite_b=True)
            self.q[part] = np.einsum("ij,ij->j", Z, Z)

    def _blocks(self):
        """Rows (x − μ, 1), some at a time."""
        n, d = shape(self.problem.rows)
        for start in range(0, n, size := max(1, (1 << 18) // (d + 1))):
            part = np.arange(start, min(n, start + size))
            yield part, self.extended(part)

    def extended(self, index) -> np.ndarray:
        X = dense(self.problem.rows, index).astype(np.float64)
        return np.column_stack([X - self.mu, np.ones(len(X))]) if self.free else X

    def scores_of(self, theta: np.ndarray) -> np.ndarray:
        """(n, points)."""
        out = np.empty((len(self.problem.y), len(theta)))
        for part, X in self._blocks():
            out[part] = X @ theta.T
        return out

    def _to_the_optimum(self) -> None:
        """Newton steps, halved where they lead uphill, until the gradient is rounding."""
        best = np.inf
        for _ in range(MAX_BASE_STEPS):
            g, H = self._derivatives(self.theta)
            self.factor = cho_factor(H, lower=True)
            size = float(np.linalg.norm(g))
            if not size < 0.9 * best or size <= GRADIENT_ROUNDING * self.mass:
                break
            best = size
            self.theta = self.theta - cho_solve(self.factor, g)

    def _derivatives(self, theta) -> tuple[np.ndarray, np.ndarray]:
        k = len(theta)
        g, H = self._norm(theta), np.diag(self._norm(np.ones(k)))
        for part, X in self._blocks():
            y, c = self.problem.y[part], self.problem.c[part]
            alpha, h = slopes(self.problem.loss, c, y * (X @ theta))
            g -= (alpha * y) @ X
            H += (X.T * h) @ X
        if self.free and H[-1, -1] == 0.0:
            H[-1, -1] = 1.0  # no row has slack: any bias between them will do
        return g, H

    def reach_of(self, g: np.ndarray, reach, h) -> np.ndarray:
        """How far scores can be from the optimum's where gradients are g: the weights are within
        ‖g_w‖; the bias follows, and lacks what g_b is to its curvature."""
        if not self.free:
            return np.linalg.norm(g, axis=1) * reach
        bend = np.maximum(float(self.h.sum()) - h, np.finfo(float).tiny)
        return np.linalg.norm(g[:, :-1], axis=1) * reach + BIAS_SAFETY * np.abs(g[:, -1]) / bend

    def _norm(self, theta: np.ndarray) -> np.ndarray:
        """The norm's gradient: the bias is not in it."""
        out = theta.copy()
        if self.free:
            out[..., -1] = 0.0
        return out


def leave_out_smoothly(problem: Problem, w, b: float) -> tuple[LeftOutScores, np.ndarray] | None:
    """Scores of all rows, and which could not be settled; None where the Hessian is too large."""
    if shape(problem.rows)[1] > MAX_HELD_COLUMNS:
        return None
    with one_blas_thread(), np.errstate(all="ignore"):
        here = Leverages(problem, w, b)
        reach = score_reach(problem.rows, bool(problem.bias))
        left = here.reach_of(_gradient(here, here.theta[None], None), reach, 0.0)
        out = LeftOutScores.unchanged(here.f, left + FINE_TOLERANCE * (1.0 + np.abs(here.f)))
        rows = np.flatnonzero(here.alpha > 0.0)
        rest = 1.0 - here.h * here.q
        f = here.f - here.alpha * problem.y * here.q / rest
        if isinstance(problem.loss, Logistic):
            tolerance = _newton_bound(here, rest) + left
            good = tolerance[rows] <= GOOD_TOLERANCE * (1.0 + np.abs(f[rows]))
            done = rows[good]
            out.settle(done, f[done], tolerance[done], "Newton step")
            rows = rows[~good]
        return out, _refine(here, rows, rest, reach, out)


def _newton_bound(here: Leverages, rest: np.ndarray) -> np.ndarray:
    """How far the scores after one step can be from the optimum's."""
    most = float(here.q.max())
    size = here.alpha * np.sqrt(here.q / rest)
    r = here.alpha * np.sqrt(here.q * most) / rest
    share = np.where(r > 1e-4, (np.expm1(r) - r) / np.maximum(r, 1e-300), 0.5 * r + r * r)
    gradient = np.exp(0.5 * r) * share * size
    R = np.exp(0.5 * r) * np.sqrt(most / rest)
    away = np.where(R * gradient < 0.9, -np.log1p(-np.minimum(R * gradient, 0.9)) / R, np.inf)
    bound = np.exp(0.5 * r) * np.sqrt(here.q / rest) * away
    return np.where((rest > 0.0) & np.isfinite(bound), bound, np.inf)


def _gradient(here: Leverages, theta: np.ndarray, rows) -> np.ndarray:
    """∇J_i at one point for each of ``rows``; of no rows, ∇J."""
    problem = here.problem
    g = here._norm(theta)
    for part, X in here._blocks():
        y, c = problem.y[part][:, None], problem.c[part][:, None]
        pull = slopes(problem.loss, c, y * (X @ theta.T))[0] * y
        if rows is not None:
            mine = (rows >= part[0]) & (rows <= part[-1])
            pull[rows[mine] - part[0], np.flatnonzero(mine)] = 0.0
        g -= pull.T @ X
    return g


def _refine(here: Leverages, rows: np.ndarray, rest, reach, out: LeftOutScores) -> np.ndarray:
    """More steps for some rows, many at a time; which of them did not come to rest."""
    lost = []
    size = max(1, CHUNK_VALUES // len(here.problem.y))
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        lost.append(_refine_some(here, some, rest[some], reach, out))
    return np.concatenate(lost) if lost else rows[:0]


def _refine_some(here: Leverages, rows, rest, reach, out: LeftOutScores) -> np.ndarray:
    problem, X = here.problem, here.extended(rows)
    y, h = problem.y[rows], here.h[rows]
    V = cho_solve(here.factor, X.T).T
    usable = rest > 1e-6
    safe = np.where(usable, rest, 1.0)
    theta = here.theta - (here.alpha[rows] * y / safe)[:, None] * V
    open_, tolerance = np.flatnonzero(usable), np.full(len(rows), np.inf)
    for _ in range(MAX_STEPS):
        g = _gradient(here, theta[open_], rows[open_])
        tolerance[open_] = here.reach_of(g, reach[rows[open_]], h[open_])
        f = np.einsum("ij,ij->i", X[open_], theta[open_])
        done = tolerance[open_] <= FINE_TOLERANCE * (1.0 + np.abs(f))
        step = cho_solve(here.factor, g.T).T
        pull = (h / safe)[open_] * np.einsum("ij,ij->i", X[open_], step)
        step += pull[:, None] * V[open_]
        theta[open_] = np.where(done[:, None], theta[open_], theta[open_] - step)
        open_ = open_[~done]
        if not len(open_):
            break
    f = np.einsum("ij,ij->i", X, theta)
    good = tolerance <= GOOD_TOLERANCE * (1.0 + np.abs(f))
    floor = FINE_TOLERANCE * (1.0 + np.abs(f[good]))
    out.settle(rows[good], f[good], np.maximum(tolerance[good], floor), "Newton steps")
    return rows[~good]
