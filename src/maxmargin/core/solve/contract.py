"""What a solver is given and what it returns."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..certify.certificate import Certificate
from ..problem.problem import Problem
from .threads import one_blas_thread

Solver = TypeVar("Solver", bound=Callable)


class Point(NamedTuple):
    """Weights, bias and multipliers; where a solver starts, and what it ends with."""

    w: np.ndarray
    b: float
    alpha: np.ndarray


class ClassPoint(NamedTuple):
    """The same for k classes: W (k, d), b (k,), multipliers β (n, k) with β_iy = 0."""

    W: np.ndarray
    b: np.ndarray
    beta: np.ndarray


class ClassWeights(NamedTuple):
    """Weights and biases alone, where multipliers follow from them: one row for two classes."""

    W: Any  # arrays, or tensors where rows are such
    b: Any


class Step(NamedTuple):
    """One line of a fit's history."""

    seconds: float
    iteration: int
    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        return (self.primal - self.dual) / max(abs(self.primal), np.finfo(float).tiny)


class Ending(Enum):
    """Why a solver stopped; only ``REACHED`` may, once certified, be called convergence."""

    REACHED = "the gap asked for was reached"
    ESTIMATED = "its error is estimated to be as small as asked for"
    TIME = "max_seconds ran out"
    ITERATIONS = "max_iter ran out"
    STALLED = "it made no more progress"
    INTERRUPTED = "interrupted from the keyboard"


def settled(ending: Ending, certificate: Certificate | None, tol: float) -> Ending:
    """REACHED if the certificate proves the gap asked for, and only then; else why it stopped."""
    if certificate is not None and certificate.holds(tol):
        return Ending.REACHED
    return Ending.STALLED if ending is Ending.REACHED else ending


class OutOfBudget(Exception):
    """Raised inside a solver by ``Monitor.step``; the solver returns its best point."""

    def __init__(self, ending: Ending):
        super().__init__(ending.value)
        self.ending = ending


def ended(search: Callable[[], Ending]) -> Ending:
    """How a search ended: by itself, with its budget, or by Ctrl-C; it keeps what it found."""
    try:
        return search()
    except OutOfBudget as stop:
        return stop.ending
    except KeyboardInterrupt:
        return Ending.INTERRUPTED


@dataclass
class Monitor:
    """Tolerance, budget, history and progress of one fit.

    ``estimate``: the share of what the weights gain over none at which an error that is only
    estimated ends a search, without proof; 0 asks for the proof.
    ``enough``: a gap beyond ``tol`` with which more digits than float64 has are not tried.
    ``path``: what a fit with another C has left for this one (``two_class/margin_path.py``).
    """

    tol: float = 1e-6
    estimate: float = 0.0
    enough: float = 0.0
    max_iter: int = 1000
    max_seconds: float = np.inf
    verbose: int = 0
    seed: int = 0
    solver: str = ""
    path: Any = None
    history: list[Step] = field(default_factory=list)
    n_iter: int = 0
    began: float = field(default_factory=time.perf_counter)
    _shown: float = 0.0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def step(self, count: int = 1) -> None:
        """Count iterations and stop the solver when the budget is used up."""
        if self.n_iter + count > self.max_iter:
            raise OutOfBudget(Ending.ITERATIONS)
        self.n_iter += count
        if self.seconds > self.max_seconds:
            raise OutOfBudget(Ending.TIME)

    def record(self, primal: float, dual: float) -> bool:
        """Note the bounds now known; True when the gap asked for is reached."""
        step = Step(self.seconds, self.n_iter, float(primal), float(dual))
        self.history.append(step)
        self._show(step)
        return step.relative_gap <= self.tol

    def _show(self, step: Step) -> None:
        """Progress on stderr: with ``verbose``, or at a terminal after two seconds."""
        pause = {0: 2.0, 1: 0.2}.get(self.verbose, 0.0)
        watched = self.verbose > 0 or sys.stderr.isatty()
        if watched and step.seconds - self._shown >= pause:
            self._shown = step.seconds
            print(
                f"[maxmargin] {self.solver} {step.seconds:7.2f} s  iteration {step.iteration:5d}"
                f"  objective {step.primal:.6g}  relative gap {max(0.0, step.relative_gap):.1e}"
                f"  (asked {self.tol:.0e})",
                file=sys.stderr,
                flush=True,
            )


class Proved(NamedTuple):
    """A feasible point with its proof, and what a form knows besides.

    Where a search stopped at an estimate there is no certificate.
    """

    point: Any  # Point, ClassPoint or ClassWeights
    certificate: Any  # a Certificate, or None
    scores: np.ndarray | None = None  # of two classes, w·x without the bias
    slacks: Any = None  # of k classes, every row's worst and summed: (n, 2)

    @property
    def gap(self) -> float:
        return np.inf if self.certificate is None else self.certificate.relative_gap


class Solution(NamedTuple):
    """What was proved, why the solver stopped, and what it recorded on the way."""

    point: Any
    certificate: Any  # a Certificate, but where Ending.ESTIMATED says that there is none
    scores: Any
    slacks: Any
    ending: Ending
    solver: str
    why: str
    n_iter: int
    history: list[Step]


class Form(ABC):
    """A kind of problem: what the driver must know to solve and prove it."""

    # name → solver(problem, monitor, start), which returns a point and why it stopped
    solvers: Mapping[str, Callable]
    # How often a solver goes on more strictly when the proof falls short of its own estimate.
    encores: int = 0

    @abstractmethod
    def plan(self, problem: Any) -> tuple[str, str]:
        """The name of the solver that suits the problem, and the reason."""

    @abstractmethod
    def finish(self, problem: Any, point: Any, tol: float) -> Proved:
        """The point made feasible, with the best bias, and the proof of how good it is."""

    def check(self, problem: Any, name: str) -> None:
        """Refuse, in words, what a solver cannot do, before it begins."""
        return None

    def run(self, name: str, problem: Any, monitor: Monitor, start: Any) -> tuple[Any, Ending]:
        """A solver's point, or what it has proved itself, and why it stopped."""
        return self.solvers[name](problem, monitor, start)

    def fall_backs(self, problem: Any, name: str) -> tuple[str, ...]:
        """Solvers to try, in turn, where the one that was planned falls short."""
        return ()

    def elsewhere(self) -> Form:
        """The form for rows that are moved."""
        return self

    def threads(self, problem: Any) -> AbstractContextManager:
        """Small products are faster in one thread, and folds run side by side."""
        return one_blas_thread()


def serves(*losses: Any) -> Callable[[Solver], Solver]:
    """Say which losses a solver serves: classes, or a verb for all that have a rule of it."""

    def declare(solver: Solver) -> Solver:
        solver.losses = losses  # type: ignore[attr-defined]
        return solver

    return declare


@cache
def can_solve(solver: Callable, loss: type) -> bool:
    """Whether the solver serves a kind of loss; one that declares nothing serves all."""
    losses = getattr(solver, "losses", None)
    return losses is None or any(loss in getattr(kind, "rules", (kind,)) for kind in losses)


def origin(problem: Problem) -> Point:
    """The trivial start: no weights, no multipliers."""
    n, d = problem.shape
    return Point(np.zeros(d), 0.0, np.zeros(n))


class Best:
    """The lowest primal and the highest dual seen, and the points they belong to."""

    def __init__(self, problem: Problem):
        self.w, self.b, self.alpha = origin(problem)
        self.primal, self.dual = np.inf, -np.inf

    def offer_primal(self, primal: float, w: np.ndarray, b: float) -> None:
        if primal < self.primal:
            self.primal, self.w, self.b = primal, w, b

    def offer_dual(self, dual: float, alpha: np.ndarray) -> None:
        if dual > self.dual:
            self.dual, self.alpha = dual, alpha
