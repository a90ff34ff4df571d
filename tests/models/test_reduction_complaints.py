"""What OneVsRest and OneVsOne refuse, and how errors, warnings and Ctrl-C name the class."""

import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVM, NotSeparableError, OneVsOne, OneVsRest

from .bases import BOTH, Centroid, Moody, blobs


@pytest.mark.parametrize("kind", BOTH)
def test_what_is_refused(kind):
    X, y = blobs(3)
    for base in (LinearSVM, LinearRegression(), StandardScaler(), None):
        with pytest.raises((TypeError, AttributeError), match="needs a classifier"):
            kind(base).fit(X, y)
    with pytest.raises(ValueError, match="single label"):
        kind(LinearSVM(), unknown=["a", "b"]).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        kind(LinearSVM()).fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match=r"rest must be None or one of the classes.*\[0, 1, 2\]"):
        OneVsRest(LinearSVM(), rest="x").fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_name_the_class_and_leave_the_model_as_it_was(n_jobs):
    X, y = blobs(3)
    words = np.array(["a", "b", "c"])[y]
    with pytest.raises(
        NotSeparableError, match=r"OneVsRest, class '.' against the rest: C=inf"
    ) as caught:
        OneVsRest(LinearSVM(C=np.inf), n_jobs=n_jobs).fit(X, words)
    assert caught.value.proof.residual < 1e-9
    model = OneVsOne(Moody("fail"), n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"OneVsOne, class '.' against '.': no such thing"):
        model.fit(X, words)
    assert not hasattr(model, "classes_")
    with pytest.raises(OSError, match="disk") as caught:
        OneVsOne(Moody("break"), n_jobs=n_jobs).fit(X, words)
    assert caught.value.__notes__[0].startswith("OneVsOne, class '")


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_warnings_name_the_classes_once(n_jobs):
    X, y = blobs(5)
    with pytest.warns(ConvergenceWarning) as caught:
        OneVsRest(Moody("warn"), n_jobs=n_jobs).fit(X, y)
    (only,) = caught
    assert str(only.message) == (
        "OneVsRest, class 0 against the rest, class 1 against the rest, "
        "class 2 against the rest and 2 more: I am not sure"
    )
    assert only.filename == __file__
    two = y < 2
    with pytest.warns(ConvergenceWarning, match=r"class 0 against 1: LinearSVM stopped"):
        OneVsOne(LinearSVM(solver="newton", max_iter=1), n_jobs=n_jobs).fit(X[two], y[two])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        before = warnings.showwarning
        OneVsRest(Moody("warn"), n_jobs=n_jobs).fit(X, y)
        assert warnings.showwarning is before


def test_fits_in_several_threads_keep_their_warnings_apart():
    X, y = blobs(3)
    before = warnings.showwarning
    models = [OneVsRest(Moody("warn"), n_jobs=2), OneVsOne(Moody("warn"))] * 10
    with ThreadPoolExecutor(4) as pool, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(pool.map(lambda model: clone(model).fit(X, y), models))
    assert warnings.showwarning is before
    said = {str(warning.message) for warning in caught}
    assert len(said) == 2
    assert all(text.count("class") == 3 for text in said)


def test_error_filters_stop_the_fit():
    X, y = blobs(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning, match="class 0 against the rest: I am not sure"):
            OneVsRest(Moody("warn")).fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_ends_all_fits_even_if_one_survives_it(n_jobs):
    X, y = blobs(3)
    model = OneVsRest(Moody("interrupt", threshold=1.0), n_jobs=n_jobs)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_cancels_the_fits_not_begun():
    begun, over = [], threading.Event()

    class Slow(Centroid):
        def fit(self, X, y):
            begun.append(1)
            if len(begun) == 2:
                raise ValueError("enough")
            over.wait(60)
            return super().fit(X, y)

    X, y = blobs(20, 200)
    with pytest.raises(ValueError, match="enough"):
        OneVsRest(Slow(), n_jobs=2).fit(X, y)
    over.set()
    for thread in threading.enumerate():
        if thread.name.startswith("maxmargin"):
            thread.join()
    assert len(begun) <= 3  # one that waits, the one that fails, one that its thread went on to


def test_verbose_shows_progress(capfd):
    X, y = blobs(3)
    OneVsOne(LinearSVM(), verbose=2).fit(X, y)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "[maxmargin] OneVsOne" in shown.err
    assert "classifier    3 of 3  (class 1 against 2)" in shown.err
    OneVsOne(LinearSVM()).fit(X, y)
    assert capfd.readouterr().err == ""
