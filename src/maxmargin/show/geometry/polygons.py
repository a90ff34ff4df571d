"""Convex polygons cut by lines, exactly up to rounding, in a window of size one.

A line (a, b, c) is where a·x + b·y + c = 0; its positive side is kept.  Polygons are lists of
(x, y), anticlockwise.  Plain floats: polygons have a handful of corners, for which arrays
are ten times slower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

Point = tuple[float, float]
Line = Sequence[float]
UNIT_WINDOW: list[Point] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
# Corners this close to a line, in a window of size one, lie on it: three lines through one
# point would leave slivers otherwise.
ON_LINE_TOL = 1e-11
BORDER = -1


def zone(lines: Iterable[Line]) -> tuple[list[Point], list[int]]:
    """The part of the window on the positive side of all lines, and what every edge is of.

    Edge i leads from corner i to the next; it is of the line with that number, or BORDER.
    """
    ring, edges = list(UNIT_WINDOW), [BORDER] * 4
    for number, line in enumerate(lines):
        ring, edges = _clip(ring, edges, _sides(ring, line), number)
        if not ring:
            break
    return ring, edges


def _sides(ring: list[Point], line: Line) -> list[float]:
    a, b, c = line
    return [a * x + b * y + c for x, y in ring]


def _clip(ring, edges, side, number):
    if min(side) >= 0.0:
        return ring, edges
    if max(side) <= 0.0:
        return [], []
    out, marks = [], []
    for i, s in enumerate(side):
        j = i + 1 if i + 1 < len(side) else 0
        if s >= 0.0:
            out.append(ring[i])
            marks.append(edges[i])
        if s > 0.0 > side[j]:
            out.append(_crossing(ring[i], ring[j], s, side[j]))
            marks.append(number)
        elif s == 0.0 > side[j]:
            marks[-1] = number
        elif s < 0.0 < side[j]:
            out.append(_crossing(ring[i], ring[j], s, side[j]))
            marks.append(edges[i])
    return out, marks


def _crossing(p: Point, q: Point, s: float, t: float) -> Point:
    """Where the edge from p (value s) to q (value t) is zero; the same bits from either end."""
    if q < p:
        p, q, s, t = q, p, t, s
    u = s / (s - t)
    return p[0] + u * (q[0] - p[0]), p[1] + u * (q[1] - p[1])


def cells(lines: Iterable[Line], start: list[list[Point]] | None = None) -> list[list[Point]]:
    """All convex pieces into which the lines cut the window."""
    pieces = [UNIT_WINDOW] if start is None else start
    for a, b, c in lines:
        length = float(np.hypot(a, b))
        if length == 0.0:
            continue
        line = (a / length, b / length, c / length)
        pieces = [part for piece in pieces for part in _split(piece, line)]
    return pieces


def _split(ring: list[Point], line: Line) -> list[list[Point]]:
    side = [0.0 if abs(s) <= ON_LINE_TOL else s for s in _sides(ring, line)]
    if min(side) >= 0.0 or max(side) <= 0.0:
        return [ring]
    unmarked = [BORDER] * len(ring)
    above, _ = _clip(ring, unmarked, side, BORDER)
    below, _ = _clip(ring, unmarked, [-s for s in side], BORDER)
    return [above, below]


def outlines(pieces: list[list[Point]], labels: Sequence[int]) -> dict[int, list[list[Point]]]:
    """The outlines of the union of all pieces of a label: edges between two of them vanish."""
    owner = _owners(pieces, labels)
    onwards: dict[int, dict[Point, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for (p, q), label in owner.items():
        if owner.get((q, p)) != label:
            onwards[label][p].append(q)
    return {label: _chains(after) for label, after in onwards.items()}


def borders(pieces: list[list[Point]], labels: Sequence[int]) -> list[tuple[Point, Point]]:
    """The edges between pieces of different labels, each once."""
    owner = _owners(pieces, labels)
    return [(p, q) for (p, q), label in owner.items() if label < owner.get((q, p), label)]


def _owners(pieces, labels) -> dict[tuple[Point, Point], int]:
    return {
        edge: label
        for ring, label in zip(pieces, labels, strict=True)
        for edge in zip(ring, ring[1:] + ring[:1], strict=True)
    }


def _chains(after: dict[Point, list[Point]]) -> list[list[Point]]:
    """Closed rings from directed edges."""
    rings = []
    while after:
        ring = [next(iter(after))]
        while ring[-1] in after:
            ends = after[ring[-1]]
            end = ends.pop()
            if not ends:
                del after[ring[-1]]
            if end == ring[0]:
                break
            ring.append(end)
        rings.append(ring)
    return rings


def area(ring) -> float:
    """Of one ring; positive when anticlockwise."""
    x, y = np.asarray(ring, dtype=float).reshape(-1, 2).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
