"""How many updates a perceptron makes: one data set, many orders of its points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ...models.perceptron.mistake_bound import mistake_bound
from ...models.perceptron.perceptron import Perceptron
from ..display import Display
from ..scene import Axis, Bars, Mark, Note, Scene

# Bars of the picture: where there are more numbers of updates, several share one.
MAX_BARS = 40


@dataclass(frozen=True)
class UpdateCounts:
    """``counts[i]``: the updates of the run with seed i; ``bound`` is R²/γ², which none exceeds."""

    counts: np.ndarray
    bound: float

    def scene(self) -> Scene:
        width = max(1, -(-int(np.ptp(self.counts)) // MAX_BARS))
        places, runs = np.unique(self.counts // width, return_counts=True)
        median = float(np.median(self.counts))
        marks: tuple[Mark, ...] = (
            Bars((places + 0.5) * width - 0.5, runs.astype(float), "class 0", "runs",
                 thickness=0.9 * width, horizontal=False),
            Note(median, 1.06 * float(runs.max()), f"median {median:g}"),
        )  # fmt: skip
        axes = Axis("updates until nothing is wrong"), Axis("runs", (0.0, 1.15 * runs.max()))
        title = f"updates over {len(self.counts)} permutations"
        return Scene(title, *axes, marks, self.words(), legend=False)

    def words(self) -> str:
        low, high = int(self.counts.min()), int(self.counts.max())
        return (
            f"{len(self.counts)} orders of the same points: from {low} to {high} updates, half of "
            f"them with at most {np.median(self.counts):g}; the theorem allows {self.bound:.0f}."
        )


class UpdateCountsDisplay(Display):
    """The distribution of a perceptron's updates over permutations of separable points.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import UpdateCountsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = UpdateCountsDisplay.from_data(X[:100], y[:100], runs=20)
    >>> len(display.view.counts), bool(display.view.counts.max() <= display.view.bound)
    (20, True)
    """

    view: UpdateCounts

    @classmethod
    def from_data(
        cls, X: MatrixLike, y: ArrayLike, *, runs: int = 200, fit_intercept: bool = True,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Run ``Perceptron`` with ``runs`` permutations until nothing is wrong.

        Points that nothing separates are refused with ``NoMistakeBound``: a run has no end.
        """
        limit = mistake_bound(X, y, fit_intercept=fit_intercept).bound
        model = Perceptron(max_passes=int(limit) + 1, fit_intercept=fit_intercept)
        runs_of = (model.set_params(random_state=seed).fit(X, y) for seed in range(runs))
        return cls.of(UpdateCounts(np.array([run.updates_ for run in runs_of]), limit), ax)
