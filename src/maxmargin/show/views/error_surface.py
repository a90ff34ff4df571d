"""The error surface of a linear unit and the ways down it.

    E(w) = E* + ½ (w − w*)ᵀ H (w − w*),     H = Σ x̃x̃ᵀ

is a bowl: its contours are ellipses about the minimum w*, drawn exactly.  A rate below 2/λ, λ the
largest eigenvalue of H, ends at w*; above it every step overshoots by more than the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Line, Mark, Points, Scene

# Ellipses, from the minimum to the height of the start, and points of each.
CONTOURS, CONTOUR_POINTS = 9, 181
# Colours that tell ways apart where they cross.
WAY_PAINTS = ("class 0", "class 1", "class 3", "class 4")
# Room around the outermost ellipse: a way that leaves it is cut off.
ELLIPSE_PAD_SHARE = 0.15


@dataclass(frozen=True)
class ErrorSurface:
    """``ways[name]`` (steps + 1, 2) from the same start; ``minimum`` and ``H`` of the bowl, and
    ``errors[name]``, the last E of each way."""

    minimum: np.ndarray
    H: np.ndarray
    least: float
    ways: dict[str, np.ndarray]
    errors: dict[str, float]
    labels: tuple[str, str]

    def scene(self) -> Scene:
        ellipses = self._ellipses()
        low, high = ellipses.min(axis=(0, 1)), ellipses.max(axis=(0, 1))
        low, high = low - ELLIPSE_PAD_SHARE * (high - low), high + ELLIPSE_PAD_SHARE * (high - low)
        marks: list[Mark] = [Line(x, y, "faint", width=1.0) for x, y in np.swapaxes(ellipses, 1, 2)]
        for number, (name, way) in enumerate(self.ways.items()):
            x, y = way[: _outside(way, low, high)].T
            paint = WAY_PAINTS[number % len(WAY_PAINTS)]
            marks += [Line(x, y, paint, name), Points(x, y, paint, size=3)]
        x, y = self.minimum[:, None]
        marks.append(Points(x, y, "ink", "minimum", "plus", 12.0))
        w, b = (
            Axis(label, (float(least), float(most)))
            for label, least, most in zip(self.labels, low, high, strict=True)
        )
        return Scene("the error surface", w, b, tuple(marks), self.words())

    def _ellipses(self) -> np.ndarray:
        """(contours, points, 2), equally many heights apart in √E as the start is high."""
        start = next(iter(self.ways.values()))[0] - self.minimum
        height = np.sqrt(max(float(start @ self.H @ start), np.finfo(float).tiny))
        angle = np.linspace(0.0, 2.0 * np.pi, CONTOUR_POINTS)
        circle = np.stack([np.cos(angle), np.sin(angle)])
        values, vectors = np.linalg.eigh(self.H)
        ring = (vectors / np.sqrt(values)) @ circle
        shares = np.linspace(0.0, 1.0, CONTOURS + 1)[1:]
        return self.minimum + height * shares[:, None, None] * ring.T

    def words(self) -> str:
        told = "; ".join(
            f"{name}: E = {error:.4g} after {len(self.ways[name]) - 1} passes"
            for name, error in self.errors.items()
        )
        return f"The least error is {self.least:.4g}. {told}."


def _outside(way: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """How many points of a way to draw: one beyond the picture at most."""
    out = ((way < low) | (way > high)).any(axis=1)
    return int(np.argmax(out)) + 1 if out.any() else len(way)


class ErrorSurfaceDisplay(Display):
    """Contours of a linear unit's error over its two weights, and the paths of several rates.

    Two weights are those of two features without a bias, or of one feature and its bias.

    Examples
    --------
    >>> from maxmargin import ErrorSurfaceDisplay, LinearUnit
    >>> X, y = [[-2.0], [-1.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> units = {f"η = {eta:g}": LinearUnit(eta, trace=True).fit(X, y) for eta in (0.02, 0.12)}
    >>> print(ErrorSurfaceDisplay.from_estimators(units, X, y).view.words())
    The least error is 0.339. η = 0.02: E = 0.339 after ...
    """

    view: ErrorSurface

    @classmethod
    def from_estimators(
        cls, estimators: dict[str, Any] | Sequence[Any], X: MatrixLike, y: ArrayLike, *,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw fitted ``LinearUnit``s that kept their ``path_`` (trace=True), by name or in a
        list."""
        if not isinstance(estimators, dict):
            estimators = {f"η = {one.learning_rate_:.3g}": one for one in estimators}
        X, codes = np.asarray(X, dtype=float), np.unique(np.asarray(y), return_inverse=True)[1]
        one = next(iter(estimators.values()))
        bias = bool(one.fit_intercept)
        if X.ndim != 2 or X.shape[1] + bias != 2 or codes.max() != 1:
            raise ValueError(
                "An error surface is drawn over two weights: two classes, two features without "
                f"a bias or one with it; got X of shape {X.shape}, {codes.max() + 1} classes and "
                f"fit_intercept={bias}."
            )
        if not all(hasattr(each, "path_") for each in estimators.values()):
            raise ValueError("Fit with trace=True: without it the way of the weights is not kept.")
        A = np.column_stack([X, np.ones(len(X))]) if bias else X
        t = 2.0 * codes - 1.0
        minimum = np.linalg.lstsq(A, t, rcond=None)[0]
        least = 0.5 * float(np.sum((t - A @ minimum) ** 2))
        ways = {name: each.path_[:, 0, :2] for name, each in estimators.items()}
        errors = {name: float(each.errors_[-1]) for name, each in estimators.items()}
        labels = ("w", "b") if bias else ("w₁", "w₂")
        return cls.of(ErrorSurface(minimum, A.T @ A, least, ways, errors, labels), ax)
