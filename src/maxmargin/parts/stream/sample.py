"""A random sample of a stream's rows, of every class, as large as memory allows.

Every row draws a random priority and is kept while that is below its class's threshold; when the
buffer is full the threshold of the class with most rows in it is halved.  So each class has a
uniform sample of its own, and a rare one all of its rows.
"""

from __future__ import annotations

import numpy as np

from .row_buffer import RowBuffer


class StreamSample:
    """Fed chunk by chunk; ``scale[c]`` then says how many rows each row of a class stands for."""

    def __init__(self, size: int, seed: int):
        self.size, self.rng = size, np.random.default_rng(seed)
        self.buffer: RowBuffer | None = None
        self.threshold = np.ones(0)
        self.seen = np.zeros(0)  # cost of all rows of a class
        self.n = 0

    def __call__(self, X, codes: np.ndarray, weight: np.ndarray | None) -> None:
        most = int(codes.max(initial=-1)) + 1
        if most > len(self.seen):
            more = most - len(self.seen)
            self.threshold = np.concatenate([self.threshold, np.ones(more)])
            self.seen = np.concatenate([self.seen, np.zeros(more)])
        if self.buffer is None:
            self.buffer = RowBuffer(self.size, X.shape[1], X.dtype, not isinstance(X, np.ndarray))
        self.buffer.width = max(self.buffer.width, X.shape[1])
        cost = np.ones(len(codes)) if weight is None else weight
        self.seen += np.bincount(codes, cost, minlength=len(self.seen))
        priority = self.rng.random(len(codes))
        ids = np.arange(self.n, self.n + len(codes))
        self.n += len(codes)
        while True:
            chosen = np.flatnonzero((priority < self.threshold[codes]) & (cost > 0))
            rows = X[chosen] if len(chosen) < len(codes) else X
            if self.buffer.fits(rows):
                break
            self._thin()
        self.buffer.put(rows, codes[chosen], cost[chosen], ids[chosen], priority[chosen])

    def _thin(self) -> None:
        buffer = self.buffer
        assert buffer is not None
        codes = buffer.y[: buffer.count].astype(np.int64)
        held = np.bincount(codes, minlength=len(self.threshold))
        self.threshold[held.argmax() if held.any() else slice(None)] *= 0.5
        buffer.keep(np.flatnonzero(buffer.z[: buffer.count] < self.threshold[codes]))

    def finish(self, place: np.ndarray, base: int, width: int) -> RowBuffer:
        """The rows with sorted labels and costs that add up to those of all rows.

        ``base``: the number of the first column, where columns are numbered.
        """
        buffer = self.buffer
        assert buffer is not None
        if buffer.sparse:
            buffer.indices[: buffer.stored] -= base
            buffer.width = width
        codes = buffer.y[: buffer.count].astype(np.int64)
        held = np.bincount(codes, buffer.c[: buffer.count], minlength=len(self.seen))
        buffer.c[: buffer.count] *= (self.seen / np.where(held > 0, held, 1.0))[codes]
        buffer.y[: buffer.count] = place[codes]
        buffer.below = float(self.threshold.min(initial=1.0))
        return buffer
