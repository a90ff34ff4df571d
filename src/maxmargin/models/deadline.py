"""A deadline for all fits inside a block, whoever makes them.

    with deadline(60.0):
        compare(X, y)        # every fit, of every fold of every search, ends in time

Kernels that are compiled at their first use, which happens once on a machine, stop the clock.
A fit that has no time left keeps its best model, unproved; a search chooses among the C that all of
its folds have tried.  Threads that work for such a block are started by ``in_context``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import NamedTuple

import numpy as np

from .compiling import compile_seconds

# Seconds that a fit is given where there are none left: its certificate must still be made.
LEAST_SECONDS = 1e-3


class Deadline(NamedTuple):
    """``ends`` by ``clock``; of what is left, the folds of a search may use a share, so
    that there is time for the final fit."""

    ends: float = np.inf
    folds_share: float = 1.0


NO_DEADLINE = Deadline()
_deadline: ContextVar[Deadline] = ContextVar("deadline", default=NO_DEADLINE)


class OutOfTimeError(ValueError):
    """The time was over before there was anything to keep."""


@contextmanager
def deadline(seconds: float, folds_share: float | None = None) -> Iterator[None]:
    """End all fits of this block within so many seconds; an earlier deadline stays."""
    former = _deadline.get()
    share = former.folds_share if folds_share is None else folds_share
    token = _deadline.set(Deadline(min(former.ends, clock() + seconds), share))
    try:
        yield
    finally:
        _deadline.reset(token)


def clock() -> float:
    """Seconds since some moment, without those of compiling."""
    return time.perf_counter() - compile_seconds()


def time_left() -> float:
    """Seconds, below 0 when the time is over."""
    return _deadline.get().ends - clock()


def folds_seconds() -> float:
    """Seconds that the folds of a search may take."""
    return _deadline.get().folds_share * time_left()


def within_deadline(seconds: float) -> float:
    """The seconds a fit may take that was allowed so many."""
    return min(seconds, max(time_left(), LEAST_SECONDS))


def in_context(work: Callable) -> Callable:
    """The same work for another thread, under the deadline of this one."""
    return partial(copy_context().run, work)
