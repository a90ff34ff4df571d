"""Kernel values of sparse rows, their sums in two precisions, and what a proof makes of them."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import KernelSVM
from maxmargin.core.certify import kernel_screen
from maxmargin.core.certify.kernelised import enclosed_scores
from maxmargin.core.kernels.enclosed import enclosed_sums, rough_sums
from maxmargin.core.kernels.gram_cache import GramCache
from maxmargin.core.kernels.kernel_block import KernelPoints, kernel_sums, values
from maxmargin.core.kernels.kernels import Kernel
from maxmargin.core.kernels.variance import plain_variance
from maxmargin.core.rows.double_double import SINGLE_U
from maxmargin.core.rows.exponential import exponentials
from maxmargin.core.solve.kernel import form


def zeros_and_others(n, d, share, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < share, rng.standard_normal((n, d)), 0.0)


def shuffled(X):
    """The same rows, features in no order, under 64-bit indices."""
    X, rng = sparse.csr_array(X), np.random.default_rng(1)
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        order = rng.permutation(part.stop - part.start)
        X.indices[part], X.data[part] = X.indices[part][order], X.data[part][order]
    parts = X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return sparse.csr_array(parts, shape=X.shape)


def all_values(points, index, dtype):
    K = np.full((len(index), len(points)), np.nan, dtype)
    for part, V in values(points, index, points, dtype):
        K[:, part] = V
    return K


@pytest.mark.parametrize("form_of", [np.asarray, sparse.csr_array, shuffled])
@pytest.mark.parametrize(("n", "d", "share"), [(1, 3, 0.3), (63, 500, 0.3), (577, 90, 0.1)])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_values_of_sparse_rows_are_those_of_dense_ones(form_of, n, d, share, name):
    X = zeros_and_others(n, d, share)
    X[0] = 0.0
    kernel = Kernel(name, 0.1, 3, 0.5)
    points, index = KernelPoints(form_of(X), kernel), np.arange(0, n, 3)
    assert points.csr is not None
    for dtype, close in ((np.float64, 1e-12), (np.float32, 2e-5)):
        expected = kernel(X[index], X)
        found = all_values(points, index, dtype)
        np.testing.assert_allclose(found, expected, rtol=close, atol=close * expected.max())


def test_rows_of_many_features_that_store_few():
    X = sparse.random_array((300, 30_000), density=1e-3, rng=0, format="csr")
    points, kernel = KernelPoints(X, Kernel("linear", 1.0, 3, 0.0)), Kernel("linear", 1.0, 3, 0.0)
    np.testing.assert_allclose(
        all_values(points, np.arange(300), np.float64), kernel(X, X), atol=1e-14
    )


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_dense_rows_of_zeros_are_stored_as_scipy_stores_them(layout):
    X = zeros_and_others(2100, 7, 0.2)
    csr, expected = KernelPoints(layout(X), Kernel("rbf", 0.1, 3, 0.0)).csr, sparse.csr_array(X)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(csr, name), getattr(expected, name))
        assert getattr(csr, name).dtype == getattr(expected, name).dtype


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_sums_over_all_rows_need_half_of_the_values(share):
    points = KernelPoints(zeros_and_others(1300, 12, share), Kernel("rbf", 0.1, 3, 0.0))
    rng, index = np.random.default_rng(0), np.arange(1300)
    coefficients = rng.standard_normal((1300, 2))
    whole = points.kernel(points.X) @ coefficients
    np.testing.assert_allclose(kernel_sums(points, index, coefficients), whole, atol=1e-10)
    order = rng.permutation(1300)
    np.testing.assert_allclose(kernel_sums(points, order, coefficients[order]), whole, atol=1e-10)


def test_exponentials_of_float32_are_within_the_units_that_proofs_count():
    x = -np.concatenate([np.linspace(0.0, 1.0, 2_000_003), np.geomspace(1e-30, 87.0, 2_000_003)])
    x = x.astype(np.float32)
    found = x.copy()
    exponentials(found)
    expected = np.exp(x.astype(np.float64))
    assert (np.abs(found - expected) <= 8.0 * SINGLE_U * expected).all()


@pytest.mark.parametrize("share", [0.2, 1.0])
@pytest.mark.parametrize("size", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rough_sums_lie_within_their_bounds(share, size, dtype):
    X = (size * zeros_and_others(900, 40, share)).astype(dtype)
    points, rng = KernelPoints(X, Kernel("rbf", 0.03, 3, 0.0)), np.random.default_rng(0)
    index, beta = np.arange(0, 900, 3), 100.0 * rng.standard_normal(300)
    sharp = enclosed_sums(points, index, beta[:, None])
    rough = rough_sums(points, index, beta, np.arange(900))
    off = np.abs(rough.hi - sharp.hi[:, 0])
    assert off.max() > 0.0
    assert (off <= rough.error).all()
    assert rough.error.max() < 1e-2 * np.abs(beta).sum()
    points.cache = GramCache(points, 100)  # which has some of the rows
    points.cache.corner(index[::2])
    from_cache = rough_sums(points, index, beta, index)
    assert (np.abs(from_cache.hi - sharp.hi[index, 0]) <= from_cache.error).all()
    np.testing.assert_allclose(from_cache.error, rough.error[index], rtol=1e-3)


def test_rough_sums_say_where_they_would_say_nothing():
    X = np.random.default_rng(0).standard_normal((900, 5))
    near, index = KernelPoints(X, Kernel("rbf", 0.1, 3, 0.0)), np.arange(900)
    assert rough_sums(near, index, np.full(900, 1e31), index) is None
    other = KernelPoints(X, Kernel("poly", 0.1, 3, 0.0))
    assert rough_sums(other, index, np.ones(900), index) is None
    far = KernelPoints(np.vstack([X, 300.0 + X]), Kernel("rbf", 0.1, 3, 0.0))
    assert rough_sums(far, index, np.ones(900), np.arange(1800)) is None


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_screened_scores_prove_as_much(share, monkeypatch):
    X = zeros_and_others(2000, 20, share)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.1, 1, -1)
    seen = []

    def both(problem, beta):
        screened = kernel_screen.screened_scores(problem, beta)
        whole = enclosed_scores(problem.rows, beta, False)
        assert (np.abs(screened.hi - whole.hi) <= screened.error + whole.error).all()
        rough = screened.error > 1e3 * whole.error.max()
        assert not (rough & (beta != 0.0)).any()
        seen.append((problem, screened, rough))
        return screened

    monkeypatch.setattr(form, "screened_scores", both)
    model = KernelSVM(C=1.0).fit(X, y)
    problem, screened, rough = seen[-1]
    assert rough.sum() > 100
    margins = problem.y * (screened.hi + model.intercept_[0])
    assert (margins[rough] - screened.error[rough] > 1.0).all()
    monkeypatch.setattr(form, "screened_scores", lambda problem, beta: enclosed_scores(
        problem.rows, beta, False
    ))  # fmt: skip
    plain = KernelSVM(C=1.0).fit(X, y)
    assert model.certificate_.relative_gap == pytest.approx(plain.certificate_.relative_gap)
    assert model.certificate_.rounding <= 2.0 * plain.certificate_.rounding
    np.testing.assert_allclose(model.slack_, plain.slack_, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_variance_of_large_data_is_numpys(dtype):
    X = (5.0 + np.random.default_rng(0).standard_normal((5000, 60))).astype(dtype)
    assert plain_variance(X) == pytest.approx(X.var(dtype=np.float64), rel=1e-12)
