"""The best non-decreasing function, and probabilities between it and the sigmoid."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from maxmargin import LinearSVM
from maxmargin.core.solve.closed_form.non_decreasing import believed, non_decreasing


@pytest.mark.parametrize("seed", range(6))
def test_it_is_isotonic_regression(seed):
    rng = np.random.default_rng(seed)
    s = np.round(rng.standard_normal(80), seed % 3)  # many are equal
    t, weight = expit(s) + 0.5 * rng.standard_normal(80), rng.uniform(0.1, 3.0, 80)
    weight[rng.random(80) < 0.1] = 0.0
    order = np.argsort(s)
    order = order[weight[order] > 0.0]
    steps = non_decreasing(s[order], t[order], weight[order]).knots()
    assert (np.diff(steps[:, 0]) > 0).all()
    assert (np.diff(steps[:, 1]) >= 0).all()
    there = IsotonicRegression(out_of_bounds="clip").fit(s, t, weight)
    at = np.linspace(-4, 4, 200)
    np.testing.assert_allclose(np.interp(at, *steps.T), there.predict(at), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_of_one_row_or_two(n):
    steps = non_decreasing(np.arange(n) * 1.0, np.array([0.7, 0.2])[:n], np.ones(n))
    np.testing.assert_allclose(np.interp([-1.0, 0.5, 9.0], *steps.knots().T), [0.7, 0.45][n - 1])


def test_steps_are_believed_as_far_as_they_differ_from_the_sigmoid():
    """Of a true sigmoid by less than half, of another truth nearly all; in any unit of weights."""
    rng = np.random.default_rng(0)
    s = np.sort(rng.standard_normal(3000))
    for truth, least, most in ((expit(s), 0.1, 0.5), (np.where(s > 0, 0.9, 0.4), 0.8, 1.0)):
        t = (rng.random(3000) < truth).astype(float)
        steps = non_decreasing(s, t, np.ones(3000))
        share = believed(s, expit(s), np.ones(3000), steps)
        assert least < share < most
        assert believed(s, expit(s), np.full(3000, 7.0), steps) == pytest.approx(share)


def test_a_truth_that_is_no_sigmoid_is_told_better():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (4000, 1))
    truth = np.where(X[:, 0] < -1, 0.05, np.where(X[:, 0] < 1.5, 0.45, 0.55))
    y = rng.random(4000) < truth
    model = LinearSVM(probability=True, class_weight={False: 1.0, True: 1.2}).fit(X[:600], y[:600])
    known = model.calibration_
    f = model.decision_function(X[600:])
    sigmoid = expit(known.slope * f + known.offset[1] - known.offset[0])
    told = model.predict_proba(X[600:])[:, 1]
    assert np.mean((told - truth[600:]) ** 2) < 0.8 * np.mean((sigmoid - truth[600:]) ** 2)
    order = np.argsort(f)
    assert (np.diff(told[order]) >= -1e-12).all()


def test_of_three_classes_or_of_scores_that_tell_nothing_there_are_no_steps():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 2))
    three = LinearSVM(probability=True).fit(X, np.arange(90) % 3)
    assert not three.calibration_.mixed
