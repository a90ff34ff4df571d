"""A sample of all rows, of bounded size; but for a hard margin no other rows leave their part."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..data import PartsData
from ..parts import Block

# Rows per unknown of one class, and values in all: at most 16 MB travel.
SAMPLE_ROWS_PER_COLUMN = 40
MAX_SAMPLE_VALUES = 1 << 21
MIN_SAMPLE_ROWS = 1000


def draw(data: PartsData, seed: int) -> Block:
    """Rows drawn from every part by its share; weights add up to those of all rows."""
    d = data.parts.n_features
    wanted = max(MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * (d + 1))
    share = min(1.0, wanted / data.n)
    parts = list(
        data.parts.ask(_some, share, max(1, MAX_SAMPLE_VALUES // data.parts.n_parts), seed)
    )
    rare = {int(code) for part in parts for code in np.unique(part.y)}
    some = [part for part in parts if len(part.y)]
    X = [part.X for part in some]
    whole = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    y = np.concatenate([part.y for part in some])
    weight = np.concatenate([part.weight for part in some])
    assert len(rare) == len(data.classes)  # every part gives of each class it has
    by_class = np.bincount(y, weight, minlength=len(data.classes))
    return Block(whole, y, weight * (data.mass / by_class)[y])


def _some(block: Block, state, share: float, most: int, seed: int):
    """A share of the rows of each class, at least one, and no more values than ``most``."""
    n = len(block.y)
    stored = block.X.nnz if sparse.issparse(block.X) else block.X.size
    share = min(share, most / max(1, stored))
    rng = np.random.default_rng([seed, n])
    weight = np.ones(n) if block.weight is None else block.weight
    chosen = []
    for code in np.unique(block.y[weight > 0]):
        mine = np.flatnonzero((block.y == code) & (weight > 0))
        size = min(len(mine), max(1, round(share * len(mine))))
        chosen.append(rng.choice(mine, size=size, replace=False))
    index = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=int)
    return state, Block(block.X[index], block.y[index], weight[index])
