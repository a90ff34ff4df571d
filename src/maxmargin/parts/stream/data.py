"""StreamData: the rows of a stream as a source of parts, with its memory limit and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.problem.losses import boxed
from ...core.solve.contract import Ending, Monitor
from ..data import Duel, PartsData, need_every_class, weights_by_class
from ..parts import Block, Parts
from ..solve.many_class.tasks import ClassSpec
from ..solve.tasks import PartsSolution
from ..solve.two_class.tasks import BinarySpec
from .lockstep_budget import problems_in_a_pass
from .progress import StreamProgress
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .solve import (
    NEAR_COLUMNS,
    hard_room,
    solve_near_margin,
    solve_streamed_binary,
    solve_streamed_classes,
    solve_streamed_hard,
)
from .split_parts import SplitParts

# What helps where the rows that matter to all classes at once did not fit.
MEMORY_ADVICE = (
    " The rows that matter did not fit the memory limit: with more memory far fewer passes are "
    "needed."
)


@dataclass(frozen=True)
class StreamData(PartsData):
    """Rows of a stream; ``buffer``: a sample of them, where a fit begins with one."""

    parts: StreamedRows
    buffer: RowBuffer | None = None
    progress: StreamProgress | None = None

    where = "on a stream"
    keeps_best = False  # it raises, and a checkpoint has where it stood

    @property
    def room(self) -> int:
        return hard_room(self.parts)

    def problems_at_once(self, duels: list[Duel]) -> int:
        return min(len(duels), problems_in_a_pass(self.parts, duels))

    def sample(self, seed: int) -> Block:
        buffer = self._sampled()
        m = buffer.count
        return Block(buffer.matrix(), buffer.y[:m].astype(np.int64), buffer.c[:m])

    def _sampled(self) -> RowBuffer:
        assert self.buffer is not None
        return self.buffer

    @contextmanager
    def with_ones(self) -> Iterator[StreamData]:
        with self.parts.with_ones():
            yield replace(self, buffer=self.buffer and self.buffer.with_ones())

    def class_parts(self, k: int) -> Parts:
        return SplitParts(self.parts, k)

    def solve_binary(
        self, parts: Parts, monitor: Monitor, spec: BinarySpec, problems: int, at_once: int
    ) -> PartsSolution:
        rows = self.parts
        if np.isinf(spec.C):
            room = hard_room(rows, at_once)
            return solve_streamed_hard(parts, spec, monitor, self._sampled(), room)
        near = boxed(spec.loss) and rows.n_features <= NEAR_COLUMNS
        if near and len(self.classes) == 2:
            fit = solve_near_margin(rows, spec, monitor, self._sampled())
            if fit.ending is not Ending.STALLED:
                return fit
        return solve_streamed_binary(parts, rows, spec, monitor, problems, at_once)

    def solve_classes(self, spec: ClassSpec, monitor: Monitor) -> PartsSolution:
        fit = solve_streamed_classes(self.parts, spec, monitor, self._sampled())
        self.after_group()
        return fit

    def after_group(self) -> None:
        self.parts.forget()

    def watch(self, monitor: Monitor) -> Monitor:
        if self.progress is not None:
            self.progress.monitor = monitor
            if self.progress.terminal and not monitor.verbose:
                monitor._shown = np.inf  # passes have a line of their own
        return monitor

    def advice(self, solver: str) -> str:
        return MEMORY_ADVICE if solver == "ascent" else ""

    def load(self) -> dict[str, Any] | None:
        return self.parts.folder.load()

    def save(self, **state: Any) -> None:
        self.parts.folder.save(**state)


def stream_data(
    rows: StreamedRows, buffer: RowBuffer | None = None, progress: StreamProgress | None = None
) -> StreamData:
    """What is known of rows that have been read."""
    names, source = None, rows.source
    if source.names is not None and len(source.names) == rows.n_features:
        names = np.array(source.names, dtype=object)
    return StreamData(
        rows, rows.classes, rows.counts, rows.mass, rows.dtype, names, rows.tally.weighed,
        buffer, progress,
    )  # fmt: skip


def weighed(estimator: Any, data: StreamData, by_class: bool = True) -> StreamData:
    """Class weights, if they are asked for, in the weights of rows from now on."""
    if not by_class:  # they are no weights of rows
        need_every_class(estimator, data, None)
        return data
    factors = weights_by_class(estimator, data)
    data.parts.weigh(factors)
    if factors is None:
        return data
    if (kept := data.buffer) is not None:
        kept.c[: kept.count] *= factors[kept.y[: kept.count].astype(int)]
    return replace(data, mass=data.mass * factors)
