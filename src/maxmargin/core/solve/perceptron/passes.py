"""Pass after pass over the data, until none is wrong, the loss stands still, or time is up.

The two stopping rules of the lectures: a pass without an update (zero errors), and a change
of the perceptron loss  Σ max(0, margin − m)  between passes below a threshold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

# The loss oscillates when it rose in this share of the later half of at least so many passes.
MIN_RISING_SHARE = 0.25
MIN_OSCILLATION_PASSES = 8


class Halt(Enum):
    """Why a run ended."""

    SEPARATED = "a whole pass needed no update"
    SETTLED = "the loss changed by less than tol"
    PASSES = "max_passes ran out"
    INTERRUPTED = "interrupted from the keyboard"


class Pass(NamedTuple):
    """One line of a run's history; the loss is what the pass met on its way."""

    seconds: float
    updates: int
    loss: float


class PassPlan(NamedTuple):
    """How to go through the data, and when to stop."""

    order: str = "cycle"
    max_passes: int = 1000
    tol: float | None = None
    pocket: bool = False


class Learner(Protocol):
    """What can be trained by passes over the data."""

    def sweep(self, order: np.ndarray) -> tuple[int, float]: ...

    def count(self) -> tuple[int, int]: ...

    def snapshot(self) -> Any: ...


@dataclass
class Run:
    """What happened, and the best state met if the pocket was asked for."""

    halt: Halt = Halt.PASSES
    history: list[Pass] = field(default_factory=list)
    pocket: Any = None
    fewest_wrong: float = np.inf

    def oscillates(self) -> bool:
        """Whether the loss still went up and down when the run ended."""
        loss = [line.loss for line in self.history]
        if self.halt is not Halt.PASSES or len(loss) < MIN_OSCILLATION_PASSES:
            return False
        late = np.diff(loss[len(loss) // 2 :])
        return float(np.mean(late > 0)) >= MIN_RISING_SHARE


def orders(order: str, n: int, rng) -> Iterator[np.ndarray]:
    """The order of every pass.

    ``"cycle"``: as the data lie.  ``"shuffle"``: one random permutation, drawn first and
    kept for all passes, as in the lecture.  ``"random"``: n draws with replacement.
    """
    fixed = rng.permutation(n) if order == "shuffle" else np.arange(n)
    while True:
        yield rng.randint(n, size=n) if order == "random" else fixed


def run_passes(learner: Learner, plan: PassPlan, n: int, rng) -> Run:
    """Train ``learner`` in place.  An interrupt from the keyboard ends the run after a pass."""
    run, began = Run(), time.perf_counter()
    try:
        for order in islice(orders(plan.order, n, rng), plan.max_passes):
            updates, loss = learner.sweep(order)
            run.history.append(Pass(time.perf_counter() - began, updates, loss))
            if plan.pocket:
                _fill_pocket(run, learner)
            if updates == 0 and (plan.order != "random" or learner.count()[1] == 0):
                run.halt = Halt.SEPARATED
                break
            if plan.tol is not None and _settled(run.history, plan.tol):
                run.halt = Halt.SETTLED
                break
    except KeyboardInterrupt:
        run.halt = Halt.INTERRUPTED
    return run


def _settled(history: list[Pass], tol: float) -> bool:
    if len(history) < 2:
        return False
    before, now = history[-2].loss, history[-1].loss
    return abs(before - now) <= tol * max(before, now)


def _fill_pocket(run: Run, learner: Learner) -> None:
    wrong = learner.count()[0]
    if wrong < run.fewest_wrong:
        run.fewest_wrong, run.pocket = wrong, learner.snapshot()
