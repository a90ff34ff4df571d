"""Peers, where they solve the same problem."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from maxmargin import LinearSVM

from ..helpers import cloud


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_svc_linear(C):
    X, y = cloud(200, 5, seed=1)
    peer = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    ours = LinearSVM(C=C).fit(X, y)
    # LIBSVM keeps its kernel values in single precision.
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-4)
    np.testing.assert_array_equal(ours.support_, np.sort(peer.support_))
    order = np.argsort(peer.support_)
    np.testing.assert_allclose(ours.dual_coef_[0], peer.dual_coef_[0][order], atol=1e-4 * C)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_on_its_own_penalised_problem(loss):
    X, y = cloud(200, 5, seed=1)
    peer = LinearSVC(loss=loss, C=0.5, tol=1e-10, max_iter=200_000).fit(X, y)
    ours = LinearSVM(C=0.5, loss=loss, penalize_bias=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)


# Cases that defeat peers, replayed.


def test_centred_iris_does_not_depend_on_the_seed():
    """scikit-learn issue 18264: LinearSVC(loss="hinge") gets stuck, depending on the seed."""
    X, y = load_iris(return_X_y=True)
    X, y = X - X.mean(axis=0), (y == 1).astype(int)
    fits = [LinearSVM(random_state=seed).fit(X, y) for seed in range(5)]
    fits += [LinearSVM(solver="descent", random_state=seed).fit(X, y) for seed in range(3)]
    best = max(fit.certificate_.dual for fit in fits)
    for fit in fits:
        assert fit.certificate_.holds(1e-6)
        assert fit.certificate_.primal == pytest.approx(best, rel=1e-6)


def test_no_plateau_above_the_optimum():
    """scikit-learn issue 22283: hinge LinearSVC stays above plain dual coordinate descent."""
    X, y = cloud(500, 20, noise=3.0, seed=4)
    X = X * 10
    ours = LinearSVM(C=10.0).fit(X, y)
    assert ours.certificate_.holds(1e-6)
    peer = LinearSVC(loss="hinge", C=10.0, max_iter=1000, tol=1e-8, random_state=0)
    with pytest.warns(ConvergenceWarning):
        peer.fit(X, y)
    f = X @ peer.coef_[0] + peer.intercept_[0]
    theirs = 0.5 * peer.coef_[0] @ peer.coef_[0] + 10 * np.maximum(0, 1 - y * f).sum()
    assert ours.certificate_.primal < theirs


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_raw_breast_cancer_is_certified_at_every_C(C):
    X, y = load_breast_cancer(return_X_y=True)
    for loss in ("hinge", "squared_hinge"):
        fit = LinearSVM(C=C, loss=loss).fit(X, y)
        assert fit.certificate_.holds(1e-6), (C, loss, str(fit.certificate_))
