"""What must not change a logistic fit, and what must change it in a known way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import LogisticRegression, verify
from maxmargin.core.certify.repair import repair
from maxmargin.core.certify.softmax import balanced, certify_softmax
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import Logistic
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.softmax.form import LOGISTIC_SOLVERS, as_softmax, solve_logistic

from ..helpers import cloud
from ..logistic_helpers import blobs, softmax_problem

CLASSES = pytest.mark.parametrize("k", [2, 4])
TIGHT = 1e-10


def fit(X, y, weight=None, **settings):
    return LogisticRegression(tol=TIGHT, **settings).fit(X, y, sample_weight=weight)


def same(one, two, atol=2e-4):
    """½‖W − W*‖² is at most the gap."""
    np.testing.assert_allclose(one.coef_, two.coef_, atol=atol)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=atol)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, 50.0]))
def test_weak_duality_for_arbitrary_points(seed, C):
    rng = np.random.default_rng(seed)
    X, y = blobs(int(rng.integers(6, 40)), 3, 3, seed=seed)
    weight = rng.integers(0, 3, len(y)) + (np.arange(len(y)) < 3)
    for bias in (Bias.FREE, Bias.NONE):
        q = softmax_problem(X, y, C, bias, weight)
        b = np.zeros(3) if bias is Bias.NONE else rng.standard_normal(3)
        certificate = certify_softmax(q, 3 * rng.standard_normal((3, 3)), b)
        assert certificate.feasible
        assert certificate.gap >= -1e-9 * certificate.primal
    X, y = cloud(len(y), 3, seed=seed)
    q = Problem(q.rows, y, q.c, Logistic())
    certificate = certify(q, rng.standard_normal(3), 0.3, repair(q, 2 * C * rng.random(len(y))))
    assert certificate.feasible
    assert certificate.gap >= -1e-9 * certificate.primal


def test_the_gap_is_half_the_squared_gradient():
    X, y = blobs(50, 3, 4, seed=1)
    q = softmax_problem(X, y, 2.0)
    W = np.random.default_rng(0).standard_normal((4, 3)) * 0.3
    b, certificate = balanced(q, W, np.zeros(4))
    s = X @ W.T + b
    p = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p.sum(axis=0), np.bincount(y), rtol=1e-12)
    gradient = W + 2.0 * (p - np.eye(4)[y]).T @ X
    if certificate.dual > 0:
        assert certificate.gap == pytest.approx(0.5 * (gradient**2).sum(), rel=1e-9)
    again = certify_softmax(q, W, b)
    assert again.primal == pytest.approx(certificate.primal, rel=1e-14)
    assert again.dual == pytest.approx(certificate.dual, rel=1e-12)


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_scores_in_single_precision_prove_nothing_false(monkeypatch, tol, far):
    """They are kept so where there are many; the same gap to rounding, and a dual that is one."""
    X, y = blobs(400, 6, 8, seed=3)
    q = softmax_problem(X.astype(np.float32) + np.float32(far), y, 0.5)
    fit = solve_logistic(q, Monitor(tol=1e-9))
    (W, start), optimum = fit.point, fit.certificate.primal
    start = start - 0.01 * W @ q.rows.X.mean(axis=0, dtype=np.float64)
    W = 1.01 * W
    b, known = balanced(q, W, start, tol)
    monkeypatch.setattr("maxmargin.core.certify.softmax.MAX_DOUBLE_SCORES", 0)
    near, found = balanced(q, W, start, tol)
    assert found.feasible
    assert found.dual <= optimum <= found.primal
    assert found.primal == pytest.approx(known.primal, rel=1e-9)
    assert found.gap == pytest.approx(known.gap, rel=1e-2)
    np.testing.assert_allclose(near, b, atol=1e-6 + 1e-9 * far)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_no_weights_cost_log_k_per_point(k):
    X, y = blobs(60, 2, k, seed=0)
    certificate = certify_softmax(softmax_problem(X, y, 0.5), np.zeros((k, 2)), np.zeros(k))
    assert certificate.primal == pytest.approx(0.5 * 60 * np.log(k), rel=1e-12)
    assert certificate.dual >= 0.0


def test_two_classes_of_softmax_are_the_logistic_problem_with_twice_C():
    X, y = cloud(80, 3, seed=2)
    binary = Problem(softmax_problem(X, (y > 0).astype(int)).rows, y, np.full(80, 1.4), Logistic())
    one = solve_logistic(binary, Monitor(tol=TIGHT))
    proof = one.certificate
    two = solve_logistic(as_softmax(binary), Monitor(tol=TIGHT))
    other = two.certificate
    assert as_softmax(binary).c[0] == 0.7
    assert proof.primal == pytest.approx(2 * other.primal, rel=1e-8)
    np.testing.assert_allclose(two.point.W, [-one.point.W[0] / 2, one.point.W[0] / 2], atol=1e-4)
    np.testing.assert_allclose(two.point.b, [-one.point.b[0] / 2, one.point.b[0] / 2], atol=1e-4)


@CLASSES
def test_gradient_is_zero_at_the_optimum(k):
    X, y = blobs(120, 3, k, seed=3)
    model = fit(X, y, C=0.7)
    errors = model.predict_proba(X) - np.eye(k)[y]
    pull = 0.7 * errors.T @ X
    np.testing.assert_allclose(model.coef_, -pull[1:] if k == 2 else -pull, atol=2e-4)
    np.testing.assert_allclose(errors.sum(axis=0), 0, atol=1e-9)
    if k > 2:  # the norm leaves nothing common to all classes
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-12)


@CLASSES
@pytest.mark.parametrize("solver", LOGISTIC_SOLVERS)
def test_weight_two_is_the_row_twice(k, solver):
    X, y = blobs(80, 3, k, seed=1)
    times = np.random.default_rng(0).integers(0, 4, 80)
    times[:k] = 1
    weighted = fit(X, y, times, solver=solver)
    repeated = fit(np.repeat(X, times, 0), np.repeat(y, times), solver=solver)
    same(weighted, repeated)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8)


@CLASSES
def test_order_of_rows_and_of_classes_does_not_matter(k):
    X, y = blobs(90, 3, k, seed=2)
    order = np.random.default_rng(1).permutation(90)
    one = fit(X, y)
    same(one, fit(X[order], y[order]))
    names = np.arange(k)[::-1]
    turned = fit(X, names[y])
    if k == 2:
        np.testing.assert_allclose(turned.coef_, -one.coef_, atol=2e-4)
    else:
        np.testing.assert_allclose(turned.coef_, one.coef_[::-1], atol=2e-4)


@CLASSES
def test_scaling_features_and_shifting_them(k):
    """½‖W‖² + C Σℓ on tX is, with V = tW, (½‖V‖² + C t² Σℓ)/t²; a shift moves only b."""
    X, y = blobs(90, 3, k, seed=4)
    one, two = fit(3.0 * X, y, C=0.7), fit(X, y, C=6.3)
    np.testing.assert_allclose(3.0 * one.coef_, two.coef_, atol=1e-3)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=1e-3)
    shift = np.array([100.0, -30.0, 7.0])
    moved = fit(X + shift, y, C=6.3)
    np.testing.assert_allclose(moved.coef_, two.coef_, atol=1e-3)
    np.testing.assert_allclose(
        moved.decision_function(X + shift), two.decision_function(X), atol=0.01
    )


@CLASSES
@pytest.mark.parametrize("solver", LOGISTIC_SOLVERS)
def test_sparse_is_dense_and_32_bit_is_64_bit(k, solver):
    X, y = blobs(120, 6, k, seed=6)
    X[np.abs(X) < 0.6] = 0.0
    reference = fit(X, y)
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    storages = [sparse.csr_matrix(X), np.asfortranarray(X)]
    if solver == "newton":  # each storage is compiled anew for descent
        storages += [wide, sparse.csc_matrix(X)]
    for data in storages:
        model = LogisticRegression(solver=solver, tol=1e-8).fit(data, y)
        assert model.certificate_.holds(1e-8)
        same(model, reference, atol=3e-3)
    storages = [sparse.csr_matrix(X.astype(np.float32))]
    if solver == "newton":
        storages += [X.astype(np.float32)]
    for data in storages:
        model = LogisticRegression(solver=solver).fit(data, y)
        assert model.coef_.dtype == np.float64
        assert model.certificate_.holds(1e-6)
        same(model, reference, atol=3e-2)


@CLASSES
def test_verify_agrees_and_detects_tampering(k):
    X, y = blobs(80, 3, k, seed=5)
    model = LogisticRegression().fit(X, y)
    proof = verify(model, X, y)
    assert proof.primal == pytest.approx(model.certificate_.primal, rel=1e-13)
    assert proof.dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    model.coef_ = 1.5 * model.coef_
    assert not verify(model, X, y).holds(1e-6)
    model.coef_, model.intercept_ = (
        model.coef_ / 1.5,
        model.intercept_ + np.arange(1 if k == 2 else k) + 0.1,
    )
    assert not verify(model, X, y).holds(1e-6)
    other = verify(model, X[:50], y[:50])
    assert other.feasible
    assert other.gap >= 0
