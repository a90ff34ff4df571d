"""The vector w as an arrow, and on a line the scores themselves as curves."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ...models.reduction.one_vs_one import OneVsOne
from ...show.geometry.model_adapter import ModelAdapter, subject_of
from ...show.scene import Line, Mark
from .task import StudioTask

# Of the longest arrow, as a share of the window's shorter side; and of its head.
ARROW_SHARE, HEAD_SHARE = 0.22, 0.035
# Half the angle of a head, in radians.
HEAD_ANGLE = 0.45
# Places at which a score is followed along the line.
CURVE_POINTS = 400


def weight_marks(model: Any, task: StudioTask) -> list[Mark]:
    """w at right angles to the boundary, from the boundary; of k classes every w from the origin.

    Lengths are in proportion to one another and not to the axes, for a narrow margin has a w that
    no window could hold; the legend says how long it is.
    """
    subject = subject_of(model, task.X)
    if subject.W is None or subject.b is None or hasattr(model, "steps"):
        return []
    left, right, bottom, top = task.window
    side = min(right - left, top - bottom)
    length = np.linalg.norm(subject.W, axis=1)
    scale = ARROW_SHARE * side / max(float(length.max()), 1e-300)
    middle = np.array([(left + right) / 2, (bottom + top) / 2])
    marks: list[Mark] = []
    for c, w in enumerate(subject.W):
        start = _foot(w, float(subject.b[c]), middle) if len(subject.W) == 1 else _origin(task)
        name, paint = _whose(subject, task, c)
        x, y = _arrow(start, start + scale * w, HEAD_SHARE * side).T
        marks.append(Line(x, y, paint, f"w{name}, length {length[c]:.3g}", width=2.4))
    return marks


def _whose(subject: ModelAdapter, task: StudioTask, c: int) -> tuple[str, str]:
    """Words and paint of an answer: of a class, of a duel, or the only one."""
    k, model = len(task.present), subject.model
    if k == 2:
        return "", "ink"
    if isinstance(model, OneVsOne) or getattr(model, "multiclass", None) == "pairs":
        one, other = list(combinations(task.present, 2))[c]
        return f" of {task.labels[one]} against {task.labels[other]}", "ink"
    return f" of {task.labels[task.present[c]]}", f"class {task.present[c]}"


def _foot(w: np.ndarray, b: float, place: np.ndarray) -> np.ndarray:
    """The point of w·x + b = 0 nearest to a place."""
    size = float(w @ w)
    return place - (w @ place + b) / size * w if size > 0 else place


def _origin(task: StudioTask) -> np.ndarray:
    """Where all scores are their biases; the nearest place in the window if it is outside."""
    left, right, bottom, top = task.window
    return np.clip(np.zeros(2), [left, bottom], [right, top])


def _arrow(start: np.ndarray, end: np.ndarray, head: float) -> np.ndarray:
    """Shaft and head in one stroke."""
    along = end - start
    size = float(np.hypot(*along))
    if not size > 0:
        return np.vstack([start, end])
    back = -along / size * min(head, 0.6 * size)
    cos, sin = np.cos(HEAD_ANGLE), np.sin(HEAD_ANGLE)
    turn = np.array([[cos, -sin], [sin, cos]])
    return np.vstack([start, end, end + turn @ back, end, end + turn.T @ back])


def score_marks(model: Any, task: StudioTask) -> list[Mark]:
    """Scores along the line, above it where they are positive: one with two classes, else all."""
    subject = subject_of(model, task.X)
    x = np.linspace(task.window[0], task.window[1], CURVE_POINTS)
    scores = subject.answers(np.column_stack([x, np.zeros(CURVE_POINTS)]))
    marks: list[Mark] = [Line(x[[0, -1]], np.zeros(2), "muted", None, width=1.0)]
    for c, values in enumerate(scores.T):
        name, paint = _whose(subject, task, c)
        marks.append(Line(x, values, paint, f"score{name or ' f(x)'}", width=2.2))
    return marks
