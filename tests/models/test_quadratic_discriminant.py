"""One Gaussian a class: scikit-learn's answers, and refusals in words."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from maxmargin import QuadraticDiscriminant, verify

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_the_gaussians(classes):
    X_, y = X[: 50 * classes], Y[: 50 * classes]
    ours = QuadraticDiscriminant().fit(X_, y)
    for c in range(classes):
        np.testing.assert_allclose(ours.covariances_[c], np.cov(X_[y == c].T, bias=True))
    # scikit-learn divides by n − 1; the same Gaussians by hand.
    logs = np.column_stack([
        -0.5 * np.einsum("ij,jk,ik->i", X_ - m, np.linalg.inv(S), X_ - m)
        - 0.5 * np.linalg.slogdet(S)[1]
        for m, S in zip(ours.means_, ours.covariances_, strict=True)
    ])  # fmt: skip
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        ours.predict_proba(X_), share / share.sum(axis=1, keepdims=True), atol=1e-9
    )
    theirs = QuadraticDiscriminantAnalysis().fit(X_, y)
    assert (ours.predict(X_) == theirs.predict(X_)).mean() > 0.99
    assert ours.certificate_.holds(1e-10)


def test_shrinkage_makes_an_inverse_and_the_certificate_knows_it():
    flat = np.column_stack([X, X[:, 0]])  # a column twice
    with pytest.raises(ValueError, match=r"class .* do not vary in all 5 features"):
        QuadraticDiscriminant().fit(flat, Y)
    model = QuadraticDiscriminant(shrinkage=0.1).fit(flat, Y)
    assert model.certificate_.holds(1e-9)
    assert model.score(flat, Y) > 0.95
    model.covariances_[0] *= 2.0
    assert not verify(model, flat, Y).holds(1e-3)


def minus_log_likelihood(model, X, y):
    total = 0.0
    for c, (m, S) in enumerate(zip(model.means_, model.covariances_, strict=True)):
        Z = X[y == c] - m
        quadratic = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(S), Z)
        total += (0.5 * (quadratic + np.linalg.slogdet(S)[1]) - np.log(model.priors_[c])).sum()
    return total / len(y)


def test_the_certificate_is_the_likelihood_that_is_missing():
    model = QuadraticDiscriminant().fit(X, Y)
    best = minus_log_likelihood(model, X, Y)
    assert 0 <= model.certificate_.excess < 1e-12
    rng = np.random.default_rng(0)
    model.means_ = model.means_ + 0.01 * rng.standard_normal(model.means_.shape)
    model.covariances_ = model.covariances_ * 1.1
    model.priors_ = np.array([0.3, 0.3, 0.4])
    found = verify(model, X, Y)
    assert found.excess == pytest.approx(minus_log_likelihood(model, X, Y) - best, rel=1e-9)
    assert not found.holds(1e-3)


def test_a_row_of_weight_two_is_a_row_twice():
    counts = np.tile([1, 2, 3], 50)
    weighted = QuadraticDiscriminant().fit(X, Y, counts)
    repeated = QuadraticDiscriminant().fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-12)
    np.testing.assert_allclose(weighted.priors_, repeated.priors_, rtol=1e-12)
    assert verify(weighted, X, Y, counts).holds(1e-10)
    assert not verify(weighted, X, Y).holds(1e-3)
    with pytest.raises(ValueError, match="The 0 rows of class"):
        verify(weighted, X[:100], Y[:100])


@pytest.mark.parametrize(
    ("given", "words"),
    [({"shrinkage": 2.0}, "shrinkage must be"), ({"priors": [0.5, 0.6, 0.1]}, "priors must be")],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        QuadraticDiscriminant(**given).fit(X, Y)
