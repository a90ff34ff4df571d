"""Dense rows that are mostly zeros are read as sparse ones, to the same optimum."""

import numpy as np
from scipy import sparse

from maxmargin import LinearSVM


def images(n=1200, d=520):
    rng = np.random.default_rng(0)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.1)
    return X, np.where(X[:, :40].sum(axis=1) > 2.0 + 0.2 * rng.standard_normal(n), 1, -1)


def test_zeros_are_left_out():
    X, y = images()
    dense, by_hand = LinearSVM(0.1).fit(X, y), LinearSVM(0.1).fit(sparse.csr_matrix(X), y)
    assert dense.solver_ == by_hand.solver_ == "descent"
    assert dense.certificate_.holds(1e-6)
    np.testing.assert_array_equal(dense.coef_, by_hand.coef_)
    np.testing.assert_array_equal(dense.alpha_, by_hand.alpha_)


def test_what_is_full_stays_dense():
    X, y = images()
    assert LinearSVM(1e-4, tol=1e-3).fit(X + 1.0, y).solver_ == "interior"
