"""A dense matrix whose columns are scaled on the way: (x − mean) / deviation, learned in a pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..stream.memory_limit import MemoryLimit
from ..stream.rows import Told
from .readers import Chunk


def learn_scale(source, memory: MemoryLimit, told: Told) -> tuple[int, np.ndarray, np.ndarray]:
    """Columns, means and deviations, a chunk at a time [Chan, Golub and LeVeque 1983]."""
    n, mean, squares = 0, np.zeros(0), np.zeros(0)
    for chunk in source.chunks(memory.read):
        if chunk.X is None:
            continue
        X = chunk.X.astype(np.float64, copy=False)
        if n == 0:
            mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        own, m = X.mean(axis=0), n + len(X)
        apart = own - mean
        squares += ((X - own) ** 2).sum(axis=0) + apart**2 * (n * len(X) / m)
        mean, n = mean + apart * (len(X) / m), m
        told(0, n, 0)
    if n == 0:
        raise ValueError(f"{source.name} has no rows.")
    deviation = np.sqrt(squares / n)
    # What rounding leaves of a column that is constant is not its deviation.
    return len(mean), mean, np.where(deviation > 1e-14 * np.abs(mean), deviation, 1.0)


class Scaled:
    """Another source, its columns scaled."""

    names = None
    lowest = 0

    def __init__(self, source, shift: np.ndarray, scale: np.ndarray):
        self.source, self.shift, self.scale = source, shift, scale
        self.name, self.watched = source.name, source.watched
        self.key = [source.key, "scaled"]

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        for chunk in self.source.chunks(size, skip):
            X = chunk.X
            yield chunk if X is None else chunk._replace(X=(X - self.shift) / self.scale)

    def raw(self, X: np.ndarray) -> np.ndarray:
        """Rows as they are in the file."""
        return X * self.scale + self.shift
