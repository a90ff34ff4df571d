"""Many labellings of the same rows, solved and proved in one compiled call.

Each by the central path (``central_path.py``), to a share of the gap asked for; then its
multipliers are repaired, the best bias is found, and the certificate is made as for any fit
(``certify/small.py``).  What it does not prove goes on once, more strictly; what is still unproved
is left to the caller, who has slower solvers that arrive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...certify.small import FIELDS, prove
from ...problem.losses import largest
from .central_path import Room, fill, follow, multipliers, prepare, start

# The gap the path goes to, as a share of the one asked for, at first and if the proof falls short.
PATH_TOL_SHARES = np.array([0.3, 1e-3])
# Values, and columns, up to which a problem is solved this way.
MAX_BATCH_VALUES = 400_000
MAX_BATCH_COLUMNS = 400


def fits(n: int, d: int) -> bool:
    return 0 < d <= MAX_BATCH_COLUMNS and n * d <= MAX_BATCH_VALUES


class Labellings(NamedTuple):
    """Some rows and columns of X, rows ``held`` out, and which of all rows are of the positive
    class: (L, len(X)).

    c_i is ``cost`` of the row times ``by_class`` (L, 2) of its class; all are above zero.
    """

    rows: np.ndarray
    columns: np.ndarray
    held: np.ndarray
    positive: np.ndarray
    cost: np.ndarray
    by_class: np.ndarray


class Solutions(NamedTuple):
    """Weights (L, d), biases (L,), ``FIELDS`` and steps of L labellings, and the scores of the
    rows held out."""

    coef: np.ndarray
    b: np.ndarray
    told: np.ndarray
    steps: np.ndarray
    held: np.ndarray


def solve_labellings(X, labellings: Labellings, loss, tol: float, room: Room) -> Solutions:
    """Solve and prove every labelling; ``room``: that for as many rows and columns."""
    rows, columns, held, positive, _, _ = labellings
    count = len(positive)
    found = Solutions(
        np.empty((count, len(columns))), np.empty(count), np.empty((count, len(FIELDS))),
        np.empty(count, np.int64), np.empty((count, len(held))),
    )  # fmt: skip
    fill(room.small, room.design, X, rows, columns)
    prepare(room.design, room.path, room.squares)
    _solve_all(room, labellings, loss, largest(loss), tol, found)
    _score_held(X, held, columns, found.coef, found.b, found.held)
    return found


@njit(cache=True, nogil=True)
def _solve_all(room, labellings, loss, most, tol, found):
    small, design, path, system, squares = room
    for k in range(len(labellings.positive)):
        _label(small, labellings, k, most)
        start(small, design, path, squares)
        found.steps[k] = 0
        w, told = found.coef[k], found.told[k]
        for share in PATH_TOL_SHARES:
            found.steps[k] += follow(small, design, path, system, share * tol)
            b = _point(design, path, w)
            multipliers(small, path)
            found.b[k] = prove(loss, small, w, b, told)
            if told[0] - told[1] <= tol * told[0]:
                break


@njit(cache=True, nogil=True)
def _label(small, labellings, k, most):
    """The k-th labelling and its costs."""
    for i in range(len(small.y)):
        row = labellings.rows[i]
        side = labellings.positive[k, row]
        small.y[i] = 1.0 if side else -1.0
        small.c[i] = labellings.cost[row] * labellings.by_class[k, 1 if side else 0]
        small.cap[i] = small.c[i] * most


@njit(cache=True, nogil=True)
def _point(design, path, w):
    """The weights of the path, filled in, and the bias of rows that are not centred."""
    d = len(w)
    b = path.w[d] if design.width > d else 0.0
    for j in range(d):
        w[j] = path.w[j]
        b -= design.mean[j] * w[j]
    return b


@njit(cache=True, nogil=True)
def _score_held(X, held, columns, coef, b, f):
    """w·x + b of the rows held out, for every labelling."""
    for k in range(len(coef)):
        for i in range(len(held)):
            total = b[k]
            for j in range(len(columns)):
                total += coef[k, j] * X[held[i], columns[j]]
            f[k, i] = total
