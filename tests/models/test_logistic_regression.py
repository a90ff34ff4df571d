"""LogisticRegression as a user meets it: attributes, frames, budgets, warm starts, errors."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import LogisticRegression, verify

from ..helpers import cloud
from ..interrupts import press_ctrl_c
from ..logistic_helpers import blobs

CLASSES = pytest.mark.parametrize("k", [2, 4])
SOLVER = pytest.mark.parametrize("solver", ["newton", "descent"])


@parametrize_with_checks([LogisticRegression(), LogisticRegression(tol=1e-10)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@CLASSES
def test_fitted_attributes_and_probabilities(k):
    X, y = blobs(90, 3, k)
    model = LogisticRegression(C=0.5).fit(X, y)
    rows = 1 if k == 2 else k
    assert model.coef_.shape == (rows, 3)
    assert model.intercept_.shape == (rows,)
    assert model.history_[-1].relative_gap <= 1e-6
    assert model.solver_ == "newton"
    assert "columns" in model.solver_reason_
    assert model.decision_function(X).shape == ((90,) if k == 2 else (90, k))
    p = model.predict_proba(X)
    assert p.shape == (90, k)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1000
    assert "proved within" in str(model.certificate_)
    assert clone(model).C == 0.5


def test_names_labels_and_class_weights():
    X, y = blobs(80, 2, 3)
    names = np.array(["ash", "birch", "cedar"])[y]
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame({"length": X[:, 0], "width": X[:, 1]})
        model = LogisticRegression().fit(table, names)
        assert list(model.feature_names_in_) == ["length", "width"]
        assert set(model.predict(table)) <= set(names)
    by_class = LogisticRegression(class_weight={"ash": 5.0}).fit(X, names)
    by_row = LogisticRegression().fit(X, names, sample_weight=np.where(y == 0, 5.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-9)
    assert LogisticRegression(class_weight="balanced").fit(X, names).certificate_.holds(1e-6)


@CLASSES
@SOLVER
def test_warm_start_reaches_the_same_optimum_sooner(k, solver):
    X, y = blobs(400, 5, k, seed=3)
    warm = LogisticRegression(solver=solver, warm_start=True).fit(X, y)
    warm.set_params(C=1.1).fit(X, y)
    cold = LogisticRegression(C=1.1, solver=solver).fit(X, y)
    assert warm.certificate_.holds(1e-6)
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)
    assert warm.n_iter_ <= cold.n_iter_
    again = warm.fit(X, y)
    assert again.n_iter_ <= 2
    warm.fit(X[:100, :4], y[:100])  # other columns: from the beginning
    assert warm.certificate_.holds(1e-6)


@CLASSES
@SOLVER
def test_budgets_keep_the_best_model_and_say_its_gap(k, solver):
    X, y = blobs(3000, 30, k, spread=3.0, seed=1)
    with pytest.warns(ConvergenceWarning, match=r"max_seconds.*relative gap.*To get closer"):
        model = LogisticRegression(solver=solver, max_seconds=1e-4).fit(X, y)
    assert np.isfinite(model.certificate_.dual)
    assert model.certificate_.feasible
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LogisticRegression(solver=solver, max_iter=2).fit(X, y)
    assert model.n_iter_ <= 2
    assert model.predict(X).shape == (3000,)


@CLASSES
@SOLVER
def test_interrupt_leaves_a_usable_model(k, solver, monkeypatch):
    """A real signal, sent at the third iteration."""
    press_ctrl_c(monkeypatch, 3)
    X, y = blobs(3000, 30, k, spread=3.0, seed=1)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = LogisticRegression(solver=solver, C=1000.0).fit(X, y)
    assert model.certificate_.feasible
    assert model.predict(X).shape == (3000,)


def test_verbose_shows_progress(capfd):
    X, y = blobs(300, 5, 3)
    LogisticRegression(verbose=2).fit(X, y)
    shown = capfd.readouterr()
    assert "relative gap" in shown.err
    assert shown.out == ""


@CLASSES
def test_large_float32_is_not_copied(k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 100), dtype=np.float32)
    f = X[:, :5].sum(axis=1) + rng.standard_normal(40_000)
    y = np.digitize(f, np.quantile(f, np.linspace(0, 1, k + 1)[1:-1]))
    for some in (5_000, 11_000):  # kernels of few and of many values are compiled, too
        LogisticRegression().fit(X[:some], y[:some])
    tracemalloc.start()
    model = LogisticRegression().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.certificate_.holds(1e-6)
    assert peak < 1.0 * X.nbytes  # a float64 copy alone would be twice the data


# --- hard cases -----------------------------------------------------------------------


@CLASSES
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e4])
def test_features_from_a_millionth_to_a_million(k, C):
    X, y = blobs(300, 7, k, seed=8)
    X = np.column_stack([X * np.logspace(-6, 6, 7), np.ones(300), np.full(300, 1e6)])
    model = LogisticRegression(C=C).fit(X, y)
    assert model.certificate_.holds(1e-6), str(model.certificate_)


@CLASSES
def test_separable_with_a_huge_C(k):
    X, y = blobs(60, 4, k, spread=0.02, seed=1)
    model = LogisticRegression(C=1e6).fit(X, y)
    assert model.certificate_.holds(1e-6), str(model.certificate_)
    assert model.score(X, y) == 1.0


def test_a_class_with_one_example():
    X, y = blobs(80, 3, 3, seed=2)
    y = np.where(np.arange(80) == 7, 9, y)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.holds(1e-6)
    assert model.coef_.shape == (4, 3)


def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    y = np.arange(1000)
    X = rng.standard_normal((1000, 8))[y] + 0.1 * rng.standard_normal((1000, 8))
    model = LogisticRegression(tol=1e-4).fit(X, y)
    assert model.certificate_.holds(1e-4)


@CLASSES
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_more_columns_than_rows(k, storage):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((25, 300)) * (rng.random((25, 300)) < 0.2)
    model = LogisticRegression(C=3.0).fit(storage(X), np.arange(25) % k)
    assert model.certificate_.holds(1e-6)


def test_two_points():
    model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    assert model.certificate_.holds(1e-6)
    assert list(model.predict([[-1.0], [2.0]])) == ["no", "yes"]


@CLASSES
@SOLVER
def test_empty_rows_and_weights_of_zero(k, solver):
    X, y = blobs(120, 5, k, seed=6)
    X[np.abs(X) < 0.8] = 0.0
    X[::7] = 0.0
    weight = (np.arange(120) % 5 != 4).astype(float)
    model = LogisticRegression(solver=solver).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    kept = LogisticRegression(solver=solver).fit(X[weight > 0], y[weight > 0])
    assert model.certificate_.holds(1e-6)
    assert model.certificate_.primal == pytest.approx(kept.certificate_.primal, rel=3e-6)


@CLASSES
@pytest.mark.parametrize("C", [1e-8, 1e8])
def test_extreme_prices_on_overlapping_classes(k, C):
    X, y = blobs(200, 3, k, spread=2.0, seed=3)
    model = LogisticRegression(C=C).fit(X, y)
    assert model.certificate_.holds(1e-6), str(model.certificate_)


@CLASSES
def test_float32_far_from_the_origin(k):
    X, y = blobs(300, 4, k, seed=4)
    far = (X + 3000.0).astype(np.float32)
    model = LogisticRegression().fit(far, y)
    same = LogisticRegression().fit(far.astype(np.float64), y)
    assert model.certificate_.holds(1e-6)
    assert model.certificate_.primal == pytest.approx(same.certificate_.primal, rel=2e-6)


def test_unscaled_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    assert verify(model, X, y).holds(1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_ties_duplicates_and_conflicts_still_end_with_a_proof(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (20, 2)).astype(float)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, 17)])
    weight = np.concatenate([np.ones(3), rng.integers(0, 4, 17)])
    model = LogisticRegression(C=10.0 ** rng.integers(-6, 7)).fit(X, y, sample_weight=weight)
    assert model.certificate_.holds(1e-6)


# --- bad input ------------------------------------------------------------------------

X0, Y0 = cloud(20, 2)
BAD = [
    ({}, np.where(X0 > 1, np.nan, X0), Y0, "NaN"),
    ({}, X0, np.ones(20), "two classes"),
    ({}, X0, Y0[:7], "inconsistent"),
    ({}, X0, np.linspace(0, 1, 20), "Unknown label type"),
    ({"C": 0}, X0, Y0, "C must be a positive, finite number, got C=0"),
    ({"C": np.inf}, X0, X0[:, 0] > 0, "no best model.*separated"),
    ({"C": "one"}, X0, Y0, "C must be"),
    ({"tol": 0.0}, X0, Y0, "tol must be"),
    ({"max_iter": 0}, X0, Y0, "max_iter must be"),
    ({"max_seconds": -1}, X0, Y0, "max_seconds must be"),
    ({"solver": "magic"}, X0, Y0, "'auto', 'newton', 'descent'"),
    ({"class_weight": {-1.0: -1.0}}, X0, Y0, "class_weight must hold finite weights"),
]


@pytest.mark.parametrize(("settings", "X", "y", "message"), BAD, ids=[case[-1] for case in BAD])
def test_bad_input_is_refused_and_nothing_half_fitted_remains(settings, X, y, message):
    model = LogisticRegression(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError):
        model.predict(X0)


def test_no_warning_when_solved():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(X0, Y0)
