"""Rows of the Gram matrix, remembered while they fit: a bounded cache that many rows enter at once.

The row longest unused gives way first.  ``store[slot]`` is a row, of float32 values or of float64;
the sums that a solver makes of them are in float64 either way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from ..team import in_stretches
from .kernel_block import MIN_THREAD_VALUES, KernelPoints, each_tile, values

# Fewer rows than this are of no use to a block of them.
MIN_CACHED_ROWS = 64
# Sums that stay in the first-level cache while rows are added to them.
ADDED_ROWS = 4096
# Stored values per row up to which rows of K are recomputed rather than kept, if C k(x, x) is at
# most this, or if less than this share of all rows could be kept.
MAX_RECOMPUTED_VALUES, MAX_RECOMPUTED_STIFFNESS, MIN_CACHED_SHARE = 40, 3.0, 0.5


class GramCache:
    """At most ``megabytes`` of rows of K."""

    def __init__(self, points: KernelPoints, megabytes: float, dtype=np.float32):
        n = len(points)
        fitting = int(megabytes * 1e6 / (np.dtype(dtype).itemsize * n))
        self._lay_out(points, np.empty((min(n, max(MIN_CACHED_ROWS, fitting)), n), dtype))

    def _lay_out(self, points: KernelPoints, store: np.ndarray) -> None:
        """Empty, with room for the rows of ``store``."""
        self.points, self.store = points, store
        self.dtype, self.capacity = store.dtype.type, len(store)
        self.slot = np.full(len(points), -1)
        self._owner = np.full(self.capacity, -1)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0
        self.computed = 0

    def slots(self, index: np.ndarray) -> np.ndarray:
        """Where in ``store`` these rows are, at most ``capacity`` of them, until the next call."""
        self._clock += 1
        here = self.slot[index]
        missing = index[here < 0]
        self._used[here[here >= 0]] = self._clock
        for start in range(0, len(missing), self.points.together):
            self._enter(missing[start : start + self.points.together])
        return self.slot[index]

    def corner(self, block: np.ndarray) -> np.ndarray:
        """K between the rows of a block, which from now on are at hand."""
        return _corner(self.store, self.slots(block), block)

    def add(self, index: np.ndarray, step: np.ndarray, f: np.ndarray) -> None:
        """f += Σ_k step_k K[index_k], for rows of the present block."""
        places = self.slot[index]
        in_stretches(
            lambda start, stop: _add_rows(self.store, places, step, f, start, stop),
            len(f), ADDED_ROWS, MIN_THREAD_VALUES // max(1, len(index)),
        )  # fmt: skip

    @property
    def full(self) -> bool:
        """Whether a new row takes the place of another."""
        return bool((self._owner >= 0).all())

    def known(self, index: np.ndarray) -> np.ndarray:
        """Which of these rows are at hand."""
        return self.slot[index] >= 0

    def sums(self, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(n, 3): Σ_k K[index_k] weights_k over rows at hand, in float64; three weights each."""
        places, out = self.slot[index], np.zeros((3, len(self.points)))
        in_stretches(
            lambda start, stop: _weigh_rows(self.store, places, weights, out, start, stop),
            out.shape[1], ADDED_ROWS, MIN_THREAD_VALUES // max(1, len(index)),
        )  # fmt: skip
        return out.T

    def _enter(self, rows: np.ndarray) -> None:
        oldest = np.argpartition(self._used, len(rows) - 1)[: len(rows)]
        places = np.sort(oldest)
        gone = self._owner[places]
        self.slot[gone[gone >= 0]] = -1
        self.slot[rows], self._owner[places], self._used[places] = places, rows, self._clock
        self.computed += len(rows)

        def keep(part: slice, V: np.ndarray) -> None:
            self.store[places, part] = V

        each_tile(self.points, rows, self.points, self.dtype, keep)

    def taken(self, rows: np.ndarray) -> GramCache:
        """A cache of these rows alone, in the memory of this one, which is of no use afterwards.

        What is known of them stays: a row moves to the front, where all is read already.
        """
        part, m = GramCache.__new__(GramCache), len(rows)
        self.points.cache, held = None, self.store.reshape(-1)
        part._lay_out(self.points.taken(rows), held[: min(m, len(held) // m) * m].reshape(-1, m))
        known = np.flatnonzero(self.slot[rows] >= 0)
        known = known[np.argsort(self.slot[rows[known]])][: part.capacity]
        _move(self.store, self.slot[rows[known]], rows, part.store)
        part.slot[known], part._owner[: len(known)] = np.arange(len(known)), known
        return part


class Forgetful:
    """The same without a memory: for values so cheap that to keep most of them costs more."""

    def __init__(self, points: KernelPoints, dtype, megabytes: float, pull: float):
        self.points, self.dtype = points, dtype
        self.capacity = len(points)
        self.megabytes, self.pull = megabytes, pull  # of a memory, should fewer rows be worth one

    def taken(self, rows: np.ndarray) -> GramCache | Forgetful:
        return cache_of(self.points.taken(rows), self.megabytes, self.dtype, self.pull)

    @property
    def full(self) -> bool:
        return True

    def known(self, index: np.ndarray) -> np.ndarray:
        return np.zeros(len(index), dtype=bool)

    def corner(self, block: np.ndarray) -> np.ndarray:
        K = np.empty((len(block), len(block)), self.dtype)
        some = self.points.taken(block)
        for start in range(0, len(block), self.points.together):
            rows = slice(start, start + self.points.together)
            for part, V in values(self.points, block[rows], some, self.dtype):
                K[rows, part] = V
        return K

    def add(self, index: np.ndarray, step: np.ndarray, f: np.ndarray) -> None:
        for start in range(0, len(index), self.points.together):
            rows = slice(start, start + self.points.together)
            each_tile(self.points, index[rows], self.points, self.dtype, self._adds(step[rows], f))

    def _adds(self, step: np.ndarray, f: np.ndarray) -> Callable:
        single, every = step.astype(self.dtype), np.arange(len(step))

        def add(part: slice, V: np.ndarray) -> None:
            if self.points.csr is None:
                _add_rows(V, every, step, f[part], 0, V.shape[1])
            else:  # small steps only, see ``cache_of``: float32 sums will do
                f[part] += single @ V

        return add


def cache_of(points: KernelPoints, megabytes: float, dtype, pull: float) -> GramCache | Forgetful:
    """The points' cache: machines that have their points in common have it in common, too.

    ``pull`` is C k(x, x): where it is small, few rows are asked for twice.
    """
    if points.cache is None or points.cache.dtype != dtype:
        points.cache = None  # first let go of the old one
        fitting = megabytes * 1e6 / (np.dtype(dtype).itemsize * len(points))
        seldom = pull <= MAX_RECOMPUTED_STIFFNESS or (
            points.csr is None and fitting < MIN_CACHED_SHARE * len(points)
        )
        forget = seldom and _stored_per_row(points) <= MAX_RECOMPUTED_VALUES
        if forget:
            points.cache = Forgetful(points, dtype, megabytes, pull)
        else:
            points.cache = GramCache(points, megabytes, dtype)
    return points.cache


def _stored_per_row(points: KernelPoints) -> float:
    """What a kernel value costs: the numbers that enter it."""
    if not points.quick:
        return np.inf
    return points.X.shape[1] if points.csr is None else points.csr.nnz / len(points)


@njit(cache=True, nogil=True)
def _move(store, places, columns, out):
    """out_k = store_places[k] at these columns.  Both lie in the same memory: places and columns
    ascend, so that nothing is written over what is still to be read."""
    for k in range(len(places)):
        row, moved = store[places[k]], out[k]
        for c in range(len(columns)):
            moved[c] = row[columns[c]]


@njit(cache=True, nogil=True)
def _corner(store, places, index):
    """K between the rows at ``places`` and the columns ``index``."""
    q = len(index)
    out = np.empty((q, q), store.dtype)
    for a in range(q):
        row = store[places[a]]
        for c in range(q):
            out[a, c] = row[index[c]]
    return out


@njit(cache=True, nogil=True, fastmath=True)
def _add_rows(store, places, step, f, first, end):
    """f += Σ_k step_k store[places_k], four rows at a time, a stretch of f at a time."""
    m = places.shape[0]
    for start in range(first, end, ADDED_ROWS):
        stop, k = min(start + ADDED_ROWS, end), 0
        while k + 4 <= m:
            r0, r1 = store[places[k]], store[places[k + 1]]
            r2, r3 = store[places[k + 2]], store[places[k + 3]]
            s0, s1, s2, s3 = step[k], step[k + 1], step[k + 2], step[k + 3]
            for i in range(start, stop):
                f[i] += s0 * r0[i] + s1 * r1[i] + s2 * r2[i] + s3 * r3[i]
            k += 4
        while k < m:
            r0, s0 = store[places[k]], step[k]
            for i in range(start, stop):
                f[i] += s0 * r0[i]
            k += 1


@njit(cache=True, nogil=True, fastmath=True)
def _weigh_rows(store, places, weights, out, first, end):
    """out_p += Σ_k weights_kp store[places_k] for three p, a stretch of the columns at a time."""
    for start in range(first, end, ADDED_ROWS):
        stop = min(start + ADDED_ROWS, end)
        a, b, c = out[0, start:stop], out[1, start:stop], out[2, start:stop]
        for k in range(places.shape[0]):
            row = store[places[k], start:stop]
            u, v, w = weights[k, 0], weights[k, 1], weights[k, 2]
            for i in range(stop - start):
                value = np.float64(row[i])
                a[i] += u * value
                b[i] += v * value
                c[i] += w * value
