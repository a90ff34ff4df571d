"""Closed forms: normal equations and Fisher's criterion, solved in rationals.

    f(W, b) = ½ Σ s_i ‖t_i − W x_i − b‖² + ½ α‖W‖²          least squares and ridge
    f(u)    = ½ Σ s_i ‖t_i − (Ku)_i‖² + ½ α uᵀKu            kernel ridge

f is quadratic, so its minimum is found by elimination, exactly; where kernel values are intervals,
it is bounded from below by the dual  Σ v_i t_i − ½ Σ v_i²/s_i − vᵀKv/2α  of any v, for α > 0.

    J(w) = wᵀ S_b w / wᵀ Σ w ≤ J*    for all w    iff    J* Σ − S_b has no negative pivot
"""

from __future__ import annotations

from fractions import Fraction

from .hinge import HALF, ZERO, dot
from .intervals import Number, high, low, rounded

Matrix = list[list[Fraction]]


def eliminate(A: Matrix, B: Matrix) -> Matrix:
    """A solution of AX = B for consistent equations; unknowns that they leave free are zero."""
    n, A, B = len(A), [list(row) for row in A], [list(row) for row in B]
    columns, pivots, at = len(A[0]), [], 0
    for j in range(columns):
        best = next((i for i in range(at, n) if A[i][j]), None)
        if best is None:
            continue
        A[at], A[best], B[at], B[best] = A[best], A[at], B[best], B[at]
        pivot = A[at][j]
        A[at] = [each / pivot for each in A[at]]
        B[at] = [each / pivot for each in B[at]]
        for i in range(n):
            if i != at and A[i][j]:
                factor = A[i][j]
                A[i] = [a - factor * c for a, c in zip(A[i], A[at], strict=True)]
                B[i] = [a - factor * c for a, c in zip(B[i], B[at], strict=True)]
        pivots.append(j)
        at += 1
    X = [[ZERO] * len(B[0]) for _ in range(columns)]
    for i, j in enumerate(pivots):
        X[j] = B[i]
    return X


def semidefinite(A: Matrix) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue: the signs of its LDLᵀ pivots."""
    A = [list(row) for row in A]
    while A:
        if any(A[i][i] < 0 for i in range(len(A))):
            return False
        at = next((i for i in range(len(A)) if A[i][i] > 0), None)
        if at is None:
            return not any(any(row) for row in A)
        pivot, row = A[at][at], A[at]
        A = [
            [A[i][j] - A[i][at] * row[j] / pivot for j in range(len(A)) if j != at]
            for i in range(len(A))
            if i != at
        ]
    return True


# --- least squares ------------------------------------------------------------------------


def ridge_value(rows: Matrix, T: Matrix, s: list[Fraction], alpha, W: Matrix, b) -> Fraction:
    """f(W, b); W one list per target."""
    total = HALF * alpha * sum((dot(w, w) for w in W), ZERO)
    for x, t, weight in zip(rows, T, s, strict=True):
        residuals = [t[c] - dot(w, x) - b[c] for c, w in enumerate(W)]
        total += HALF * weight * dot(residuals, residuals)
    return total


def ridge_minimum(rows: Matrix, T: Matrix, s, alpha, free_bias: bool) -> Fraction:
    """The smallest f, by the normal equations of [X, 1]."""
    X = [[*x, Fraction(1)] if free_bias else x for x in rows]
    d, k = len(X[0]), len(T[0])
    weighted = [[weight * each for each in x] for weight, x in zip(s, X, strict=True)]
    columns, scaled = list(zip(*X, strict=True)), list(zip(*weighted, strict=True))
    A = [[dot(scaled[i], columns[j]) for j in range(d)] for i in range(d)]
    for i in range(d - free_bias):
        A[i][i] += alpha
    targets = list(zip(*T, strict=True))
    found = eliminate(A, [[dot(column, t) for t in targets] for column in scaled])
    W = [[found[j][c] for j in range(d - free_bias)] for c in range(k)]
    return ridge_value(rows, T, s, alpha, W, found[-1] if free_bias else [ZERO] * k)


def kernel_value(K, T: Matrix, s, alpha, u: Matrix) -> Number:
    """f(u); u one list per target."""
    total: Number = ZERO
    for c, v in enumerate(u):
        f = [rounded(dot(v, row)) for row in K]
        total += HALF * alpha * dot(v, f)
        for i, weight in enumerate(s):
            left = T[i][c] - f[i]
            total += HALF * weight * (left * left)
    return total


def kernel_minimum(K, T: Matrix, s, alpha) -> Fraction:
    """A lower bound of the smallest f, α > 0, that is the smallest where K is exact."""
    n, k = len(K), len(T[0])
    middle = [[(low(each) + high(each)) / 2 for each in row] for row in K]
    A = [[s[i] * middle[i][j] + (alpha if i == j else ZERO) for j in range(n)] for i in range(n)]
    u = eliminate(A, [[s[i] * T[i][c] for c in range(k)] for i in range(n)])
    total: Number = ZERO
    for c in range(k):
        v = [alpha * u[i][c] for i in range(n)]
        total += dot(v, [t[c] for t in T])
        total -= HALF * sum((v[i] * v[i] / s[i] for i in range(n) if s[i]), ZERO)
        f = [rounded(dot(v, row)) for row in K]
        total -= HALF * dot(v, f) / alpha
    return low(total)


# --- Fisher's criterion -------------------------------------------------------------------


def scatter(rows: Matrix, codes, k: int, s, priors) -> tuple[Matrix, Matrix]:
    """S_b and the covariance within the classes, Σ_c π_c Cov_c."""
    d = len(rows[0])
    mass = [sum((s[i] for i, y in enumerate(codes) if y == c), ZERO) for c in range(k)]
    means = [
        [
            sum((s[i] * rows[i][j] for i, y in enumerate(codes) if y == c), ZERO) / mass[c]
            for j in range(d)
        ]
        for c in range(k)
    ]
    middle = [sum((priors[c] * means[c][j] for c in range(k)), ZERO) for j in range(d)]
    between = [[ZERO] * d for _ in range(d)]
    within = [[ZERO] * d for _ in range(d)]
    for c in range(k):
        _add(between, [m - a for m, a in zip(means[c], middle, strict=True)], priors[c])
    for x, y, weight in zip(rows, codes, s, strict=True):
        gap = [a - m for a, m in zip(x, means[y], strict=True)]
        _add(within, gap, priors[y] * weight / mass[y])
    return between, within


def _add(A: Matrix, v, weight: Fraction) -> None:
    for i, a in enumerate(v):
        for j, b in enumerate(v):
            A[i][j] += weight * a * b


def criterion(between: Matrix, within: Matrix, w) -> Fraction | None:
    """J(w); None where the classes have no spread along w."""
    spread = dot(w, [dot(row, w) for row in within])
    return dot(w, [dot(row, w) for row in between]) / spread if spread > 0 else None


def none_above(between: Matrix, within: Matrix, J: Fraction) -> bool:
    """Whether no direction has a criterion above J."""
    d = len(within)
    return semidefinite([[J * within[i][j] - between[i][j] for j in range(d)] for i in range(d)])
