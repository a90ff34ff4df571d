"""Kernels: the values they promise, and what they refuse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from maxmargin import KernelPerceptron, KernelRidge, KernelRidgeClassifier
from maxmargin.core.kernels.kernels import (
    KERNEL_TILE_SIZE,
    KERNELS,
    Kernel,
    check_definite,
    check_precomputed,
    kernel_for,
    resolve_gamma,
)


@pytest.mark.parametrize("name", KERNELS[:-1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(name, dtype):
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, 4)).astype(dtype) for n in (2 * KERNEL_TILE_SIZE + 9, 40))
    kernel = kernel_for(A, name, gamma=0.2, degree=5, coef0=0.5)

    def theirs(*XY):
        XY = [X.astype(np.float64) for X in XY]
        parameters = {"gamma": 0.2, "degree": 5, "coef0": 0.5}
        return pairwise_kernels(*XY, metric=name, filter_params=True, **parameters)

    np.testing.assert_allclose(kernel(A), theirs(A), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel(B, A), theirs(B, A), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(theirs(A)), rtol=1e-10)
    np.testing.assert_allclose(kernel(sparse.csr_array(B), sparse.csr_array(A)), kernel(B, A))
    assert (kernel(A) == kernel(A).T).all()


def test_far_from_the_origin_distances_are_still_right():
    X = np.random.default_rng(0).standard_normal((50, 3))
    far = kernel_for(X, "rbf", gamma=0.5)(X + 1e6)
    np.testing.assert_allclose(far, rbf_kernel(X, gamma=0.5), atol=1e-8)


def test_scale_counts_weights():
    rng = np.random.default_rng(0)
    X, counts = rng.standard_normal((20, 3)), rng.integers(1, 4, 20)
    again = np.repeat(X, counts, axis=0)
    expected = 1 / (3 * again.var())
    for make in (np.asarray, sparse.csr_array):
        assert resolve_gamma(make(X), "scale", counts.astype(float)) == pytest.approx(expected)
        assert resolve_gamma(make(again), "scale") == pytest.approx(expected)
    assert resolve_gamma(X, "auto") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("k", "pairs"),
    [
        (rbf_kernel, False),
        (lambda a, b: a @ b.T, False),
        (np.dot, True),  # of two 3 × 3 matrices it would be another thing
        (lambda a, b: float(np.exp(-np.abs(a - b).sum())), True),
    ],
)
def test_callables_of_rows_or_of_matrices(k, pairs):
    X = np.random.default_rng(0).standard_normal((30, 3))
    kernel = kernel_for(X, k)
    assert kernel.pairs == pairs
    expected = k(X[3], X[4]) if pairs else k(X[3:4], X[4:5])[0, 0]
    assert kernel(X)[3, 4] == pytest.approx(expected)


def bad_matrices():
    X = np.random.default_rng(0).standard_normal((30, 3))
    K = rbf_kernel(X)
    yield "square", K[:, :5], "square Gram matrix"
    yield "asymmetric", K + np.triu(K, 1), "not symmetric"
    yield "diagonal", K - 1.5 * np.eye(30), "cannot be negative"
    yield "minor", K - 0.5 * np.eye(30) + 0.9 * (1 - np.eye(30)), "at most"
    cycle = -np.roll(np.eye(30), 1, axis=0)
    yield "hidden", np.eye(30) + 0.9 * (cycle + cycle.T), "eigenvalue"


@pytest.mark.parametrize("case", list(bad_matrices()), ids=lambda case: case[0])
def test_matrices_that_are_no_gram_matrix(case):
    name, K, words = case
    y = np.arange(30) % 2
    for make in (KernelRidge, KernelRidgeClassifier):
        with pytest.raises(ValueError, match=words):
            make(kernel="precomputed").fit(K, y)
    if name != "hidden":
        with pytest.raises(ValueError, match=words):
            KernelPerceptron("precomputed").fit(K, y)
        with pytest.raises(ValueError, match=words):
            check_precomputed(sparse.csr_array(K))


def test_matrices_that_are_pass():
    rng = np.random.default_rng(0)
    for rank in (1, 3, 60):
        A = rng.standard_normal((60, rank))
        for K in (A @ A.T, (A @ A.T).astype(np.float32), np.zeros((5, 5))):
            check_precomputed(K)
            check_definite(K.astype(float))


def test_a_callable_that_fails_says_so():
    X, y = np.random.default_rng(0).standard_normal((9, 2)), np.arange(9) % 2
    with pytest.raises(ValueError, match="not a finite number"):
        KernelRidge(kernel=lambda a, b: np.nan).fit(X, y)
    with pytest.raises(ValueError, match="failed on two rows"):
        KernelRidge(kernel=lambda a, b: a.nothing).fit(X, y)
    with pytest.raises(ValueError, match="eigenvalue"):
        KernelRidge(kernel=lambda a, b: -float(a @ b)).fit(X, y)


def test_a_kernel_knows_itself():
    assert Kernel("precomputed").precomputed
    assert not Kernel(rbf_kernel).precomputed
