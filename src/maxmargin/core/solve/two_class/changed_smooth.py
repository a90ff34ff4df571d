"""Smooth losses after some rows are gone, from the optimum before.

    min over w, b    ½‖w‖² + Σ c_i ℓ(m_i),        m_i = y_i (w·x_i + b)

At the optimum before, the pulls α y (x, 1) of all rows hold (w, b) still; so without some of them
the gradient is what they pulled, for which no pass over the data is needed.  Steps are those of
BFGS around the Hessian of some rows drawn by lot; each is one pass for scores and gradient.
Multipliers follow from the margins, and their gap is ½‖w − w_α‖².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from ...certify.bias import best_bias
from ...certify.two_class import certify, from_margins
from ...problem.losses import bend, slope
from ...problem.problem import Problem
from ...rows.gram import column_gram
from ...rows.one_pass import by_rows, nudge_four, see
from ...rows.rows import combine, nudge, score, scores
from ..contract import Ending, Monitor, OutOfBudget, Point, Proved, Solution
from ..driver import conclude
from ..threads import one_blas_thread
from .direction import scaled_factor

# Rows drawn for the Hessian, per column: with 160 a step leaves about a tenth of the gradient, and
# two are needed where one row of 100,000 × 50 is gone, three where 1,000 are.
HESSIAN_ROWS_PER_COLUMN = 160
MAX_STEPS = 8
# Columns up to which d × d systems cost less than passes over the rows.
MAX_COLUMNS = 500
# The gap of the last step, as a share of what is asked for: the rest is for rounding.
STEP_TOL_SHARE = 0.5

WHY = "steps from the optimum before, with the Hessian of some rows"
Inverse = Callable[[np.ndarray], np.ndarray]


def solve_smooth_changed(
    problem: Problem, start: Point, f, objective: float, monitor: Monitor
) -> Solution | None:
    """The optimum of ``problem`` from one with more rows, which cost nothing now.

    ``start``: its weights and bias, and the multipliers of the rows that are gone, 0 elsewhere; f
    are its scores w·x, ``objective`` is about that of the new optimum.  None where steps do not
    lead there.
    """
    if problem.shape[1] > MAX_COLUMNS:
        return None
    with one_blas_thread(), np.errstate(all="ignore"):
        try:
            found = _descend(problem, start, f, STEP_TOL_SHARE * monitor.tol * objective, monitor)
        except OutOfBudget:
            return None
    if found is None or not found.certificate.holds(monitor.tol):
        return None
    monitor.record(found.certificate.primal, found.certificate.dual)
    return conclude(found, Ending.REACHED, "newton", WHY, monitor)


def _descend(problem: Problem, start: Point, f, enough: float, monitor: Monitor) -> Proved | None:
    """Steps until the gap is small enough; all vectors are (w, b)."""
    y, pull = problem.y, start.alpha * problem.y
    v = np.append(start.w, start.b)
    g = np.append(combine(problem.rows, pull), float(pull.sum()) if problem.bias else 0.0)
    inverse, mu = _sampled_inverse(problem, y * (f + start.b), monitor.seed)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(MAX_STEPS):
        monitor.step()
        step = -_bfgs(inverse, steps, g)
        v = v + step
        before = g
        f, g = _looked(problem, v)
        if not float(step @ (g - before)) > 0.0:
            return None
        steps.append((step, g - before))
        apart = g[:-1] - g[-1] * mu  # w − w_α once the bias is the best
        if 0.5 * float(apart @ apart) <= enough:
            return _proved(problem, v, f, monitor.tol)
    return None


def _looked(problem: Problem, v) -> tuple[np.ndarray, np.ndarray]:
    """Xw and the gradient (w − w_α, −Σαy) with the multipliers of the margins."""
    w, b = v[:-1], float(v[-1])
    if by_rows(problem.rows):
        f, pull, w_alpha = _pulls(problem.loss, problem.rows, problem.y, problem.c, w, b)
    else:
        f = scores(problem.rows, w)
        pull = from_margins(problem, problem.y * (f + b)) * problem.y
        w_alpha = combine(problem.rows, pull)
    return f, np.append(w - w_alpha, -float(pull.sum()) if problem.bias else 0.0)


@njit(cache=True, nogil=True)
def _pulls(loss, rows, y, c, w, b):
    n = y.shape[0]
    f, pull, w_alpha = np.empty(n), np.empty(n), np.zeros(w.shape[0])
    for i in range(n):
        f[i] = score(rows, i, w)
        pull[i] = -c[i] * slope(loss, y[i] * (f[i] + b)) * y[i]
        if i & 3 == 3:
            nudge_four(rows, i - 3, pull, w_alpha)
    for i in range(n & ~3, n):
        nudge(rows, i, pull[i], w_alpha)
    return f, pull, w_alpha


def _proved(problem: Problem, v, f, tol: float) -> Proved:
    """With the best bias, at which Σαy = 0."""
    w, b = v[:-1], float(v[-1])
    b = best_bias(problem, f, b) if problem.bias else 0.0
    alpha = from_margins(problem, problem.y * (f + b))
    seen = see(problem.rows, w, alpha * problem.y)
    return Proved(Point(w, b, alpha), certify(problem, w, b, alpha, seen, tol), seen.f)


def _bfgs(inverse: Inverse, steps, g) -> np.ndarray:
    """The Hessian's inverse times g, corrected so that the steps made explain their gradients."""
    q, shares = g.copy(), []
    for s, dg in reversed(steps):
        share = float(s @ q) / float(s @ dg)
        q -= share * dg
        shares.append(share)
    r = inverse(q)
    for (s, dg), share in zip(steps, reversed(shares), strict=True):
        r += (share - float(dg @ r) / float(s @ dg)) * s
    return r


def _sampled_inverse(problem: Problem, margins, seed: int) -> tuple[Inverse, np.ndarray]:
    """H⁻¹ of rows drawn by lot, as heavy as all, and their mean, about which b is eliminated."""
    s = _curvature(problem, margins)
    curved, d = np.flatnonzero(s), problem.shape[1]
    drawn = np.random.default_rng(seed).integers(
        len(curved), size=HESSIAN_ROWS_PER_COLUMN * (d + 1)
    )
    some = np.sort(curved[drawn])
    s = s[some] * (float(s.sum()) / float(s[some].sum()))
    total = float(s.sum())
    share = np.bincount(some, s / total, len(problem.y))
    mu = combine(problem.rows, share) if problem.bias else np.zeros(d)
    H, _ = column_gram(problem.rows, some, s, mu)
    H[np.diag_indices(d)] += 1.0
    solve = scaled_factor(H)

    def inverse(g: np.ndarray) -> np.ndarray:
        w = solve(g[:-1] - g[-1] * mu)
        return np.append(w, g[-1] / total - float(mu @ w) if problem.bias else 0.0)

    return inverse, mu


def _curvature(problem: Problem, margins) -> np.ndarray:
    """c ℓ″(m): of squares the same wherever α > 0, of the logistic loss α (1 − α/c)."""
    alpha, c = from_margins(problem, margins), problem.c
    if bend(problem.loss) > 0.0:
        return np.where(alpha > 0.0, c / bend(problem.loss), 0.0)
    return alpha * (1.0 - alpha / np.where(c > 0.0, c, 1.0))
