"""PartsData: rows in parts, and what a fit needs to know of all of them together.

A stream and a cluster are its two sources.  What they do not share is asked of them here: how many
problems one round serves, how one is solved, a sample of the rows, where a fit stood when it was
killed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..core.solve.contract import Monitor
from ..models.validation import check_class_weight
from .ones import OnesParts
from .parts import Block, Parts
from .solve.hard_margin.rounds import HELD_BYTES
from .solve.many_class.driver import solve_class_hinge
from .solve.many_class.tasks import ClassSpec
from .solve.tasks import PartsSolution
from .solve.two_class.driver import solve_hinge
from .solve.two_class.tasks import BinarySpec

# Who is against whom in a two-class problem: the positive class, and the other, or None for all.
Duel = tuple[int, int | None]


@dataclass(frozen=True)
class PartsData(ABC):
    """Rows in parts; labels are codes of the sorted ``classes``."""

    parts: Parts
    classes: np.ndarray
    counts: np.ndarray  # rows by class
    mass: np.ndarray  # their weights, class weights included
    dtype: np.dtype
    names: np.ndarray | None = None
    weighed: bool = False  # whether any row was given another weight than 1

    # What estimators of this source are called.
    where: ClassVar[str]
    # Whether a fit that is interrupted keeps its best model; else it raises.
    keeps_best: ClassVar[bool] = True

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def room(self) -> int:
        """Bytes of rows that may be in hand for a hard margin."""
        return HELD_BYTES

    @abstractmethod
    def problems_at_once(self, duels: list[Duel]) -> int:
        """How many two-class problems share their rounds."""

    @abstractmethod
    def sample(self, seed: int) -> Block:
        """Some rows of every class; their weights add up to those of all rows."""

    @contextmanager
    def with_ones(self) -> Iterator[PartsData]:
        """The same rows with one more column, which is 1."""
        yield replace(self, parts=OnesParts(self.parts))

    def class_parts(self, k: int) -> Parts:
        """The parts for problems with k multipliers for every row."""
        return self.parts

    def solve_binary(
        self, parts: Parts, monitor: Monitor, spec: BinarySpec, problems: int, at_once: int
    ) -> PartsSolution:
        """One of so many two-class ``problems``, ``at_once`` of which share their rounds."""
        return solve_hinge(parts, spec, monitor)

    def solve_classes(self, spec: ClassSpec, monitor: Monitor) -> PartsSolution:
        """All classes in one problem."""
        return solve_class_hinge(self.parts, spec, monitor)

    def after_group(self) -> None:
        """Called when problems that shared their rounds are solved; their states may go."""
        return None

    def watch(self, monitor: Monitor) -> Monitor:
        """The monitor of a fit, whose progress may be shown in another way."""
        return monitor

    def advice(self, solver: str) -> str:
        """What else helps where all classes at once were not solved to the gap asked for."""
        return ""

    def load(self) -> dict[str, Any] | None:
        """Where a fit that was killed stood."""
        return None

    def save(self, **state: Any) -> None:
        """Write down where the fit stands."""
        return None


def class_weights(given: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """One weight for every class, from a dict or from how many rows each has."""
    if isinstance(given, str) and given == "balanced":
        return counts.sum() / (len(counts) * counts)
    return check_class_weight(given, classes, classes)


def weights_by_class(estimator: Any, data: PartsData) -> np.ndarray | None:
    """What each class weighs, if that is asked for; every class must weigh something."""
    given = getattr(estimator, "class_weight", None)
    by_class = None if given is None else class_weights(given, data.classes, data.counts)
    need_every_class(estimator, data, by_class)
    return by_class


def need_every_class(estimator: Any, data: PartsData, by_class: np.ndarray | None) -> None:
    """Refuse a class whose rows all weigh nothing."""
    mass = data.mass if by_class is None else data.mass * by_class
    for label, weight in zip(data.classes, mass, strict=True):
        if not weight > 0:
            raise ValueError(
                f"{type(estimator).__name__} needs at least two classes, and an example with "
                f"positive weight of each, but every example of class {label} has weight 0. "
                "Give it a positive weight or remove the class from y."
            )
