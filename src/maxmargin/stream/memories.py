"""What the parts of a stream remember from one question to the next.

It stays in memory up to a limit, and beyond it on disk, beside the cache; only this process
reads it, and it is gone with it.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


class Memories:
    """One memory per part, by its number."""

    def __init__(self, folder: Path, limit: int):
        self.folder, self.limit = folder, limit
        self.held: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}
        self.away: set[int] = set()

    def get(self, i: int) -> Any:
        if i in self.away:
            return pickle.loads(self._path(i).read_bytes())
        return self.held.get(i)

    def put(self, i: int, memory: Any) -> None:
        if memory is None:
            return
        size = size_of(memory)
        others = sum(self.sizes.values()) - self.sizes.get(i, 0)
        if others + size <= self.limit:
            self.held[i], self.sizes[i] = memory, size
            self.away.discard(i)
            return
        self.held.pop(i, None)
        self.sizes.pop(i, None)
        self._path(i).write_bytes(pickle.dumps(memory, protocol=pickle.HIGHEST_PROTOCOL))
        self.away.add(i)

    def clear(self) -> None:
        for i in self.away:
            self._path(i).unlink(missing_ok=True)
        self.held, self.sizes, self.away = {}, {}, set()

    def _path(self, i: int) -> Path:
        return self.folder / f"part-{i}.memory"


def size_of(thing: Any) -> int:
    """Bytes of the arrays in it."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if sparse.issparse(thing):
        return thing.data.nbytes + thing.indices.nbytes + thing.indptr.nbytes
    if isinstance(thing, dict):
        return sum(size_of(each) for each in thing.values())
    if isinstance(thing, tuple | list):
        return sum(size_of(each) for each in thing)
    return 64
