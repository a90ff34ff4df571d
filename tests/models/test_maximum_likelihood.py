"""LogisticRegression(C=inf): maximum likelihood with its proof, or the proof that there is none."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Theirs

from maxmargin import LogisticRegression, SeparatedError, verify

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4)) * [1.0, 100.0, 1e-3, 5.0] + [0.0, 50.0, 1.0, -3.0]
Y = np.where(X[:, 0] + 0.01 * X[:, 1] + rng.standard_normal(300) > 0.5, "yes", "no")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_maximum_and_its_proof(kind):
    model = LogisticRegression(C=np.inf).fit(kind(X), Y)
    assert model.certificate_.holds(1e-9)
    A = np.column_stack([X, np.ones(300)])
    p = model.predict_proba(X)[:, 1]
    assert np.abs(A.T @ (p - (Y == "yes"))).max() < 1e-6
    large = LogisticRegression(C=1e9, tol=1e-9).fit(X / X.std(axis=0), Y)
    np.testing.assert_allclose(p, large.predict_proba(X / X.std(axis=0))[:, 1], atol=1e-5)


def test_as_scikit_learn_without_a_penalty():
    Z, weight = X / X.std(axis=0), np.linspace(0.0, 2.0, 300)
    ours = LogisticRegression(C=np.inf, fit_intercept=False).fit(Z, Y, sample_weight=weight)
    peer = Theirs(C=np.inf, solver="newton-cholesky", tol=1e-10, fit_intercept=False)
    peer.fit(Z, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)


def test_columns_that_repeat_others():
    Z = np.column_stack([X, X[:, :1], np.ones(300)])
    model = LogisticRegression(C=np.inf).fit(Z, Y)
    once = LogisticRegression(C=np.inf).fit(X, Y)
    assert model.certificate_.holds(1e-9)
    np.testing.assert_allclose(model.predict_proba(Z), once.predict_proba(X), atol=1e-8)


def test_separated_classes_have_no_maximum():
    Z, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(SeparatedError, match="classes are separated") as caught:
        LogisticRegression(C=np.inf).fit(Z, y)
    proof = caught.value.proof
    assert proof.complete
    assert (np.where(y == 1, 1, -1) * (Z @ proof.w + proof.b)).min() > 0


def test_nor_have_quasi_separated_ones():
    """One value of a category has only one class: its weight runs away, the others do not."""
    Z = np.column_stack([X[:, 0], rng.random(300) < 0.1])
    y = np.where(Z[:, 1] == 1, "yes", Y)
    with pytest.raises(SeparatedError, match="quasi-separated") as caught:
        LogisticRegression(C=np.inf).fit(Z, y)
    proof = caught.value.proof
    margins = np.where(y == "yes", 1, -1) * (Z @ proof.w + proof.b)
    assert margins.min() >= -1e-7
    assert set(np.flatnonzero(proof.strict)) == set(np.flatnonzero(Z[:, 1] == 1))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = LogisticRegression(C=np.inf).fit(X, Y)
    before = model.coef_
    with pytest.raises(SeparatedError):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.coef_ is before


def test_verify_proves_it_again():
    model = LogisticRegression(C=np.inf).fit(X, Y)
    assert verify(model, X, Y).holds(1e-9)
    assert not verify(model, X[:200], Y[:200]).holds(1e-6)


THREE = np.array(["a", "b", "c"])[
    (X @ [[0.0, 1.0, -0.5], [0.01, 0.0, -0.01], [0.0, 0.0, 0.0], [0.0, 0.1, 0.2]]
     + rng.gumbel(size=(300, 3))).argmax(axis=1)
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_maximum_of_three_classes_and_its_proof(kind):
    model = LogisticRegression(C=np.inf).fit(kind(X), THREE)
    assert model.certificate_.holds(1e-9)
    residual = model.predict_proba(X) - (THREE[:, None] == model.classes_)
    assert np.abs(np.column_stack([X, np.ones(300)]).T @ residual).max() < 1e-6
    assert np.abs(model.coef_.sum(axis=0)).max() < 1e-9 * np.abs(model.coef_).max()
    assert verify(model, X, THREE).holds(1e-9)
    assert not verify(model, X[:200], THREE[:200]).holds(1e-6)


def test_three_classes_as_scikit_learn_without_a_penalty():
    Z, weight = X / X.std(axis=0), np.linspace(0.0, 2.0, 300)
    ours = LogisticRegression(C=np.inf, fit_intercept=False).fit(Z, THREE, sample_weight=weight)
    peer = Theirs(C=np.inf, solver="newton-cholesky", tol=1e-10, fit_intercept=False)
    peer.fit(Z, THREE, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_ - peer.coef_.mean(axis=0), atol=1e-6)


def test_one_of_three_classes_apart_leaves_no_maximum():
    """Iris: setosa lies apart, the others overlap."""
    Z, y = load_iris(return_X_y=True)
    with pytest.raises(SeparatedError, match="quasi-separated \\(150 of 150 rows") as caught:
        LogisticRegression(C=np.inf).fit(Z, y)
    proof = caught.value.proof
    S = Z @ proof.w.T + proof.b
    margins = S[np.arange(150), y][:, None] - S
    assert margins.min() >= -1e-6
    assert margins[y == 0][:, 1:].min() > 0
    assert not proof.complete


def test_three_classes_all_apart():
    Z, y = load_iris(return_X_y=True)
    some = np.r_[0:50, 50:60, 100:110]
    with pytest.raises(SeparatedError, match="classes are separated"):
        LogisticRegression(C=np.inf).fit(Z[some], y[some])


def test_too_many_weights_are_told_what_to_do():
    with pytest.raises(ValueError, match="Use a large C"):
        LogisticRegression(C=np.inf).fit(np.eye(30, 1500), np.arange(30) % 3)
