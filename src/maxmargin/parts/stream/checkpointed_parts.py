"""Where a method over parts stands: the multipliers of all rows, written down now and then.

A method that starts from multipliers finds weights and bounds from them, so they are all that a
fit that was killed needs to go on.  They are written part by part, so that no more than one part's
are in memory for it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Any

import numpy as np

from ...core.rows.rows import sqnorms
from ..files.atomic import replacing
from ..parts import Block, Parts, Task
from ..solve.two_class.tasks import BinarySpec, BinaryState, pose
from .folder import CHECKPOINT_PREFIX
from .rows import StreamedRows

# Bytes read for every byte written: what it may cost at most.
MIN_READ_WRITE_RATIO = 10


class CheckpointedParts(Parts):
    """Parts of a stream that write down what they hold; ``each``: bytes of it for a row.

    ``parts`` may be the view of one job among several that are solved in the same passes.
    """

    def __init__(
        self, parts: Parts, rows: StreamedRows, name: str, each: int, problem: Hashable = None
    ):
        self.parts, self.rows, self.problem = parts, rows, problem
        self.n_parts, self.n_features = parts.n_parts, parts.n_features
        self.path = rows.folder.path / f"{CHECKPOINT_PREFIX}{name}.npz"
        self.every = max(1, round(MIN_READ_WRITE_RATIO * each / rows.bytes_each))
        self.since = 0

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        """``task(block, memory, *told)`` for every part, in order."""
        yield from self.parts.ask(task, *told)
        self.n_parts = self.parts.n_parts
        self.since += 1
        if self.since >= self.every and self.rows.folder.kept:
            self.since = 0
            self._write()

    def _write(self) -> None:
        states = self.rows.states
        with replacing(self.path) as file, zipfile.ZipFile(file, "w") as kept:
            _put(kept, "about", self._about())
            for i in range(self.n_parts):
                for key, state in (states.get(i, self.problem) or {}).items():
                    if state is not None:  # only counted so far
                        _put(kept, f"{i} {key!r}", multipliers(state))

    def _about(self) -> np.ndarray:
        """What the numbers of parts, and their multipliers, depend on."""
        rows = self.rows
        return np.array([rows.folder.key, str(rows.n), str(self.n_parts), str(rows.memory.limit)])

    def recall(self, key: Any, make: Callable[[Block, np.ndarray], Any]) -> None:
        """Give every part what was written down for ``key``: ``make(block, multipliers)``."""
        if not self.rows.folder.resume or not self.path.exists():
            return
        with zipfile.ZipFile(self.path) as kept:
            parts = int(_get(kept, "about")[2])
            if _get(kept, "about")[[0, 1, 3]].tolist() != self._about()[[0, 1, 3]].tolist():
                return
            numbers = count()

            def task(block: Block, state: Any):
                name = f"{next(numbers)} {key!r}"
                share = make(block, _get(kept, name)) if f"{name}.npy" in names else None
                return state if share is None else {**(state or {}), key: share}, 0

            names = set(kept.namelist())
            for _ in self.parts.ask(task):
                pass
        self.n_parts = self.parts.n_parts
        if self.n_parts != parts:  # cut in another way: what was given belongs to other rows
            self.rows.states.forget(self.problem)


def multipliers(state: Any) -> np.ndarray:
    """The best known ones of a part: on trial at the present point, else accepted."""
    if isinstance(state, BinaryState):
        return state.alpha if state.trial is None else state.trial
    return state.beta


def recall_spec(parts: CheckpointedParts, spec: BinarySpec) -> None:
    """The multipliers of one two-class machine."""

    def make(block: Block, alpha: np.ndarray) -> BinaryState | None:
        problem = pose(block, spec)
        if alpha.shape != problem.y.shape:
            return None
        return BinaryState(sqnorms(problem.rows), alpha, alpha[None, :])

    parts.recall(spec.key, make)


def _put(kept: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with kept.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def _get(kept: zipfile.ZipFile, name: str) -> np.ndarray:
    with kept.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
