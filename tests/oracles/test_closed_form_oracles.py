"""The closed forms against scikit-learn, where it solves the same problem."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.linear_model import RidgeClassifier, RidgeCV
from sklearn.metrics.pairwise import pairwise_kernels

from maxmargin import (
    FisherDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
    LeastSquaresClassifier,
)

SETS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_classifier(name, alpha, intercept):
    """Their targets are −1 and 1 for every class: twice ours, less one, where there is a bias."""
    X, y = SETS[name](return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    two = len(np.unique(y)) == 2
    if not (two or intercept):
        pytest.skip("k > 2 without a bias: their targets of −1 and 1 are another problem")
    theirs = RidgeClassifier(alpha, fit_intercept=intercept, solver="svd").fit(X, y, weight)
    factor = 1 if two else 2
    for make in (np.asarray, sparse.csr_array):
        ours = LeastSquaresClassifier(alpha, fit_intercept=intercept).fit(make(X), y, weight)
        size = np.abs(theirs.coef_).max()
        np.testing.assert_allclose(
            factor * ours.coef_, np.atleast_2d(theirs.coef_), atol=1e-7 * size
        )
        scores = factor * ours.decision_function(X) - (factor - 1)
        np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-6)
        assert (ours.predict(X) == theirs.predict(X)).all()


def test_the_leave_one_out_errors_of_ridge_cv():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    alphas = [0.1, 1.0, 10.0]
    theirs = RidgeCV(alphas, store_cv_results=True).fit(X, 2.0 * y - 1.0)
    ours = LeastSquaresClassifier(alphas=alphas).fit(X, y)
    np.testing.assert_allclose(
        ours.path_.loo.squared_error, theirs.cv_results_.mean(axis=0), rtol=1e-9
    )
    assert ours.alpha_ == theirs.alpha_


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0, "auto"])
def test_linear_discriminant_analysis(name, shrinkage):
    X, y = SETS[name](return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    ours = FisherDiscriminant(shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    shares = theirs.predict_proba(X)
    some = shares > 1e-8  # theirs are 1 − p for two classes
    np.testing.assert_allclose(ours.predict_log_proba(X)[some], np.log(shares[some]), atol=1e-5)
    np.testing.assert_allclose(ours.means_, theirs.means_)


@pytest.mark.parametrize("name", SETS)
def test_their_projection(name):
    """The same directions; their length differs only by convention."""
    X, y = SETS[name](return_X_y=True)
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    ours = FisherDiscriminant().fit(X, y)
    A, B = ours.transform(X), theirs.transform(X)
    assert A.shape == B.shape
    for a, b in zip(A.T, B.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-9
    )
    assert ours.get_feature_names_out()[0] == "fisherdiscriminant0"


def test_priors():
    X, y = load_wine(return_X_y=True)
    priors = [0.1, 0.3, 0.6]
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=priors).fit(X, y)
    ours = FisherDiscriminant(priors=priors).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    even = FisherDiscriminant(priors=priors, threshold="midpoint").fit(X, y)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        f = even.decision_function(0.5 * (even.means_[[a]] + even.means_[[b]]))[0]
        assert f[a] == pytest.approx(f[b], abs=1e-7)


def test_fewer_rows_than_columns():
    """Where the covariance is singular both take its pseudo-inverse, of standardised features."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:50], y[:50]
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    ours = FisherDiscriminant().fit(X, y)
    a, b = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(a - a[:, :1], b - b[:, :1], atol=1e-6 * np.ptp(b))
    assert not ours.certificate_.full_rank
    assert "consider shrinkage" in str(ours.certificate_)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("weighted", [True, False])
def test_kernel_ridge(kernel, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    new = rng.standard_normal((20, 4))
    weight = rng.random(80) + 0.1 if weighted else None
    theirs = TheirKernelRidge(alpha=0.3, kernel=kernel, gamma=0.2).fit(X, y, weight)
    ours = KernelRidge(0.3, kernel=kernel, gamma=0.2).fit(X, y, weight)
    np.testing.assert_allclose(ours.dual_coef_[:, 0], theirs.dual_coef_, atol=1e-10)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-10)
    K = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=0.2, degree=3, coef0=1)
    given = KernelRidge(0.3, kernel="precomputed").fit(K, y, weight)
    np.testing.assert_allclose(given.dual_coef_, ours.dual_coef_, atol=1e-9)
    thin = KernelRidge(0.3, kernel=kernel, gamma=0.2).fit(sparse.csr_array(X), y, weight)
    np.testing.assert_allclose(thin.dual_coef_, ours.dual_coef_, atol=1e-9)


def test_a_large_kernel_system_in_float32_and_back():
    """A factor in float32, an answer in float64."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = rng.integers(0, 3, 600)
    ours = KernelRidgeClassifier(0.5, gamma=0.3).fit(X, y)
    assert ours.certificate_.factorisation == "Cholesky in float32"
    assert ours.certificate_.holds(1e-10)
    # What is left of it is the bound on the rounding of its own evaluation.
    assert ours.certificate_.relative_residual - ours.certificate_.rounding <= 1e-11
    theirs = TheirKernelRidge(alpha=0.5, kernel="rbf", gamma=0.3).fit(X, np.eye(3)[y])
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict(X), atol=1e-9)
