"""The scene of a fitted model in the page's window.  The page draws the points itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...core.certify.separability import Separation
from ...show.scene import Area, Axis, Line, Mark, Note, Points, Scene, to_json
from ...show.views.boundary import boundary_view
from .chances import chance_marks
from .task import StudioTask
from .weights import score_marks, weight_marks

# Places of the grid, in each direction, on which what is not linear is followed: while a point
# is dragged, and when it is let go.
COARSE_GRID, FINE_GRID = 60, 150
# Rings of the proof, in pixels: of the largest weight, and of one that is hardly there.
MAX_RING_PIXELS, MIN_RING_PIXELS = 22.0, 8.0
# Digits of a coordinate, from that of the window's size on: a hundredth of a pixel.
COORDINATE_DIGITS = 5


def picture_of(model: Any, task: StudioTask, rival: Any = None) -> dict:
    """Regions, boundary, margins, slacks and rings; and the boundary of a rival."""
    scene = _view(model, task).scene()
    marks = [_own_paint(mark, task) for mark in scene.marks if not _data(mark)]
    if task.line:
        marks = [*marks, *score_marks(model, task)]
    if task.values.get("arrow"):
        marks = [*marks, *weight_marks(model, task)]
    if task.values.get("misses"):
        marks = [*marks, *chance_marks(model, task, COARSE_GRID if task.hurry else FINE_GRID)]
    if rival is not None and task.beside is not None:
        x, y = _view(rival, task).regions.border.T
        marks.append(Line(x, y, "bad", task.beside.title, "dotted", 2.6))
    return _sent(_scene(task, marks, scene.words), task)


def _view(model: Any, task: StudioTask):
    grid = COARSE_GRID if task.hurry else FINE_GRID
    return boundary_view(
        model, task.X, task.codes, feature_names=task.names, window=task.window, grid=grid
    )


def _data(mark: Mark) -> bool:
    """The points themselves, which the page has."""
    return isinstance(mark, Points) and not mark.hollow


def _own_paint(mark: Mark, task: StudioTask) -> Mark:
    """Views count the classes that have points; the page counts all it has."""
    word, _, number = mark.paint.partition(" ")
    if word != "class":
        return mark
    return replace(mark, paint=f"class {task.present[int(number)]}")


def proof_picture(proof: Separation, task: StudioTask) -> dict:
    """Ringed points whose weighted means coincide, and where they do."""
    weights = np.zeros(len(task.X)) if proof.weights is None else proof.weights
    share = weights if weights.ndim == 1 else weights.sum(axis=1)
    used = np.flatnonzero(share)
    size = np.sqrt(share[used] / share[used].max(initial=1e-300))
    radius = MIN_RING_PIXELS + (MAX_RING_PIXELS - MIN_RING_PIXELS) * size
    marks: list[Mark] = [
        Points(task.X[[i], 0], task.X[[i], 1], "bad", None, size=r, hollow=True)
        for i, r in zip(used, radius.tolist(), strict=True)
    ]
    if proof.classes == 2 and task.values.get("basis") == "none":
        marks = [*_hulls(share, used, task), *marks]
    words = f"The {len(used)} points of the proof are ringed, larger rings for larger weights."
    return _sent(_scene(task, marks, words), task)


def _hulls(share: np.ndarray, used: np.ndarray, task: StudioTask) -> list[Mark]:
    """The hulls of the proof's points, one for each class, and the point that both contain."""
    marks: list[Mark] = []
    for c in task.present:
        ring = _around(task.X[used[task.codes[used] == c]])
        marks.append(Area((ring,), f"class {c}", opacity=0.25))
        x, y = np.vstack([ring, ring[:1]]).T
        marks.append(Line(x, y, f"class {c}", f"hull of {task.labels[c]}", width=2.0))
    first = task.codes == task.present[0]
    x, y = share[first] @ task.X[first]
    here = np.array([x]), np.array([y])
    return [
        *marks,
        Points(*here, "bad", "the common point", "cross", 7.0),
        Note(float(x), float(y), "in both hulls", "bad"),
    ]


def _around(points: np.ndarray) -> np.ndarray:
    """Points in their order around their middle: at most a few, in convex position."""
    middle = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))]


def _scene(task: StudioTask, marks: list[Mark], words: str) -> Scene:
    left, right, bottom, top = task.window
    x, y = Axis(task.names[0], (left, right)), Axis(task.names[1], (bottom, top))
    return Scene(task.method.title, x, y, tuple(marks), words, equal=True)


def _sent(scene: Scene, task: StudioTask) -> dict:
    """The scene for the page, without digits that no screen shows."""
    left, right, bottom, top = task.window
    places = COORDINATE_DIGITS - int(np.floor(np.log10(min(right - left, top - bottom))))

    def short(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return np.round(value, places)
        return tuple(map(short, value)) if isinstance(value, tuple) else value

    marks = [
        replace(m, **{name: short(value) for name, value in vars(m).items()}) for m in scene.marks
    ]
    return to_json(replace(scene, marks=tuple(marks)))
