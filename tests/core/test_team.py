"""One fit in several threads: the same bits, the same proof, and nothing left behind."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from maxmargin import KernelSVM
from maxmargin.core import team as teams
from maxmargin.core.kernels import gram_cache, kernel_block
from maxmargin.core.solve.threads import one_blas_thread
from maxmargin.core.team import in_stretches, team


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
