"""Scores of rows left out by one step, against fits without them."""

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import KernelSVM, LeastSquaresClassifier, LinearSVM, LogisticRegression
from maxmargin.models.calibration.unseen import unseen_scores

RNG = np.random.default_rng(3)
X = RNG.standard_normal((240, 4))
PLANE = X @ [2.0, -1.0, 0.5, 0.0] + 0.7 * RNG.standard_normal(240)
TWO = (PLANE > 0.3).astype(int)
THREE = np.digitize(PLANE, [-1.0, 1.0])
ROWS = np.arange(0, 240, 12)


def left_out(model, y):
    """Scores of ROWS by fits without them."""
    found = []
    for row in ROWS:
        others = np.delete(np.arange(len(y)), row)
        found.append(np.ravel(clone(model).fit(X[others], y[others])._raw_scores(X[[row]])))
    return np.array(found)


def by_one_step(model, y):
    codes = np.searchsorted(model.classes_, y)
    found = unseen_scores(model, X, codes, None, None)
    assert "leave-one-out" in found.way
    return found.scores[np.isin(found.rows, ROWS)]


def centred(F):
    return F - F.mean(axis=1, keepdims=True) if F.shape[1] > 1 else F


@pytest.mark.parametrize("y", [TWO, THREE])
def test_of_squares_one_step_is_leave_one_out(y):
    model = LeastSquaresClassifier(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(by_one_step(model, y), left_out(model, y), atol=1e-7)


@pytest.mark.parametrize("y", [TWO, THREE])
def test_of_smooth_losses_it_is_nearly_so(y):
    model = LogisticRegression(C=0.5).fit(X, y)
    exact = left_out(model, y)
    moved = np.abs(exact - model._raw_scores(X[ROWS]).reshape(exact.shape)).max()
    assert np.abs(by_one_step(model, y) - exact).max() < 0.1 * moved


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearSVM(), TWO),
        (LinearSVM(loss="squared_hinge"), TWO),
        (LinearSVM(penalize_bias=True), TWO),
        (LinearSVM(), THREE),
        (LinearSVM(multiclass="sum"), THREE),
        (LinearSVM(multiclass="pairs"), THREE),
        (KernelSVM(kernel="linear"), TWO),
    ],
)
def test_of_hinges_it_is_nearer_than_the_scores_of_the_fit(model, y):
    model = clone(model).fit(X, y)
    exact, told = centred(left_out(model, y)), centred(by_one_step(model, y))
    seen = centred(model._raw_scores(X[ROWS]).reshape(exact.shape))
    assert np.corrcoef((told - seen).ravel(), (exact - seen).ravel())[0, 1] > 0.45
    if getattr(model, "multiclass", "max") != "max" or len(model.classes_) == 2:
        assert np.mean((told - exact) ** 2) < np.mean((seen - exact) ** 2)


def test_the_kernel_way_agrees_with_the_other():
    linear, kernel = LinearSVM(tol=1e-9).fit(X, TWO), KernelSVM(kernel="linear").fit(X, TWO)
    np.testing.assert_allclose(by_one_step(linear, TWO), by_one_step(kernel, TWO), atol=1e-4)
