"""One Gaussian a class: scikit-learn's answers, and refusals in words."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from maxmargin import QuadraticDiscriminant

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
    model._roots = [np.linalg.cholesky(S) for S in model.covariances_]
    assert not model._certify(flat, Y).holds(1e-3)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"shrinkage": 2.0}, "shrinkage must be"), ({"priors": [0.5, 0.6, 0.1]}, "priors must be")],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        QuadraticDiscriminant(**given).fit(X, Y)
