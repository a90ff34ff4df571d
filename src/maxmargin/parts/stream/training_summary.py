"""What fitted weights do on all rows of a stream, in one more pass.

Errors by class, the range of the weights, and the support vectors by kind: what a fit in memory
reads off its multipliers.  A stream keeps only those multipliers that a row's own slack does not
tell, so the others are told by it again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.certify.multiclass import from_scores
from ...core.problem.problem import costs
from ...models.reduction.votes import votes
from ...models.svm import joint as svm_joint
from ...models.svm.linear_svm import LinearSVM
from ...models.svm.two_class import kinds_of
from ..fit import duels, is_joint
from ..parts import Block
from .rows import StreamedRows

# Arrays of one number for every row and machine that may be held at once.
ARRAYS_PER_BLOCK = 8


class TrainingSummary(NamedTuple):
    """What the weights do on the training rows."""

    wrong: int
    table: np.ndarray | None  # (k, k): labels by what was said; None where that is too large
    support: dict[str, int]  # support vectors by kind
    weights: tuple[float, float] | None  # the smallest and the largest weight of a row


def summarise_training(estimator, rows: StreamedRows) -> TrainingSummary:
    """The summary of a fitted estimator on the rows of its fit."""
    k = len(rows.classes)
    table = np.zeros((k, k), dtype=np.int64) if 8 * k * k <= rows.memory.block else None
    kinds, wrong, low, high = dict[str, int](), 0, np.inf, -np.inf
    tell = _support(estimator, k)
    for first, block in _pieces(rows, max(k, len(estimator.coef_))):
        f = np.asarray(block.X @ estimator.coef_.T) + estimator.intercept_
        said = _said(estimator, f, k)
        wrong += int(np.count_nonzero(said != block.y))
        if table is not None:
            np.add.at(table, (block.y, said), 1)
        if block.weight is not None:
            low, high = min(low, block.weight.min()), max(high, block.weight.max())
        for kind, count in zip(*np.unique(tell(block, f, first), return_counts=True), strict=True):
            kinds[str(kind)] = kinds.get(str(kind), 0) + int(count)
    weights = (float(low), float(high)) if low <= high else None
    return TrainingSummary(wrong, table, kinds, weights)


def _pieces(rows: StreamedRows, width: int):
    """Blocks so short that a few numbers for every row and machine fit memory."""
    most = max(1, rows.memory.block // (8 * ARRAYS_PER_BLOCK * width))
    for start, block in rows.blocks():
        for first in range(0, len(block.y), most):
            some = slice(first, first + most)
            weight = None if block.weight is None else block.weight[some]
            yield start + first, Block(block.X[some], block.y[some], weight)


def _said(estimator, f: np.ndarray, k: int) -> np.ndarray:
    """The number of the class that wins."""
    if f.shape[1] == 1:
        return (f[:, 0] > 0).astype(np.int64)
    pairs = k > 2 and getattr(estimator, "multiclass", "") == "pairs"
    return (votes(f, k) if pairs else f).argmax(axis=1)


def _support(estimator, k: int):
    """A function of a piece, its scores and its first row: the kinds of its support vectors."""
    if not isinstance(estimator, LinearSVM):
        return lambda block, f, first: np.empty(0, dtype="U1")
    if is_joint(estimator):
        return lambda block, f, first: _joint(estimator, block, f, first)
    listed, asked = _by_machine(estimator, len(estimator.coef_)), duels(k, estimator.multiclass)
    return lambda block, f, first: _duels(estimator, asked, listed, block, f, first)


def _by_machine(estimator, machines: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows, ascending, whose multipliers were kept, and these, for every machine."""
    rows = getattr(estimator, "_alpha_rows", np.zeros(0, dtype=np.int64))
    values = getattr(estimator, "_alpha_values", np.zeros(0))
    machine = getattr(estimator, "_alpha_machines", np.zeros(0, dtype=np.int64))
    return [(rows[machine == q], values[machine == q]) for q in range(machines)]


def _duels(estimator, asked, listed, block: Block, f, first: int) -> np.ndarray:
    """Two classes at a time: a row supports if it does so in any machine; its worst slack tells
    the kind.  A hinge multiplier below its cap is on the margin."""
    n = len(block.y)
    c = costs(float(estimator.C), block.weight, n)
    worst, held, below = np.full(n, -np.inf), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for q, (one, other) in enumerate(asked):
        mine = (c > 0) & ((other is None) | (block.y == one) | (block.y == other))
        z = np.where(mine, 1.0 - np.where(block.y == one, 1.0, -1.0) * f[:, q], -np.inf)
        supports = z > 0.0
        rows, alpha = listed[q]
        low, high = np.searchsorted(rows, [first, first + n])
        place, alpha = rows[low:high] - first, alpha[low:high]
        supports[place] = alpha > 0.0
        if len(asked) == 1:
            below[place] = alpha < c[place]
        held |= supports
        worst = np.maximum(worst, z)
    return kinds_of(worst[held], below[held])


def _joint(estimator, block: Block, f, first: int) -> np.ndarray:
    """All classes at once."""
    problem = svm_joint.pose(estimator, block.X, block.y, block.weight)
    beta = from_scores(problem, estimator.coef_, estimator.intercept_)
    low, high = np.searchsorted(estimator._alpha_rows, [first, first + len(block.y)])
    place, machine = estimator._alpha_rows[low:high] - first, estimator._alpha_machines[low:high]
    beta[place, machine] = estimator._alpha_values[low:high]
    index = np.arange(len(block.y))
    z = 1.0 + f - f[index, block.y][:, None]
    z[index, block.y] = -np.inf
    return svm_joint.support_kinds(problem, beta, z.max(axis=1))[beta.any(axis=1)]
