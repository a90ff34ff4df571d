"""Block descent on the dual of a kernel machine: steps, cache, and the rows it leaves out."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from maxmargin import KernelSVM, verify
from maxmargin.core.kernels.gram_cache import GramCache
from maxmargin.core.kernels.kernel_block import KernelPoints
from maxmargin.core.kernels.kernels import kernel_for
from maxmargin.core.rows.extremes import larger, smaller
from maxmargin.core.solve.kernel import kernel_descent
from maxmargin.core.solve.kernel.pair_steps import Pairs, pair_steps

from ...kernel_helpers import rings


def block(n, C, seed=0):
    """K, bounds and labels of a few rows that overlap."""
    X, y = rings(n, seed=seed)
    return kernel_for(X, "rbf")(X), np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0), y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [0.5, 50.0])
def test_no_pair_violates_after_pair_steps(C, dtype):
    K, lo, hi, y = block(130, C)
    beta = np.zeros(130)
    assert 0 < pair_steps(Pairs.of(K.astype(dtype), lo, hi, y, beta), 1e-3, 100_000) < 100_000
    g = y - K @ beta
    assert g[beta < hi].max() - g[beta > lo].min() <= 1.1e-3
    np.testing.assert_array_equal(beta, np.clip(beta, lo, hi))
    assert abs(beta.sum()) < 1e-9 * C


def test_pair_steps_end_where_nothing_can_move():
    K, lo, hi, y = block(70, 1.0)
    beta = np.zeros(70)
    assert pair_steps(Pairs.of(K, lo, np.zeros(70), -np.abs(y), beta), 0.0, 100) == 0
    assert pair_steps(Pairs.of(K, lo, hi, y, beta), 1e-6, 3) == 3


def test_the_larger_and_the_smaller_compiled_and_plain():
    both = njit(lambda a, b: (larger(a, b), smaller(a, b)))
    for kind in (np.float32, np.float64):
        for a, b in ((1.0, 2.0), (2.0, 1.0), (-np.inf, 0.5), (3.0, 3.0)):
            pair = kind(a), kind(b)
            assert both(*pair) == (larger(*pair), smaller(*pair)) == (max(a, b), min(a, b))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_cache_of_fewer_rows_keeps_what_is_known(form):
    X, _ = rings(200)
    points = KernelPoints(form(X), kernel_for(X, "rbf"))
    cache = GramCache(points, 4 * 200 * 150 / 1e6)
    cache.corner(np.arange(0, 200, 2))
    rows = np.arange(20, 140)
    fewer = cache.taken(rows)
    K = points.kernel(X)[np.ix_(rows, rows)]
    assert fewer.capacity == 120
    np.testing.assert_allclose(fewer.corner(np.arange(0, 120, 2)), K[::2, ::2], atol=1e-6)
    assert fewer.computed == 0  # all of these were known
    np.testing.assert_allclose(fewer.corner(np.arange(120)), K, atol=1e-6)
    assert fewer.computed == 60


def test_rows_are_left_out_and_the_proof_is_of_all():
    rng, y = np.random.default_rng(0), np.where(np.arange(1500) % 2, 1.0, -1.0)
    X = rng.standard_normal((1500, 2)) + 1.5 * y[:, None]
    seen = []

    class Watched(kernel_descent._Shrinking):
        def solve(self):
            seen.append(len(self.rows))
            return super().solve()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_descent, "_Shrinking", Watched)
        model = KernelSVM(C=10.0, cache_mb=2.0).fit(X, y)
        assert seen[0] == 1500
        assert seen[-1] < 0.7 * 1500
        del seen[:]
        KernelSVM(C=10.0).fit(X, y)  # whole rows of K, while there is room for others
    assert set(seen) == {1500}
    assert verify(model, X, y).holds(1e-3)


def test_rows_left_out_too_soon_come_back():
    X, y = rings(1200)
    calls = []

    def near(slopes, beta):
        calls.append(1)
        return np.flatnonzero(beta) if len(calls) == 1 else np.arange(len(beta))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_descent.DualSlopes, "near", near)
        model = KernelSVM(C=10.0, cache_mb=2.0).fit(X, y)
    assert len(calls) > 2
    assert model.certificate_.holds(1e-3)
    assert model.certificate_.primal == pytest.approx(
        KernelSVM(C=10.0, tol=1e-6).fit(X, y).certificate_.dual, rel=1.1e-3
    )
