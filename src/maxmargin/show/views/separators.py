"""Several lines in one picture: who separates, with how much room, and which way w points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Dash, Line, Mark, Points, Scene, Segments
from .boundary import class_points

# Paints and dashes of the lines, in turn; colours of classes 0 and 1 belong to the points.
LINE_PAINTS = ("ink", "class 2", "class 3", "class 4", "class 7", "muted")
LINE_DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
# Of the picture's larger side: the length of the arrow along w.
ARROW_SHARE = 0.12
# Of an arrow: the length of its head, and half of its width.
HEAD_LENGTH, HEAD_WIDTH = 0.16, 0.08


@dataclass(frozen=True)
class Separators:
    """``w`` (m, 2) and ``b`` (m,) of every line, and ``room``, the signed distance of the point
    closest to it: negative where a point is on the wrong side."""

    w: np.ndarray
    b: np.ndarray
    names: tuple[str, ...]
    points: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    room: np.ndarray
    labels: tuple[str, ...]
    arrows: bool

    def scene(self) -> Scene:
        left, bottom = self.points.min(axis=0)
        right, top = self.points.max(axis=0)
        pad = 0.08 * max(right - left, top - bottom, 1e-9)
        window = (left - pad, right + pad, bottom - pad, top + pad)
        marks: list[Mark] = [*class_points(self.points, self.codes, self.classes)]
        for number, name in enumerate(self.names):
            marks += self._line(number, name, window)
        x, y = Axis(self.labels[0], window[:2]), Axis(self.labels[1], window[2:])
        return Scene("separators", x, y, tuple(marks), self.words(), equal=True)

    def _line(self, number: int, name: str, window) -> list[Mark]:
        ends = ends_of(self.w[number], self.b[number], window)
        if ends is None:
            return []
        paint = LINE_PAINTS[number % len(LINE_PAINTS)]
        dash = LINE_DASHES[number // len(LINE_PAINTS) % len(LINE_DASHES)]
        x, y = ends.T
        marks: list[Mark] = [Line(x, y, paint, f"{name}: room {self.room[number]:.3g}", dash)]
        if self.arrows:
            size = ARROW_SHARE * max(window[1] - window[0], window[3] - window[2])
            along = self.w[number] / np.linalg.norm(self.w[number])
            marks.append(arrow(ends.mean(axis=0), size * along, paint))
        return marks

    def words(self) -> str:
        told = [
            f"{name} {_verdict(room)}" for name, room in zip(self.names, self.room, strict=True)
        ]
        return f"{len(self.names)} lines among {len(self.points)} points: {'; '.join(told)}."


def _verdict(room: float) -> str:
    if room > 0:
        return f"separates them, and the closest point is {room:.3g} away"
    return f"has a point {-room:.3g} on the wrong side"


def arrow(start: np.ndarray, along: np.ndarray, paint: str, label: str | None = None) -> Segments:
    """An arrow from ``start`` along a vector, as three segments."""
    tip, across = start + along, np.array([-along[1], along[0]])
    heads = [tip - HEAD_LENGTH * along + side * HEAD_WIDTH * across for side in (1.0, -1.0)]
    begin, end = np.array([start, tip, tip]), np.array([tip, *heads])
    (x, y), (x2, y2) = begin.T, end.T
    return Segments(x, y, x2, y2, paint, label, width=2.0)


def ends_of(w: np.ndarray, b: float, window) -> np.ndarray | None:
    """Where w·x + b = 0 enters and leaves the window; None where it passes by."""
    left, right, bottom, top = window
    found = []
    if w[1] != 0.0:
        found += [(x, -(b + w[0] * x) / w[1]) for x in (left, right)]
    if w[0] != 0.0:
        found += [(-(b + w[1] * y) / w[0], y) for y in (bottom, top)]
    eps = 1e-9 * max(right - left, top - bottom)
    inside = [
        p for p in found
        if left - eps <= p[0] <= right + eps and bottom - eps <= p[1] <= top + eps
    ]  # fmt: skip
    if len(inside) < 2:
        return None
    ordered = sorted(inside)
    return np.array([ordered[0], ordered[-1]])


def separators_view(
    estimators: Sequence[Any], X, y, names: Sequence[str] | None = None, arrows: bool = False
) -> Separators:
    """The lines of fitted two-class estimators with ``coef_`` and ``intercept_``."""
    labels = tuple(str(name) for name in getattr(X, "columns", ("x₁", "x₂")))
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"Lines are drawn in a plane of two features, got X of shape {X.shape}.")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"Lines separate two classes, got {len(classes)}.")
    w = np.array([np.ravel(one.coef_) for one in estimators], dtype=float)
    b = np.array([np.ravel(one.intercept_)[0] for one in estimators], dtype=float)
    sign = 2.0 * codes - 1.0
    room = np.min(sign * (w @ X.T + b[:, None]), axis=1) / np.linalg.norm(w, axis=1)
    told = tuple(names or (type(one).__name__ for one in estimators))
    if len(told) != len(estimators):
        raise ValueError(f"names must be {len(estimators)}, one for each line, got {len(told)}.")
    shown = tuple(str(c) for c in classes)
    return Separators(w, b, told, X, codes, shown, room, labels[:2], arrows)


class SeparatorsDisplay(Display):
    """Points of two classes and the lines of several models, with the room each leaves.

    Examples
    --------
    >>> from maxmargin import LinearSVM, Perceptron, SeparatorsDisplay
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1]
    >>> lines = [LinearSVM(C=float("inf")).fit(X, y), Perceptron(order="cycle").fit(X, y)]
    >>> print(SeparatorsDisplay.from_estimators(lines, X, y).view.words())
    2 lines among 4 points: LinearSVM separates them, and the closest point is 1 away; ...
    """

    view: Separators

    @classmethod
    def from_estimators(
        cls,
        estimators: Sequence[Any],
        X: MatrixLike,
        y: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        arrows: bool = False,
        ax: Any = None,
    ) -> Self:
        """Draw the lines of fitted models; ``arrows`` shows the direction of every w."""
        return cls.of(separators_view(estimators, X, y, names, arrows), ax)


@dataclass(frozen=True)
class WeightUpdate:
    """Weights before and after a mistake on the point ``x`` with label ``sign``: w + sign·x."""

    before: np.ndarray
    x: np.ndarray
    sign: float
    points: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]

    def scene(self) -> Scene:
        after = self.before + self.sign * self.x
        marks: list[Mark] = [*class_points(self.points, self.codes, self.classes)]
        origin = np.zeros(2)
        marks.append(Points(self.x[:1], self.x[1:], "bad", "the mistake", size=12.0, hollow=True))
        step = self.sign * self.x
        told = (self.before, "muted", "w"), (step, "bad", "yx"), (after, "ink", "w + yx")
        for vector, paint, name in told:
            if np.linalg.norm(vector) > 0:
                marks.append(arrow(origin, vector, paint, name))
        return Scene("an update", Axis("x₁"), Axis("x₂"), tuple(marks), self.words(), equal=True)

    def words(self) -> str:
        m = self.sign * float(self.before @ self.x)
        n = m + float(self.x @ self.x)
        return f"The margin of the point is {m:.3g} before the update and {n:.3g} after it."


class UpdateDisplay(Display):
    """One update of a perceptron without bias: w, yx and w + yx as arrows.

    Examples
    --------
    >>> from maxmargin import UpdateDisplay
    >>> shown = UpdateDisplay.from_update([1.0, 0.0], [[-1.0, 1.0], [2.0, 0.0]], [1, 1], 0)
    >>> print(shown.view.words())
    The margin of the point is -1 before the update and 1 after it.
    """

    view: WeightUpdate

    @classmethod
    def from_update(
        cls, w: ArrayLike, X: MatrixLike, y: ArrayLike, point: int, *, ax: Any = None
    ) -> Self:
        """Draw what a mistake on row ``point`` of X, with labels y of ±1 or two classes, does."""
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        classes, codes = np.unique(y, return_inverse=True)
        sign = 1.0 if y[point] == classes[-1] else -1.0
        shown = tuple(str(c) for c in classes)
        view = WeightUpdate(np.asarray(w, dtype=float), X[point], sign, X, codes, shown)
        return cls.of(view, ax)
