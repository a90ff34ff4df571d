"""Two-class problems side by side: one budget and one history for all, and how many at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TypeVar

import numpy as np

from ..core.solve.contract import Monitor, Step
from .lockstep import run_in_lockstep
from .parts import Parts
from .solve.two_class.newton import MAX_LOCAL_GRAM_COLUMNS, MAX_REMOTE_GRAM_COLUMNS

T = TypeVar("T")
# What one job does: (parts, monitor=…) in, anything out.
Solve = Callable[..., T]
# Bytes of responses that may be held at a time by the driver.
RESPONSE_BYTES = 64_000_000
# Jobs at a time: each has a thread to wait in.
MOST_JOBS = 64


def solve_side_by_side(
    parts: Parts,
    solvers: Mapping[Hashable, Solve[T]],
    monitor: Monitor,
    at_once: int,
    after_group: Callable[[], None] = lambda: None,
) -> list[T]:
    """What each solver returns, in their order; ``at_once`` of them share their rounds.

    ``monitor`` counts the iterations of all, as if they came one after another, and its history is
    that of the sum of the problems begun.
    """
    shared, names, found = _SharedMonitor(monitor), list(solvers), list[T]()
    if len(names) == 1:  # alone, without a thread, and with Ctrl-C in its own hands
        found = [solvers[names[0]](parts, monitor=monitor)]
        after_group()
        return found
    for first in range(0, len(names), at_once):
        group = names[first : first + at_once]
        jobs = {name: partial(solvers[name], monitor=shared.another()) for name in group}
        found += run_in_lockstep(parts, jobs, shared.note)
        after_group()
    return found


def jobs_at_once(n_features: int, held: int, room: int = RESPONSE_BYTES, far: bool = True) -> int:
    """How many jobs may ask together if ``held`` parts' responses lie in memory at a time."""
    gram = n_features <= (MAX_REMOTE_GRAM_COLUMNS if far else MAX_LOCAL_GRAM_COLUMNS)
    each = 8 * (n_features**2 if gram else 2 * n_features)
    return int(np.clip(room // (max(1, held) * max(1, each)), 1, MOST_JOBS))


class _SharedMonitor:
    """The monitor of the sum of all problems, from the watches of each."""

    def __init__(self, whole: Monitor):
        self.whole = whole
        self.each: list[_JobMonitor] = []
        self.noted: list[int] = []

    def another(self) -> _JobMonitor:
        self.each.append(_JobMonitor(self.whole))
        return self.each[-1]

    def note(self) -> None:
        """After a round: objective and bound of all problems begun, if one of them has news."""
        known = [len(monitor.history) for monitor in self.each]
        last = [monitor.history[-1] for monitor in self.each if monitor.history]
        if known != self.noted and last:
            self.noted = known
            self.whole.solver = self.each[-1].solver
            self.whole.record(sum(step.primal for step in last), sum(step.dual for step in last))


class _JobMonitor(Monitor):
    """The monitor of one problem: it uses up the budget of all, and shows nothing."""

    def __init__(self, whole: Monitor):
        super().__init__(
            tol=whole.tol, estimate=whole.estimate, enough=whole.enough, max_iter=whole.max_iter,
            max_seconds=whole.max_seconds, seed=whole.seed, began=whole.began,
        )  # fmt: skip
        self.whole = whole

    def step(self, count: int = 1) -> None:
        self.whole.step(count)
        self.n_iter += count

    def _show(self, step: Step) -> None:
        """Nothing: the whole is shown."""
