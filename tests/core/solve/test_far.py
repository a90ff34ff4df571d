"""Rows far from the origin, and very large ones, are solved where numbers are of size one."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVM, LogisticRegression, PairwiseRanker
from maxmargin.core.solve.float_weights import aligned, exact_product
from maxmargin.referee import check


@pytest.mark.parametrize("columns", [1, 3])
def test_aligned_weights_keep_the_score_that_a_rounded_bias_loses(columns):
    rng = np.random.default_rng(columns)
    w, place = rng.standard_normal(columns), 1e10 + rng.standard_normal(columns)
    score, missed = Fraction(0.375), []
    for units in (0, 64, 1024):
        near, b = aligned(w, place, score, units)
        assert np.abs(near - w).max() <= (units + 1) * np.spacing(np.abs(w)).max()
        missed.append(abs(exact_product(near, place) + Fraction(b) - score))
    assert missed[2] <= missed[1] <= missed[0]
    assert missed[2] < missed[0] / 50


def clouds(k: int):
    rng = np.random.default_rng(4)
    return np.round(8 * rng.standard_normal((16, 2))) / 8 + 1e9, np.arange(16) % k


@pytest.mark.parametrize(
    "model",
    [LinearSVM(C=1e3), LinearSVM(C=1e3, multiclass="max"), LogisticRegression(C=10.0)],
    ids=["two", "max", "softmax"],
)
def test_rows_far_from_the_origin_are_proved(model):
    k = 2 if model.get_params().get("multiclass") == "pairs" else 3
    X, y = clouds(k)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fit = model.fit(X, y)
    assert fit.certificate_.holds(1e-6)
    assert check(fit, X, y).verdict == "confirmed"


def test_pairs_of_far_items_are_proved_too():
    X, _ = clouds(2)
    pairs = [(i, j) for i in range(16) for j in range(16) if X[i, 0] > X[j, 0] + 0.5][:30]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fit = PairwiseRanker(C=100.0).fit(X, pairs)
    assert fit.certificate_.holds(1e-6)


@pytest.mark.parametrize("scale", [1e30, 1e140])
def test_very_large_rows_have_their_hard_margin(scale):
    X = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [-2.0, -1.0]]) * scale
    y = np.array([1, 1, 0, 0])
    fit = LinearSVM(C=10.0).fit(X, y)
    assert fit.certificate_.holds(1e-6)
    assert check(fit, X, y).verdict == "confirmed"


def test_what_float64_weights_cannot_say_is_told():
    """Without a bias two weights alone must say where twelve rows near 1e14 lie."""
    X = np.random.default_rng(0).standard_normal((12, 2)) + 1e14
    with pytest.warns(ConvergenceWarning, match="limited by the rounding of float64 weights"):
        model = LinearSVM(C=100.0, fit_intercept=False).fit(X, np.arange(12) % 2)
    assert "limited by the rounding of float64 weights" in model.certificate_.method


def test_one_column_and_its_bias_are_rounded_together():
    X = np.array([[-1.25], [2.625], [0.5], [0.625], [-0.25]]) + 1e14
    assert LinearSVM(C=1e6, tol=1e-9).fit(X, [0, 1, 0, 0, 0]).certificate_.holds(1e-9)
