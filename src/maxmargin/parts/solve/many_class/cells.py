"""Cells: rows of k classes that lie on one piece of their loss, told by their mean.

Rows of one class that blame the same classes cost together what their mean costs, as long as
none of them leaves its piece.  A loss is convex, so a cell never costs more than its rows; and
multipliers of a cell, shared out by c_i, are feasible for its rows with the same dual.  So some
rows as they are and the cells of all others make a small problem that bounds the whole one from
below (``near.py`` solves it).  This is what a part does: it says which rows matter, sends
some of them, and adds up the cells of the others.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....core.problem.class_losses import hinge_rates
from ....core.problem.multiclass import MulticlassProblem
from ....core.rows.class_products import score_chunks
from ....core.rows.rows import SparseRows, as_csr
from .ascent import add_losses
from .tasks import ClassState

# Cells a part may have, for every class: answers are then as large as a few W.
CELLS_PER_CLASS = 4
# Where the objective is looked at between the best weights so far (0) and the new ones (1).
LINE_SEARCH_POINTS = np.array([1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.03])
# A row costs more than its cell says when it does so by more than rounding, in margins.
CELL_LOSS_ROUNDING = 1e-12


class RowPlacement(NamedTuple):
    """Where the rows of a part are: with the driver, or in a cell."""

    sent: np.ndarray  # (n,)
    cell: np.ndarray  # (n,) the cell's number
    blame: np.ndarray  # (n, k) the classes that its rows blame


class NearClassRows(NamedTuple):
    """What a part remembers of the rounds."""

    name: bytes  # a digest of its rows; parts of the same name answer alike
    now: RowPlacement  # in the problem whose solution was told last
    ahead: RowPlacement  # in the next one


class LookPayload(NamedTuple):
    """What all parts are told."""

    W: np.ndarray
    b: np.ndarray
    W_best: np.ndarray
    b_best: np.ndarray
    reach: float  # rows so near to another piece may be on it soon
    values: int  # of the rows that a part may send
    few: int  # … and of those that it sends if these are not all that matter
    seed: int


class Sent(NamedTuple):
    """Rows that leave their part."""

    name: bytes
    place: np.ndarray  # their numbers there
    X: Any
    y: np.ndarray
    c: np.ndarray


class ClassCells(NamedTuple):
    """Number, class, whether its rows may leave their piece soon, mass Σc and Σ c x of each."""

    number: np.ndarray
    y: np.ndarray
    edge: np.ndarray
    mass: np.ndarray
    sums: np.ndarray


class Pieces(NamedTuple):
    """Of every row: slacks, who is blamed, how far the next piece is, and the loss."""

    z: np.ndarray
    blame: np.ndarray
    distance: np.ndarray
    loss: np.ndarray


def pieces(rates, s: np.ndarray, y: np.ndarray) -> Pieces:
    """The pieces on which rows with scores s lie: "max" blames one class, "sum" all too near."""
    n, k = s.shape
    index = np.arange(n)
    z = 1.0 + s - s[index, y][:, None]
    z[index, y] = 0.0
    one_each = rates[2] < np.inf or rates[3] > 0.0
    if one_each:
        blame = np.zeros((n, k), dtype=bool)
        blame[index, z.argmax(axis=1)] = True
        ends = np.partition(z, k - 2, axis=1)[:, k - 2 :]
        distance, loss = ends[:, 1] - ends[:, 0], ends[:, 1]
    else:
        blame = z > 0.0
        away = np.abs(z)
        away[index, y] = np.inf
        distance = away.min(axis=1)
        loss = np.maximum(z, 0.0).sum(axis=1)
    blame[index, y] = False
    if not is_linear(rates):
        loss = (np.where(blame, z, 0.0) ** 2).sum(axis=1)
    return Pieces(z, blame, distance, loss)


def is_linear(rates) -> bool:
    """Whether a loss is linear on its pieces; squared ones are only where nobody is blamed."""
    return rates[1] == 0.0 and rates[3] == 0.0


def numbers(blame: np.ndarray, y: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """The number of every row's cell: a hash of whom it blames, its class, and where it lies."""
    k = blame.shape[1]
    codes = np.random.default_rng(k).integers(-(2**62), 2**62, 3 * k)
    return blame @ codes[:k] + codes[k + y] + np.where(edge, codes[2 * k], 0)


def scores_at(problem: MulticlassProblem, W, b) -> np.ndarray:
    s = np.empty((len(problem.y), problem.k))
    for part, f in score_chunks(problem.rows, W):
        s[part] = f + b
    return s


# --- tasks ------------------------------------------------------------------------------


def draw(problem: MulticlassProblem, state: ClassState, portion: float, values: int, seed: int):
    """Send a portion of the rows of each class at random, at least one; and Σc by class."""
    X, n = _matrix(problem), len(problem.y)
    portion = min(portion, values / max(1, _stored(X, np.arange(n)).sum()))
    rng = np.random.default_rng([seed, n])
    chosen = [np.empty(0, dtype=np.int64)]
    for code in np.unique(problem.y[problem.c > 0]):
        mine = np.flatnonzero((problem.y == code) & (problem.c > 0))
        size = min(len(mine), max(1, round(portion * len(mine))))
        chosen.append(rng.choice(mine, size=size, replace=False))
    index = np.sort(np.concatenate(chosen))
    near = _unseen(problem)
    sent = near.ahead.sent.copy()
    sent[index] = True
    near = near._replace(ahead=near.ahead._replace(sent=sent))
    by_class = np.bincount(problem.y, problem.c, minlength=problem.k)
    rows = Sent(near.name, index, X[index], problem.y[index], problem.c[index])
    return state._replace(near=near), (rows, by_class)


def look(problem: MulticlassProblem, state: ClassState, told: LookPayload):
    """Losses on the way to W, rows that matter there, and the cells of the others."""
    rates, k = hinge_rates(problem.loss), problem.k
    near = state.near or _unseen(problem)
    s, best = scores_at(problem, told.W, told.b), scores_at(problem, told.W_best, told.b_best)
    ways, losses = (
        np.stack([LINE_SEARCH_POINTS, np.ones_like(LINE_SEARCH_POINTS)], axis=1),
        np.zeros((len(LINE_SEARCH_POINTS), 1)),
    )
    add_losses(rates, problem.y, problem.c, best, s, ways, np.zeros((1, k)), losses)
    here = pieces(rates, s, problem.y)
    wanted = _matters(problem, rates, near.ahead, here, told.reach)
    chosen = _choose(problem, np.flatnonzero(wanted), told)
    sent = near.ahead.sent.copy()
    sent[chosen] = True
    place, cells = _cells(problem, sent, here.blame, wanted)
    X = _matrix(problem)
    rows = Sent(near.name, chosen, X[chosen], problem.y[chosen], problem.c[chosen])
    state = state._replace(near=NearClassRows(near.name, near.ahead, place))
    return state, (losses[:, 0], rows, cells)


def settle(problem: MulticlassProblem, state: ClassState, rows: dict, cells: dict, told: bool):
    """Take the multipliers of the problem last solved: those of rows by name, of cells by c.

    ``told``: whether its solution was told before; else it is the problem then ahead.
    """
    place = state.near.now if told else state.near.ahead
    beta = np.zeros((len(problem.y), problem.k))
    inside = ~place.sent & (problem.c > 0)
    for number, rate in cells.items():
        mine = inside & (place.cell == number)
        beta[mine] = problem.c[mine, None] * rate
    index, found = rows[state.near.name]
    beta[index] = found
    return state._replace(beta=beta, points=beta[None], near=None), 0


# --- how ---------------------------------------------------------------------------------


def _unseen(problem: MulticlassProblem) -> NearClassRows:
    """No row sent, and one cell for each class."""
    n, k = len(problem.y), problem.k
    X, digest = _matrix(problem), hashlib.blake2b(digest_size=16)
    for array in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(np.ascontiguousarray(problem.y).data)
    digest.update(np.ascontiguousarray(problem.c).data)
    blame, none = np.zeros((n, k), dtype=bool), np.zeros(n, dtype=bool)
    place = RowPlacement(none, numbers(blame, problem.y, none), blame)
    return NearClassRows(digest.digest(), place, place)


def _matters(problem, rates, place: RowPlacement, here: Pieces, reach: float) -> np.ndarray:
    """Rows not sent that cost more than their cell says, or may soon be on another piece."""
    if is_linear(rates):
        wrong = here.loss - np.where(place.blame, here.z, 0.0).sum(axis=1) > CELL_LOSS_ROUNDING
    else:
        wrong = here.loss > 0.0
    return ~place.sent & (problem.c > 0) & (wrong | (here.distance <= reach))


def _choose(problem, wanted: np.ndarray, told: LookPayload) -> np.ndarray:
    """All of them, or as many as may be sent, at random: they then stand for the others."""
    stored = _stored(_matrix(problem), wanted)
    if stored.sum() > told.values:
        order = np.random.default_rng([told.seed, len(problem.y)]).permutation(len(wanted))
        most = int(
            np.searchsorted(np.cumsum(stored[order]), min(told.few, told.values), side="right")
        )
        wanted = np.sort(wanted[order[:most]])
    return wanted


def _cells(problem, sent: np.ndarray, blame, wanted) -> tuple[RowPlacement, ClassCells]:
    """The cells of the rows not sent, the smallest of too many put together by class."""
    y, n, k = problem.y, len(problem.y), problem.k
    rows = np.flatnonzero(~sent & (problem.c > 0))
    edge = wanted & ~sent
    cell = numbers(blame, y, edge)
    number, which = np.unique(cell[rows], return_inverse=True)
    if len(number) > CELLS_PER_CLASS * k:
        small = np.bincount(which, problem.c[rows]).argsort()[: -CELLS_PER_CLASS * k]
        rest = rows[np.isin(which, small)]
        blame = blame.copy()
        blame[rest], edge[rest] = False, False
        cell[rest] = numbers(blame[rest], y[rest], edge[rest])
        number, which = np.unique(cell[rows], return_inverse=True)
    m = len(number)
    of_class, on_edge = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=bool)
    of_class[which], on_edge[which] = y[rows], edge[rows]
    gather = sparse.csr_array((problem.c[rows], (which, rows)), shape=(m, n))
    sums = gather @ _matrix(problem)
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums, dtype=np.float64)
    mass = np.bincount(which, problem.c[rows], minlength=m)
    return RowPlacement(sent, cell, blame), ClassCells(number, of_class, on_edge, mass, sums)


def _matrix(problem: MulticlassProblem) -> Any:
    rows = problem.rows
    return as_csr(rows) if isinstance(rows, SparseRows) else rows.X


def _stored(X, index: np.ndarray) -> np.ndarray:
    """Values that every one of these rows takes."""
    return np.diff(X.indptr)[index] if sparse.issparse(X) else np.full(len(index), X.shape[1])
