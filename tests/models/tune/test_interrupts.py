"""Ctrl-C during a search or a path keeps what is done."""

import os
import signal
import time
from contextlib import contextmanager, suppress
from itertools import count

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVM, LinearSVMCV, LogisticRegressionCV, c_path
from maxmargin.models.reduction.fit_all import interrupts
from maxmargin.models.tune import folds

CS = [0.1, 1.0, 10.0, 100.0]


class _PressAfter:
    """A scorer that presses Ctrl-C at its n-th call, and then waits until that was noticed."""

    def __init__(self, calls, noticed):
        self.calls, self.noticed = calls, noticed
        self.counted = count(1)  # several threads count

    def __call__(self, model, X, y):
        if next(self.counted) == self.calls:
            os.kill(os.getpid(), signal.SIGINT)
            while not self.noticed[-1]:
                time.sleep(0.001)
        return model.score(X, y)


@pytest.fixture
def noticed(monkeypatch):
    """Every list in which a search notes that Ctrl-C was pressed."""
    lists = []

    @contextmanager
    def spied(**how):
        with interrupts(**how) as pressed:
            lists.append(pressed)
            yield pressed

    monkeypatch.setattr(folds, "interrupts", spied)
    return lists


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("tuned", [LinearSVMCV, LogisticRegressionCV])
def test_a_search_keeps_the_values_that_all_folds_have(tuned, n_jobs, noticed):
    X, y = load_iris(return_X_y=True)
    model = tuned(CS, cv=3, scoring=_PressAfter(8, noticed), n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning, match=r"first \d of 4 values"):
        model.fit(X, y)
    done = len(model.cv_results_["param_C"])
    assert 1 <= done <= 3
    assert np.isfinite(model.scores_[:, :done]).all()
    assert np.isnan(model.scores_[:, done:]).all()
    assert model.C_ in CS[:done]
    assert model.certificate_.holds(1e-6)
    whole = tuned(CS, cv=3).fit(X, y)
    np.testing.assert_array_equal(model.scores_[:, :done], whole.scores_[:, :done])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_complete_is_an_interrupt(n_jobs, noticed):
    X, y = load_iris(return_X_y=True)
    model = LinearSVMCV(CS, cv=5, scoring=_PressAfter(1, noticed), n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt, match="before any C"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class _Pressing(LinearSVM):
    """Ctrl-C inside the third fit; a solver takes note, keeps its best and returns."""

    fits = 0

    def _fit_checked(self, X, classes, codes, weight, memory=None):
        _Pressing.fits += 1
        if _Pressing.fits == 3:
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        return super()._fit_checked(X, classes, codes, weight, memory)


def test_a_path_keeps_what_it_has():
    X, y = load_iris(return_X_y=True)
    _Pressing.fits = 0
    with pytest.warns(UserWarning, match="Interrupted"):
        path = c_path(_Pressing(), X, y, CS)
    assert list(path.Cs) == CS[:2]
    assert "Interrupted" in path.ending
