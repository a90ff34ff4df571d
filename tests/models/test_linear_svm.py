"""LinearSVM as a user meets it: attributes, frames, budgets, warm starts, errors."""

import os
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVM, NotSeparableError, verify

from ..helpers import cloud, separable_cloud
from ..interrupts import press_ctrl_c


def test_fitted_attributes():
    X, y = cloud(80, 3)
    fit = LinearSVM(C=0.5).fit(X, y)
    assert fit.coef_.shape == (1, 3)
    assert fit.intercept_.shape == (1,)
    assert fit.alpha_.shape == fit.slack_.shape == (80,)
    assert fit.dual_coef_.shape == (1, len(fit.support_))
    np.testing.assert_allclose(fit.dual_coef_[0], (fit.alpha_ * y)[fit.support_])
    assert set(fit.support_kind_) <= {"margin", "inside", "misclassified"}
    assert fit.history_[-1].relative_gap <= 1e-6
    assert fit.n_iter_ >= 1
    assert fit.solver_ == "tiny"
    assert "one compiled call" in fit.solver_reason_
    assert fit.n_features_in_ == 3
    np.testing.assert_allclose(
        fit.signed_distance(X), fit.decision_function(X) / np.linalg.norm(fit.coef_)
    )


def test_certificate_prints_renders_and_converts():
    X, y = cloud(80, 3)
    certificate = LinearSVM().fit(X, y).certificate_
    assert "proved within" in str(certificate)
    assert certificate._repr_html_().startswith("<table>")
    content = certificate.to_dict()
    assert content["gap"] == certificate.primal - certificate.dual
    assert set(content["kkt_violation"]) == {"zero", "free", "bound"}
    assert max(content["kkt_violation"].values()) < 1e-6


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [0, 1], [-7, 3], [1.0, 2.0]])
def test_labels_of_any_kind(labels):
    X, y = cloud(50, 2)
    target = np.array(labels)[(y > 0).astype(int)]
    fit = LinearSVM().fit(X, target)
    assert set(fit.predict(X)) <= set(labels)
    np.testing.assert_array_equal(fit.classes_, np.unique(target))
    assert fit.score(X, target) > 0.7


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame):
    X, y = cloud(50, 2)
    table = frame({"length": X[:, 0], "width": X[:, 1]})
    fit = LinearSVM().fit(table, y)
    assert list(fit.feature_names_in_) == ["length", "width"]
    np.testing.assert_allclose(fit.coef_, LinearSVM().fit(X, y).coef_)
    np.testing.assert_array_equal(fit.predict(table), fit.predict(table))
    if frame is pd.DataFrame:
        with pytest.raises(ValueError, match="feature names"):
            fit.predict(table.rename(columns={"width": "depth"}))


def test_works_with_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), LinearSVM())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.95
    search = GridSearchCV(pipe, {"linearsvm__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_estimator_[-1].certificate_.holds(1e-6)
    assert clone(LinearSVM(C=3)).C == 3


def test_class_weight_is_weight_by_class():
    X, y = cloud(80, 3)
    by_class = LinearSVM(class_weight={-1.0: 1.0, 1.0: 5.0}).fit(X, y)
    by_row = LinearSVM().fit(X, y, sample_weight=np.where(y > 0, 5.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-9)
    assert LinearSVM(class_weight="balanced").fit(X, y).certificate_.holds(1e-6)


@pytest.mark.parametrize("solver", ["newton", "descent"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_warm_start_reaches_the_same_optimum(solver, loss):
    X, y = cloud(400, 5, seed=3)
    warm = LinearSVM(C=1.0, solver=solver, loss=loss, warm_start=True).fit(X, y)
    warm.set_params(C=2.0).fit(X, y)
    cold = LinearSVM(C=2.0, loss=loss).fit(X, y)
    assert warm.certificate_.holds(1e-6)
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)
    warm.fit(X[:100], y[:100])  # other rows: the weights still help
    assert warm.certificate_.holds(1e-6)


@pytest.mark.parametrize("solver", ["newton", "descent", "interior"])
def test_time_limit_keeps_the_best_model_and_says_its_gap(solver):
    X, y = cloud(3000, 30, seed=1)
    with pytest.warns(ConvergenceWarning, match=r"max_seconds.*relative gap.*To get closer"):
        fit = LinearSVM(solver=solver, max_seconds=1e-4).fit(X, y)
    assert np.isfinite(fit.certificate_.dual)
    assert fit.certificate_.relative_gap > 1e-6
    assert fit.predict(X).shape == (3000,)


@pytest.mark.parametrize("solver", ["newton", "descent", "interior"])
def test_iteration_limit(solver):
    X, y = cloud(3000, 30, seed=1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fit = LinearSVM(solver=solver, max_iter=2).fit(X, y)
    assert fit.n_iter_ <= 2


@pytest.mark.parametrize("solver", ["newton", "descent", "interior"])
def test_interrupt_leaves_a_usable_model(solver, monkeypatch):
    """A real signal, sent at the fifth iteration."""
    press_ctrl_c(monkeypatch, 5)
    X, y = cloud(3000, 30, seed=1)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        fit = LinearSVM(solver=solver, C=1000.0).fit(X, y)
    assert fit.certificate_.feasible
    assert fit.predict(X).shape == (3000,)


def test_verbose_shows_progress(capfd):
    X, y = cloud(3000, 30, seed=1)
    LinearSVM(solver="newton", verbose=2).fit(X, y)
    shown = capfd.readouterr()
    assert "relative gap" in shown.err
    assert shown.out == ""


def test_large_float32_is_not_copied():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 100), dtype=np.float32)
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(40_000) > 0, 1, 0)
    LinearSVM().fit(X[:5000], y[:5000])
    tracemalloc.start()
    fit = LinearSVM().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fit.certificate_.holds(1e-6)
    assert peak < 1.0 * X.nbytes  # a float64 copy alone would be twice the data


def test_fit_is_repeatable():
    X, y = cloud(5000, 60, seed=2)
    one, two = LinearSVM().fit(X, y), LinearSVM().fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.alpha_, two.alpha_)


# --- hard margin ----------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hard_margin_of_either_loss_is_the_same(loss):
    X, y = separable_cloud(60, 3)
    fit = LinearSVM(C=np.inf, loss=loss).fit(X, y)
    assert fit.certificate_.holds(1e-6)
    assert (y * fit.decision_function(X)).min() == pytest.approx(1.0, abs=1e-9)
    assert fit.slack_.max() <= 1e-9


def test_hard_margin_on_inseparable_data_carries_the_proof():
    X, y = cloud(80, 3)
    with pytest.raises(NotSeparableError, match=r"finite C") as caught:
        LinearSVM(C=np.inf).fit(X, y)
    proof = caught.value.proof
    assert not proof.separable
    assert proof.residual < 1e-9
    assert isinstance(caught.value, ValueError)


def test_weight_zero_frees_a_hard_margin():
    X, y = separable_cloud(60, 3)
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    with pytest.raises(NotSeparableError):
        LinearSVM(C=np.inf).fit(X, y)
    weight = np.append(np.ones(60), 0.0)
    assert LinearSVM(C=np.inf).fit(X, y, sample_weight=weight).certificate_.holds(1e-6)


# --- verify ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_verify_agrees_detects_tampering_and_is_honest_on_other_data(loss):
    X, y = cloud(80, 3)
    fit = LinearSVM(loss=loss).fit(X, y)
    assert verify(fit, X, y).to_dict() == fit.certificate_.to_dict()
    fit.coef_ = fit.coef_ * 1.5
    assert not verify(fit, X, y).holds(1e-6)
    other = verify(fit, X[:50], y[:50])
    assert other.feasible
    assert other.gap >= 0
    with pytest.raises(ValueError, match="does not know"):
        verify(fit, X, np.full(80, 9))


# --- bad input ------------------------------------------------------------------------

X0, Y0 = cloud(20, 2)
BAD = [
    ({}, np.where(X0 > 1, np.nan, X0), Y0, "NaN"),
    ({}, np.where(X0 > 1, np.inf, X0), Y0, "infinity"),
    ({}, X0, np.ones(20), "two classes"),
    ({}, X0[:0], Y0[:0], "0 sample"),
    ({}, X0[:, 0], Y0, "2D array"),
    ({}, X0, Y0[:7], "inconsistent"),
    ({}, X0 + 1j, Y0, "Complex"),
    ({}, np.array([["a", "b"]] * 20, dtype=object), Y0, "could not convert"),
    ({}, X0, np.linspace(0, 1, 20), "Unknown label type"),
    ({"C": 0}, X0, Y0, "C must be a positive number or inf, got C=0"),
    ({"C": -1.0}, X0, Y0, "C must be"),
    ({"C": np.nan}, X0, Y0, "C must be"),
    ({"C": "one"}, X0, Y0, "C must be"),
    ({"tol": 0.0}, X0, Y0, "tol must be"),
    ({"max_iter": 0}, X0, Y0, "max_iter must be"),
    ({"max_seconds": -1}, X0, Y0, "max_seconds must be"),
    ({"loss": "log"}, X0, Y0, "'hinge', 'squared_hinge'"),
    ({"solver": "magic"}, X0, Y0, "'auto', 'tiny'"),
    ({"class_weight": "heavy"}, X0, Y0, "class_weight"),
]


@pytest.mark.parametrize(("settings", "X", "y", "message"), BAD, ids=[case[-1] for case in BAD])
def test_bad_input_is_refused_and_nothing_half_fitted_remains(settings, X, y, message):
    fit = LinearSVM(**settings)
    with pytest.raises(ValueError, match=message):
        fit.fit(X, y)
    assert not hasattr(fit, "coef_")
    with pytest.raises(NotFittedError):
        fit.predict(X0)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(20), "must not be negative"),
        (np.zeros(20), "positive weight|zero"),
        (np.where(Y0 > 0, 0.0, 1.0), "every example of class"),
        (np.ones(7), "sample_weight.shape"),
        (np.full(20, np.nan), "NaN"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM().fit(X0, Y0, sample_weight=weight)


def test_wrong_number_of_features_at_predict():
    fit = LinearSVM().fit(X0, Y0)
    with pytest.raises(ValueError, match="3 features"):
        fit.predict(np.ones((4, 3)))


def test_a_failed_refit_keeps_the_old_model():
    fit = LinearSVM().fit(X0, Y0)
    before = fit.coef_.copy()
    with pytest.raises(ValueError, match="two classes"):
        fit.fit(X0, np.ones(20))
    np.testing.assert_array_equal(fit.coef_, before)


def test_unsorted_and_repeated_sparse_entries():
    data = sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    untouched = data.copy()
    fit = LinearSVM().fit(data, [0, 1])
    np.testing.assert_allclose(fit.coef_, LinearSVM().fit(data.toarray(), [0, 1]).coef_)
    np.testing.assert_array_equal(data.indices, untouched.indices)


def test_import_is_light():
    code = (
        "import sys, maxmargin; assert 'numba' not in sys.modules and 'sklearn' not in sys.modules"
    )
    assert os.system(f'{__import__("sys").executable} -c "{code}"') == 0
