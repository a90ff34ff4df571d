"""The linear unit: the delta rule ends where least squares has its minimum, or says why not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LeastSquaresClassifier, LinearUnit, verify
from maxmargin.referee import check


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_batch_mode_reaches_the_minimum_of_least_squares(iris, classes, bias):
    X, y = (part[: 50 * classes] for part in iris)
    unit = LinearUnit(fit_intercept=bias, tol=1e-6, max_passes=20_000).fit(X, y)
    exact = LeastSquaresClassifier(fit_intercept=bias).fit(X, y)
    np.testing.assert_allclose(unit.coef_, exact.coef_, atol=1e-4)
    np.testing.assert_allclose(unit.intercept_, exact.intercept_, atol=1e-4)
    assert unit.certificate_.holds(1e-6)
    assert verify(unit, X, y).relative_residual == unit.certificate_.relative_residual
    assert unit.certificate_.objective == pytest.approx(exact.certificate_.objective, rel=1e-6)
    assert unit.stopping_ == "equations hold"


def test_errors_fall_in_batch_mode_and_the_path_is_kept(iris):
    X, y = iris[0][:100], iris[1][:100]
    unit = LinearUnit(trace=True).fit(X, y)
    assert (np.diff(unit.errors_) <= 0).all()
    assert unit.path_.shape == (unit.n_iter_ + 1, 1, 5)
    np.testing.assert_array_equal(unit.path_[0], 0)
    W, b = unit.path_[-1][:, :-1], unit.path_[-1][:, -1]
    off = np.where(y == 1, 1.0, -1.0) - (X @ W.T + b).ravel()
    assert 0.5 * off @ off == pytest.approx(unit.errors_[-1])


def test_a_step_is_the_delta_rule(iris):
    X, y = iris[0][:100], iris[1][:100]
    with pytest.warns(ConvergenceWarning, match="max_passes=1 "):
        unit = LinearUnit(0.001, max_passes=1).fit(X, y)
    t = np.where(y == 1, 1.0, -1.0)
    np.testing.assert_allclose(unit.coef_[0], 0.001 * t @ X)
    assert unit.intercept_[0] == pytest.approx(0.001 * t.sum())


def test_the_largest_stable_rate_is_where_divergence_begins(iris):
    X, y = iris[0][:100], iris[1][:100]
    limit = LinearUnit().fit(X, y).stable_below_
    assert LinearUnit(0.98 * limit, max_passes=20_000).fit(X, y).certificate_.holds(1e-4)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        wild = LinearUnit(1.05 * limit, max_passes=5000).fit(X, y)
    assert wild.stopping_ == "diverged"
    assert np.isfinite(wild.coef_).all()
    with pytest.warns(ConvergenceWarning, match="still moves"):
        LinearUnit(1e-6 * limit, max_passes=10).fit(X, y)


@pytest.mark.parametrize("size", [1, 7])
def test_smaller_batches_come_near_the_same_minimum(iris, size):
    X, y = iris[0][:100], iris[1][:100]
    best = LeastSquaresClassifier().fit(X, y).certificate_.objective
    unit = LinearUnit(0.001, batch_size=size, order="shuffle", random_state=0, max_passes=300)
    with pytest.warns(ConvergenceWarning, match="still moves"):  # a fixed rate never comes to rest
        unit.fit(X, y)
    assert best <= unit.errors_[-1] < 1.1 * best


def test_dense_and_sparse_agree(iris):
    X, y = iris
    dense, thin = (LinearUnit().fit(A, y) for A in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-10)
    assert (dense.predict(X) == thin.predict(sparse.csr_matrix(X))).all()


def test_what_it_stops_at_is_what_the_certificate_proves(iris):
    X = np.column_stack([iris[0], np.full(150, 3.0)])  # a column that does not vary has no say
    for tol in (1e-2, 1e-4):
        unit = LinearUnit(tol=tol, max_passes=5000).fit(X, iris[1])
        assert unit.stopping_ == "equations hold"
        assert 0.5 * tol < unit.certificate_.relative_residual < 1.01 * tol


def test_the_referee_confirms_it(iris):
    X, y = np.round(iris[0][:60], 2), iris[1][:60]
    assert check(LinearUnit(tol=1e-2).fit(X, y), X, y).verdict == "confirmed"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"batch_size": 0}, "batch_size must be"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"order": "backwards"}, "order"),
    ],
)
def test_refusals(iris, given, words):
    with pytest.raises(ValueError, match=words):
        LinearUnit(**given).fit(*iris)
