"""One row against all classes: compiled code, plain Python and dense algebra agree."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from maxmargin.core.rows.class_products import (
    class_combine,
    class_nudge,
    class_scores,
    compressed,
    padded,
    score_chunks,
)
from maxmargin.core.rows.rows import DenseRows, SparseRows, as_csr, as_rows


def data(storage, dtype, n=23, d=17, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)).astype(dtype)
    X[3] = 0.0
    if storage == "dense":
        return X, as_rows(X)
    S = sparse.csr_matrix(X)
    if storage == "wide indices":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return X, as_rows(S)


@njit
def compiled(rows, i, W, out, step):
    class_scores(rows, i, W, out)
    class_nudge(rows, i, step, W)


# Wide indices are narrowed at the door but for more than 4 billion values.
LARGE_ONLY = pytest.param("wide indices", marks=pytest.mark.slow)


# One class up to more than the widest group of vectors, with every kind of remainder.
@pytest.mark.parametrize("k", [1, 8, 11, 20, 28, 33, 70])
@pytest.mark.parametrize("storage", ["dense", "sparse", LARGE_ONLY])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_and_nudges(storage, dtype, k):
    X, rows = data(storage, dtype)
    rng = np.random.default_rng(1)
    for precision in (np.float32, np.float64):
        W = rng.standard_normal((X.shape[1], padded(k))).astype(precision)
        step = rng.standard_normal(padded(k)).astype(precision)
        for i in (0, 3, len(X) - 1):
            out, plain = np.empty(padded(k), precision), np.empty(padded(k), precision)
            moved, moved_plain = W.copy(), W.copy()
            compiled(rows, i, moved, out, step)
            class_scores(rows, i, moved_plain, plain)
            class_nudge(rows, i, step, moved_plain)
            tolerance = 1e-5 if np.float32 in (precision, dtype) else 1e-12
            np.testing.assert_allclose(out, X[i].astype(float) @ W, atol=20 * tolerance)
            np.testing.assert_allclose(out, plain, atol=20 * tolerance)
            np.testing.assert_allclose(moved, W + np.outer(X[i], step), atol=20 * tolerance)
            np.testing.assert_allclose(moved, moved_plain, atol=20 * tolerance)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_over_all_rows_are_in_float64(storage, dtype):
    X, rows = data(storage, dtype, n=300)
    k = 5
    rng = np.random.default_rng(2)
    W, A = rng.standard_normal((k, X.shape[1])), rng.standard_normal((300, k))
    A[rng.random(300) < 0.7] = 0.0
    S = np.concatenate([s for _, s in score_chunks(rows, W)])
    assert S.dtype == np.float64
    np.testing.assert_allclose(S, X.astype(float) @ W.T, rtol=1e-12, atol=1e-12)
    back = class_combine(rows, k, lambda part: A[part])
    np.testing.assert_allclose(back, A.T @ X.astype(float), rtol=1e-12, atol=1e-12)


def test_mostly_zero_rows_become_sparse_and_others_stay():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30)) * (rng.random((50, 30)) < 0.2)
    rows = compressed(DenseRows(X))
    assert isinstance(rows, SparseRows)
    np.testing.assert_array_equal(as_csr(rows).toarray(), X)
    full = DenseRows(rng.standard_normal((50, 30)))
    assert compressed(full) is full
    assert compressed(rows) is rows
