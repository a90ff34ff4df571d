"""What pictures of two features share: a box around the points, names, marks by class, lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from .palette import class_paints, marker
from .scene import Mark, Points

Limits = tuple[float, float]
# Space left around the points, as a share of their extent.
ROOM = 0.08
# A side shorter than this share of the other is lengthened: a strip shows no boundary.
NARROW = 0.6


def box_around(X: np.ndarray) -> tuple[Limits, Limits]:
    """Limits of both axes with a little room, neither side much longer than the other."""
    low, high = X.min(axis=0), X.max(axis=0)
    extent = float((high - low).max()) or 1.0
    half = np.maximum(high - low, NARROW * extent) * (0.5 + ROOM)
    centre = 0.5 * (low + high)
    (x0, y0), (x1, y1) = (centre - half).tolist(), (centre + half).tolist()
    return (x0, x1), (y0, y1)


def names_of(given: Sequence[str] | None, X) -> tuple[str, ...]:
    """Names of the columns: as given, as a table has them, or x₁, x₂, …"""
    columns = given if given is not None else getattr(X, "columns", None)
    if columns is not None:
        return tuple(map(str, columns))
    return tuple(f"x{_below(j + 1)}" for j in range(np.shape(X)[1]))


def _below(number: int) -> str:
    return "".join(chr(ord("₀") + int(digit)) for digit in str(number))


def point_marks(x, y, codes, classes: Sequence[str]) -> list[Mark]:
    """The points of each class, told apart by colour and marker."""
    marks: list[Mark] = []
    for c, paint in enumerate(class_paints(classes)):
        own = np.flatnonzero(codes == c)
        names = tuple(f"point {i}, {classes[c]}" for i in own)
        marks.append(Points(x[own], y[own], paint, str(classes[c]), marker(c), names=names))
    return marks


def crossing(W: np.ndarray, b: np.ndarray, box) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the boundary w·x + b = 0 inside the box, or of all edges between k classes."""
    if len(W) == 1:
        return _line(W[0], float(b[0]), box, np.empty((0, 2)), np.empty(0))
    parts = [
        _line(W[i] - W[j], b[i] - b[j], box, *_rivals(W, b, i, j))
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


def _line(w, c, box, A, d) -> tuple[np.ndarray, np.ndarray]:
    """The part of the line w·x + c = 0 that is in the box and where A x + d ≥ 0: a point of it
    plus s times its direction, s between the bounds that all half-planes leave."""
    length = float(w @ w)
    if not length > 0:
        return np.full(2, np.nan), np.full(2, np.nan)
    (x0, x1), (y0, y1) = box
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
