"""Small problems of every kind, and an independent convex solver to answer them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias, Problem, costs
from maxmargin.core.rows.rows import as_rows

from .biases import posed


def cloud(n=60, d=3, noise=1.0, seed=0, scale=0.0):
    """Gaussian points, a noisy linear rule, both classes present."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(-scale, scale, d)
    f = (X / np.logspace(-scale, scale, d)) @ rng.standard_normal(d)
    y = np.where(f + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def separable_cloud(n=40, d=3, gap=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X -= np.outer(X @ w, w)
    return X + np.outer(y * (gap + rng.random(n)), w), y


def problem(X, y, C=1.0, loss="hinge", bias=Bias.FREE, weight=None) -> Problem:
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    X, bias = posed(X, bias)
    return Problem(as_rows(X), y, costs(C, weight, len(y)), LOSSES[loss], bias)


def oracle(X, y, C=1.0, loss="hinge", bias=Bias.FREE, weight=None):
    """(optimum, w, b) from clarabel, which shares nothing with our solvers.

    A penalised bias is the last of w.
    """
    import cvxpy as cp

    X = X.toarray() if sparse.issparse(X) else X
    c = costs(C, weight, len(y))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    margins = cp.multiply(y, X @ w + (0 if bias in ("none", Bias.NONE) else b))
    norm = 0.5 * cp.sum_squares(w)
    if bias == "penalized":
        norm += 0.5 * cp.square(b)
    if np.isinf(C):
        question = cp.Problem(cp.Minimize(norm), [margins[c > 0] >= 1])
    else:
        slack = cp.pos(1 - margins)
        losses = slack if loss == "hinge" else cp.square(slack)
        question = cp.Problem(cp.Minimize(norm + c @ losses))
    question.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    if bias == "penalized":
        return question.value, np.append(w.value, b.value), 0.0
    return question.value, w.value, 0.0 if b.value is None else float(b.value)
