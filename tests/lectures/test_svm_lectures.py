"""The numbers and statements of the lectures on support vector machines."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from maxmargin import LinearSVM, separability


@pytest.fixture(scope="module")
def iris():
    """Sepal width and petal width; setosa against versicolor."""
    X, y = load_iris(return_X_y=True)
    return X[y < 2][:, [1, 3]], y[y < 2]


def test_hard_margin_has_three_support_vectors_at_distance_gamma(iris):
    X, y = iris
    svm = LinearSVM(C=np.inf).fit(X, y)
    assert len(svm.support_) == 3
    assert set(svm.support_kind_) == {"margin"}
    w = svm.coef_[0]
    assert svm.margin_ == pytest.approx(1 / np.linalg.norm(w))
    assert np.abs(svm.signed_distance(X)).min() == pytest.approx(svm.margin_, rel=1e-9)
    assert svm.certificate_.holds(1e-9)
    f = X @ w
    assert svm.intercept_[0] == pytest.approx(-0.5 * (f[y == 1].min() + f[y == 0].max()), abs=1e-9)


def test_smaller_C_wider_margin_more_support_vectors(iris):
    X, y = iris
    fits = [LinearSVM(C=C).fit(X, y) for C in (10, 3, 2, 1, 0.5, 0.1, 0.01)]
    margins = [fit.margin_ for fit in fits]
    expected = [0.291, 0.318, 0.381, 0.446, 0.492, 0.569, 1.581]
    np.testing.assert_allclose(margins, expected, atol=5e-4)
    assert margins == sorted(margins)
    # 12 at C = 0.5, where SVC finds 12 or 13: see the next test.
    assert [len(fit.support_) for fit in fits] == [3, 4, 6, 8, 12, 37, 100]


def test_at_one_half_the_number_of_support_vectors_is_not_unique(iris):
    """Ten points lie on the margins at C = 0.5, five of them on one line, so the multipliers
    are not unique.  SVC finds 12 or 13 depending on the order of the rows (the thirteenth is
    one of two equal rows, with a share of 0.0003); a vertex of the dual optimum, which is
    what we return, has 12."""
    X, y = iris
    rng = np.random.default_rng(0)
    theirs, ours = set(), set()
    for _ in range(12):
        order = rng.permutation(100)
        theirs.add(len(SVC(kernel="linear", C=0.5, tol=1e-9).fit(X[order], y[order]).support_))
        ours.add(len(LinearSVM(C=0.5).fit(X[order], y[order]).support_))
    assert theirs <= {12, 13}
    assert ours == {12}


def test_complementary_slackness_and_the_three_kinds(iris):
    """α = 0: outside; 0 < α < C: on the margin; α = C: slack. w = Σ αᵢyᵢxᵢ, Σ αᵢyᵢ = 0."""
    X, y = iris
    sign = np.where(y == 1, 1.0, -1.0)
    svm = LinearSVM(C=1.0).fit(X, y)
    margins = sign * svm.decision_function(X)
    free = (svm.alpha_ > 0) & (svm.alpha_ < 1)
    assert (margins[svm.alpha_ == 0] >= 1 - 1e-9).all()
    np.testing.assert_allclose(margins[free], 1, atol=1e-9)
    assert (margins[svm.alpha_ == 1] <= 1 + 1e-9).all()
    np.testing.assert_allclose(svm.coef_[0], (svm.alpha_ * sign) @ X, atol=1e-9)
    assert svm.alpha_ @ sign == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(svm.slack_, np.maximum(0, 1 - margins), atol=1e-12)
    kinds = dict(zip(svm.support_, svm.support_kind_, strict=True))
    assert {kinds[i] for i in np.flatnonzero(free)} == {"margin"}
    wrong = LinearSVM(C=0.01).fit(X, y)
    where = wrong.support_[wrong.support_kind_ == "misclassified"]
    assert (wrong.predict(X[where]) != y[where]).all()
    assert (wrong.predict(X) != y).sum() == len(where)


def test_w_zero_costs_C_n(iris):
    X, y = iris
    tiny = LinearSVM(C=1e-8).fit(X, y)
    assert tiny.certificate_.primal == pytest.approx(1e-8 * 100, rel=1e-3)


def test_versicolor_and_virginica_are_not_separable():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    answer = separability(X, y)
    assert not answer.separable
    assert answer.residual < 1e-9
    lam = answer.weights
    assert (lam >= 0).all()
    assert lam[y == 1].sum() == pytest.approx(1)
    assert lam[y == 2].sum() == pytest.approx(1)
    np.testing.assert_allclose(lam[y == 1] @ X[y == 1], lam[y == 2] @ X[y == 2], atol=1e-9)


def test_three_iris_classes_are_not_separable_by_two_features():
    """Sepal width and petal width; weights β of (flower, wrong class) cancel in every class."""
    X, y = load_iris(return_X_y=True)
    X = X[:, [1, 3]]
    answer = separability(X, y)
    assert not answer.separable
    assert answer.classes == 3
    assert answer.residual < 1e-12
    beta = answer.weights
    assert beta.shape == (150, 3)
    assert (beta >= 0).all()
    alpha = np.where(np.eye(3, dtype=bool)[y], beta.sum(axis=1, keepdims=True), -beta)
    np.testing.assert_allclose(alpha.T @ X, 0, atol=1e-12)
    np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-12)
