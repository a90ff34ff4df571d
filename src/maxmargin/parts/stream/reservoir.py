"""A uniform sample of the rows of a stream, as the files have them: for pictures, not for solvers.

Every row draws a number by lot, and those with the smallest numbers stay.  So each set of so many
rows is as likely as any other, and neither the number of rows nor their order need be known.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .memory_limit import MemoryLimit
from .row_buffer import RowBuffer

# Rows shown in pictures, at most: more hide one another.
MOST = 2000
# Bytes a value of a table is taken to need.
EACH = 16


class ReservoirSample:
    """Fed batch by batch; ``rows()`` are those drawn, in their order, with their numbers."""

    def __init__(self, memory: MemoryLimit, columns: int, seed: int):
        self.size = int(np.clip(memory.read // (EACH * max(1, columns)), 1, MOST))
        self.rng, self.limit = np.random.default_rng(seed), 1.0
        self.lots, self.numbers = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.parts: list[pa.RecordBatch] = []

    def __call__(self, batch: pa.RecordBatch, numbers: np.ndarray) -> None:
        """Some more rows, numbered."""
        lot = self.rng.random(batch.num_rows)
        chosen = np.flatnonzero(lot < self.limit)
        if len(chosen) == 0:
            return
        self.parts.append(batch.take(pa.array(chosen)))
        self.lots = np.concatenate([self.lots, lot[chosen]])
        self.numbers = np.concatenate([self.numbers, numbers[chosen]])
        if len(self.lots) > 2 * self.size:
            self._settle()

    def _settle(self) -> pa.Table:
        """Only the smallest lots, the rows in their order."""
        table = pa.Table.from_batches(self.parts)
        if len(self.lots) > self.size:
            kept = np.sort(np.argpartition(self.lots, self.size)[: self.size])
            self.lots, self.numbers = self.lots[kept], self.numbers[kept]
            self.limit = float(self.lots.max())
            table = table.take(pa.array(kept)).combine_chunks()
            self.parts = table.to_batches()
        return table

    def rows(self) -> tuple[pa.Table, np.ndarray]:
        return self._settle(), self.numbers


def drawn(shelf: RowBuffer) -> np.ndarray:
    """The places on a shelf, as ``Sample`` filled it, of a uniform sample of all rows."""
    lots = shelf.z[: shelf.count]
    low = np.flatnonzero(lots < shelf.below)
    return np.sort(low[np.argsort(lots[low], kind="stable")[:MOST]])
