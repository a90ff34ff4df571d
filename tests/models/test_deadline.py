"""Deadlines: fits end by them, searches choose among what was tried, and threads know of them."""

import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from maxmargin import LinearSVMCV, compare
from maxmargin.models import deadline as module
from maxmargin.models.deadline import (
    OutOfTimeError,
    deadline,
    folds_seconds,
    in_context,
    time_left,
    within_deadline,
)
from maxmargin.models.tune import search as search_module

X, Y = load_iris(return_X_y=True)


def test_the_earlier_of_two_stays_and_is_gone_afterwards():
    assert time_left() == np.inf
    with deadline(10.0, folds_share=0.5):
        assert 9.0 < time_left() <= 10.0
        assert 4.5 < folds_seconds() <= 5.0
        with deadline(100.0):
            assert time_left() <= 10.0
            assert folds_seconds() <= 5.0
        with deadline(1.0):
            assert time_left() <= 1.0
    assert time_left() == np.inf


def test_a_fit_has_some_time_for_its_proof():
    with deadline(-1.0):
        assert within_deadline(5.0) == module.LEAST_SECONDS
    with deadline(2.0):
        assert 1.0 < within_deadline(5.0) <= 2.0
    assert within_deadline(5.0) == 5.0


def test_compiling_stops_the_clock(monkeypatch):
    with deadline(1.0):
        monkeypatch.setattr(module, "compile_seconds", lambda: 1e6)
        assert time_left() > 1e5


def test_threads_that_are_told_know_of_it():
    from concurrent.futures import ThreadPoolExecutor

    with deadline(5.0), ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_context(time_left)).result() <= 5.0
        assert pool.submit(time_left).result() == np.inf


def slow_fits(monkeypatch, after: int):
    """From the fit of this number on the time is over."""
    count, fit = [], search_module.CGridSearch._fit

    def fitted(self, *given):
        count.append(1)
        fit(self, *given)
        if len(count) >= after:
            token = module._deadline.get()
            module._deadline.set(token._replace(ends=-np.inf))

    monkeypatch.setattr(search_module.CGridSearch, "_fit", fitted)


def test_a_search_chooses_among_what_all_folds_have_tried(monkeypatch):
    slow_fits(monkeypatch, after=11)
    with pytest.warns(UserWarning, match="ran out of time: C was chosen among the first 2 of 4"):
        model = LinearSVMCV(Cs=[0.01, 0.1, 1.0, 10.0], cv=5, n_jobs=1).fit(X, Y)
    assert model.C_ in (0.01, 0.1)
    assert model.certificate_.holds(model.tol)  # the final fit had time


def test_a_search_without_any_says_so(monkeypatch):
    slow_fits(monkeypatch, after=2)
    with pytest.raises(OutOfTimeError, match="no time to try any C on all 5 folds"):
        LinearSVMCV(Cs=[0.01, 0.1], cv=5, n_jobs=1).fit(X, Y)


def test_compare_leaves_out_what_takes_too_long():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        began = time.perf_counter()
        found = compare(
            X, Y, {"fisher": None, "svm": None, "mine": Slow()}, ["as given"], cv=3, max_seconds=2.0
        )
    assert time.perf_counter() - began < 10.0
    assert "fisher" in [row["method"] for row in found.rows]
    assert any(
        text.startswith("mine (as given) was left out: it took longer") for text in found.skipped
    )


class Slow(DummyClassifier):
    """Every fit takes a second."""

    def fit(self, X, y):
        time.sleep(1.0)
        return super().fit(X, y)
