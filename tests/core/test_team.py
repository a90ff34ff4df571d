"""One fit in several threads: the same bits, the same proof, and nothing left behind."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from maxmargin import KernelSVM, LinearSVM, LogisticRegression
from maxmargin.core import team as teams
from maxmargin.core.kernels import gram_cache, kernel_block
from maxmargin.core.rows import class_products
from maxmargin.core.rows.rows import as_rows, combine, lengths, scores
from maxmargin.core.solve.many_class import class_descent, class_leap, class_shift
from maxmargin.core.solve.threads import one_blas_thread
from maxmargin.core.team import SHARES, in_shares, in_stretches, team


@pytest.fixture
def stretches(monkeypatch):
    """Every call that was shared out, as the number of threads that shared it."""
    seen, original = [], teams._pool

    def pool(threads):
        seen.append(team.get())
        return original(threads)

    monkeypatch.setattr(teams, "_pool", pool)
    return seen


def in_team(count: int, fit):
    with threadpool_limits(count, user_api="blas"):
        return fit()


def test_stretches_cover_all_once_in_as_many_threads():
    seen, names = np.zeros(1000, dtype=int), set()
    both = threading.Barrier(3, timeout=10)

    def work(start, stop):
        both.wait()  # three at once, or never
        names.add(threading.get_ident())
        assert start % 64 == 0
        assert team.get() == (3 if start == 0 else 1)
        seen[start:stop] += 1

    token = team.set(3)
    try:
        in_stretches(work, 1000, 64, 100)
    finally:
        team.reset(token)
    assert (seen == 1).all()
    assert len(names) == 3


def test_errors_of_other_threads_are_raised_and_settings_go_with_the_work():
    def work(start, stop):
        if start:
            np.float64(1e308) * np.float64(1e308)  # would warn: the caller has said not to
            raise ZeroDivisionError("in the second stretch")

    token = team.set(2)
    try:
        with np.errstate(all="ignore"), pytest.raises(ZeroDivisionError, match="second stretch"):
            in_stretches(work, 100, 1, 1)
    finally:
        team.reset(token)


def test_little_work_and_fits_side_by_side_stay_in_one_thread(stretches):
    with threadpool_limits(2, user_api="blas"), one_blas_thread():
        assert team.get() == 2
        in_stretches(lambda start, stop: None, 100, 1, 60)
        with one_blas_thread():
            assert team.get() == 2
        with one_blas_thread(fits=4):
            assert team.get() == 1
            in_stretches(lambda start, stop: None, 100, 1, 1)
    assert team.get() is None
    assert stretches == []


@pytest.mark.parametrize("count", [0, 1, 99, 100, 201, 1000, 12345])
def test_shares_are_the_same_for_any_number_of_threads(count):
    found = []
    for threads in (1, 2, 3):
        token = team.set(threads)
        try:
            found.append(in_shares(lambda i, j: (i, j), count, 50))
        finally:
            team.reset(token)
    assert found[0] == found[1] == found[2]
    shares = found[0]
    assert shares[0][0] == 0
    assert shares[-1][1] == count
    assert all(one[1] == two[0] for one, two in pairwise(shares))
    assert len(shares) in (1, *SHARES)
    assert len(shares) == 1 or min(j - i for i, j in shares) >= 50


@pytest.mark.parametrize("storage", [np.asarray, np.float32, np.asfortranarray, sparse.csr_array])
def test_passes_over_many_rows_are_those_over_few(storage, stretches):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((90_000, 30)) * (rng.random((90_000, 30)) < 0.9)
    w, v = rng.standard_normal(30), rng.standard_normal(len(X))
    rows, some = as_rows(storage(X)), np.where(rng.random(len(X)) < 0.1, v, 0.0)

    def seen():
        with one_blas_thread():
            return scores(rows, w), combine(rows, v), combine(rows, some), lengths(rows)

    one, two = (in_team(count, seen) for count in (1, 2))
    assert all(np.array_equal(*pair) for pair in zip(one, two, strict=True))
    assert bool(stretches) == (storage is not np.asfortranarray)
    X = X.astype(np.float32).astype(np.float64) if storage is np.float32 else X
    expected = X @ w, v @ X, some @ X, np.linalg.norm(X, axis=1)
    for found, known in zip(one, expected, strict=True):
        np.testing.assert_allclose(found, known, rtol=2e-7, atol=1e-9)


MODELS = [LinearSVM(), LinearSVM(loss="squared_hinge"), LogisticRegression()]


@pytest.mark.parametrize("model", MODELS, ids=["hinge", "squared", "logistic"])
def test_machines_of_two_classes_have_the_same_bits_in_any_number_of_threads(model, stretches):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80_000, 30))
    y = X @ rng.standard_normal(30) + 2.0 * rng.standard_normal(len(X)) > 0.5
    model.set_params(tol=1e-3)
    _same_in_threads(model, X, y, stretches)


@pytest.mark.parametrize("model", [LinearSVM(multiclass="max"), LogisticRegression(C=0.1)])
def test_machines_of_many_classes_have_the_same_bits_in_any_number_of_threads(
    model, stretches, monkeypatch
):
    for module in (class_descent, class_products):
        monkeypatch.setattr(module, "MIN_THREAD_MULTIPLICATIONS", 1 << 12)
    for module in (class_leap, class_shift):
        monkeypatch.setattr(module, "MIN_SHARE_VALUES", 1 << 10)
    rng = np.random.default_rng(2)
    X = sparse.random_array((4_000, 60), density=0.2, format="csr", rng=rng)
    y = np.argmax(X @ rng.standard_normal((60, 5)) + 0.3 * rng.standard_normal((4_000, 5)), axis=1)
    model.set_params(tol=1e-3)
    _same_in_threads(model, X, y, stretches)


def _same_in_threads(model, X, y, stretches):
    found = []
    for count in (1, 2, 3):
        with threadpool_limits(count, user_api="blas"):
            model.fit(X, y)
        found.append((model.coef_.copy(), model.intercept_.copy(), model.certificate_))
    assert set(stretches) == {2, 3}
    for coef, intercept, certificate in found:
        assert certificate.holds(1e-3)
        assert certificate == found[0][2]
        assert np.array_equal(coef, found[0][0])
        assert np.array_equal(intercept, found[0][1])


@pytest.mark.parametrize(("kernel", "C"), [("rbf", 1.0), ("rbf", 100.0), ("poly", 0.1)])
def test_kernel_machines_have_the_same_bits_in_any_number_of_threads(
    kernel, C, stretches, monkeypatch
):
    for module in (kernel_block, gram_cache):  # a thread for less than is worth one
        monkeypatch.setattr(module, "MIN_THREAD_VALUES", 1 << 14)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_600, 5))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(1_600) > 0
    one, two, again, three = (
        in_team(count, lambda: KernelSVM(C, kernel=kernel, tol=1e-2).fit(X, y))
        for count in (1, 2, 2, 3)
    )
    assert set(stretches) == {2, 3}
    for other in (two, again, three):
        assert other.certificate_.holds(1e-2)
        assert np.array_equal(other.dual_coef_, one.dual_coef_)
        assert other.intercept_ == one.intercept_
        assert other.certificate_ == one.certificate_
