"""Dual block coordinate descent for softmax on dense rows: some rows at a time, as matrices.

The steps are those of ``softmax_sweep.py``, one row after another.  Of a block's rows X_B all
scores are taken at once, X_B U, and what a row's step does to the rows after it is told by their
inner products,

    s_i ← s_i + ⟨x_i − μ, x_j − μ⟩ δ_j + τ δ_j        for j before i,

so that U is read and changed by two matrix products a block.  These run as fast as those of a
gradient, and an epoch costs little more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.blas import sgemm

from ...rows.rows import DenseRows
from .softmax_sweep import improve

# Rows of a block: more are fewer calls, but their inner products take longer.
BLOCK_ROWS, MANY_CLASS_BLOCK_ROWS, MANY_CLASSES = 32, 64, 400


class RowBlock(NamedTuple):
    """Rows that take their steps together."""

    members: np.ndarray  # their numbers
    S: np.ndarray  # (m, width): scores without biases
    K: np.ndarray  # (m, m): inner products
    steps: np.ndarray  # (m, width)


class Blocks:
    """All rows in blocks, which stay the same, so that their inner products are taken once."""

    def __init__(self, rows: DenseRows, order: np.ndarray, k: int, width: int):
        most = MANY_CLASS_BLOCK_ROWS if k >= MANY_CLASSES else BLOCK_ROWS
        self.rows, self.order, self.most, self.k = rows, order, most, k
        self.count = -(-len(order) // most)
        self.K = np.empty((self.count, most, most), np.float32)
        self.known = np.zeros(self.count, bool)
        self.X = np.empty((most, rows.X.shape[1]), rows.X.dtype)
        self.S = np.empty((most, width), np.float32)
        self.steps = np.zeros_like(self.S)

    def sweep(self, some: np.ndarray, pull: float, state) -> tuple[float, float]:
        """``softmax_sweep.sweep`` of some blocks' rows; ``state``: points, logs, U, r, h, room."""
        points, logs, U, r, h, room = state
        gap, loss = 0.0, 0.0
        for place in some:
            index = self.order[place * self.most : (place + 1) * self.most]
            m = len(index)
            B = self.rows.X.take(index, 0, self.X[:m], "clip").astype(np.float32, copy=False)
            if not self.known[place]:
                self.K[place, :m, :m] = sgemm(1.0, B.T, B.T, trans_a=1).T
                self.known[place] = True
            block = RowBlock(index, self.S[:m], self.K[place], self.steps[:m])
            sgemm(1.0, U.T, B.T, 0.0, block.S.T, 0, 0, 1)
            more, lost = _settle(block, self.k, np.float32(pull), points, logs, (r, h, room))
            sgemm(1.0, block.steps.T, B.T, 1.0, U.T, 0, 1, 1)
            gap, loss = gap + more, loss + lost
        return gap, loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nsz", "reassoc", "contract"})
def _settle(block, k, pull, points, logs, shared):
    """Give every row of the block its best probabilities, one after another."""
    r, h, room = shared
    u, p, old = room[0], room[1], room[2]
    gap, loss = 0.0, 0.0
    for i in range(len(block.members)):
        point, log = points[block.members[i]], logs[block.members[i]]
        s, step = block.S[i], block.steps[i]
        centre = np.float32(point.centre)
        for j in range(k):
            s[j] += h[j] - centre * r[j]
        for before in range(i):
            near, other = block.K[i, before], block.steps[before]
            for j in range(k):
                s[j] += near * other[j]
        for j in range(k):
            u[j] = log[j]
        gap += point.c * improve(np.float32(point.c * point.q), k, s, u, p, old)
        loss -= point.c * log[point.y]
        cost, reach = np.float32(point.c), pull - centre
        for j in range(k):
            log[j] = u[j]
            step[j] = cost * (old[j] - p[j])
            r[j] += step[j]
            h[j] += reach * step[j]
    return gap, loss
