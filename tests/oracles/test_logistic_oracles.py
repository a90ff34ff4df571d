"""A conic interior-point solver and scikit-learn find the same logistic optimum."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression as Peer

from maxmargin import LogisticRegression
from maxmargin.core.problem.problem import costs

from ..logistic_helpers import blobs

WEIGHT = np.random.default_rng(5).integers(0, 3, 40) + (np.arange(40) < 4).astype(float)


def oracle(X, y, C, weight, free):
    """The optimum from clarabel, which shares nothing with our solvers."""
    import cvxpy as cp

    k = y.max() + 1
    c = costs(C, weight, len(y))
    W, b = cp.Variable((k if k > 2 else 1, X.shape[1])), cp.Variable(k if k > 2 else 1)
    s = X @ W.T + (np.ones((len(y), 1)) @ cp.reshape(b, (1, b.size), order="C") if free else 0)
    if k == 2:
        losses = cp.logistic(-cp.multiply(np.where(y == 1, 1.0, -1.0)[:, None], s))
        loss = c @ cp.reshape(losses, (len(y),), order="C")
    else:
        loss = c @ (cp.log_sum_exp(s, axis=1) - cp.sum(cp.multiply(np.eye(k)[y], s), axis=1))
    question = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + loss))
    return question.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("free", [True, False], ids=["free bias", "no bias"])
@pytest.mark.parametrize(("k", "C"), [(2, 0.1), (2, 30.0), (4, 0.1), (4, 30.0)])
def test_same_optimum_as_clarabel(k, C, free, weight):
    X, y = blobs(40, 3, k, seed=7)
    best = oracle(X, y, C, weight, free)
    for solver in ("newton", "descent") if C < 1 else ("newton",):  # descent is for small C‖x‖²
        model = LogisticRegression(C=C, tol=1e-8, fit_intercept=free, solver=solver)
        proof = model.fit(X, y, sample_weight=weight).certificate_
        assert proof.primal == pytest.approx(best, rel=1e-6), solver
        assert proof.dual <= best * (1 + 1e-7), solver


@pytest.mark.parametrize("load", [load_iris, load_digits])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("two", [True, False], ids=["two classes", "all classes"])
def test_same_weights_as_scikit_learn(load, C, two):
    X, y = load(return_X_y=True)
    X = X[:600] / 16 if load is load_digits else X
    y = (y[: len(X)] > 1).astype(int) if two else y[: len(X)]
    if load is load_digits:
        X = X[:, ::4]  # scikit-learn factors a matrix of all weights
    peer = Peer(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)
    ours = LogisticRegression(C=C, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4 * max(1, np.abs(peer.coef_).max()))
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)
