"""Partial views: the mean answer for some rows if one column had this value in all of them.

    f̄(v) = 1/m Σ_i f(x_i with column j set to v)          [Friedman 2001: partial dependence]

Of a linear score that is a line; of probabilities, kernels and bases a curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..scene import Axis, Bars, Line, Mark, Scene, Segments

# Values of a number, levels of a category, and rows that are averaged over.
GRID_POINTS, MAX_LEVELS, MAX_ROWS = 25, 12, 200
# Classes drawn; of two the second says all.
MAX_CLASSES = 5


@dataclass(frozen=True)
class Partial:
    """``means[class, value]`` of one column; ``levels`` are words where it is a category."""

    column: str
    values: np.ndarray
    means: np.ndarray
    labels: tuple[str, ...]
    measure: str
    levels: tuple[str, ...] | None = None
    seen: np.ndarray | None = None

    @property
    def spread(self) -> float:
        """How far the answers differ by the column alone."""
        return float((self.means.max(axis=1) - self.means.min(axis=1)).max())

    def scene(self) -> Scene:
        marks: list[Mark] = []
        if self.levels is None:
            marks += [
                Line(self.values, mean, f"class {c}", label)
                for c, (mean, label) in enumerate(zip(self.means, self.labels, strict=True))
            ]
            x = Axis(self.column, (float(self.values[0]), float(self.values[-1])))
        else:
            width = 0.8 / len(self.means)
            for c, (mean, label) in enumerate(zip(self.means, self.labels, strict=True)):
                at = self.values + (c - (len(self.means) - 1) / 2) * width
                marks.append(Bars(at, mean, f"class {c}", label, 0.0, width, horizontal=False))
            x = Axis(self.column, ticks=tuple(zip(self.values.tolist(), self.levels, strict=True)))
        y = Axis(self.measure, (0.0, 1.0) if self.measure == "mean probability" else None)
        if self.seen is not None and self.levels is None:
            low = 0.0 if y.limits else float(self.means.min())
            height = 0.02 * (1.0 if y.limits else max(self.spread, 1e-12))
            floor = np.full(len(self.seen), low)
            marks.append(
                Segments(self.seen, floor, self.seen, floor + height, "muted", "values of rows")
            )
        return Scene(f"by {self.column}", x, y, tuple(marks), self.words())

    def words(self) -> str:
        c = int((self.means.max(axis=1) - self.means.min(axis=1)).argmax())
        low, high = int(self.means[c].argmin()), int(self.means[c].argmax())
        return (
            f"With {self.column} alone changed, the {self.measure} of {self.labels[c]} goes from "
            f"{self.means[c, low]:.3g} at {self._at(low)} to {self.means[c, high]:.3g} at "
            f"{self._at(high)}."
        )

    def _at(self, place: int) -> str:
        return f"{self.values[place]:.4g}" if self.levels is None else self.levels[place]


def partial_view(model, prepared: np.ndarray, place: int, column) -> Partial:
    """Of a model of tables: ``prepared`` rows before any basis, dense; ``column`` of these features
    begins at ``place``."""
    from ...parts.files.columns import Number

    rows = prepared[:: max(1, len(prepared) // MAX_ROWS)][:MAX_ROWS]
    number = isinstance(column, Number)
    if number:
        own = prepared[:, place]
        low, high = (float(end) for end in np.quantile(own, [0.01, 0.99]))
        grid = np.linspace(low, high, GRID_POINTS)
        values = grid * column.scale + column.shift
        changes = [(slice(place, place + 1), v) for v in grid]
        seen = rows[:, place] * column.scale + column.shift
    else:
        levels = column.levels[:MAX_LEVELS]
        values, seen = np.arange(len(levels), dtype=float), None
        one = np.eye(column.width)
        changes = [(slice(place, place + column.width), one[v]) for v in range(len(levels))]
    answers = []
    for where, what in changes:
        changed = rows.copy()
        changed[:, where] = what
        answers.append(_answers(model, changed).mean(axis=0))
    means, labels, measure = _shown(model, np.array(answers).T)
    words = None if number else tuple(str(level) for level in levels)
    return Partial(column.name, values, means, labels, measure, words, seen)


def _answers(model, prepared: np.ndarray) -> np.ndarray:
    """(rows, k) probabilities, or scores where there are none."""
    X = prepared if model.basis is None else model.basis(prepared)
    if hasattr(model.model, "predict_proba"):
        return model.model.predict_proba(X)
    f = model.model.decision_function(X)
    return np.column_stack([-f, f]) if f.ndim == 1 else f


def _shown(model, means: np.ndarray) -> tuple[np.ndarray, tuple[str, ...], str]:
    labels = tuple(str(label) for label in model.model.classes_)
    measure = "mean probability" if hasattr(model.model, "predict_proba") else "mean score"
    if len(labels) == 2:
        return means[1:], labels[1:], measure
    order = np.argsort(means.min(axis=1) - means.max(axis=1), kind="stable")[:MAX_CLASSES]
    order = np.sort(order)
    return means[order], tuple(labels[c] for c in order.tolist()), measure
