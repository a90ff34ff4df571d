"""Where which class is predicted: polygons, their borders, and margin lines.

Linear answers make the regions exact.  Where the highest of k scores wins, a region is the
window cut by k − 1 half-planes.  Duels and claims cut the window into convex cells along the
lines where an answer is zero; inside a cell no answer changes sign, so the rule is asked
once for each.  All else (kernels, changes of basis) is drawn as contours on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .decision_rule import UNDECIDED, Contrasts, DecisionRule, duels_won, least
from .model_adapter import ModelAdapter
from .plane import Plane, answers_at
from .polygons import BORDER, area, borders, cells, outlines, zone

Window = tuple[float, float, float, float]  # left, right, bottom, top
# The number of cells grows with the square of the lines; beyond this a grid is quicker.
MAX_TIE_LINES = 60
# A polygon with less than this share of the window is rounding.
MIN_AREA_SHARE = 1e-12
# Differences of answers below this share of them are rounding.
SCORE_ROUNDING = 1e-12


@dataclass(frozen=True)
class Regions:
    """Rings of every class, of what stays unknown, and lines (NaN between them).

    ``rings[c]`` are outlines of class c's region, holes included (even-odd).  ``margins[c]`` is
    where points of class c begin to have slack; empty where the model knows no margin.
    """

    window: Window
    rings: tuple[tuple[np.ndarray, ...], ...]
    unknown: tuple[np.ndarray, ...]
    border: np.ndarray  # (m, 2)
    margins: tuple[np.ndarray, ...]
    exact: bool
    grid: int | None = None

    @property
    def words(self) -> str:
        if self.exact:
            return "Regions are exact polygons."
        return f"Regions are contours on a grid of {self.grid} × {self.grid} points."


def regions_of(
    subject: ModelAdapter, plane: Plane, window: Window, election: DecisionRule | None = None,
    grid: int = 200,
) -> Regions:  # fmt: skip
    """The regions in a window of the plane, by the subject's own rule or another."""
    election = election or subject.election
    if subject.W is not None and subject.b is not None:
        U, t = _in_window(*plane.restrict(subject.W, subject.b), window)
        if election.complete:
            return _zones(election, U, t, window)
        if len(U) <= MAX_TIE_LINES:
            return _cells(election, U, t, window)
    return _contours(election, subject, plane, window, grid)


def _in_window(U: np.ndarray, t: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Answers as functions of the place in a window of size one."""
    left, right, bottom, top = window
    return U * [right - left, top - bottom], U @ [left, bottom] + t


def _zones(election: DecisionRule, U, t, window: Window) -> Regions:
    """Every region is an intersection of half-planes."""
    rings: list[tuple[np.ndarray, ...]] = []
    border: dict[tuple[float, float], tuple] = {}
    for c, M in enumerate(election.wins):
        ring, edges = zone(_lines(M, U, t, 0.0))
        if len(ring) < 3 or area(ring) < MIN_AREA_SHARE or not _elects(election, U, t, ring, c):
            rings.append(())
            continue
        rings.append((_outside(ring, window),))
        for p, q in _inner(ring, edges):
            # Both neighbours have this edge, up to rounding.
            middle = round(p[0] + q[0], 9), round(p[1] + q[1], 9)
            border[middle] = (p, q)
    return Regions(
        window, tuple(rings), (), _broken(list(border.values()), window),
        _margin_lines(election.clear, U, t, window), exact=True,
    )  # fmt: skip


def _elects(election: DecisionRule, U, t, ring, c: int) -> bool:
    """Whether this is really c's region: equal answers go to the first class only."""
    middle = np.mean(ring, axis=0)
    return int(election.decide((U @ middle + t)[None, :])[0]) == c


def _cells(election: DecisionRule, U, t, window: Window) -> Regions:
    """Regions put together from the cells of all lines where the rule may change."""
    pieces = cells(np.column_stack([U, t]).tolist())

    def answers() -> np.ndarray:
        return np.array([np.mean(piece, axis=0) for piece in pieces]) @ U.T + t

    if election.favour is not None:
        extra = _tie_lines(election, answers())
        pieces = cells((extra @ np.column_stack([U, t])).tolist(), pieces)
    codes = election.decide(answers()).tolist()
    found = outlines(pieces, codes)
    rings = {
        code: tuple(_outside(ring, window) for ring in some if abs(area(ring)) > MIN_AREA_SHARE)
        for code, some in found.items()
    }
    k = len(election.wins)
    return Regions(
        window, tuple(rings.get(c, ()) for c in range(k)), rings.get(UNDECIDED, ()),
        _broken(borders(pieces, codes), window), _margin_lines(election.clear, U, t, window),
        exact=True,
    )  # fmt: skip


def _tie_lines(election: DecisionRule, answers: np.ndarray) -> np.ndarray:
    """Contrasts that decide between classes with as many duels won, in some cell."""
    assert election.favour is not None
    won = duels_won(election, answers)
    tied = {
        pair
        for row in np.unique(won, axis=0)
        for pair in combinations(np.flatnonzero(row == row.max()).tolist(), 2)
    }
    lines = [election.favour[a] - election.favour[c] for a, c in sorted(tied)]
    return np.array(lines).reshape(len(lines), answers.shape[1])


def _margin_lines(clear: Contrasts | None, U, t, window: Window) -> tuple[np.ndarray, ...]:
    """The edges of every class's zone without slack."""
    if clear is None:
        return ()
    lines = []
    for M in clear:
        ring, edges = zone(_lines(M, U, t, 1.0))
        lines.append(_broken(_inner(ring, edges), window))
    return tuple(lines)


def _lines(M: np.ndarray, U, t, at_least: float) -> list[list[float]]:
    """The contrasts as lines; what cancels but for rounding is zero."""
    answers = np.column_stack([U, t])
    lines = M @ answers
    size = (np.abs(M) @ np.abs(answers)).max(axis=1, keepdims=True)
    lines[np.abs(lines) <= SCORE_ROUNDING * size] = 0.0
    lines[:, 2] -= at_least
    return lines.tolist()


def _inner(ring, edges) -> list:
    return [
        (p, q)
        for p, q, edge in zip(ring, ring[1:] + ring[:1], edges, strict=True)
        if edge != BORDER and p != q
    ]


def _outside(ring, window: Window) -> np.ndarray:
    """From a window of size one to the window."""
    left, right, bottom, top = window
    return np.asarray(ring, dtype=float) * [right - left, top - bottom] + [left, bottom]


def _broken(segments: list, window: Window) -> np.ndarray:
    """Segments as one line with NaN between them."""
    if not segments:
        return np.empty((0, 2))
    ends = _outside(np.array(segments).reshape(-1, 2), window).reshape(-1, 2, 2)
    gap = np.full((len(ends), 1, 2), np.nan)
    return np.concatenate([ends, gap], axis=1).reshape(-1, 2)[:-1]


def _contours(
    election: DecisionRule, subject: ModelAdapter, plane: Plane, window, grid: int
) -> Regions:
    """Contours of how firmly a class is elected, by marching over a grid."""
    from contourpy import contour_generator

    left, right, bottom, top = window
    x, y = np.linspace(left, right, grid), np.linspace(bottom, top, grid)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    answers = answers_at(subject, plane, places)
    lead = election.lead(answers)
    codes = election.decide(answers, lead).reshape(grid, grid)
    # The firmness vanishes on every border, from either side: signed by who is elected it is
    # smooth across it, and its zero contour is the border.
    lead = election.firmness(answers, lead).reshape(grid, grid)
    lead = np.maximum(
        lead, SCORE_ROUNDING * lead.max() or 1.0
    )  # a tie still belongs to the elected

    def contour(z):
        return contour_generator(x, y, z, fill_type="OuterOffset", line_type="SeparateCode")

    k = len(election.wins)
    rings: dict[int, tuple[np.ndarray, ...]] = {}
    lines = []
    for code in range(UNDECIDED, k):
        inside = codes == code
        found = contour(np.where(inside, lead, -lead)) if inside.any() else None
        if found is not None and inside.all():
            rings[code] = (np.array([[left, bottom], [right, bottom], [right, top], [left, top]]),)
        elif found is not None:
            rings[code] = _rings(found.filled(0.0, np.inf))
            lines += found.lines(0.0)[0]
    margins: tuple[np.ndarray, ...] = ()
    if election.clear is not None:
        # Points of class c begin to have slack where the least of its contrasts is 1.
        clear = least(election.clear, answers).T.reshape(k, grid, grid)
        margins = tuple(_joined(contour(z).lines(1.0)[0]) for z in clear)
    return Regions(
        window, tuple(rings.get(c, ()) for c in range(k)), rings.get(UNDECIDED, ()),
        _joined(lines), margins, exact=False, grid=grid,
    )  # fmt: skip


def _rings(filled) -> tuple[np.ndarray, ...]:
    """Polygons with holes as rings, without the point that closes each."""
    return tuple(
        points[start : end - 1]
        for points, offsets in zip(*filled, strict=True)
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    )


def _joined(lines: list[np.ndarray]) -> np.ndarray:
    if not lines:
        return np.empty((0, 2))
    gap = np.full((1, 2), np.nan)
    return np.vstack([part for line in lines for part in (line, gap)][:-1])
