"""What the parts of a stream remember from one question to the next.

It stays in memory up to a limit, and beyond it on disk, beside the cache; only this process
reads it, and it is gone with it.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


class PartStates:
    """One memory per part, by its number, and per problem, where several are solved at once."""

    def __init__(self, folder: Path, limit: int):
        self.folder, self.limit = folder, limit
        self.held: dict[tuple, Any] = {}
        self.sizes: dict[tuple, int] = {}
        self.used = 0
        self.away: dict[tuple, Path] = {}
        self.problems: dict[Hashable, int] = {}  # their numbers, for the names of files
        self.last: tuple[Any, Any] = (None, None)  # the memory fetched last, and whose it is

    def get(self, i: int, problem: Hashable = None) -> Any:
        if (path := self.away.get((i, problem))) is not None:
            state = pickle.loads(path.read_bytes())
            self.last = (i, problem), state
            return state
        return self.held.get((i, problem))

    def put(self, i: int, state: Any, problem: Hashable = None) -> None:
        if state is None:
            return
        key, size = (i, problem), size_of(state)
        last, self.last = self.last, (None, None)
        if last[0] == key and _same(last[1], state):
            return  # as it lies on the disk: many questions are only about what is known
        self.used -= self.sizes.pop(key, 0)
        self.held.pop(key, None)
        if self.used + size <= self.limit:
            self.held[key], self.sizes[key], self.used = state, size, self.used + size
            if (path := self.away.pop(key, None)) is not None:
                path.unlink(missing_ok=True)
            return
        number = self.problems.setdefault(problem, len(self.problems))
        path = self.away.setdefault(key, self.folder / f"part-{i}-{number}.memory")
        path.write_bytes(pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL))

    def forget(self, problem: Hashable) -> None:
        """What parts remember of one problem."""
        for key in [key for key in self.away if key[1] == problem]:
            self.away.pop(key).unlink(missing_ok=True)
        for key in [key for key in self.held if key[1] == problem]:
            del self.held[key]
            self.used -= self.sizes.pop(key)
        self.last = (None, None)

    def clear(self) -> None:
        for path in self.away.values():
            path.unlink(missing_ok=True)
        self.held, self.sizes, self.used, self.away = {}, {}, 0, {}
        self.last = (None, None)


def _same(old: Any, new: Any) -> bool:
    """Whether nothing was replaced; what is remembered is never written in place."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(new[key] is old[key] for key in old)
    return old is new


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
