"""A recorded run, compact enough to keep and complete enough to replay.

Only the step, the point, the class that lost and the loss of every update are stored: old
and new weights follow from them, because an update adds a known multiple of a known row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...rows.rows import DenseRows, Rows, shape


class Update(NamedTuple):
    """One change of the weights.

    ``points`` are the rows that violated (one, unless a batch was scored together) and
    ``point`` the first of them; ``loss`` is what they lost before the change.  Weights are
    (d,) with a float bias for two classes, (k, d) with (k,) biases otherwise.
    """

    step: int
    point: int
    points: np.ndarray
    loss: float
    old_w: np.ndarray
    old_b: np.ndarray | float
    w: np.ndarray
    b: np.ndarray | float


@dataclass(frozen=True)
class Trace:
    """Every update of a run; iterate over it to replay the run as ``Update`` records.

    ``step``, ``point``, ``rival``, ``loss``: one entry per violating point, in order; equal
    steps were made together as one batch.  ``rival`` is the code of the class that lost the
    update.  The rows are the caller's own, not a copy.
    """

    step: np.ndarray
    point: np.ndarray
    rival: np.ndarray
    loss: np.ndarray
    rows: Rows
    codes: np.ndarray
    rate: np.ndarray
    bias: float
    start_W: np.ndarray
    start_b: np.ndarray

    def __len__(self) -> int:
        return len(self.point)

    def __iter__(self) -> Iterator[Update]:
        W, b = self.start_W.copy(), self.start_b.copy()
        edges = np.flatnonzero(np.diff(self.step)) + 1
        for number, part in enumerate(np.split(np.arange(len(self)), edges)):
            if len(part) == 0:
                return
            old_W, old_b = W.copy(), b.copy()
            for line in part:
                self._apply(line, W, b)
            yield Update(
                number, int(self.point[part[0]]), self.point[part],
                float(self.loss[part].sum()), *_plain(old_W, old_b), *_plain(W, b),
            )  # fmt: skip

    def _apply(self, line: int, W: np.ndarray, b: np.ndarray) -> None:
        i, z = self.point[line], self.rival[line]
        right = self.codes[i]
        step = self.rate[right]
        places, values = _row(self.rows, i)
        gains = [(0, step if right == 1 else -step)] if len(W) == 1 else [(right, step), (z, -step)]
        for c, signed in gains:
            W[c, places] += signed * values
            b[c] += self.bias * signed


def trace_from(log, learner_rows, codes, rate, bias, start) -> Trace:
    """The trace that a kernel's log (step, point, rival, loss per line) amounts to."""
    whole = log[:, :3].astype(np.int64)
    return Trace(
        whole[:, 0], whole[:, 1], whole[:, 2], log[:, 3].copy(),
        learner_rows, codes, rate, bias, *start,
    )  # fmt: skip


def _plain(W, b):
    """Two classes: a vector and a number; k classes: copies as they are."""
    return (W[0].copy(), float(b[0])) if len(W) == 1 else (W.copy(), b.copy())


def _row(rows: Rows, i: int):
    """The columns in which row i has values, and the values."""
    if isinstance(rows, DenseRows):
        return slice(0, shape(rows)[1]), rows.X[i]
    part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    return rows.indices[part], rows.data[part]
