"""The C path as curves: margin, training error, support vectors by kind, and the proved gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ...models.tune.path import CPath, c_path
from ..display import Display
from ..scene import Axis, Board, Line, Mark, Points, Scene

SUPPORT_CURVES = {
    "on_margin": ("on the margin", "on the margin"),
    "inside": ("inside the margin", "inside the margin"),
    "misclassified": ("misclassified", "misclassified"),
}
# Gaps below this are drawn here: a thousandth of the usual tolerance, and below it rounding.
MIN_DRAWN_GAP = 1e-9
# The axis of gaps ends at least here, so that rounding does not fill it.
MIN_GAP_AXIS_END = 1e-5


@dataclass(frozen=True)
class PathCurves:
    """Columns of a ``CPath``; ``support`` is empty where the model has no support vectors."""

    C: np.ndarray
    margin: np.ndarray
    error: np.ndarray
    support: dict[str, np.ndarray]
    gap: np.ndarray
    trivial_until: float | None
    ending: str

    def scene(self) -> Board:
        scenes = [self._margin(), self._error(), self._gap()]
        if self.support:
            scenes.insert(2, self._support())
        return Board(tuple(scenes))

    def _axis(self) -> Axis:
        low, high = float(self.C[0]), float(self.C[-1])
        return Axis("C, the price of slack", (low / 1.3, high * 1.3), log=True)

    def _curve(self, values, paint: str, label: str, shape: str = "circle") -> list[Mark]:
        names = tuple(
            f"{label} {v:.4g} at C = {C:.4g}" for v, C in zip(values, self.C, strict=True)
        )
        return [
            Line(self.C, values, paint, label),
            Points(self.C, values, paint, label, shape, names=names),
        ]

    def _margin(self) -> Scene:
        shown = np.where(np.isfinite(self.margin), self.margin, np.nan)
        marks = self._curve(shown, "class 0", "margin")
        if self.trivial_until is not None and self.C[0] <= self.trivial_until <= self.C[-1]:
            ends = np.array([np.nanmin(shown), np.nanmax(shown)])
            label = f"w ∝ C up to {self.trivial_until:.3g}"
            marks.append(Line(np.full(2, self.trivial_until), ends, "muted", label, "dotted"))
        words = (
            f"The margin narrows from {_first(shown):.4g} at C = {self.C[0]:.4g} to "
            f"{shown[-1]:.4g} at C = {self.C[-1]:.4g}. {self.ending}"
        )
        axes = self._axis(), Axis("margin γ = 1/‖w‖", log=True)
        return Scene("margin", *axes, tuple(marks), words, legend=self.trivial_until is not None)

    def _error(self) -> Scene:
        marks = self._curve(100 * self.error, "class 1", "training error")
        words = (
            f"The training error goes from {self.error[0]:.2%} to {self.error[-1]:.2%}; its lowest "
            f"is {self.error.min():.2%}, first at C = {self.C[self.error.argmin()]:.4g}."
        )
        top = max(5.0, 105 * float(self.error.max()))
        axes = self._axis(), Axis("training error in percent", (-0.03 * top, top))
        return Scene("training error", *axes, tuple(marks), words, legend=False)

    def _support(self) -> Scene:
        marks: list[Mark] = []
        for (name, counts), shape in zip(
            self.support.items(), ("circle", "triangle", "cross"), strict=True
        ):
            label, paint = SUPPORT_CURVES[name]
            marks += self._curve(counts.astype(float), paint, label, shape)
        told = ", ".join(
            f"{int(n[-1])} {SUPPORT_CURVES[name][0]}" for name, n in self.support.items()
        )
        total = [int(sum(n[i] for n in self.support.values())) for i in (0, -1)]
        words = f"Support vectors go from {total[0]} to {total[1]}; at the last C {told}."
        return Scene("support vectors", self._axis(), Axis("points"), tuple(marks), words)

    def _gap(self) -> Scene:
        marks = self._curve(np.maximum(self.gap, MIN_DRAWN_GAP), "class 2", "relative gap")
        words = f"Every model is proved within a relative gap of {self.gap.max():.2g}."
        if (self.gap < MIN_DRAWN_GAP).any():
            words += f" Those below {MIN_DRAWN_GAP:.0e}, which is rounding, are drawn there."
        end = max(MIN_GAP_AXIS_END, 3.0 * float(self.gap.max()))
        limits = (MIN_DRAWN_GAP / 3.0, end) if np.isfinite(end) else None
        axes = self._axis(), Axis("proved relative gap", limits, log=True)
        return Scene("distance to the optimum", *axes, tuple(marks), words, legend=False)


def _first(values: np.ndarray) -> float:
    return float(values[np.isfinite(values)][0])


def path_view(path: CPath) -> PathCurves:
    """The columns of a path that are drawn."""
    known = all(row["n_support"] is not None for row in path.rows)
    margin, error, gap = (
        path.column(name).astype(float) for name in ("margin", "training_error", "gap")
    )
    support = {name: path.column(name) for name in SUPPORT_CURVES} if known else {}
    return PathCurves(path.Cs, margin, error, support, gap, path.trivial_until, path.ending)


class PathDisplay(Display):
    """What C does: margin, training error, support vectors and gap along a ``c_path``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, PathDisplay, c_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = c_path(LinearSVM(), X[:100, [1, 3]], y[:100])
    >>> [scene.title for scene in PathDisplay.from_path(path).view.scene().scenes]
    ['margin', 'training error', 'support vectors', 'distance to the optimum']
    """

    view: PathCurves

    @classmethod
    def from_path(cls, path: CPath, *, ax: Any = None) -> Self:
        """Draw a path that is there."""
        return cls.of(path_view(path), ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: MatrixLike, y: ArrayLike, *, ax: Any = None, **parameters: Any
    ) -> Self:
        """Draw ``c_path(estimator, X, y, **parameters)``."""
        return cls.from_path(c_path(estimator, X, y, **parameters), ax=ax)
