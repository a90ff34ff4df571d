"""Fisher's picture: the means, the direction, and the points projected onto it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Bars, Board, Line, Mark, Points, Scene
from .boundary import class_points

# Bins of the histogram of projected points.
HISTOGRAM_BINS = 24


@dataclass(frozen=True)
class Projection:
    """Points of a plane, the ``means`` of their classes, a unit ``direction`` and, for every
    class, the places of its points along it."""

    points: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    means: np.ndarray
    direction: np.ndarray
    along: np.ndarray

    def scene(self) -> Board:
        return Board((self._plane(), self._histogram()))

    def _plane(self) -> Scene:
        middle, reach = self.means.mean(axis=0), 0.5 * np.ptp(self.along)
        x, y = self.means.T
        ends = middle + np.outer([-reach, reach], self.direction)
        marks: list[Mark] = [*class_points(self.points, self.codes, self.classes)]
        marks.append(Line(ends[:, 0], ends[:, 1], "ink", "direction"))
        marks.append(Line(x, y, "muted", "between the means", "dashed"))
        marks.append(Points(x, y, "ink", "means", "plus", 12.0))
        return Scene("direction", Axis("x₁"), Axis("x₂"), tuple(marks), self.words(), equal=True)

    def _histogram(self) -> Scene:
        edges = np.linspace(self.along.min(), self.along.max(), HISTOGRAM_BINS + 1)
        centres, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
        marks = tuple(
            Bars(centres, np.histogram(self.along[self.codes == c], edges)[0].astype(float),
                 f"class {c}", name, thickness=0.9 * width, horizontal=False)
            for c, name in enumerate(self.classes)
        )  # fmt: skip
        axes = Axis("place along the direction"), Axis("points")
        return Scene("projected", *axes, marks, self.words())

    def words(self) -> str:
        classes = [self.along[self.codes == c] for c in range(len(self.classes))]
        between = np.ptp([places.mean() for places in classes])
        within = np.sqrt(np.mean([np.var(places) for places in classes]))
        return (
            f"Along the direction the means are {between:.3g} apart, {between / within:.3g} times "
            "the spread within the classes."
        )


class ProjectionDisplay(Display):
    """The direction of a linear model among its points, and the points projected onto it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import FisherDiscriminant, ProjectionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[:100, [1, 3]], y[:100]
    >>> display = ProjectionDisplay.from_estimator(FisherDiscriminant().fit(X, y), X, y)
    >>> print(display.view.words())
    Along the direction the means are 1.22 apart, 8.94 times the spread within the classes.
    """

    view: Projection

    @classmethod
    def from_estimator(cls, estimator: Any, X: MatrixLike, y: ArrayLike, *, ax: Any = None) -> Self:
        """Draw a fitted two-class model with ``coef_`` among points of two features."""
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        w = np.ravel(np.asarray(estimator.coef_, dtype=float))
        if X.ndim != 2 or X.shape[1] != 2 or len(w) != 2:
            raise ValueError(
                f"A projection is drawn for two classes of two features, got X of shape {X.shape} "
                f"and {len(w)} weights."
            )
        classes, codes = np.unique(y, return_inverse=True)
        means = np.array([X[codes == c].mean(axis=0) for c in range(len(classes))])
        direction = w / np.linalg.norm(w)
        shown = tuple(str(c) for c in classes)
        return cls.of(Projection(X, codes, shown, means, direction, X @ direction), ax)
