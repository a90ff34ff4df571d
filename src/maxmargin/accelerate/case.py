"""One fit inside scikit-learn: who solves it, how well, and what is recorded of it.

A ``Case`` is a call of a solver inside scikit-learn.  ``attend`` asks it whether everything it
asks for is honoured here; solves it and proves the answer, or leaves it to scikit-learn; keeps of
two answers the better one where the proof falls short; and records what happened.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from . import record
from .loading import LOADING_SECONDS, worth_loading
from .settings import GAP, SETTINGS
from .warm import from_cold

# How the record of a fit tells of an exception of ours, which the program never sees.
STOPPED = "stopped with"


class Refusal(Exception):
    """Why a fit is left to scikit-learn."""


class Quicker(Refusal):
    """It is left because scikit-learn is quicker at it, not for want of an answer here."""


@dataclass
class Answer:
    """What scikit-learn's caller is given, and what was proved of it."""

    value: Any
    primal: float
    gap: float  # relative
    method: str


class Case(ABC):
    """A call of a solver inside scikit-learn."""

    kind: str
    rows: int
    columns: int
    classes: int = 2
    patient: bool = False  # whether it is solved where scikit-learn would be quicker, too

    @property
    def any_size(self) -> bool:
        return self.patient or SETTINGS.every_size

    @abstractmethod
    def check(self) -> None:
        """Raise ``Refusal`` for what is not honoured here, and ``Quicker`` for its size.

        What takes longer to look at than parameters comes after the size.
        """

    @abstractmethod
    def seconds(self) -> float:
        """About what scikit-learn takes."""

    @abstractmethod
    def solve(self) -> Answer:
        """The answer of maxmargin, certified."""

    @abstractmethod
    def original(self) -> Any:
        """The answer of scikit-learn's own code."""

    @abstractmethod
    def primal(self, value: Any) -> float:
        """The objective of an answer, in float64."""

    @abstractmethod
    def predict(self, value: Any) -> np.ndarray:
        """The class that an answer gives every training row."""

    def settle(self, value: Any) -> Any:
        """What the caller is given of an answer; here its attributes may be set."""
        return value


def attend(case: Case) -> Any:
    """Solve the fit, by whoever should, and record it."""
    began = perf_counter()
    fit = record.Fit(case.kind, record.place(), case.rows, case.columns)
    try:
        answer = _proved(case, fit)
        theirs, value = None, answer and answer.value
        if answer is None or answer.gap > GAP:
            theirs, fit.their_seconds = _timed(case.original)
            value = _better(case, fit, answer, theirs)
        fit.seconds = perf_counter() - began
        if SETTINGS.compare:
            _judge(case, fit, answer, theirs)
        return case.settle(value)
    finally:
        record.add(fit)


def recorded(
    kind: str,
    shape: tuple[int, ...],
    why: str,
    original: Callable[[], Any],
    ours: Callable[[], str] | None = None,
) -> Any:
    """Run a closed form, which has nothing to prove, and record who has solved it and why.

    ``ours`` sets what the original sets, which then returns nothing, and says how.
    """
    fit = record.Fit(kind, record.place(), *(*shape, 0, 0)[:2], why=why)
    began = perf_counter()
    try:
        if ours is not None and (how := _unless_refused(fit, ours)):
            fit.solver, fit.why = "maxmargin", how
            return None
        return original()
    finally:
        fit.seconds = perf_counter() - began
        record.add(fit)


def _proved(case: Case, fit: record.Fit) -> Answer | None:
    """The certified answer; None where there is none, with the reason noted."""
    answer = _unless_refused(fit, lambda: _certified(case, fit))
    if answer is not None:
        fit.solver, fit.gap, fit.why = "maxmargin", answer.gap, answer.method
    return answer


def _certified(case: Case, fit: record.Fit) -> Answer:
    case.check()
    fit.classes = case.classes
    if not worth_loading(case.seconds()):
        raise Quicker(
            f"small: loading the solvers ({LOADING_SECONDS:g} s, once) would cost more "
            "than all fits so far"
        )
    answer, fit.our_seconds = _timed(case.solve)
    return answer


def _unless_refused(fit: record.Fit, run: Callable[[], Any]) -> Any:
    """What it returns; None where it refuses or fails, with the reason noted."""
    try:
        return run()
    except Refusal as refusal:
        fit.why = str(refusal)
    except Exception as error:  # a failure here must not become one of the program
        fit.why = f"maxmargin {STOPPED} {type(error).__name__}: {error}"
    return None


def _better(case: Case, fit: record.Fit, answer: Answer | None, theirs: Any) -> Any:
    """Of both answers, where ours is not proved to be good enough, the lower objective."""
    if answer is None:
        return theirs
    short = f"{answer.method}; its proof ends at a gap of {answer.gap:.0e}"
    if case.primal(theirs) < answer.primal:
        fit.solver, fit.why = "scikit-learn", f"{short}, and scikit-learn's objective is lower"
        return theirs
    fit.why = f"{short}, but scikit-learn's objective is higher"
    return answer.value


def _judge(case: Case, fit: record.Fit, answer: Answer | None, theirs: Any) -> None:
    """Let the other one solve as well: its seconds, and how good scikit-learn's answer is.

    Ours solves once more: the first fit of its kind in a process loads compiled kernels.
    """
    try:
        case.patient = True
        if answer is None:
            case.check()
        with from_cold():
            answer, fit.our_seconds = _timed(case.solve)
        if theirs is None:
            theirs, fit.their_seconds, fit.their_warning = _watched(case.original)
        bound = answer.primal * (1.0 - answer.gap)
        fit.their_excess = float(max(0.0, case.primal(theirs) - bound) / max(abs(bound), 1e-300))
        fit.changed = int(np.sum(case.predict(theirs) != case.predict(answer.value)))
    except Refusal:  # what is not honoured here cannot be judged
        return
    except Exception as error:
        fit.why += f"; its judge {STOPPED} {type(error).__name__}: {error}"
        return


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = perf_counter()
    value = run()
    return value, perf_counter() - began


def _watched(run: Callable[[], Any]) -> tuple[Any, float, str]:
    """The answer, its seconds, and the name of a warning that the program did not get."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value, seconds = _timed(run)
    return value, seconds, caught[0].category.__name__ if caught else ""
