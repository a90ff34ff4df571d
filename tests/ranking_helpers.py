"""Small preference problems, their objectives written out, and clarabel's answers."""

from __future__ import annotations

import numpy as np


def preferences(n=30, d=4, m=120, noise=1.0, seed=0):
    """Items, and pairs (winner, loser) by a noisy linear score."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = X @ rng.standard_normal(d)
    a = rng.integers(0, n, m)
    b = (a + rng.integers(1, n, m)) % n
    first = f[a] - f[b] + noise * rng.standard_normal(m) > 0
    return X, np.column_stack([np.where(first, a, b), np.where(first, b, a)])


def graded(n=120, d=4, groups=2, seed=0):
    """Items, grades 0 to 3, and groups."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = X @ rng.standard_normal(d) + rng.standard_normal(n)
    return X, np.digitize(f, [-1.5, 0.0, 1.5]), rng.integers(0, groups, n)


def label_preferences(n=40, d=3, k=4, m=150, seed=0):
    """Examples, and pairs (example, preferred, other) by noisy linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    F = X @ rng.standard_normal((d, k))
    example, a = rng.integers(0, n, m), rng.integers(0, k, m)
    b = (a + rng.integers(1, k, m)) % k
    first = F[example, a] - F[example, b] + rng.standard_normal(m) > 0
    return X, np.column_stack([example, np.where(first, a, b), np.where(first, b, a)])


def pair_objective(X, pairs, w, C=1.0, weight=1.0):
    z = 1.0 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ w
    return 0.5 * w @ w + C * np.sum(weight * np.maximum(z, 0.0))


def label_objective(X, pairs, W, b, C=1.0, weight=1.0):
    S = X @ W.T + b
    i, preferred, other = pairs.T
    z = 1.0 - S[i, preferred] + S[i, other]
    return 0.5 * np.sum(W * W) + C * np.sum(weight * np.maximum(z, 0.0))


def all_pairs(grade, group, weight=None):
    """Every (winner, loser) that grades imply, and the products of their weights."""
    n = len(grade)
    weight = np.ones(n) if weight is None else weight
    pairs = [
        (u, v)
        for u in range(n)
        for v in range(n)
        if group[u] == group[v] and grade[u] > grade[v] and weight[u] * weight[v] > 0
    ]
    pairs = np.array(pairs)
    return pairs, weight[pairs[:, 0]] * weight[pairs[:, 1]]


def solved(question):
    import cvxpy as cp

    question.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return question.value


def pair_oracle(X, pairs, C=1.0, weight=None):
    """(optimum, w) from clarabel."""
    import cvxpy as cp

    w = cp.Variable(X.shape[1])
    weight = np.ones(len(pairs)) if weight is None else weight
    margins = (X[pairs[:, 0]] - X[pairs[:, 1]]) @ w
    norm = 0.5 * cp.sum_squares(w)
    if np.isinf(C):
        best = solved(cp.Problem(cp.Minimize(norm), [margins >= 1]))
    else:
        best = solved(cp.Problem(cp.Minimize(norm + C * weight @ cp.pos(1 - margins))))
    return best, w.value


def label_oracle(X, pairs, k, C=1.0, weight=None, bias=True):
    """(optimum, W) from clarabel."""
    import cvxpy as cp

    m = len(pairs)
    weight = np.ones(m) if weight is None else weight
    i, preferred, other = pairs.T
    signs = np.zeros((m, k))
    signs[np.arange(m), preferred] += 1.0
    signs[np.arange(m), other] -= 1.0
    W, b = cp.Variable((k, X.shape[1])), cp.Variable(k)
    margins = cp.sum(cp.multiply(signs @ W, X[i]), axis=1)
    if bias:
        margins = margins + signs @ b
    losses = weight @ cp.pos(1 - margins)
    best = solved(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * losses)))
    return best, W.value
