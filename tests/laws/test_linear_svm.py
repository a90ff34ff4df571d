"""What must not change the answer, and what must change it in a known way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import LinearSVM, verify

from ..helpers import cloud

LOSS = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
SOLVER = pytest.mark.parametrize("solver", ["tiny", "newton", "interior"])


def same(one, two, atol=1e-6):
    np.testing.assert_allclose(one.coef_, two.coef_, atol=atol)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=atol)


@LOSS
@SOLVER
def test_weight_two_is_the_row_twice(loss, solver):
    X, y = cloud(80, 3, seed=1)
    times = np.random.default_rng(0).integers(0, 4, 80)
    times[:2] = 1
    weighted = LinearSVM(loss=loss, solver=solver).fit(X, y, sample_weight=times)
    repeated = LinearSVM(loss=loss, solver=solver).fit(np.repeat(X, times, 0), np.repeat(y, times))
    same(weighted, repeated)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)
    assert (weighted.alpha_[times == 0] == 0).all()


@LOSS
@SOLVER
def test_order_of_rows_does_not_matter(loss, solver):
    X, y = cloud(90, 3, seed=2)
    order = np.random.default_rng(1).permutation(90)
    one = LinearSVM(loss=loss, solver=solver).fit(X, y)
    two = LinearSVM(loss=loss, solver=solver).fit(X[order], y[order])
    same(one, two)
    np.testing.assert_allclose(two.slack_, one.slack_[order], atol=1e-6)


@LOSS
def test_swapping_the_labels_negates_the_rule(loss):
    X, y = cloud(90, 3, seed=3)
    one, two = LinearSVM(loss=loss).fit(X, y), LinearSVM(loss=loss).fit(X, -y)
    np.testing.assert_allclose(one.coef_, -two.coef_, atol=1e-7)
    np.testing.assert_allclose(one.intercept_, -two.intercept_, atol=1e-7)
    np.testing.assert_allclose(one.alpha_, two.alpha_, atol=1e-7)


@LOSS
def test_scaling_all_features_is_scaling_C(loss):
    """½‖w‖² + C Σℓ on tX is, with v = tw, (½‖v‖² + C t² Σℓ)/t²."""
    X, y = cloud(90, 3, seed=4)
    t = 3.0
    one = LinearSVM(C=0.7, loss=loss).fit(t * X, y)
    two = LinearSVM(C=0.7 * t**2, loss=loss).fit(X, y)
    np.testing.assert_allclose(t * one.coef_, two.coef_, atol=1e-6)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=1e-6)


@LOSS
def test_shifting_the_data_shifts_only_the_bias(loss):
    X, y = cloud(90, 3, seed=5)
    shift = np.array([100.0, -30.0, 7.0])
    one, two = LinearSVM(loss=loss).fit(X, y), LinearSVM(loss=loss).fit(X + shift, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    moved = two.intercept_ + two.coef_ @ shift
    np.testing.assert_allclose(one.intercept_, moved, atol=1e-6)


@LOSS
@pytest.mark.parametrize("solver", ["tiny", "newton", "descent", "interior"])
def test_sparse_is_dense_and_32_bit_is_64_bit(loss, solver):
    X, y = cloud(120, 6, seed=6)
    X[np.abs(X) < 0.6] = 0.0
    tol = 1e-7
    reference = LinearSVM(loss=loss).fit(X, y)
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for data in (sparse.csr_matrix(X), wide, sparse.csc_matrix(X), np.asfortranarray(X)):
        fit = LinearSVM(loss=loss, solver=solver, tol=tol).fit(data, y)
        same(fit, reference, atol=3e-3 if solver == "descent" else 1e-4)
        assert fit.certificate_.holds(tol)
    for data in (X.astype(np.float32), sparse.csr_matrix(X.astype(np.float32))):
        fit = LinearSVM(loss=loss, solver=solver).fit(data, y)
        assert fit.coef_.dtype == np.float64  # weights are kept sharp, the data as they are
        assert fit.certificate_.holds(1e-6)
        same(fit, reference, atol=3e-3)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.booleans(), st.integers(0, 3)),
        min_size=4,
        max_size=30,
    ),
    C=st.sampled_from([1e-8, 0.1, 1.0, 1e4, 1e8]),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
)
def test_ties_duplicates_conflicts_and_weights_still_end_with_a_proof(rows, C, loss):
    table = np.array(rows, dtype=float)
    X, y, weight = table[:, :2], table[:, 2].copy(), table[:, 3].copy()
    y[:2], weight[:2] = (0, 1), 1
    fit = LinearSVM(C=C, loss=loss).fit(X, y, sample_weight=weight)
    assert fit.certificate_.holds(1e-6)
    again = verify(fit, X, y, sample_weight=weight)
    assert again.primal == pytest.approx(fit.certificate_.primal, rel=1e-12)
    assert again.dual == pytest.approx(fit.certificate_.dual, rel=1e-12)


@pytest.mark.parametrize("C", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_features_from_a_millionth_to_a_million(C, loss):
    X, y = cloud(300, 7, seed=8, scale=6)
    X = np.column_stack([X, np.ones(300), np.full(300, 1e6)])  # constant columns too
    X, y = np.vstack([X, X[:20]]), np.concatenate([y, -y[:20]])  # and conflicts
    fit = LinearSVM(C=C, loss=loss).fit(X, y)
    assert fit.certificate_.relative_gap <= 1e-6, str(fit.certificate_)
