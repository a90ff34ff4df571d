"""A penalised bias is the weight of a column of ones, whichever door the rows come through."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from maxmargin import LinearSVM, NotSeparableError, fit_stream, verify, verify_stream
from maxmargin.models.bias_column import with_ones
from tests.helpers import cloud

RULES = ["max", "sum", "rest", "pairs"]


def iris(rule):
    X, y = load_iris(return_X_y=True)
    return LinearSVM(C=0.5, multiclass=rule, penalize_bias=True, tol=1e-8), X, y


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("rule", RULES)
def test_the_same_as_one_more_feature_without_a_bias(rule, storage):
    svm, X, y = iris(rule)
    svm.fit(storage(X), y)
    plain = LinearSVM(C=0.5, multiclass=rule, fit_intercept=False, tol=1e-8)
    plain.fit(with_ones(storage(X)), y)
    np.testing.assert_array_equal(np.column_stack([svm.coef_, svm.intercept_]), plain.coef_)
    np.testing.assert_array_equal(svm.alpha_, plain.alpha_)
    assert svm.certificate_.primal == plain.certificate_.primal
    assert svm.margin_ > plain.margin_  # the bias is no part of ‖w‖
    assert (svm.dual_coef_ @ X[svm.support_]) == pytest.approx(svm.coef_, abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_the_certificate_tells_of_a_bias_and_can_be_recomputed(rule):
    svm, X, y = iris(rule)
    svm.fit(X, y)
    count = "12 weights, 3 biases" if rule in ("max", "sum") else "4 weights, 1 bias"
    assert "bias penalized" in svm.certificate_.problem
    assert count in svm.certificate_.problem
    assert verify(svm, X, y) == svm.certificate_
    steps = svm.n_iter_
    svm.set_params(warm_start=True, solver="newton").fit(X, y)
    assert svm.n_iter_ <= steps
    assert svm.certificate_.holds(1e-8)


@pytest.mark.parametrize("rule", ["max", "pairs"])
def test_streams_tell_the_same(rule):
    svm, X, y = iris(rule)
    streamed = fit_stream(svm.set_params(tol=1e-5), [(X[::2], y[::2]), (X[1::2], y[1::2])])
    assert streamed.coef_.shape[1] == streamed.n_features_in_ == 4
    whole, _, _ = iris(rule)
    whole.fit(X, y)
    assert streamed.certificate_.problem == whole.certificate_.problem
    assert streamed.coef_ == pytest.approx(whole.coef_, abs=2e-2)
    assert streamed.margin_ == pytest.approx(whole.margin_, rel=2e-2)
    again = verify_stream(streamed, [(X[::2], y[::2]), (X[1::2], y[1::2])])
    assert again.holds(1e-5)
    assert again.problem == whole.certificate_.problem


def test_no_separator_is_proved_by_weights_of_one_in_each_class():
    X, y = cloud(60, 2, noise=3.0)
    with pytest.raises(NotSeparableError) as error:
        LinearSVM(C=np.inf, penalize_bias=True).fit(X, y)
    weights = error.value.proof.weights
    assert weights[y > 0].sum() == pytest.approx(1.0)
    assert weights[y < 0].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(X.T @ (weights * y), 0.0, atol=1e-12)
