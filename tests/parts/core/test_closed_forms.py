"""Closed forms over parts are those of memory: they only add up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin import FisherDiscriminant, LeastSquaresClassifier
from maxmargin.parts.solve.closed_form import fisher
from maxmargin.parts.solve.closed_form import least_squares as closed_forms
from maxmargin.parts.solve.closed_form.fisher import solve_fisher
from maxmargin.parts.solve.closed_form.least_squares import solve_least_squares
from maxmargin.parts.solve.closed_form.ridge_path import leave_one_out_parts, solve_ridge_path
from tests.parts.core.helpers import Here

ALPHAS = np.array([0.0, 1e-3, 1.0, 30.0])


def rows(k, n=90, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d) + rng.standard_normal((k, d))[y] + 3.0
    return X, y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "deficient", "weighted"])
def test_every_row_left_out_as_in_memory(k, free, kind):
    X, y = rows(k)
    weight = None
    if kind == "sparse":
        X = sparse.csr_matrix(X * (np.abs(X) > 1.0))
    if kind == "deficient":  # a column twice, and one that is constant
        X = np.column_stack([X, X[:, 0], np.ones(len(y))])
    if kind == "weighted":
        weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    parts = Here(X, y, [3, 40], weight)  # the first has fewer rows than columns
    alpha, found, path = solve_ridge_path(parts, k, ALPHAS, free)
    here = LeastSquaresClassifier(alphas=ALPHAS, fit_intercept=free)
    here.fit(X, y, sample_weight=weight)
    assert alpha == here.alpha_
    assert path.loo.squared_error == pytest.approx(here.path_.loo.squared_error, rel=1e-8)
    assert path.loo.error == pytest.approx(here.path_.loo.error)
    assert path.coef == pytest.approx(here.path_.coef, rel=1e-6, abs=1e-8)
    assert path.intercept == pytest.approx(here.path_.intercept, rel=1e-6, abs=1e-8)
    assert found.coef == pytest.approx(here.coef_, rel=1e-8, abs=1e-9)
    assert found.certificate.holds(1e-9)
    assert found.certificate.objective == pytest.approx(here.certificate_.objective)
    told = leave_one_out_parts(Here(X, y, [50], weight), k, ALPHAS[1:2], free)
    again = here.leave_one_out(X, y, weight, ALPHAS[1:2])
    assert told.squared_error == pytest.approx(again.squared_error, rel=1e-8)
    assert told.scores is None


def test_leaving_out_is_fitting_without():
    X, y = rows(2, n=24, d=3)
    told = leave_one_out_parts(Here(X, y, [5, 11]), 2, np.array([0.7]), True)
    squares, wrong = [], 0
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = LeastSquaresClassifier(alpha=0.7).fit(X[rest], y[rest])
        score = model.decision_function(X[i : i + 1])[0]
        squares.append((2 * y[i] - 1 - score) ** 2)
        wrong += (score > 0) != y[i]
    assert told.squared_error[0] == pytest.approx(np.mean(squares))
    assert told.error[0] == pytest.approx(wrong / len(y))


def test_passes_do_not_grow_with_the_number_of_ridges():
    X, y = rows(3)
    rounds = []
    for count in (2, 20):
        parts = Here(X, y, [40])
        leave_one_out_parts(parts, 3, np.logspace(-2, 2, count), True)
        rounds.append(parts.rounds)
    assert rounds == [4, 4]  # means, products with the targets, Gram matrix, and all rows left out


def test_too_many_features_for_a_path_are_refused_before_any_pass():
    parts = Here(np.zeros((2, closed_forms.MAX_TRIANGLE_COLUMNS + 1)), np.array([0, 1]), [1])
    with pytest.raises(ValueError, match=r"2001 features.*Give one alpha"):
        solve_ridge_path(parts, 2, ALPHAS, True)
    assert parts.rounds == 0


def test_the_smallest_weights_where_many_are_equally_good():
    X, y = rows(3)
    X = np.column_stack([X, X @ np.arange(1.0, 7.0), X[:, 1]])
    found = solve_least_squares(Here(X, y, [20, 55]), 3, 0.0, True)
    here = LeastSquaresClassifier().fit(X, y)
    assert found.certificate.rank == here.certificate_.rank == 6
    assert found.coef == pytest.approx(here.coef_, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("few", [False, True])  # fewer rows of a class than columns
def test_ledoit_and_wolf_add_up(monkeypatch, k, few):
    X, y = rows(k, n=30 if few else 90, d=14 if few else 6)
    X[:, 2] = 5.0  # no deviation at all
    here = FisherDiscriminant(shrinkage="auto").fit(X, y)
    for most in (1, fisher.MAX_PRODUCT_VALUES):  # one class at a time, and all at once
        monkeypatch.setattr(fisher, "MAX_PRODUCT_VALUES", most)
        found, means, share = solve_fisher(Here(X, y, [4, 25]), k, None, False, "auto", k - 1)
        assert means == pytest.approx(here.means_)
        assert share == pytest.approx(here.priors_)
        assert pytest.approx(here.criterion_, rel=1e-9) == found.J
        assert pytest.approx(here.scalings_, rel=1e-6, abs=1e-8) == found.V
        assert found.certificate.holds(1e-9)


def test_shrinkage_of_one_feature_or_of_rows_without_spread():
    X, y = rows(2, d=1)
    here = FisherDiscriminant(shrinkage="auto").fit(X, y)
    found, _, _ = solve_fisher(Here(X, y, [40]), 2, None, False, "auto", 1)
    assert pytest.approx(here.criterion_) == found.J
