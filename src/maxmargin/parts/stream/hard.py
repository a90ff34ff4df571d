"""The hard margin on a stream: a sample is solved first, so that few passes are left to make."""

from __future__ import annotations

import numpy as np

from ...core.solve.contract import Ending, Monitor
from ..parts import Block, Parts
from ..solve.class_tasks import ClassSpec
from ..solve.hard_margin import solve_hard
from ..solve.hard_tasks import HeldRows, classes_of
from ..solve.hinge_tasks import BinarySpec
from ..solve.tasks import PartsSolution
from .row_buffer import RowBuffer
from .rows import StreamedRows

# Of the memory that a sample may take the rows that decide the margin may take this share, for
# they are copied when others join them, and their solver makes arrays as large.
SHARE = 0.5


def room_for(rows: StreamedRows, machines: int = 1) -> int:
    """Bytes of the rows that decide the margin of one of so many machines side by side."""
    return int(SHARE * rows.memory.sample / machines)


def solve_streamed(
    rows: Parts, machine: BinarySpec | ClassSpec, monitor: Monitor, sample: RowBuffer, room: int
) -> PartsSolution:
    """The hard margin of all rows, or the proof that there is none."""
    block = Block(sample.matrix(), sample.y[: sample.count].astype(np.int64), None)
    y, ids = classes_of(block, machine), sample.ids[: sample.count]
    kept = HeldRows(block.X, y, ids)
    if (y < 0).any():
        kept = kept.take(np.flatnonzero(y >= 0))
    fit = solve_hard(rows, machine, monitor, room, kept)
    if fit.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return fit
