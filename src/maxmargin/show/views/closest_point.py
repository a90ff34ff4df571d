"""A close-up of the margin: the closest point z, and γ = 1/‖w‖ from it to the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Dash, Line, Mark, Note, Points, Scene, Segments
from .boundary import class_points
from .separators import arrow, ends_of

# Half a side of the picture, in margins.
HALF_SIDE_MARGINS = 2.2


@dataclass(frozen=True)
class ClosestPoint:
    """``z`` is the point nearest to the line w·x + b = 0, ``foot`` where the way from it, along
    −w/‖w‖, meets the line, ``distance`` how long that is."""

    w: np.ndarray
    b: float
    z: np.ndarray
    foot: np.ndarray
    distance: float
    points: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    labels: tuple[str, ...]

    def scene(self) -> Scene:
        centre, reach = self.foot, HALF_SIDE_MARGINS * self.distance
        window = (*(centre[0] + [-reach, reach]), *(centre[1] + [-reach, reach]))
        near = (np.abs(self.points - centre) <= reach).all(axis=1)
        marks = [*self._lines(window), *class_points(self.points[near], self.codes[near],
                 self.classes), *self._way()]  # fmt: skip
        axes = Axis(self.labels[0], window[:2]), Axis(self.labels[1], window[2:])
        return Scene("the closest point", *axes, tuple(marks), self.words(), equal=True)

    def _lines(self, window) -> list[Mark]:
        levels: tuple[tuple[float, str, Dash], ...] = (
            (0.0, "w·x + b = 0", "solid"), (1.0, "±1", "dashed"), (-1.0, "±1", "dashed"),
        )  # fmt: skip
        marks: list[Mark] = []
        for level, label, dash in levels:
            if (ends := ends_of(self.w, self.b - level, window)) is not None:
                marks.append(Line(ends[:, 0], ends[:, 1], "ink", label, dash))
        return marks

    def _way(self) -> list[Mark]:
        z, foot = self.z[:, None], self.foot[:, None]
        unit = self.w / np.linalg.norm(self.w)
        aside = 0.12 * self.distance * np.array([-unit[1], unit[0]])
        anchor: Literal["start", "end"] = "end" if aside[0] < 0 else "start"
        (x, y), (u, v) = 0.5 * (self.z + self.foot) + aside, self.z + 1.5 * aside
        return [
            Segments(z[0], z[1], foot[0], foot[1], "bad", "γ", width=2.5),
            Points(z[0], z[1], "ink", "z", size=12.0, hollow=True),
            arrow(self.foot - 6.0 * aside, 0.8 * self.distance * unit, "muted", "w/‖w‖"),
            Note(x, y, f"γ = {self.distance:.3g}", "bad", anchor),
            Note(u, v, "z", anchor=anchor),
        ]

    def words(self) -> str:
        score = float(self.w @ self.z + self.b)
        return (
            f"The closest point z has score {score:.3g} and is {self.distance:.4g} from the "
            f"boundary; 1/‖w‖ is {1.0 / np.linalg.norm(self.w):.4g}."
        )


class ClosestPointDisplay(Display):
    """The margin under a magnifying glass, for two classes of two features.

    Examples
    --------
    >>> from maxmargin import ClosestPointDisplay, LinearSVM
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> svm = LinearSVM(C=float("inf")).fit(X, y)
    >>> print(ClosestPointDisplay.from_estimator(svm, X, y).view.words())
    The closest point z has score 1 and is 1 from the boundary; 1/‖w‖ is 1.
    """

    view: ClosestPoint

    @classmethod
    def from_estimator(cls, estimator: Any, X: MatrixLike, y: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the surroundings of the positive point closest to a fitted model's line."""
        labels = tuple(str(name) for name in getattr(X, "columns", ("x₁", "x₂")))
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        w = np.ravel(np.asarray(estimator.coef_, dtype=float))
        if X.ndim != 2 or X.shape[1] != 2 or len(w) != 2:
            raise ValueError(
                f"A close-up is drawn for two classes of two features, got X of shape {X.shape} "
                f"and {len(w)} weights."
            )
        b = float(np.ravel(estimator.intercept_)[0])
        classes, codes = np.unique(y, return_inverse=True)
        score = X @ w + b
        positive = np.flatnonzero(score > 0)
        if not len(positive):
            raise ValueError("No point has a positive score: there is none to draw γ from.")
        place = positive[np.argmin(score[positive])]
        z, size = X[place], float(np.linalg.norm(w))
        distance = float(score[place]) / size
        shown = tuple(str(c) for c in classes)
        foot = z - distance * w / size
        return cls.of(ClosestPoint(w, b, z, foot, distance, X, codes, shown, labels[:2]), ax)
