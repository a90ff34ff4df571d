"""``sparsify`` and ``densify``: the same scores, and all else as if nothing had been done."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from maxmargin import LinearSVM, LogisticRegression, load, save, verify

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", [LinearSVM(C=0.1), LogisticRegression()], ids=str)
def test_scores_are_the_same_to_the_bit(estimator, classes):
    some = y < classes
    model = clone(estimator).fit(X[some], y[some])
    weights, scores = model.coef_.copy(), model.decision_function(X)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    assert model.coef_.shape == weights.shape
    np.testing.assert_array_equal(model.decision_function(X), scores)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), scores)
    assert verify(model, X[some], y[some]).holds(1e-6)
    np.testing.assert_array_equal(model.densify().coef_, weights)


def test_a_model_file_and_the_next_fit_have_them_dense(tmp_path):
    model = LinearSVM(warm_start=True).fit(X, y)
    weights = model.coef_.copy()
    path = save(model.sparsify(), tmp_path / "iris.maxmargin")
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(load(path).coef_, weights)
    assert isinstance(model.fit(X, y).coef_, np.ndarray)


def test_what_is_not_fitted_has_nothing_to_sparsify():
    with pytest.raises(Exception, match="not fitted"):
        LinearSVM().sparsify()
