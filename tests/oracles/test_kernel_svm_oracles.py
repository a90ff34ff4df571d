"""KernelSVM against solvers that share nothing with it."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC

from maxmargin import KernelSVM, LinearSVM

from ..kernel_helpers import kernel_optimum, rings


@pytest.mark.parametrize("C", [0.1, 3.0, 200.0])
@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        ("rbf", {"gamma": 0.7}),
        ("poly", {"degree": 3, "coef0": 1.0, "gamma": 0.5}),
        ("laplacian", {"gamma": 0.5}),
    ],
)
@pytest.mark.parametrize("n", [70, 340])
def test_clarabel_finds_the_same_optimum(C, kernel, given, n):
    X, y = rings(n)
    weight = np.random.default_rng(3).random(n) * 2.0
    model = KernelSVM(C, kernel=kernel, tol=1e-7, **given).fit(X, y, sample_weight=weight)
    optimum = kernel_optimum(X, y, C, kernel, weight=weight, **given)
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-5)
    assert model.certificate_.dual == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_svc_agrees_on_two_classes(C):
    X, y = rings(500)
    ours = KernelSVM(C, tol=1e-8).fit(X, y)
    theirs = SVC(C=C, tol=1e-8).fit(X, y)
    assert ours.gamma_ == pytest.approx(theirs._gamma)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert set(theirs.support_) >= set(ours.support_[ours.alpha_[ours.support_] > 1e-5 * C])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_svc_agrees_on_pairs(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = KernelSVM().fit(X, y), SVC(tol=1e-8).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(
        np.sort(np.abs(ours.intercept_)), np.sort(np.abs(theirs.intercept_)), atol=1e-4
    )


def test_class_weight_as_in_svc():
    X, y = rings(300)
    weight = {1.0: 5.0, -1.0: 0.5}
    ours = KernelSVM(class_weight=weight).fit(X, y)
    theirs = SVC(class_weight=weight, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("multiclass", ["pairs", "rest", "max", "sum"])
def test_the_linear_kernel_is_the_linear_machine(multiclass):
    X, y = load_iris(return_X_y=True)
    kernel = KernelSVM(kernel="linear", multiclass=multiclass, tol=1e-8).fit(X, y)
    linear = LinearSVM(multiclass=multiclass, tol=1e-8).fit(X, y)
    assert kernel.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(kernel.dual_coef_ @ X[kernel.support_], linear.coef_, atol=1e-4)
    assert (kernel.predict(X) == linear.predict(X)).all()


def test_joint_rules_are_the_linear_rules_on_the_explicit_basis():
    X, y = load_wine(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :2]
    basis = np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1], np.sqrt(2) * X])
    for multiclass in ("max", "sum"):
        kernel = KernelSVM(kernel="poly", degree=2, gamma=1.0, coef0=1.0, multiclass=multiclass)
        kernel.fit(X, y)
        linear = LinearSVM(multiclass=multiclass, tol=1e-9).fit(basis, y)
        assert kernel.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-6)
        np.testing.assert_allclose(
            kernel.decision_function(X), linear.decision_function(basis), atol=1e-4
        )


def test_every_rule_learns_digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:700] / 16.0, y[:700]
    theirs = SVC().fit(X[:500], y[:500]).score(X[500:], y[500:])
    for multiclass in ("pairs", "rest", "max", "sum"):
        model = KernelSVM(multiclass=multiclass).fit(X[:500], y[:500])
        assert model.certificate_.holds(1e-3)
        assert model.score(X[500:], y[500:]) > theirs - 0.05
