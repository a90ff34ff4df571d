"""Small problems of k classes, and an independent convex solver to answer them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maxmargin.core.certify.circulation import repair_classes
from maxmargin.core.certify.multiclass import certify_classes
from maxmargin.core.problem.class_losses import CLASS_LOSSES, MaxHinge, MaxSquaredHinge, SumHinge
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.problem.problem import Bias, costs
from maxmargin.core.rows.rows import as_rows

from .biases import posed

RULES = list(CLASS_LOSSES)


def clouds(n=60, d=3, k=3, noise=1.0, seed=0, scale=0.0):
    """Gaussian points, a noisy linear rule, every class present."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, k)) + noise * rng.standard_normal((n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X * np.logspace(-scale, scale, d), y


def corners(n=60, d=3, k=3, gap=4.0, seed=0):
    """k round clusters about far apart centres: separable."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, d))
    centres *= (
        gap / np.linalg.norm(centres[:, None] - centres[None], axis=2)[~np.eye(k, dtype=bool)].min()
    )
    y = np.arange(n) % k
    X = rng.standard_normal((n, d))
    return centres[y] + X * np.minimum(1.0, 1.0 / np.linalg.norm(X, axis=1))[:, None], y


def class_problem(X, y, C=1.0, rule=("max", "hinge"), bias=Bias.FREE, weight=None, k=None):
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    X, bias = posed(X, bias)
    k = int(y.max()) + 1 if k is None else k
    c = costs(C, weight, len(y))
    return MulticlassProblem(as_rows(X), y.astype(np.int64), c, CLASS_LOSSES[rule], k, bias)


def certificate_of(problem: MulticlassProblem, point):
    return certify_classes(problem, point.W, point.b, repair_classes(problem, point.beta))


def class_oracle(problem: MulticlassProblem, X):
    """(optimum, W, b) from clarabel, which shares nothing with our solvers.

    The problem may be that of X with a column of ones: then b is penalised, and the last of W.
    """
    import cvxpy as cp

    penalized = problem.shape[1] == X.shape[1] + 1
    n, k = len(problem.y), problem.k
    own = np.eye(k)[problem.y]
    W, b = cp.Variable((k, X.shape[1])), cp.Variable(k)
    S = X @ W.T
    norm = 0.5 * cp.sum_squares(W)
    if problem.bias or penalized:
        S = S + np.ones((n, 1)) @ cp.reshape(b, (1, k), order="C")
    if penalized:
        norm += 0.5 * cp.sum_squares(b)
    s_y = cp.reshape(cp.sum(cp.multiply(S, own), axis=1), (n, 1), order="C")
    slack = (1.0 - own) + S - s_y @ np.ones((1, k))  # zero for the own class
    if problem.hard:
        question = cp.Problem(cp.Minimize(norm), [slack <= 0])
    else:
        question = cp.Problem(cp.Minimize(norm + problem.c @ _losses(problem.loss, slack)))
    question.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    if penalized:
        return question.value, np.column_stack([W.value, b.value]), np.zeros(k)
    return question.value, W.value, np.zeros(k) if b.value is None else b.value


def _losses(loss, slack):
    import cvxpy as cp

    if isinstance(loss, MaxHinge):
        return cp.max(slack, axis=1)
    if isinstance(loss, MaxSquaredHinge):
        return cp.square(cp.pos(cp.max(slack, axis=1)))
    if isinstance(loss, SumHinge):
        return cp.sum(cp.pos(slack), axis=1)
    return cp.sum(cp.square(cp.pos(slack)), axis=1)
