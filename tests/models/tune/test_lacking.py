"""Folds that lack a class, and the weights of every fold and C."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegressionCV as Theirs

from maxmargin import KernelSVMCV, LinearSVMCV, LogisticRegression, LogisticRegressionCV

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["a", "b", "c"])[Y]
ALL = np.arange(150)
LACKING = [(ALL[:100], ALL[100:]), (ALL[::2], ALL[1::2]), (ALL, ALL[:50])]


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_probabilities_of_a_class_that_was_never_seen_are_zero(scoring):
    """scikit-learn gives such a class a bias that ends somewhere; where all folds have all classes
    the two agree."""
    model = LogisticRegressionCV(Cs=[0.1, 1.0], cv=LACKING, scoring=scoring, tol_cv=1e-6)
    scores = model.fit(X, WORDS).scores_
    theirs = Theirs(
        Cs=[0.1, 1.0], cv=LACKING, scoring=scoring, l1_ratios=(0,), max_iter=10_000,
        use_legacy_attributes=False,
    ).fit(X, WORDS)  # fmt: skip
    np.testing.assert_allclose(scores[1:], theirs.scores_[1:, 0], atol=1e-3)
    assert (scores[0] < scores[1]).all()


def test_a_scorer_without_labels_is_left_as_it_is():
    model = LinearSVMCV(Cs=[0.1], cv=LACKING, scoring="f1_macro").fit(X, WORDS)
    assert model.scores_[0] == 0.0


@pytest.mark.parametrize("kind", [LinearSVMCV, LogisticRegressionCV])
def test_weights_of_every_fold_and_C(kind):
    model = kind(Cs=[0.1, 1.0], cv=LACKING, tol_cv=1e-6).fit(X, WORDS)
    assert model.coefs_paths_.shape == (3, 2, 3, 5)
    assert np.isnan(model.coefs_paths_[0, :, 2]).all()
    assert np.isfinite(model.coefs_paths_[0, :, :2]).all()
    whole = model.coefs_paths_[2, model.best_index_]
    np.testing.assert_allclose(whole[:, :4], model.coef_, atol=1e-2)
    assert not hasattr(model.plain(), "coefs_paths_")


def test_they_are_the_weights_of_a_fit_to_the_fold():
    model = LogisticRegressionCV(Cs=[1.0], cv=LACKING[1:2], tol_cv=1e-8).fit(X, WORDS)
    alone = LogisticRegression(tol=1e-8).fit(X[::2], WORDS[::2])
    np.testing.assert_allclose(model.coefs_paths_[0, 0, :, :4], alone.coef_, atol=1e-3)


def test_a_kernel_has_none():
    assert not hasattr(KernelSVMCV(Cs=[1.0], cv=2).fit(X, Y), "coefs_paths_")
