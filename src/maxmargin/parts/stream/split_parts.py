"""The blocks of a stream cut so finely that the multipliers of k classes fit memory.

A row's multipliers, of several points, may take many times the room of the row itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..parts import Block, Parts, Task
from .rows import StreamedRows

# Arrays (rows, k) of float64 that a question about one part may hold at once, and the share of the
# memory limit that they may take.
ARRAYS_PER_QUESTION, ARRAYS_SHARE = 16, 0.15


class SplitParts(Parts):
    """Parts of a stream for a problem of k classes."""

    def __init__(self, rows: StreamedRows, k: int):
        self.rows, self.n_features, self.sparse = rows, rows.n_features, rows.sparse
        self.most = max(1, int(ARRAYS_SHARE * rows.memory.limit / (8 * k * ARRAYS_PER_QUESTION)))
        self.n_parts = rows.n_parts  # at least; the first question counts them

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        """``task(block, memory, *told)`` for every part, in order."""
        i, states = 0, self.rows.states
        for _, block in self.rows.blocks():
            for first in range(0, len(block.y), self.most):
                some = slice(first, first + self.most)
                weight = None if block.weight is None else block.weight[some]
                part = Block(block.X[some], block.y[some], weight)
                state, answer = task(part, states.get(i), *told)
                states.put(i, state)
                i += 1
                yield answer
        self.n_parts = i
