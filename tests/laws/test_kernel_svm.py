"""What must be true of every kernel machine, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import KernelSVM, verify
from maxmargin.core.certify.kernelised import certify_kernel
from maxmargin.core.certify.repair import repair
from maxmargin.core.kernels.kernel_block import KernelPoints
from maxmargin.core.kernels.kernels import kernel_for
from maxmargin.core.problem.kernelised import KernelProblem
from maxmargin.core.problem.losses import Hinge

from ..kernel_helpers import kernel_optimum, rings

KINDS = [("rbf", {}), ("poly", {"degree": 2, "coef0": 1.0}), ("linear", {})]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), b=st.floats(-3, 3), share=st.floats(0, 1))
def test_weak_duality_holds_for_any_feasible_multipliers(seed, b, share):
    X, y = rings(40, seed=seed % 50)
    rng = np.random.default_rng(seed)
    problem = KernelProblem(KernelPoints(X, kernel_for(X, "rbf")), y, np.full(len(y), 2.0), Hinge())
    alpha = repair(problem, share * 2.0 * rng.random(len(y)))
    certificate = certify_kernel(problem, None, b, alpha)
    assert certificate.feasible
    assert certificate.gap >= -1e-9 * abs(certificate.primal)
    best = KernelSVM(C=2.0).fit(X, y).certificate_
    assert certificate.dual <= best.primal * (1 + 1e-9)
    assert certificate.primal >= best.dual * (1 - 1e-9)


@pytest.mark.parametrize(("kernel", "given_"), KINDS)
@pytest.mark.parametrize("n", [60, 700])
def test_the_gap_goes_to_zero_with_tol(kernel, given_, n):
    X, y = rings(n)
    for tol in (1e-2, 1e-4, 1e-7):
        model = KernelSVM(C=5.0, kernel=kernel, tol=tol, **given_).fit(X, y)
        assert model.certificate_.holds(tol)
        assert verify(model, X, y).relative_gap == pytest.approx(
            model.certificate_.relative_gap, abs=1e-8
        )


@pytest.mark.parametrize("multiclass", ["pairs", "rest", "max", "sum"])
def test_weight_is_repetition(multiclass):
    X, y = rings(50)
    y = y + 3.0 * (X[:, 0] > 0.5)  # four classes
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    weight[[np.flatnonzero(y == label)[0] for label in np.unique(y)]] = 1.0
    often = np.repeat(np.arange(len(y)), weight.astype(int))
    one = KernelSVM(C=2.0, multiclass=multiclass).fit(X, y, sample_weight=weight)
    two = KernelSVM(C=2.0, multiclass=multiclass).fit(X[often], y[often])
    assert one.gamma_ == pytest.approx(two.gamma_)
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("n", [90, 800])
def test_the_order_of_rows_does_not_matter(n):
    X, y = rings(n)
    order = np.random.default_rng(1).permutation(n)
    one = KernelSVM(tol=1e-9).fit(X, y)
    two = KernelSVM(tol=1e-9, random_state=7).fit(X[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(one.slack_[order], two.slack_, atol=1e-4)


def test_scaling_a_kernel_is_scaling_C():
    X, y = rings(70)
    K = kernel_for(X, "rbf")(X)
    one = KernelSVM(C=3.0, kernel="precomputed").fit(K, y)
    two = KernelSVM(C=30.0, kernel="precomputed").fit(K / 10.0, y)
    np.testing.assert_allclose(one.decision_function(K), two.decision_function(K / 10.0), atol=1e-4)
    assert two.certificate_.primal == pytest.approx(10.0 * one.certificate_.primal)


def test_a_free_bias_sees_no_constant_in_the_kernel():
    X, y = rings(70)
    K = X @ X.T
    one = KernelSVM(kernel="precomputed").fit(K, y)
    two = KernelSVM(kernel="precomputed").fit(K - K.mean(), y)
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-7)
    assert (one.predict(K) == two.predict(K - K.mean())).all()


def test_a_duality_gap_bounds_the_error():
    X, y = rings(400)
    optimum = kernel_optimum(X, y, 10.0, "rbf")
    for tol in (0.3, 1e-2, 1e-4):
        certificate = KernelSVM(C=10.0, tol=tol).fit(X, y).certificate_
        assert certificate.dual <= optimum * (1 + 1e-7)
        assert optimum <= certificate.primal * (1 + 1e-7)
        assert certificate.holds(tol)


def test_what_a_fit_tells_is_consistent():
    X, y = rings(600)
    model = KernelSVM(C=4.0, tol=1e-6).fit(X, y)
    f = model.decision_function(X)
    np.testing.assert_allclose(model.slack_, np.maximum(0.0, 1.0 - y * f), atol=1e-9)
    K = kernel_for(X, "rbf")(model.support_vectors_, X)
    np.testing.assert_allclose(f, (model.dual_coef_ @ K)[0] + model.intercept_[0], atol=1e-9)
    beta = model.dual_coef_[0]
    norm = beta @ kernel_for(X, "rbf", gamma=model.gamma_)(model.support_vectors_) @ beta
    assert model.margin_ == pytest.approx(norm**-0.5)
    kind, alpha = model.support_kind_, model.alpha_[model.support_]
    assert set(kind) == {"margin", "inside", "misclassified"}
    assert (alpha[kind == "misclassified"] == 4.0).all()
    assert (alpha[kind == "margin"] < 4.0).any()
    assert (
        f[model.support_][kind == "misclassified"] * y[model.support_][kind == "misclassified"] < 0
    ).all()


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("n", [80, 500])
def test_storage_does_not_matter(kernel, n):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 12)) < 0.8, 0.0, rng.standard_normal((n, 12)))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n) > 0, 1, -1)
    setting = {"kernel": kernel, "coef0": 1.0, "gamma": 0.5, "tol": 1e-8}
    dense = KernelSVM(**setting).fit(X, y)
    stored = KernelSVM(**setting).fit(sparse.csr_matrix(X), y)
    shifted = KernelSVM(**setting).fit(np.asfortranarray(X), y)
    for other in (stored, shifted):
        assert other.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=1e-7)
    for data in (X, sparse.csr_matrix(X), X.astype(np.float32)):
        np.testing.assert_allclose(
            stored.decision_function(data), dense.decision_function(X), atol=2e-3
        )
