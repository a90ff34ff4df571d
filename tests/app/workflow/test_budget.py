"""Work within a budget: it ends in time, tells of itself meanwhile, and Ctrl-C is heard at once."""

import threading
import time

import numpy as np
import pytest

from maxmargin.app.workflow import budget
from maxmargin.app.workflow.budget import parse_budget, work_within


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60), ("90", 90), ("2m", 120), ("1.5 min", 90), ("1h", 3600), (None, np.inf)],
)
def test_times(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0s", "60 parsecs", "inf"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match="--budget must be a time such as 60s"):
        parse_budget(text)


def test_work_that_ends_and_work_that_does_not():
    done = []
    assert work_within(5.0, lambda: done.append(1))
    assert done == [1]
    began = time.perf_counter()
    assert not work_within(0.1, threading.Event().wait)
    assert time.perf_counter() - began < 2.0


def test_errors_of_the_work_are_raised():
    def work():
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        work_within(np.inf, work)


def test_it_tells_of_itself(monkeypatch):
    monkeypatch.setattr(budget, "TELL_SECONDS", 0.05)
    told = []
    assert work_within(5.0, lambda: time.sleep(0.3), lambda: told.append(1))
    assert told
