"""A comparison of methods as dots with intervals, best on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...models.tune.comparison import SIGNIFICANCE_LEVEL, Comparison
from ...models.tune.scoring import in_words
from ..display import Display
from ..scene import Axis, Mark, Points, Scene, Segments

# Paint and words for rows that the folds tell from the best, and for those they do not.
SIGNIFICANCE_GROUPS = {False: ("class 0", "not told from the best"), True: ("muted", "worse")}


@dataclass(frozen=True)
class ComparisonDots:
    """Score of each method, its standard error, every fold, and whether it is worse."""

    names: tuple[str, ...]
    score: np.ndarray
    standard_error: np.ndarray
    folds: tuple[np.ndarray, ...]
    p_value: np.ndarray
    recommended: int
    recommendation: str
    score_name: str = "accuracy"

    def scene(self) -> Scene:
        place = -np.arange(len(self.names), dtype=float)
        marks: list[Mark] = [
            Points(
                np.concatenate(self.folds), np.repeat(place, [len(f) for f in self.folds]),
                "unknown", "each fold", size=3,
            )
        ]  # fmt: skip
        low, high = self.score - self.standard_error, self.score + self.standard_error
        worse = self.p_value < SIGNIFICANCE_LEVEL
        for group, (paint, label) in SIGNIFICANCE_GROUPS.items():
            own = np.flatnonzero(worse == group)
            if len(own) == 0:
                continue
            told = f"{label} (p {'<' if group else '≥'} {SIGNIFICANCE_LEVEL:g})"
            names = tuple(self._told(i) for i in own.tolist())
            y = place[own]
            marks.append(Segments(low[own], y, high[own], y, paint, told, width=2.0))
            marks.append(Points(self.score[own], y, paint, told, size=7, names=names))
        i = [self.recommended]
        marks.append(Points(self.score[i], place[i], "bad", "recommended", size=13, hollow=True))
        ticks = tuple(zip(place.tolist(), self.names, strict=True))
        axis = Axis("", (place[-1] - 0.7, 0.7), ticks=ticks)
        x = Axis(f"{in_words(self.score_name)} on held-out rows, ± one standard error")
        return Scene("methods compared on the same folds", x, axis, tuple(marks), self.words())

    def _told(self, i: int) -> str:
        return (
            f"{self.names[i]}: {self.score[i]:.3f} ± {self.standard_error[i]:.3f} "
            f"(p = {self.p_value[i]:.2g})"
        )

    def words(self) -> str:
        told = "; ".join(self._told(i) for i in range(len(self.names)))
        return f"{self.recommendation} {told}."


def comparison_view(found: Comparison) -> ComparisonDots:
    """The numbers of a comparison that are drawn."""
    rows = found.rows
    names = tuple(
        str(row["method"]) + ("" if row["basis"] == "as given" else f", {row['basis']}")
        for row in rows
    )
    score, error, p_value = (
        np.array([row[name] for row in rows], dtype=float)
        for name in (found.score, "standard_error", "p_value")
    )
    place = next(i for i, row in enumerate(rows) if row is found.recommended)
    return ComparisonDots(
        names, score, error, tuple(found.folds), p_value, place, found.recommendation, found.score
    )


class ComparisonDisplay(Display):
    """What ``compare`` found: the score with its standard error and folds, best first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import ComparisonDisplay, compare
    >>> found = compare(*load_iris(return_X_y=True), ["svm", "fisher"], ["as given"])
    >>> ComparisonDisplay.from_comparison(found).view.names == ("fisher", "svm")
    True
    """

    view: ComparisonDots

    @classmethod
    def from_comparison(cls, found: Comparison, *, ax: Any = None) -> Self:
        """Draw a comparison that is there."""
        return cls.of(comparison_view(found), ax)
