"""Where scores change sign in a plane: the boundary of weights that need not be a fitted model."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .regions import Window


def crossing(W: np.ndarray, b: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the boundary w·x + b = 0 inside the window, or of all edges between
    k classes: where two score the same and no other more."""
    if len(W) == 1:
        return _line(W[0], float(b[0]), window, np.empty((0, 2)), np.empty(0))
    parts = [
        _line(W[i] - W[j], b[i] - b[j], window, *_rivals(W, b, i, j))
        for i, j in combinations(range(len(W)), 2)
    ]
    gap = np.array([np.nan])
    x = np.concatenate([np.concatenate([part[0], gap]) for part in parts])
    y = np.concatenate([np.concatenate([part[1], gap]) for part in parts])
    return x, y


def _rivals(W, b, i: int, j: int):
    """Where class i scores at least as much as each class but i and j."""
    others = [c for c in range(len(W)) if c not in (i, j)]
    return W[i] - W[others], b[i] - b[others]


def _line(w, c, window: Window, A, d) -> tuple[np.ndarray, np.ndarray]:
    """The part of the line w·x + c = 0 that is in the window and where A x + d ≥ 0: a point of it
    plus s times its direction, s between the bounds that all half-planes leave."""
    length = float(w @ w)
    if not length > 0:
        return np.full(2, np.nan), np.full(2, np.nan)
    x0, x1, y0, y1 = window
    start, along = -c * w / length, np.array([-w[1], w[0]]) / np.sqrt(length)
    walls = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    A = np.vstack([walls, A])
    rest = np.concatenate([[-x0, x1, -y0, y1], d]) + A @ start
    rate = A @ along
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -rest / rate
    low = s[rate > 0].max(initial=-np.inf)
    high = s[rate < 0].min(initial=np.inf)
    outside = ((rate == 0) & (rest < 0)).any()
    if outside or not low < high:
        return np.full(2, np.nan), np.full(2, np.nan)
    ends = start + np.array([[low], [high]]) * along
    return ends[:, 0], ends[:, 1]
