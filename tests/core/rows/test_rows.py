"""Rows: the same numbers from every storage, and never a copy."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows.gram import column_gram, weighted_rows
from maxmargin.core.rows.rows import (
    as_csr,
    as_rows,
    combine,
    nudge,
    score,
    scores,
    size_of,
    sqnorm,
    sqnorms,
    take,
)

rng = np.random.default_rng(0)
DENSE = rng.standard_normal((70, 9)) * (rng.random((70, 9)) < 0.5)


def storages():
    for kind in (np.float64, np.float32):
        X = DENSE.astype(kind)
        yield X
        yield np.asfortranarray(X)
        csr = sparse.csr_matrix(X)
        yield csr
        wide = csr.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        yield wide


def tolerance(X):
    return 1e-12 if X.dtype == np.float64 else 1e-6


@pytest.mark.parametrize("X", list(storages()), ids=lambda X: f"{type(X).__name__} {X.dtype}")
def test_passes_and_verbs_agree_with_numpy(X):
    rows, tol = as_rows(X), tolerance(X)
    w, v = rng.standard_normal(9), rng.standard_normal(70)
    np.testing.assert_allclose(scores(rows, w), DENSE @ w, rtol=0, atol=tol * 20)
    np.testing.assert_allclose(combine(rows, v), DENSE.T @ v, rtol=0, atol=tol * 200)
    np.testing.assert_allclose(sqnorms(rows), (DENSE**2).sum(axis=1), rtol=tol * 10)
    assert score(rows, 3, w) == pytest.approx(DENSE[3] @ w, abs=tol * 20)
    assert sqnorm(rows, 3) == pytest.approx(DENSE[3] @ DENSE[3], rel=tol * 10)
    moved = w.copy()
    nudge(rows, 3, 2.0, moved)
    np.testing.assert_allclose(moved, w + 2 * DENSE[3], atol=tol * 20)


@pytest.mark.parametrize("X", list(storages()), ids=lambda X: f"{type(X).__name__} {X.dtype}")
def test_grams(X):
    rows, tol = as_rows(X), tolerance(X)
    index, s, mu = np.array([1, 5, 8, 60]), np.array([1.0, 0.5, 2.0, 3.0]), DENSE.mean(axis=0)
    A = np.sqrt(s)[:, None] * (DENSE[index] - mu)
    G, h = column_gram(rows, index, s, mu)
    np.testing.assert_allclose(np.tril(G), np.tril(A.T @ A), atol=tol * 100)
    np.testing.assert_allclose(h, s @ (DENSE[index] - mu), atol=tol * 100)
    np.testing.assert_allclose(weighted_rows(rows, index, s, mu), A, atol=tol * 100)


def test_rows_are_views():
    X = np.asfortranarray(DENSE)
    assert np.shares_memory(as_rows(X).X, X)
    csr = sparse.csr_matrix(DENSE)
    rows = as_rows(csr)
    assert np.shares_memory(rows.data, csr.data)
    assert np.shares_memory(rows.indices, csr.indices)
    assert np.shares_memory(as_csr(rows).data, csr.data)


def test_take_and_size():
    csr = sparse.csr_matrix(DENSE)
    part = take(as_rows(csr), np.array([2, 4]))
    np.testing.assert_array_equal(as_csr(part).toarray(), DENSE[[2, 4]])
    assert size_of(as_rows(csr)) == np.count_nonzero(DENSE)
    assert size_of(as_rows(DENSE)) == DENSE.size
