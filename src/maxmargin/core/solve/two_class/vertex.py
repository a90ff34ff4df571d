"""As few free multipliers as the optimum allows.

When points with 0 < α < c are affinely dependent (repeated rows, points on one line), the
multipliers are not unique: along any ν with Σ ν_i y_i (x_i, 1) = 0 neither w nor the dual
changes.  Moving along such a ν until a multiplier meets its bound leaves one free point
less; repeated, it ends at a vertex, where the free points are independent.  [Carathéodory]
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import lapack

from ...first_use import plain_at_first
from ...problem.losses import bend
from ...problem.problem import Problem
from ...rows.rows import dense

# Beyond this many operations the search for dependent points is not worth its time.
MAX_VERTEX_WORK = 1e5
MAX_FREE_POINTS = 200
# Singular values below this, relative to the largest, mean dependence.
DEPENDENCE_TOL = 1e-10
# A row with this share of its length outside the span of the others is surely independent.
INDEPENDENCE_SHARE = 1e-5
# A multiplier this near its bound, relative to it, is at the bound: `repair` may have moved it by
# the rounding of a sum, and its point need not lie on the margin.
AT_BOUND_TOL = 1e-9
# Share of Σα that a move may lose by rounding.
MAX_LOST_SHARE = 1e-10


def vertex(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Equal multipliers in every respect that matters, with an independent free set."""
    if bend(problem.loss) != 0.0 and not problem.hard:
        return alpha  # where ℓ* is strictly convex, as the squared hinge's, they are unique
    cap = problem.cap
    free = np.flatnonzero((alpha > 0.0) & (alpha < (1.0 - AT_BOUND_TOL) * cap))
    _, d = problem.shape
    if not 2 <= len(free) <= MAX_FREE_POINTS or len(free) * float(d + 1) ** 2 > MAX_VERTEX_WORK:
        return alpha
    A = _signed_points(problem, free)
    if len(free) <= A.shape[1] and _independent(A):  # as almost always
        return alpha
    a, bound = alpha[free].copy(), cap[free]
    window = list(range(min(len(free), A.shape[1] + 1)))
    rest = list(range(len(window), len(free)))
    moved = False
    while window:
        nu = _null_vector(A[window])
        if nu is None:
            if not rest:
                break
            window.append(rest.pop())
            continue
        hit, step, at_cap = _first_bound(a[window], bound[window], nu)
        a[window] = np.clip(a[window] + step * nu, 0.0, bound[window])
        a[window[hit]] = bound[window[hit]] if at_cap else 0.0
        del window[hit]
        moved = True
    # Σα is the dual where w stays: it falls if a point that seemed free is not on the margin.
    if not moved or a.sum() < alpha[free].sum() - MAX_LOST_SHARE * alpha.sum():
        return alpha
    alpha = alpha.copy()
    alpha[free] = a
    return alpha


def _signed_points(problem: Problem, index) -> np.ndarray:
    """y_i (x_i, 1) for the chosen rows, dense."""
    X = dense(problem.rows, index)
    m, d = X.shape
    A = np.ones((m, d + 1 if problem.bias else d))
    A[:, :d] = X
    if problem.bias:
        A[:, :d] -= A[0, :d]  # any shift by a multiple of the ones keeps the span
    A /= np.maximum(np.abs(A).max(axis=0), 1e-300)
    A *= problem.y[index, None]
    return A


@plain_at_first
@njit(cache=True, nogil=True)
def _independent(A) -> bool:
    """Gram–Schmidt: whether every row has a part of its own."""
    m, d = A.shape
    Q = A.copy()
    for i in range(m):
        before, after = 0.0, 0.0
        for j in range(d):
            before += Q[i, j] * Q[i, j]
        for k in range(i):
            dot = 0.0
            for j in range(d):
                dot += Q[i, j] * Q[k, j]
            for j in range(d):
                Q[i, j] -= dot * Q[k, j]
        for j in range(d):
            after += Q[i, j] * Q[i, j]
        if after <= INDEPENDENCE_SHARE * INDEPENDENCE_SHARE * before:
            return False
        for j in range(d):
            Q[i, j] /= np.sqrt(after)
    return True


def _null_vector(A: np.ndarray) -> np.ndarray | None:
    """ν with νᵀA = 0, or None when the rows of A are independent."""
    m, d = A.shape
    if m > d:  # the last column of Q, A = QR, is orthogonal to all of A's
        reflections, tau, _, _ = lapack.dgeqrf(A)
        last = np.zeros((m, 1), order="F")
        last[-1] = 1.0
        return lapack.dormqr("L", "N", reflections, tau, last, m, overwrite_c=1)[0][:, 0]
    if _independent(A):
        return None
    u, s, _ = np.linalg.svd(A, full_matrices=False)
    return u[:, -1] if s[-1] <= DEPENDENCE_TOL * s[0] else None


def _first_bound(a, bound, nu) -> tuple[int, float, bool]:
    """Which multiplier meets a bound first along ν, the step to it, and whether it is the cap.

    Zero is preferred.  A step of nothing is possible: two may meet their bounds together.
    """
    options = []
    for sign in (1.0, -1.0):
        direction = sign * nu
        with np.errstate(divide="ignore", invalid="ignore"):
            down = np.where(direction < -1e-14, -a / direction, np.inf)
            up = np.where(direction > 1e-14, (bound - a) / direction, np.inf)
        length = np.minimum(down, up)
        hit = int(np.argmin(length))
        options.append((bool(up[hit] < down[hit]), hit, sign * float(length[hit])))
    at_cap, hit, step = min(options, key=lambda option: option[0])
    return hit, step, at_cap
