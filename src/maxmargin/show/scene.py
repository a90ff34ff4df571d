"""A picture as data: marks in the units of its axes, painted by name.

A view computes its arrays once and says what they look like as a ``Scene``; matplotlib, Bokeh,
SVG and the studio's page each draw any scene.  A new picture is a new view, and all four can
show it; a new drawer knows seven marks and nothing of classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Dash = Literal["solid", "dashed", "dotted"]


@dataclass(frozen=True)
class Area:
    """Filled polygons, each an (m, 2) ring; rings inside one another cut holes (even-odd)."""

    rings: tuple[np.ndarray, ...]
    paint: str
    label: str | None = None
    opacity: float = 0.18
    hatched: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points; NaN breaks it."""

    x: np.ndarray
    y: np.ndarray
    paint: str = "ink"
    label: str | None = None
    dash: Dash = "solid"
    width: float = 1.5


@dataclass(frozen=True)
class Segments:
    """Separate segments from (x, y) to (x2, y2): slacks, error bars."""

    x: np.ndarray
    y: np.ndarray
    x2: np.ndarray
    y2: np.ndarray
    paint: str = "ink"
    label: str | None = None
    dash: Dash = "solid"
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Points:
    """Markers; ``hollow`` ones are rings around others.  ``names`` are shown when pointed at."""

    x: np.ndarray
    y: np.ndarray
    paint: str = "ink"
    label: str | None = None
    marker: str = "circle"
    size: float = 5.0
    hollow: bool = False
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Bars:
    """Bars from ``base`` to ``base + length`` at positions ``at``, ``thickness`` wide."""

    at: np.ndarray
    length: np.ndarray
    paint: str = "class 0"
    label: str | None = None
    base: np.ndarray | float = 0.0
    thickness: float = 0.7
    horizontal: bool = True


@dataclass(frozen=True)
class Cells:
    """A matrix of shaded cells with words in them; row 0 is on top."""

    shade: np.ndarray  # (rows, columns), 0 (paper) … 1 (paint)
    words: tuple[tuple[str, ...], ...]
    paint: str = "class 0"
    label: str | None = None


@dataclass(frozen=True)
class Note:
    """Words at a place."""

    x: float
    y: float
    words: str
    paint: str = "ink"
    anchor: Literal["start", "middle", "end"] = "middle"
    label: str | None = None


Mark = Area | Line | Segments | Points | Bars | Cells | Note


@dataclass(frozen=True)
class Axis:
    """What an axis measures; ``ticks`` are (place, words) where numbers will not do."""

    label: str
    limits: tuple[float, float] | None = None
    log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None


@dataclass(frozen=True)
class Scene:
    """Marks, drawn in their order, on two axes.  ``words`` say the same to those who cannot see.

    Marks with the same label are one entry of the legend, and are hidden together.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    words: str
    equal: bool = False  # one unit is as long on both axes: distances look true
    legend: bool = True


@dataclass(frozen=True)
class Board:
    """Scenes side by side, wrapped after ``columns``."""

    scenes: tuple[Scene, ...]
    columns: int = 2
    title: str | None = field(default=None)


def to_json(scene: Scene) -> dict:
    """The scene as plain lists and words, for a page to draw; colours are resolved."""
    from .palette import colour

    def plain(value):
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                return [None if v != v else v for v in value.tolist()]
            return value.tolist()
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        return value.item() if isinstance(value, np.generic) else value

    def mark(item: Mark) -> dict:
        fields = {name: plain(value) for name, value in vars(item).items() if value is not None}
        return {"kind": type(item).__name__, **fields, "colour": colour(item.paint)}

    return {
        "title": scene.title, "words": scene.words, "equal": scene.equal, "legend": scene.legend,
        "x": {name: plain(value) for name, value in vars(scene.x).items()},
        "y": {name: plain(value) for name, value in vars(scene.y).items()},
        "marks": [mark(item) for item in scene.marks],
    }  # fmt: skip
