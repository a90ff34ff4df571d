"""The cross-validation curve: held-out error for every C, with its standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike
from ...models.tune.best import best_index
from ..display import Display
from ..loaded import is_pipeline
from ..scene import Axis, Line, Mark, Points, Scene, Segments


@dataclass(frozen=True)
class CrossValidation:
    """``values[fold, i]`` at ``grid[i]``: errors, or scores where ``larger_is_better``.

    ``simplest`` is the place of the smallest C within one standard error of the best (None
    where there are no folds to tell an error from), ``chosen`` that of the value in use.
    """

    grid: np.ndarray
    values: np.ndarray
    chosen: int
    simplest: int | None
    parameter: str = "C"
    measure: str = "cross-validated error"
    larger_is_better: bool = False

    @property
    def mean(self) -> np.ndarray:
        return self.values.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean over the folds; zero where there is one."""
        folds = len(self.values)
        if folds < 2:
            return np.zeros(self.values.shape[1])
        return self.values.std(axis=0, ddof=1) / np.sqrt(folds)

    @property
    def best(self) -> int:
        return best_index(self._scores, "best")

    @property
    def _scores(self) -> np.ndarray:
        return self.values if self.larger_is_better else -self.values

    def scene(self) -> Scene:
        mean, error = self.mean, self.standard_error
        marks: list[Mark] = []
        folds = len(self.values)
        if folds > 1:
            grid = np.tile(self.grid, folds)
            marks.append(
                Points(grid, self.values.ravel(), "unknown", f"each of {folds} folds", size=3)
            )
            ends = mean - error, mean + error
            marks.append(
                Segments(self.grid, ends[0], self.grid, ends[1], "class 0", "± one standard error")
            )
            marks.append(self._limit(mean[self.best], error[self.best]))
        names = tuple(self._told(i) for i in range(len(self.grid)))
        label = "mean" if folds > 1 else "error"
        marks.append(Line(self.grid, mean, "class 0", label))
        marks.append(Points(self.grid, mean, "class 0", label, names=names))
        marks += self._choices(mean)
        low, high = float(self.grid.min()), float(self.grid.max())
        x = Axis(self.parameter, (low / 1.5, high * 1.5) if low > 0 else None, log=low > 0)
        return Scene(
            f"{self.parameter} = {self.grid[self.chosen]:.4g} is chosen",
            x, Axis(self.measure), tuple(marks), self.words(),
        )  # fmt: skip

    def _limit(self, best: float, error: float) -> Line:
        allowed = best - error if self.larger_is_better else best + error
        ends = np.array([self.grid[0], self.grid[-1]], dtype=float)
        return Line(
            ends, np.full(2, allowed), "muted", "one standard error from the best", "dashed"
        )

    def _choices(self, mean: np.ndarray) -> list[Mark]:
        """The value chosen, and the simplest that is as good."""
        at, name = self.grid[self.chosen], self.parameter
        label = f"chosen: {name} = {at:.4g}"
        marks: list[Mark] = []
        i = self.simplest
        if i == self.chosen:
            label += ", by one standard error"
        elif i is not None:
            simple = f"one standard error: {name} = {self.grid[i]:.4g}"
            marks.append(
                Points(self.grid[[i]], mean[[i]], "class 2", simple, "square", 12, hollow=True)
            )
        place = [self.chosen]
        marks.append(Points(self.grid[place], mean[place], "bad", label, "circle", 12, hollow=True))
        return marks

    def _told(self, i: int) -> str:
        around = f" ± {self.standard_error[i]:.2g}" if len(self.values) > 1 else ""
        return f"{self.mean[i]:.4g}{around} at {self.parameter} = {self.grid[i]:.4g}"

    def words(self) -> str:
        name = self.parameter
        text = f"The {self.measure} is {self._told(self.chosen)}, which is chosen"
        text += f" among {len(self.grid)} values from {self.grid[0]:.4g} to {self.grid[-1]:.4g}."
        if self.best != self.chosen:
            text += f" The best mean is {self._told(self.best)}."
        if self.simplest is not None and self.simplest != self.chosen:
            text += (
                f" The smallest {name} within one standard error of the best is "
                f"{self.grid[self.simplest]:.4g}, with {self.mean[self.simplest]:.4g}."
            )
        return text


def search_view(estimator) -> CrossValidation:
    """What a ``…CV`` estimator, or a ridge with ``alphas``, found while fitting."""
    model = estimator[-1] if is_pipeline(estimator) else estimator
    if hasattr(model, "scores_") and hasattr(model, "Cs_"):
        done = np.isfinite(model.scores_).all(axis=0)  # an interrupted search leaves NaN
        place = int(done[: model.best_index_].sum())
        Cs, scores = model.Cs_[done], model.scores_[:, done]
        if model.scoring in (None, "accuracy"):
            return cross_validation_view(Cs, 1.0 - scores, place)
        return cross_validation_view(Cs, scores, place, "C", _name(model.scoring), True)
    found = getattr(model, "loo_", None) or getattr(getattr(model, "path_", None), "loo", None)
    if found is None:
        raise ValueError(
            f"{type(model).__name__} has no cross-validation to draw. Fit LinearSVMCV, "
            "LogisticRegressionCV or KernelSVMCV, or a ridge with alphas=[…]; for other "
            "results use CrossValidationDisplay.from_arrays."
        )
    return cross_validation_view(
        found.alphas, found.squared_error, found.best, "alpha", "leave-one-out squared error"
    )


def cross_validation_view(
    grid, values, chosen=None, parameter="C", measure="cross-validated error",
    larger_is_better=False,
) -> CrossValidation:  # fmt: skip
    """The curve of held-out errors or scores, (folds, len(grid)) or (len(grid),)."""
    grid, values = np.asarray(grid, dtype=float), np.atleast_2d(np.asarray(values, dtype=float))
    if values.shape[1:] != grid.shape or len(grid) == 0:
        raise ValueError(
            f"values must have a column for each of the {len(grid)} values of {parameter}, got "
            f"shape {values.shape}."
        )
    scores = values if larger_is_better else -values
    place = best_index(scores, "best") if chosen is None else int(chosen)
    simplest = best_index(scores, "one_se") if len(values) > 1 else None
    return CrossValidation(grid, values, place, simplest, parameter, measure, larger_is_better)


class CrossValidationDisplay(Display):
    """Held-out error by C, its standard error, the C chosen and the one-standard-error choice.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import CrossValidationDisplay, LinearSVMCV
    >>> model = LinearSVMCV().fit(*load_iris(return_X_y=True))
    >>> curve = CrossValidationDisplay.from_estimator(model).view
    >>> bool(curve.grid[curve.chosen] == model.C_), curve.values.shape
    (True, (5, 13))
    """

    view: CrossValidation

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a ``…CV`` estimator, or a ridge with ``alphas``, found while fitting."""
        return cls.of(search_view(estimator), ax)

    @classmethod
    def from_arrays(
        cls,
        grid: ArrayLike,
        values: ArrayLike,
        chosen: Any = None,
        *,
        parameter: str = "C",
        measure: str = "cross-validated error",
        larger_is_better: bool = False,
        ax: Any = None,
    ) -> Self:
        """Draw ``values`` (folds, len(grid)), or (len(grid),), held-out errors at every value of
        an increasing ``grid``; ``chosen`` is a place in it, the best where None."""
        view = cross_validation_view(grid, values, chosen, parameter, measure, larger_is_better)
        return cls.of(view, ax)


def _name(scoring) -> str:
    return scoring.replace("_", " ") if isinstance(scoring, str) else "cross-validated score"
