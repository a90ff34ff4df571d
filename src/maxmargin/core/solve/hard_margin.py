"""The hard margin, and separability, of every form.

    min ½‖w‖²    with   y_i (w·x_i + b) ≥ 1

is the soft margin with C above its largest multiplier.  So C is raised, each fit starting from the
last, until no multiplier is at C (then the hard margin is solved) or until the multipliers, which
on inseparable data grow with C for ever, yield a proof that no separator exists.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..certify.separability import NotSeparableError, Separation
from ..rows.rows import sqnorms
from .contract import Ending, Monitor

C_RAISE_FACTOR = 30.0
MAX_C_RAISES = 14
# C begins so far above the multipliers of a start, unless these are as large as many raises make
# them: then it was no answer.
START_C_FACTOR, MAX_START_RAISES = 3.0, 6
# A row is at C when it has this share of it.
AT_CAP_SHARE = 0.999


class HardMargin(ABC):
    """What the raising of C asks of a form."""

    # The gap of soft margins: at first, by how much it shrinks, and the least worth trying.
    tol: float
    sharper: float
    sharpest: float

    @abstractmethod
    def soften(self, C: float, tol: float, point: Any) -> tuple[Any, Ending]:
        """The soft margin at the price C, solved from ``point`` to the gap ``tol``."""

    @abstractmethod
    def closest(self, point: Any) -> float:
        """The smallest margin; positive if all rows are on their side."""

    @abstractmethod
    def heaviest(self, point: Any) -> float:
        """The largest multiplier of a row."""

    @abstractmethod
    def solved(self, point: Any) -> Any:
        """The point, if it has the hard margin as precisely as was asked for, or None."""

    @abstractmethod
    def disproof(self, point: Any) -> Separation | None:
        """The proof that there is no separator, if the multipliers yield one."""


class HardMarginOfRows(HardMargin):
    """Of rows x, whose soft margins ``run(problem, monitor, start)`` solves."""

    hinge: Any  # the loss of the soft margins
    # The hard margin's gap is that of the soft problem many times over.
    loosest, sharper, sharpest = 1e-7, 1e-2, 1e-14

    def __init__(self, problem: Any, monitor: Monitor, run: Callable):
        self.problem, self.monitor, self.run, self.target = problem, monitor, run, monitor.tol
        self.tol = min(self.loosest, self.sharper * self.target)

    def soften(self, C: float, tol: float, point: Any) -> tuple[Any, Ending]:
        c = np.where(self.problem.c > 0, C, 0.0)
        self.monitor.tol = tol
        try:
            return self.run(replace(self.problem, c=c, loss=self.hinge), self.monitor, point)
        finally:
            self.monitor.tol = self.target

    def solve(self, start: Any) -> tuple[Any, Ending]:
        """The point, and why the search for it ended."""
        C = 10.0 / max(float(sqnorms(self.problem.rows).mean()), 1e-300)
        return raise_price(
            self, first_price(C, 0.0 if start is None else self.heaviest(start)), start
        )


def raise_price(margin: HardMargin, C: float, start: Any) -> tuple[Any, Ending]:
    """The hard margin; raises NotSeparableError, with the proof, when there is no separator.

    ``C``: the price to begin with.
    """
    point, ending, tol = start, Ending.STALLED, margin.tol
    for _ in range(MAX_C_RAISES):
        point, ending = margin.soften(C, tol, point)
        if ending not in (Ending.REACHED, Ending.STALLED):
            return point, ending
        if margin.closest(point) > 0.0:
            if margin.heaviest(point) < AT_CAP_SHARE * C:  # the right C; precise enough, too?
                if (found := margin.solved(point)) is not None:
                    return found, Ending.REACHED
                if tol < margin.sharpest:
                    break
                tol *= margin.sharper
                continue
        elif (proof := margin.disproof(point)) is not None:
            raise NotSeparableError(proof)
        C *= C_RAISE_FACTOR
    return point, Ending.STALLED


def first_price(C: float, heaviest: float) -> float:
    """The C to begin with: above the multipliers of the start, if that was nearly the answer."""
    return (
        max(C, START_C_FACTOR * heaviest) if heaviest <= C * C_RAISE_FACTOR**MAX_START_RAISES else C
    )
