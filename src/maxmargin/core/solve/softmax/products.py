"""Products of all rows with a few vectors: scores, and sums of rows.

Rows are centred at μ, their weighted mean, by arithmetic and not in memory: a free bias makes
the problem blind to μ, and weights and biases nearly independent of each other.  float32 data
are multiplied in float32 and summed up in float64 from chunk to chunk; ``sharp`` products
convert every chunk to float64 first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numba import njit

from ...rows.class_products import class_nudge, class_scores, compressed, padded
from ...rows.rows import DenseRows, Rows, as_csr, shape
from ...rows.rows import combine as row_combine
from ...rows.rows import scores as row_scores

# Values of X that a chunk holds: about half an L2 cache …
PRODUCT_CHUNK_VALUES = 1 << 17
# … or fewer, for OpenBLAS has faster kernels for products of at most so many multiplications;
# chunks of fewer rows than this cost more than they gain.
MAX_SMALL_PRODUCT, MIN_CHUNK_ROWS = 1_000_000, 64
MAX_ADDED_CHUNK_ROWS = 256
# Dense rows with fewer non-zeros than this are multiplied as sparse ones.
MAX_SPARSE_DENSITY = 0.3
# From this many standard deviations of the mean on, centring by arithmetic costs too many digits.
MAX_MEAN_DEVIATIONS = 100.0
# Rows from which such properties of the data are judged; and a place near the mean taken.
DEVIATION_SAMPLE_ROWS, MEAN_ROWS = 256, 2048
# Chosen rows are copied, centred and weighed so many values at a time, which stay in a cache, and
# so many rows, beside whose products adding up costs little; fewer are not worth a compilation.
WEIGHTED_VALUES, MIN_WEIGHTED_ROWS, MIN_WEIGHTED_VALUES = 1 << 16, 1024, 1 << 17
# Numbers from which on scores are kept in float32 whatever the data.
MAX_DOUBLE_SCORES = 1 << 22


class Products:
    """Rows, ready to be multiplied with (d, k) matrices."""

    def __init__(self, rows: Rows, c: np.ndarray, k: int, centred: bool, mu=None):
        self.n, self.d = shape(rows)
        self.k, self.c = k, c
        if mu is None:
            mu = row_combine(rows, c / c.sum()) if centred else np.zeros(self.d)
        self.mu = mu
        self.rows = _storage(rows, k)
        kept = self.rows.X.dtype if isinstance(self.rows, DenseRows) else self.rows.data.dtype
        self.dense = isinstance(self.rows, DenseRows)
        far = isinstance(self.rows, DenseRows) and far_mean(self.rows.X, self.mu)
        self.work = np.dtype(np.float64) if far else kept
        self.sharp = self.dense and far
        self.width = k if self.dense or k == 1 else padded(k)
        self.store = np.dtype(np.float32) if self.n * k > MAX_DOUBLE_SCORES else self.work

    def sharpen(self) -> bool:
        """Go over to float64; False when it is in use already."""
        if self.work == np.float64:
            return False
        self.work, self.sharp = np.dtype(np.float64), self.dense
        self.store = np.dtype(np.float32) if self.n * self.k > MAX_DOUBLE_SCORES else self.work
        return True

    def room(self) -> np.ndarray:
        """An array for the scores of all rows."""
        return np.zeros((self.n, self.width), dtype=self.store)

    @cached_property
    def chunks(self) -> list[slice]:
        """Slices of rows whose scores fit a cache; of many classes, so many rows that adding up
        what each slice contributes, (d, k), costs little beside it."""
        most = max(PRODUCT_CHUNK_VALUES // (4 * self.width), min(self.d, MAX_ADDED_CHUNK_ROWS))
        return list(_slices(0, self.n, max(MIN_CHUNK_ROWS, most)))

    @cached_property
    def piece(self) -> int:
        """How many rows are multiplied at once: their values fit a cache."""
        size = max(MIN_CHUNK_ROWS, PRODUCT_CHUNK_VALUES // max(1, self.d))
        small = MAX_SMALL_PRODUCT // max(1, self.d * self.k) // 32 * 32
        return min(size, small) if small >= MIN_CHUNK_ROWS else size

    def blocks(self, part: slice) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows of a slice as (m, piece, d) and a rest (1, m, d): one product each.

        Rows that are not side by side in memory, or must be converted, come piece by piece.
        """
        size = self.piece
        X = self.rows.X  # type: ignore[union-attr]
        whole = part.start + (part.stop - part.start) // size * size
        if self.sharp or not X.flags.c_contiguous:
            for piece in _slices(part.start, part.stop, size):
                yield piece, self._block(piece)[None]
            return
        if whole > part.start:
            yield slice(part.start, whole), X[part.start : whole].reshape(-1, size, self.d)
        if whole < part.stop:
            yield slice(whole, part.stop), X[None, whole : part.stop]

    def scores(self, V: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        """out = (X − μ) V + v."""
        if not V.any():
            out[:, : self.k] = v
            return
        shift = v if self.sharp else v - self.mu @ V
        if self.k == 1 and not self.sharp:
            out[:, 0] = row_scores(self.rows, V[:, 0]) + shift
            return
        if self.dense:
            V, shift = V.astype(self.work), shift.astype(self.work)
            for chunk in self.chunks:
                for part, X in self.blocks(chunk):
                    np.matmul(X, V, out=out[part].reshape(*X.shape[:2], self.k))
                out[chunk] += shift
            return
        wide, offset = np.zeros((self.d, self.width), self.work), np.zeros(self.width, self.work)
        wide[:, : self.k], offset[: self.k] = V, shift
        _sparse_scores(self.rows, wide, offset, np.empty(self.width, self.work), out)

    def combine(self, steps: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Σ (x_i − μ, 1) a_iᵀ as (d + 1, k), where ``steps(part)`` gives a slice's a."""
        total, sums = np.zeros((self.d, self.width)), np.zeros(self.width)
        alone = self.k == 1 and not self.sharp
        for part in [slice(0, self.n)] if alone else self.chunks:
            a = steps(part)
            sums += a.sum(axis=0) if alone else np.ones(len(a), a.dtype) @ a
            if alone:
                total[:, 0] = row_combine(self.rows, a[:, 0].astype(np.float64, copy=False))
            elif self.dense:
                for piece, X in self.blocks(part):
                    mine = a[piece.start - part.start : piece.stop - part.start]
                    mine = mine.reshape(*X.shape[:2], self.k)
                    total += np.matmul(X.transpose(0, 2, 1), mine).sum(axis=0)
            else:
                self._sparse_part(part, a, total)
        if not self.sharp:
            total -= np.outer(self.mu, sums)
        return np.vstack([total, sums])[:, : self.k]

    def _sparse_part(self, part: slice, a: np.ndarray, total: np.ndarray) -> None:
        """total += the rows' sum, in the data's precision where that sum fits a cache."""
        if self.work == np.float64 or total.size > PRODUCT_CHUNK_VALUES:
            _sparse_combine(self.rows, part.start, a.astype(np.float64), total)
            return
        rough = np.zeros_like(total, dtype=self.work)
        _sparse_combine(self.rows, part.start, a, rough)
        total += rough

    def sample(self, most: int, seed: int) -> np.ndarray:
        """The indices of some rows that count."""
        alive = np.flatnonzero(self.c > 0)
        if len(alive) <= most:
            return alive
        return np.sort(np.random.default_rng(seed).choice(alive, most, replace=False))

    def gram(self, index: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ w x̃ x̃ᵀ and Σ w x̃ over the rows named by ``index``, as exact as a model needs."""
        G, h = np.zeros((self.d, self.d)), np.zeros(self.d)
        if isinstance(self.rows, DenseRows) and len(index) * self.d >= MIN_WEIGHTED_VALUES:
            mu, root = self.mu.astype(self.work), np.sqrt(weight).astype(self.work)
            size = max(WEIGHTED_VALUES // self.d, MIN_WEIGHTED_ROWS)
            room = np.empty((min(size, len(index)), self.d), self.work)
            for some in _slices(0, len(index), size):
                block = room[: some.stop - some.start]
                _weighted(self.rows.X, index[some], root[some], mu, block)
                h += root[some] @ block
                G += block.T @ block
            return G, h
        size = max(MIN_CHUNK_ROWS, 8 * PRODUCT_CHUNK_VALUES // max(1, self.d))
        for start in range(0, len(index), size):
            part = index[start : start + size]
            block, mine = self._centred_rough(part), weight[start : start + size]
            h += mine.astype(self.work) @ block
            block *= np.sqrt(mine)[:, None].astype(self.work)
            G += block.T @ block
        return G, h

    def _centred_rough(self, index: np.ndarray) -> np.ndarray:
        """The same as ``centred`` in the precision of the products, without a second copy."""
        if not isinstance(self.rows, DenseRows):
            return self.centred(index).astype(self.work)
        block = self.rows.X[index].astype(self.work, copy=False)
        block -= self.mu.astype(self.work)
        return block

    def centred(self, index: np.ndarray) -> np.ndarray:
        """A centred copy of the rows named by ``index``."""
        if isinstance(self.rows, DenseRows):
            return self.rows.X[index] - self.mu
        return as_csr(self.rows)[index].toarray() - self.mu

    def _block(self, part: slice) -> np.ndarray:
        X = self.rows.X[part]  # type: ignore[union-attr]
        return X.astype(np.float64) - self.mu if self.sharp else X


def _slices(start: int, stop: int, size: int) -> Iterator[slice]:
    return (slice(i, min(stop, i + size)) for i in range(start, stop, size))


def far_mean(X: np.ndarray, mu: np.ndarray) -> bool:
    """Whether some column's mean is much larger than its standard deviation."""
    some = X[:: max(1, len(X) // DEVIATION_SAMPLE_ROWS)].astype(np.float64)
    varied = (some != some[0]).any(axis=0)  # a column that is rarely not zero has no deviation here
    at = np.where(varied, np.abs(mu), np.abs(some[0]))
    return bool((at > MAX_MEAN_DEVIATIONS * np.maximum(some.std(axis=0), 1e-12)).any())


def near_mean(X: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The weighted mean of some rows: where they are told apart, a place near the mean will do."""
    some = slice(None, None, max(1, len(X) // MEAN_ROWS))
    share = c[some] if c[some].any() else np.ones(len(c[some]))
    return (share / share.sum()) @ X[some].astype(np.float64, copy=False)


def _storage(rows: Rows, k: int) -> Rows:
    """The rows themselves; dense ones that are mostly zeros as sparse ones."""
    _, d = shape(rows)
    if k == 1 or d < 64:
        return rows
    return compressed(rows, MAX_SPARSE_DENSITY)


@njit(cache=True, nogil=True)
def _weighted(X, index, root, mu, out):
    for i in range(index.shape[0]):
        x = X[index[i]]
        for j in range(x.shape[0]):
            out[i, j] = root[i] * (x[j] - mu[j])


@njit(cache=True, nogil=True)
def _sparse_scores(rows, V, v, room, out):
    for i in range(out.shape[0]):
        class_scores(rows, i, V, room)
        for j in range(out.shape[1]):
            out[i, j] = room[j] + v[j]


@njit(cache=True, nogil=True)
def _sparse_combine(rows, start, a, total):
    for i in range(a.shape[0]):
        class_nudge(rows, start + i, a[i], total)
