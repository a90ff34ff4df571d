"""Scores of rows left out by one step: laws of the formula, and fits without the rows."""

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import (
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    leave_one_out,
)
from maxmargin.models.calibration import slopes
from maxmargin.models.calibration.kernel_one_step import kernel_one_step
from maxmargin.models.calibration.long_steps import LONG_STEP
from maxmargin.models.calibration.one_step import _curvature, _leverages, one_step
from maxmargin.models.calibration.unseen import unseen_scores

RNG = np.random.default_rng(3)
X = RNG.standard_normal((240, 4))
PLANE = X @ [2.0, -1.0, 0.5, 0.0] + 0.7 * RNG.standard_normal(240)
TWO = (PLANE > 0.3).astype(int)
THREE = np.digitize(PLANE, [-1.0, 1.0])
ROWS = np.arange(0, 240, 12)
WEIGHT = 1.0 + np.arange(240) % 3


def left_out(model, y, weight=None, rows=ROWS):
    """Scores of some rows by fits without them, or with one unit of weight less."""
    found = []
    weight = np.ones(len(y)) if weight is None else weight
    for row in rows:
        less = weight.copy()
        less[row] -= 1.0
        there = less > 0
        fitted = clone(model).fit(X[there], y[there], less[there])
        found.append(np.ravel(fitted._raw_scores(X[[row]])))
    return np.array(found)


def by_one_step(model, y, weight=None, rows=ROWS):
    codes = np.searchsorted(model.classes_, y)
    found = unseen_scores(model, X, codes, weight, weight)
    assert "leave-one-out" in found.way
    return found.scores[np.isin(found.rows, rows)]


def centred(F):
    return F - F.mean(axis=1, keepdims=True) if F.shape[1] > 1 else F


def logistic_parts(C=0.5):
    model = LogisticRegression(C=C, tol=1e-12).fit(X, TWO)
    f, y = model.decision_function(X), np.where(TWO == 1, 1.0, -1.0)
    return model, slopes.logistic_slopes(f, y, np.full(240, C))


def test_the_slopes_of_all_rows_hold_the_optimum():
    """Σ g x̃ = −(w, 0): what the rows pull is what the norm pulls back."""
    model, parts = logistic_parts()
    pull = parts.slope[:, 0] @ np.column_stack([X, np.ones(240)])
    np.testing.assert_allclose(pull, -np.append(model.coef_[0], 0.0), atol=1e-5)


def test_the_steps_of_all_rows_add_up_to_one_without_them_all():
    """To first order: Σ H⁻¹g is the step from the optimum when every row has gone a little."""
    _, parts = logistic_parts()
    A = np.column_stack([X, np.ones(240)])
    H = _curvature(A, parts.curvature, 1.0, True)
    steps = np.linalg.solve(H, A.T @ parts.slope[:, 0])
    t = 1e-3  # all costs smaller by this share
    less = LogisticRegression(C=0.5 * (1.0 - t), tol=1e-12).fit(X, TWO)
    more = LogisticRegression(C=0.5 * (1.0 + t), tol=1e-12).fit(X, TWO)
    moved = np.append(less.coef_ - more.coef_, less.intercept_ - more.intercept_) / (2.0 * t)
    np.testing.assert_allclose(moved, steps, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("k", [2, 3])
def test_curvature_times_leverage_counts_the_numbers_held(k):
    """Σ tr(D A) = tr(1 − H⁻¹P) for the penalty P: as many numbers as the rows hold."""
    rng = np.random.default_rng(k)
    m = 1 if k == 2 else k
    root = rng.standard_normal((240, m, m))
    D = root @ root.transpose(0, 2, 1)
    A, ridge = np.column_stack([X, np.ones(240)]), 0.7
    H = _curvature(A, D, ridge, True)
    told = np.einsum("nab,nba->", D, _leverages(A, H))
    penalty = np.tile([ridge] * 4 + [0.0], m)
    held = m * 5 - np.trace(np.linalg.solve(H, np.diag(penalty)))
    np.testing.assert_allclose(told, held, rtol=1e-7)


def test_a_row_without_a_slope_changes_nothing():
    _, parts = logistic_parts()
    parts.slope[7] = 0.0
    out = one_step(X, parts, 1.0, True, np.arange(240))
    assert out[7] == parts.scores[7]
    assert (out[8:] != parts.scores[8:]).all()


def test_every_row_leaves_its_own_side():
    """Without it its label is less sure: (1 − DA) is positive for every convex loss."""
    _, parts = logistic_parts()
    out = one_step(X, parts, 1.0, True, np.arange(240))
    y = np.where(TWO == 1, 1.0, -1.0)
    assert (y * (out - parts.scores)[:, 0] < 0.0).all()


@pytest.mark.parametrize("y", [TWO, THREE])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
def test_of_squares_one_step_is_leave_one_out(y, weight):
    """A row of weight three loses one of its three units."""
    model = LeastSquaresClassifier(alpha=0.5).fit(X, y, weight)
    told, exact = by_one_step(model, y, weight), left_out(model, y, weight)
    np.testing.assert_allclose(told, exact, atol=1e-7)


@pytest.mark.parametrize("y", [TWO, THREE])
def test_of_smooth_losses_the_error_is_of_second_order(y):
    """One of t equal units moves a score by 1/t as much, and errs by 1/t² as much."""
    moved, error = {}, {}
    for t in (1.0, 4.0):
        weight = np.full(240, t)
        model = LogisticRegression(C=0.5 / t, tol=1e-12).fit(X, y, weight)
        exact, told = left_out(model, y, weight, ROWS[:6]), by_one_step(model, y, weight, ROWS[:6])
        seen = model._raw_scores(X[ROWS[:6]]).reshape(exact.shape)
        moved[t], error[t] = np.abs(exact - seen).max(), np.abs(told - exact).max()
    assert 0.2 < moved[4.0] / moved[1.0] < 0.3
    assert error[4.0] < error[1.0] / 8.0
    assert error[1.0] < 0.1 * moved[1.0]


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


def rare_words(n=160, seed=5):
    """Words as scaled columns: a row with a word that few have is long, and alone in it."""
    rng = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, 41) ** 1.5
    words = rng.choice(40, size=(n, 3), p=often / often.sum())
    Z = (words[:, :, None] == np.arange(40)).reshape(n, -1).astype(float)
    Z = Z[:, Z.any(axis=0)]
    y = (Z @ rng.standard_normal(Z.shape[1]) + rng.standard_normal(n) > 0).astype(int)
    return (Z - Z.mean(axis=0)) / Z.std(axis=0), y


def test_steps_of_rows_that_nothing_else_holds_are_cut():
    """One step moves some scores by 167 where 4 is true; the kinks in its way are seen."""
    Z, y = rare_words()
    model = LinearSVM(tol=1e-9).fit(Z, y)
    f, sign, rows = model.decision_function(Z), np.where(y == 1, 1.0, -1.0), np.arange(len(y))
    parts = slopes.hinge_slopes(f, sign, model.alpha_, np.ones(len(y)), 30)
    norms = np.sum(Z**2, axis=1)

    def stepped(parts):
        return kernel_one_step(lambda a, b: Z[a] @ Z[b].T, norms, parts, True, rows)[:, 0]

    exact = leave_one_out(model, Z, y).scores
    far, cut = stepped(parts._replace(kinks=None)), stepped(parts)
    short = np.abs(far - f) <= LONG_STEP
    np.testing.assert_array_equal(cut[short], far[short])
    assert np.abs(far - exact).max() > 100.0
    assert np.abs(cut - exact).max() < 5.0


def test_a_bias_that_no_row_holds_leaves_probabilities():
    """All multipliers at their bounds: rows a little further off hold it."""
    sign = np.repeat([-1.0, 1.0], 100)
    Z = (sign * np.tile(np.linspace(-0.3, 1.0, 100), 2))[:, None]
    model = LinearSVM(C=0.01, probability=True).fit(Z, sign)
    assert not ((model.alpha_ > 1e-9) & (model.alpha_ < 0.01 - 1e-9)).any()
    assert np.abs(model.calibration_.scores).max() < 2.0
    assert model.calibration_.slope > 1.0
