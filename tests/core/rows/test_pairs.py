"""Pairs: rows that are never formed behave exactly like the differences they stand for."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from maxmargin.core.rows.gram import column_gram, weighted_rows
from maxmargin.core.rows.pairs import by_item, differences, laplacian
from maxmargin.core.rows.rows import (
    PairRows,
    as_csr,
    as_rows,
    combine,
    dense,
    nudge,
    score,
    scores,
    shape,
    size_of,
    spread,
    sqnorms,
    take,
)

rng = np.random.default_rng(0)
N, D, M = 40, 7, 150
ITEMS = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)
WINNER, LOSER = rng.integers(0, N, M), rng.integers(0, N, M)
LOSER = np.where(LOSER == WINNER, (LOSER + 1) % N, LOSER)
FORMED = ITEMS[WINNER] - ITEMS[LOSER]
STORAGES = {
    "dense": ITEMS,
    "dense float32": ITEMS.astype(np.float32),
    "fortran": np.asfortranarray(ITEMS),
    "sparse": sparse.csr_matrix(ITEMS),
    "sparse float32": sparse.csr_matrix(ITEMS.astype(np.float32)),
}
each = pytest.mark.parametrize("storage", STORAGES)


def rows_of(storage):
    return PairRows(as_rows(STORAGES[storage]), WINNER, LOSER)


def tolerance(storage):
    return 1e-5 if "float32" in storage else 1e-12


@each
def test_passes_agree_with_formed_differences(storage):
    rows, tol = rows_of(storage), tolerance(storage)
    w, v = rng.standard_normal(D), rng.standard_normal(M)
    assert shape(rows) == (M, D)
    np.testing.assert_allclose(scores(rows, w), FORMED @ w, atol=20 * tol)
    np.testing.assert_allclose(combine(rows, v), FORMED.T @ v, atol=200 * tol)
    np.testing.assert_allclose(sqnorms(rows), (FORMED**2).sum(axis=1), atol=20 * tol)
    np.testing.assert_allclose(dense(rows, np.array([3, 9])), FORMED[[3, 9]], atol=tol)
    np.testing.assert_allclose(spread(rows), FORMED.std(axis=0), atol=20 * tol)
    np.testing.assert_allclose(ITEMS.T @ by_item(rows, v), FORMED.T @ v, atol=1e-10)


@pytest.mark.parametrize("storage", ["dense", "sparse float32"])
def test_verbs_of_one_pair_plain_and_compiled(storage):
    rows, tol = rows_of(storage), tolerance(storage)

    @njit
    def in_a_kernel(rows, i, step, w):
        before = score(rows, i, w)
        nudge(rows, i, step, w)
        return before

    for i in (0, 17, M - 1):
        w = rng.standard_normal(D)
        moved, again = w.copy(), w.copy()
        assert score(rows, i, w) == pytest.approx(FORMED[i] @ w, abs=20 * tol)
        nudge(rows, i, -1.5, moved)
        np.testing.assert_allclose(moved, w - 1.5 * FORMED[i], atol=20 * tol)
        assert in_a_kernel(rows, i, -1.5, again) == pytest.approx(FORMED[i] @ w, abs=20 * tol)
        np.testing.assert_allclose(again, moved, atol=20 * tol)


@each
def test_differences_keep_the_storage_of_the_items(storage):
    rows = rows_of(storage)
    formed = differences(rows, np.arange(M))
    assert type(formed) is type(rows.items)
    data = formed.X if hasattr(formed, "X") else formed.data
    assert data.dtype == STORAGES[storage].dtype
    table = formed.X if hasattr(formed, "X") else as_csr(formed).toarray()
    np.testing.assert_allclose(table, FORMED, atol=tolerance(storage))


@each
@pytest.mark.parametrize("m", [5, 150], ids=["through differences", "through items"])
def test_gram_of_pairs(storage, m):
    rows, tol = rows_of(storage), tolerance(storage)
    index, s = np.arange(m), rng.random(m)
    G, _ = column_gram(rows, index, s, np.zeros(D))
    expected = (FORMED[:m] * s[:, None]).T @ FORMED[:m]
    np.testing.assert_allclose(np.tril(G), np.tril(expected), atol=200 * tol)
    A = weighted_rows(rows, index, s, np.zeros(D))
    np.testing.assert_allclose(A.T @ A, expected, atol=200 * tol)


def test_gram_of_items_far_from_the_origin():
    """Differences forget where the items are; so must sums over the items."""
    rows = PairRows(as_rows(ITEMS + 1e6), WINNER, LOSER)
    s = np.ones(M)
    G, _ = column_gram(rows, np.arange(M), s, np.zeros(D))
    np.testing.assert_allclose(np.tril(G), np.tril(FORMED.T @ FORMED), atol=1e-4)


def test_laplacian():
    rows, s = rows_of("dense"), rng.random(M)
    L = laplacian(rows, np.arange(M), s).toarray()
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(L, L.T, atol=1e-15)
    assert np.linalg.eigvalsh(L).min() > -1e-10


@each
@pytest.mark.parametrize("size", [2, 100])
def test_take(storage, size):
    rows = rows_of(storage)
    index = rng.permutation(M)[:size]
    part = take(rows, index)
    w = rng.standard_normal(D)
    np.testing.assert_allclose(scores(part, w), FORMED[index] @ w, atol=20 * tolerance(storage))
    if size == 2:  # only the items that are named
        assert shape(part.items)[0] <= 4


def test_size_counts_both_items_of_a_pair():
    assert size_of(rows_of("dense")) == 2 * M * D
