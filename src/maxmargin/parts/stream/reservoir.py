"""A uniform sample of the rows of a stream, as the files have them: for pictures, not for solvers.

Every row draws a random priority, and those with the smallest stay.  So each set of so many
rows is as likely as any other, and neither the number of rows nor their order need be known.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .memory_limit import MemoryLimit
from .row_buffer import RowBuffer

# Rows shown in pictures, at most: more hide one another.
MOST_DRAWN = 2000
# Bytes a value of a table is taken to need.
VALUE_BYTES = 16


class ReservoirSample:
    """Fed batch by batch; ``rows()`` are those drawn, in their order, with their numbers."""

    def __init__(self, state: MemoryLimit, columns: int, seed: int):
        self.size = int(np.clip(state.read // (VALUE_BYTES * max(1, columns)), 1, MOST_DRAWN))
        self.rng, self.limit = np.random.default_rng(seed), 1.0
        self.priorities, self.numbers = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.parts: list[pa.RecordBatch] = []

    def __call__(self, batch: pa.RecordBatch, numbers: np.ndarray) -> None:
        """Some more rows, numbered."""
        priority = self.rng.random(batch.num_rows)
        chosen = np.flatnonzero(priority < self.limit)
        if len(chosen) == 0:
            return
        self.parts.append(batch.take(pa.array(chosen)))
        self.priorities = np.concatenate([self.priorities, priority[chosen]])
        self.numbers = np.concatenate([self.numbers, numbers[chosen]])
        if len(self.priorities) > 2 * self.size:
            self._settle()

    def _settle(self) -> pa.Table:
        """Only the smallest priorities, the rows in their order."""
        table = pa.Table.from_batches(self.parts)
        if len(self.priorities) > self.size:
            kept = np.sort(np.argpartition(self.priorities, self.size)[: self.size])
            self.priorities, self.numbers = self.priorities[kept], self.numbers[kept]
            self.limit = float(self.priorities.max())
            table = table.take(pa.array(kept)).combine_chunks()
            self.parts = table.to_batches()
        return table

    def rows(self) -> tuple[pa.Table, np.ndarray]:
        return self._settle(), self.numbers


def drawn(buffer: RowBuffer) -> np.ndarray:
    """The places in a buffer, as ``StreamSample`` filled it, of a uniform sample of all rows."""
    priorities = buffer.z[: buffer.count]
    low = np.flatnonzero(priorities < buffer.below)
    return np.sort(low[np.argsort(priorities[low], kind="stable")[:MOST_DRAWN]])
