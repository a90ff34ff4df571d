"""``next_pair``: which comparison to ask for next.

A comparison of i and j tells the sign of w·(x_i − x_j).  The weights that agree with all answers so
far form a region, and the question whose plane passes closest to the present w, that is the one of
least  |w·(x_i − x_j)| / ‖x_i − x_j‖,  divides it most evenly (Tong and Koller's "simple margin").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...core.types import ArrayLike, MatrixLike

# Items up to which all pairs are looked at; of more, as many are drawn by lot.
MAX_ASKED_ITEMS = 1500


def next_pair(
    ranker: Any,
    items: MatrixLike,
    asked: ArrayLike = (),
    *,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[int, int] | None:
    """The two rows of ``items`` whose comparison tells most, or None when all have been asked.

    ``ranker`` is a fitted ``PairwiseRanker``; None, before the first answer, gives the two rows
    that are farthest apart.  ``asked`` are rows (a, b) that have been compared, in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import PairwiseRanker, next_pair
    >>> items = np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [2.1, 3.0]])
    >>> next_pair(None, items)
    (0, 3)
    >>> ranker = PairwiseRanker().fit(items, [[3, 0]])
    >>> next_pair(ranker, items, [[3, 0]])
    (1, 2)
    """
    X = items.toarray() if sparse.issparse(items) else np.asarray(items, dtype=float)
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(f"next_pair needs at least two items with features, got shape {X.shape}.")
    rows = _candidates(len(X), random_state)
    far = _distances(X[rows])
    if ranker is None:
        worth = far
    else:
        f = np.asarray(ranker.decision_function(items), dtype=float)[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = -np.abs(f[:, None] - f[None, :]) / far
    worth[~(far > 0.0)] = -np.inf  # equal items tell nothing
    place = {int(row): k for k, row in enumerate(rows)}
    for a, b in np.asarray(asked, dtype=int).reshape(-1, 2):
        if int(a) in place and int(b) in place:
            worth[place[int(a)], place[int(b)]] = worth[place[int(b)], place[int(a)]] = -np.inf
    worth[np.tril_indices(len(rows))] = -np.inf
    best = int(np.argmax(worth))
    i, j = divmod(best, len(rows))
    return None if worth[i, j] == -np.inf else (int(rows[i]), int(rows[j]))


def _candidates(n: int, random_state) -> np.ndarray:
    if n <= MAX_ASKED_ITEMS:
        return np.arange(n)
    from sklearn.utils import check_random_state

    return np.sort(check_random_state(random_state).choice(n, MAX_ASKED_ITEMS, replace=False))


def _distances(X: np.ndarray) -> np.ndarray:
    square = np.einsum("ij,ij->i", X, X)
    return np.sqrt(np.maximum(square[:, None] + square[None, :] - 2.0 * X @ X.T, 0.0))
