"""The Gram matrix as shades, and curves of regression in one feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Axis, Cells, Line, Mark, Points, Scene

# Rows beyond which cells are smaller than pixels: then as many are drawn evenly.
MAX_GRAM_ROWS = 42
# Points of a curve of regression.
CURVE_POINTS = 300


@dataclass(frozen=True)
class Gram:
    """``values[i, j]`` = k(x_i, x_j), rows sorted by class, whose first rows are ``starts``."""

    values: np.ndarray
    classes: tuple[str, ...]
    starts: tuple[int, ...]

    def scene(self) -> Scene:
        low, high = float(self.values.min()), float(self.values.max())
        shade = (self.values - low) / (high - low if high > low else 1.0)
        blank = tuple(("",) * len(self.values) for _ in self.values)
        ticks = tuple((float(s), c) for s, c in zip(self.starts, self.classes, strict=True))
        axes = Axis("rows", ticks=ticks), Axis("rows", ticks=ticks)
        return Scene("Gram matrix", *axes, (Cells(shade, blank),), self.words(), legend=False)

    def words(self) -> str:
        return (
            f"Kernel values of {len(self.values)} rows, from {self.values.min():.3g} to "
            f"{self.values.max():.3g}; rows are sorted by class."
        )


class GramDisplay(Display):
    """Kernel values between all rows, sorted by class: blocks are classes that the kernel sees.

    Examples
    --------
    >>> from maxmargin import GramDisplay
    >>> view = GramDisplay.from_data([[0.0], [1.0], [5.0]], [0, 0, 1], kernel="rbf", gamma=1.0).view
    >>> view.values.round(2)[0].tolist(), view.starts
    ([1.0, 0.37, 0.0], (0, 2))
    """

    view: Gram

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        *,
        kernel: str = "linear",
        ax: Any = None,
        **parameters: Any,
    ) -> Self:
        """Draw the matrix of a kernel that scikit-learn names, with its parameters."""
        from sklearn.metrics.pairwise import pairwise_kernels

        X, y = np.asarray(X, dtype=float), np.asarray(y)
        order = np.argsort(y, kind="stable")
        order = order[np.linspace(0, len(y) - 1, min(len(y), MAX_GRAM_ROWS)).astype(int)]
        classes, starts = np.unique(y[order], return_index=True)
        values = pairwise_kernels(X[order], metric=kernel, **parameters)
        shown = tuple(str(c) for c in classes)
        return cls.of(Gram(values, shown, tuple(int(s) for s in starts)), ax)


@dataclass(frozen=True)
class RegressionCurves:
    """Targets ``t`` at ``x``, and ``curves[name]`` at ``at``."""

    x: np.ndarray
    t: np.ndarray
    at: np.ndarray
    curves: dict[str, np.ndarray]
    errors: dict[str, float]

    def scene(self) -> Scene:
        marks: list[Mark] = [Points(self.x, self.t, "muted", "data")]
        for number, (name, curve) in enumerate(self.curves.items()):
            marks.append(Line(self.at, curve, f"class {number}", name, width=2.0))
        return Scene("regression", Axis("x"), Axis("target"), tuple(marks), self.words())

    def words(self) -> str:
        told = ", ".join(f"{name} is off by {error:.3g}" for name, error in self.errors.items())
        return f"Root mean square errors on the {len(self.x)} points: {told}."


class RegressionDisplay(Display):
    """Curves of regressors of one feature over their training points.

    Examples
    --------
    >>> from maxmargin import KernelRidge, RegressionDisplay
    >>> x, t = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> model = KernelRidge(1e-9, kernel="poly", degree=2, coef0=1.0).fit(x, t)
    >>> RegressionDisplay.from_estimators([model], x, t).view.errors["KernelRidge"] < 1e-6
    True
    """

    view: RegressionCurves

    @classmethod
    def from_estimators(
        cls,
        estimators: Sequence[Any],
        X: MatrixLike,
        t: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what fitted regressors predict between and a little beyond their points."""
        X, t = np.asarray(X, dtype=float), np.asarray(t, dtype=float)
        if X.ndim != 2 or X.shape[1] != 1:
            raise ValueError(f"A curve needs one feature, got X of shape {X.shape}.")
        low, high = float(X.min()), float(X.max())
        at = np.linspace(low - 0.05 * (high - low), high + 0.05 * (high - low), CURVE_POINTS)
        told = list(names or (type(one).__name__ for one in estimators))
        curves = {
            n: np.ravel(e.predict(at[:, None])) for n, e in zip(told, estimators, strict=True)
        }
        errors = {
            n: float(np.sqrt(np.mean((np.ravel(e.predict(X)) - t) ** 2)))
            for n, e in zip(told, estimators, strict=True)
        }
        return cls.of(RegressionCurves(X[:, 0], t, at, curves, errors), ax)
