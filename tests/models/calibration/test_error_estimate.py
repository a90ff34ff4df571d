"""Errors on new rows: intervals that hold the true error as often as they say."""

import numpy as np
import pytest
from scipy.stats import norm

from maxmargin import LinearSVM, LinearSVMCV
from maxmargin.models.calibration.error_estimate import corrected, counted, wilson

DRAWS = 200


def drawn(rng, rows, columns, apart):
    """Two normal classes, and the error that a plane has on them."""
    mean = np.zeros(columns)
    mean[0] = apart
    y = rng.integers(2, size=rows)
    X = rng.standard_normal((rows, columns)) + np.where(y == 1, 1.0, -1.0)[:, None] * mean

    def error(model) -> float:
        w, b = model.coef_[0], float(model.intercept_[0])
        length = np.linalg.norm(w) or 1.0
        return float(norm.cdf([(-w @ mean - b) / length, (b - w @ mean) / length]).mean())

    return X, y, error


def held(model, rows, columns, apart):
    """The share of draws whose interval holds the true error."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(DRAWS):
        X, y, error = drawn(rng, rows, columns, apart)
        found = model.fit(X, y).calibration_.error
        hits += found.low <= error(model) <= found.high
    return hits / DRAWS


@pytest.mark.parametrize(("rows", "columns", "apart"), [(60, 2, 1.0), (100, 5, 0.8)])
def test_intervals_of_rows_left_out(rows, columns, apart):
    assert held(LinearSVM(probability=True), rows, columns, apart) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "apart"), [(60, 2, 1.0), (100, 5, 0.8)])
def test_intervals_corrected_for_the_choice_of_C(rows, columns, apart):
    assert held(LinearSVMCV(Cs=[0.001, 0.01, 0.1, 1, 10, 100]), rows, columns, apart) >= 0.93


def test_the_correction_undoes_the_optimism_of_the_best_of_many():
    """Twenty coins of one half each: the best looks better than it is."""
    wrong = np.random.default_rng(1).random((200, 20)) < 0.5
    best = int(wrong.mean(axis=0).argmin())
    found = corrected(wrong, best)
    assert wrong[:, best].mean() < 0.46 < found.error
    assert found.low < 0.5 < found.high
    assert "corrected for the choice of C" in str(found)


def drawn_one_by_one(wrong, draws, rng):
    """The same correction, every row drawn: its mean and standard error."""
    errors = []
    for _ in range(draws):
        times = np.bincount(rng.integers(len(wrong), size=len(wrong)), minlength=len(wrong))
        best = (times @ wrong).argmin()
        errors.append(wrong[times == 0, best].mean())
    return np.mean(errors), np.std(errors) / np.sqrt(draws)


@pytest.mark.parametrize(("rows", "share"), [(40, 0.2), (300, 0.02), (300, 0.3)])
def test_rows_that_choose_nothing_need_not_be_drawn(rows, share):
    rng = np.random.default_rng(rows)
    wrong = (rng.random(rows) < 0.2)[:, None] ^ (rng.random((rows, 8)) < share)
    mean, error = drawn_one_by_one(wrong, 2_000, rng)
    found = [corrected(wrong, int(wrong.mean(axis=0).argmin()), seed).error for seed in range(4)]
    assert abs(np.mean(found) - mean) < 4.0 * error + 0.002


def test_no_row_that_chooses():
    wrong = np.repeat(np.arange(20) < 3, 4).reshape(20, 4)
    assert corrected(wrong, 2).error == 0.15


def test_one_C_needs_no_correction():
    wrong = np.random.default_rng(2).random((50, 1)) < 0.3
    assert corrected(wrong, 0).error == counted(wrong[:, 0], "leave-one-out").error


def test_wilson():
    assert wilson(0.0, 150) == pytest.approx((0.0, 0.02497), abs=1e-4)
    assert wilson(1.0, 10)[1] == pytest.approx(1.0)
