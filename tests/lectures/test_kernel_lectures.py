"""Lecture 004: what no line separates, a curve may."""

import numpy as np
import pytest
from sklearn.datasets import make_circles

from maxmargin import KernelSVM, LinearSVM, NotSeparableError, separability


def quadratic_basis(X):
    """φ with φ(x)·φ(z) = (x·z + 1)²."""
    a, b = X.T
    r = np.sqrt(2.0)
    return np.column_stack([a**2, b**2, r * a * b, r * a, r * b, np.ones(len(X))])


def test_circles_are_inseparable_by_a_line_and_separable_by_the_quadratic_kernel():
    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    assert not separability(X, y)
    with pytest.raises(NotSeparableError) as refusal:
        KernelSVM(C=np.inf, kernel="linear").fit(X, y)
    weights = refusal.value.proof.weights
    np.testing.assert_allclose(weights[y == 1] @ X[y == 1], weights[y == 0] @ X[y == 0], atol=1e-6)
    model = KernelSVM(C=np.inf, kernel="poly", degree=2).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.holds(1e-6)
    assert (model.slack_ == 0).all() or model.slack_.max() < 1e-9


@pytest.mark.parametrize("C", [1.0, 50.0, np.inf])
def test_polynomial_kernel_and_explicit_basis_give_the_same_classifier(C):
    X, y = make_circles(120, factor=0.4, noise=0.08, random_state=1)
    kernel = KernelSVM(C, kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=1e-8).fit(X, y)
    explicit = LinearSVM(C, tol=1e-9).fit(quadratic_basis(X), y)
    grid = np.random.default_rng(0).uniform(-1.5, 1.5, (500, 2))
    np.testing.assert_allclose(
        kernel.decision_function(grid), explicit.decision_function(quadratic_basis(grid)), atol=1e-4
    )
    assert kernel.margin_ == pytest.approx(explicit.margin_, rel=1e-5)


def test_points_on_a_line_are_separated_by_their_squares():
    """x and x²: inner points against outer points."""
    x = np.array([-3.0, -2.5, -1.0, 0.0, 0.5, 1.0, 2.5, 4.0])[:, None]
    y = (np.abs(x[:, 0]) > 2).astype(int)
    assert not separability(x, y)
    model = KernelSVM(np.inf, kernel="poly", degree=2, coef0=1.0, gamma=1.0).fit(x, y)
    assert model.score(x, y) == 1.0
    basis = np.column_stack([x[:, 0] ** 2, np.sqrt(2.0) * x[:, 0]])
    assert model.margin_ == pytest.approx(separability(basis, y).margin, rel=1e-6)
