"""What a part is asked about a hard margin: its smallest margins, and the rows that have them.

Nothing is remembered with the part; the few rows that decide the margin travel to the driver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....core.certify.multiclass import class_tally
from ....core.certify.two_class import tally
from ....core.problem.multiclass import MulticlassProblem
from ....core.rows.class_products import score_chunks
from ....core.rows.rows import as_rows, scores
from ....models.validation import canonical
from ...parts import Block
from ..many_class.tasks import ClassSpec
from ..two_class.tasks import BinarySpec

# Of the rows that violate their margin too many to be sent, this share are the worst of their
# class, the others drawn at random: the worst alone often lie side by side.
WORST_ROWS_SHARE = 0.5


class HeldRows(NamedTuple):
    """Rows in hand: their values, classes as the machine numbers them, and numbers among all."""

    X: Any
    y: np.ndarray
    ids: np.ndarray

    @property
    def nbytes(self) -> int:
        return values_of(self.X) + self.y.nbytes + self.ids.nbytes

    def take(self, index: np.ndarray) -> HeldRows:
        return HeldRows(self.X[index], self.y[index], self.ids[index])


class MarginResponse(NamedTuple):
    """A part's answer."""

    block: int  # rows of the part, and those of them that the machine is about
    rows: int
    nearest: np.ndarray  # (k, k): how much its own class leads the other at least, without biases
    worst: HeldRows  # the rows sent, numbered as in the part, and their margins
    margin: np.ndarray


def values_of(X: Any) -> int:
    """Bytes of a dense or a CSR matrix."""
    if sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes


def join(some: list[HeldRows]) -> HeldRows:
    """All of these rows, in order."""
    X = [kept.X for kept in some]
    if sparse.issparse(X[0]):
        whole = canonical(sparse.vstack(X, format="csr"))
    else:
        whole = np.concatenate(X)
    y, ids = (np.concatenate([kept[j] for kept in some]) for j in (1, 2))
    return HeldRows(whole, y, ids)


def classes_of(block: Block, spec: BinarySpec | ClassSpec) -> np.ndarray:
    """Every row's class as the machine numbers them; −1: it is about other classes."""
    if isinstance(spec, ClassSpec):
        return block.y.astype(np.int64, copy=False)
    y = (block.y == spec.positive).astype(np.int64)
    if spec.negative is not None:
        y[(y == 0) & (block.y != spec.negative)] = -1
    return y


class Wish(NamedTuple):
    """Which rows are to be sent: of each class those with a margin below ``below``, no more than
    ``rows`` and ``nbytes`` say; ``seed`` decides by chance, the same each time it is asked."""

    below: float
    rows: int
    nbytes: float
    seed: tuple[int, ...] = (0,)


def look(block: Block, state: Any, spec: BinarySpec | ClassSpec, W, b, wish: Wish):
    """The smallest leads under weights W, and rows that are short of their margin under W and b."""
    y = classes_of(block, spec)
    alive = y >= 0
    if block.weight is not None:  # a row of weight 0 is not there, even at C = ∞
        alive &= block.weight > 0
    if isinstance(spec, ClassSpec):
        margin, nearest = _many(block.X, y, alive, W, b)
    else:
        margin, nearest = _two(block.X, y, alive, W[0], b)
    rng = np.random.default_rng([*wish.seed, len(y)])
    room = wish.nbytes * len(y) / max(1, values_of(block.X))
    most = int(np.clip(room, 1, wish.rows))
    index = _choose(np.where(alive, margin, np.inf), y, most, wish.below, rng)
    worst = HeldRows(block.X[index], y[index], index)
    answer = MarginResponse(len(y), int(np.count_nonzero(y >= 0)), nearest, worst, margin[index])
    return state, answer


def sure_margin(block: Block, state: Any, spec: BinarySpec | ClassSpec, w, b, sharp: bool):
    """What no margin of the part is below, whatever rounding did."""
    problem = spec.pose(block)
    n = len(problem.y)
    if isinstance(problem, MulticlassProblem):
        found = class_tally(problem, w, b, np.zeros((n, problem.k)), sharp=sharp)
    else:
        found = tally(problem, w, b, np.zeros(n), sharp=sharp)
    return state, found.rounding.closest


def _two(X, y, alive, w, b):
    """Two classes: class 1 leads by w·x, class 0 by −w·x; b are the biases 0 and b."""
    f = scores(as_rows(X), w)
    nearest = np.full((2, 2), np.inf)
    nearest[1, 0] = f[alive & (y == 1)].min(initial=np.inf)
    nearest[0, 1] = (-f[alive & (y == 0)]).min(initial=np.inf)
    return np.where(y == 1, 1.0, -1.0) * (f + b[1]), nearest


def _many(X, y, alive, W, b):
    k = len(W)
    nearest, margin = np.full((k, k), np.inf), np.empty(len(y))
    for part, s in score_chunks(as_rows(X), W):
        own = np.arange(len(s)), y[part]
        lead = s[own][:, None] - s
        lead[own] = np.inf
        margin[part] = (lead + b[y[part]][:, None] - b).min(axis=1)
        _lower(nearest, y[part][alive[part]], lead[alive[part]])
    return margin, nearest


def _lower(nearest, y, lead) -> None:
    """Every class's row of ``nearest`` to the least of its rows of ``lead``."""
    if len(y):
        order = np.argsort(y, kind="stable")
        code, first = np.unique(y[order], return_index=True)
        nearest[code] = np.minimum(nearest[code], np.minimum.reduceat(lead[order], first))


def _choose(margin, y, most: int, below: float, rng) -> np.ndarray:
    """Places of the rows to send, ascending."""
    short = np.flatnonzero(margin < below)
    chosen = [np.zeros(0, dtype=np.int64)]
    for code in np.unique(y[short]):
        mine = short[y[short] == code]
        if len(mine) > most:
            mine = mine[np.lexsort((rng.random(len(mine)), margin[mine]))]
            worst = int(np.ceil(WORST_ROWS_SHARE * most))
            others = rng.choice(len(mine) - worst, size=most - worst, replace=False)
            mine = np.concatenate([mine[:worst], mine[worst:][others]])
        chosen.append(mine)
    return np.sort(np.concatenate(chosen))
