"""What scikit-learn is quicker at is left to it, by rules that were measured."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from maxmargin import accelerate
from maxmargin.accelerate.conditioning import PATIENCE
from maxmargin.accelerate.settings import SETTINGS


@pytest.fixture(autouse=True)
def measured_rules(fresh_patch, monkeypatch):
    monkeypatch.setattr(SETTINGS, "every_size", False)
    PATIENCE.forget()


def _digits(decades=0.0):
    """With columns of so many decades of sizes."""
    X, y = load_digits(return_X_y=True)
    return X * 10.0 ** np.random.default_rng(0).uniform(0.0, decades, X.shape[1]), y


def test_a_search_that_does_not_come_near_is_left_to_scikit_learn():
    """lbfgs ends at ``max_iter``; a search that is far after its first steps is not gone on with,
    and a larger C is not begun."""
    X, y = _digits(decades=3.0)
    with accelerate.accelerated(load="now"):
        LogisticRegression(max_iter=100).fit(X, y)
        LogisticRegression(C=10.0, max_iter=100).fit(X[:1700], y[:1700])
    first, second = accelerate.fits()
    assert first.solver == second.solver == "scikit-learn"
    assert "lbfgs reaches max_iter sooner" in first.why
    assert second.why == first.why
    assert second.our_seconds is None


def test_a_search_that_took_more_steps_than_lbfgs_has_is_not_begun_with_a_larger_C():
    X, y = _digits()
    with accelerate.accelerated(load="now"):
        LogisticRegression(C=2.0).fit(X, y)
        LogisticRegression(C=0.001).fit(X, y)
        LogisticRegression(C=4.0).fit(X, y)
    assert [fit.solver for fit in accelerate.fits()] == ["maxmargin", "maxmargin", "scikit-learn"]


def test_a_judged_fit_is_gone_on_with():
    X, y = _digits(decades=3.0)
    with accelerate.accelerated(load="now", compare=True):
        LogisticRegression().fit(X[:400], y[:400])
    (fit,) = accelerate.fits()
    assert fit.solver == "scikit-learn"
    assert fit.their_excess > 0.01


def test_a_linear_kernel_is_solved_by_the_linear_solvers_and_its_multipliers_are_proved():
    X, y = make_classification(1200, 10, flip_y=0.1, random_state=0)
    with accelerate.accelerated(load="now"):
        model = SVC(kernel="linear", C=0.5).fit(X, y)
    (fit,) = accelerate.fits()
    assert fit.solver == "maxmargin"
    assert fit.gap <= 1e-9
    w = model.dual_coef_ @ model.support_vectors_
    assert np.allclose(model.coef_, w, rtol=1e-12)
    assert abs(model.dual_coef_.sum()) < 1e-9
    theirs = SVC(kernel="linear", C=0.5, tol=1e-6).fit(X, y)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LinearSVC(dual=False), "LIBLINEAR is quicker on fewer"),
        (LogisticRegression(), "lbfgs needs few steps"),
        (LogisticRegression(solver="liblinear"), "LIBLINEAR is quicker on fewer"),
        (SVC(), "LIBSVM is quicker"),
    ],
    ids=str,
)
def test_small_fits_are_left_with_the_reason(model, why):
    X, y = make_classification(200, 5, random_state=0)
    with accelerate.accelerated(load="now"):
        model.fit(X, y)
    (fit,) = accelerate.fits()
    assert fit.solver == "scikit-learn"
    assert fit.why.startswith(why)


def test_a_ridge_in_float32_is_left_in_float32():
    X, y = make_classification(8000, 30, random_state=0)
    with accelerate.accelerated(load="now"):
        RidgeClassifier().fit(X.astype(np.float32), y)
        RidgeClassifier().fit(X, y)
    assert [fit.solver for fit in accelerate.fits()] == ["scikit-learn", "maxmargin"]
