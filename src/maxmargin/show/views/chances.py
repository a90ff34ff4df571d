"""How far probabilities and prediction sets can be trusted, by rows that had been left out.

Reliability: of rows with about this probability, how many have the label?  Coverage: how often
sets hold the true label, and how large they are, when one half of the rows calibrates and the
other is judged.  Answers: the error if only the most certain share of rows is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...models.calibration.calibration import Calibration
from ...models.calibration.conformal import p_values
from ..display import Display
from ..scene import Axis, Board, Line, Points, Scene

# Groups of rows of like probability, each of at least so many rows.
RELIABILITY_GROUPS, MIN_GROUP_ROWS = 10, 5
ALPHAS = np.linspace(0.01, 0.5, 50)
# The lowest α told in words.
TOLD_ALPHA = 0.1


@dataclass(frozen=True)
class Chances:
    """said, found : mean probability and share of right labels, by groups of rows
    coverage, size : of sets for every α of ALPHAS, and labels in them
    answered, error : share of rows answered, the most certain first, and the error among them
    """

    said: np.ndarray
    found: np.ndarray
    coverage: np.ndarray
    size: np.ndarray
    answered: np.ndarray
    error: np.ndarray
    way: str

    def scene(self) -> Board:
        return Board((self._reliability(), self._coverage(), self._answers()))

    def words(self) -> str:
        return " ".join(scene.words for scene in self.scene().scenes)

    def _reliability(self) -> Scene:
        ends = np.array([0.0, 1.0])
        marks = (
            Line(ends, ends, "muted", "as said", "dashed"),
            Line(self.said, self.found, "class 0", "of rows left out"),
            Points(self.said, self.found, "class 0", None),
        )
        worst = float(np.abs(self.said - self.found).max())
        words = (
            f"Reliability by {self.way}: shares of right labels are within {worst:.2f} of the "
            "probabilities that were said."
        )
        axes = Axis("probability said", (0.0, 1.0)), Axis("share with the label", (0.0, 1.0))
        return Scene("reliability", *axes, marks, words)

    def _coverage(self) -> Scene:
        marks = (
            Line(ALPHAS, 1.0 - ALPHAS, "muted", "1 − α", "dashed"),
            Line(ALPHAS, self.coverage, "class 0", "sets hold the true label"),
            Line(ALPHAS, self.size, "class 1", "labels a set", "dotted"),
        )
        place = int(np.abs(ALPHAS - TOLD_ALPHA).argmin())
        words = (
            f"At α = {ALPHAS[place]:g} sets hold the true label of {self.coverage[place]:.1%} of "
            f"rows, with {self.size[place]:.2f} labels on average."
        )
        top = 1.05 * max(1.0, float(self.size.max()))
        axes = Axis("α", (0.0, float(ALPHAS[-1]))), Axis("share of rows; labels", (0.0, top))
        return Scene("coverage of sets", *axes, marks, words)

    def _answers(self) -> Scene:
        marks = (Line(100 * self.answered, 100 * self.error, "class 2", "error"),)
        half = int(np.searchsorted(self.answered, 0.5))
        words = (
            f"Answering all rows the error is {self.error[-1]:.1%}; answering the more certain "
            f"half only it is {self.error[min(half, len(self.error) - 1)]:.1%}."
        )
        top = max(1.0, 105 * float(self.error.max()))
        axes = Axis("percent of rows answered", (0.0, 100.0)), Axis("error in percent", (0.0, top))
        return Scene("error against answers", *axes, marks, words, legend=False)


def chances_view(known: Calibration) -> Chances:
    """The curves of a calibration."""
    P = known.seen_probabilities
    said, found = _reliability(P, known.codes)
    coverage, size = _covered(P, known.codes)
    wrong = P.argmax(axis=1) != known.codes
    order = np.argsort(-P.max(axis=1), kind="stable")
    number = np.arange(1, len(order) + 1)
    error = np.cumsum(wrong[order]) / number
    return Chances(said, found, coverage, size, number / len(order), error, known.way)


def _reliability(P: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every class of every row, in groups of like probability."""
    p, true = P.ravel(), (np.arange(P.shape[1]) == codes[:, None]).ravel()
    groups = np.clip((p * RELIABILITY_GROUPS).astype(int), 0, RELIABILITY_GROUPS - 1)
    count = np.bincount(groups, minlength=RELIABILITY_GROUPS)
    full = count >= min(MIN_GROUP_ROWS, count.max())
    means = [np.bincount(groups, v, RELIABILITY_GROUPS)[full] / count[full] for v in (p, true)]
    return means[0], means[1]


def _covered(P: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coverage and size for ALPHAS, each half of the rows judged by the other."""
    n = len(codes)
    first = np.zeros(n, dtype=bool)
    first[np.random.default_rng(0).permutation(n)[: n // 2]] = True
    values = np.ones_like(P)
    for half in (first, ~first):
        own = P[~half, codes[~half]] if (~half).any() else np.empty(0)
        values[half] = p_values(P[half], own, codes[~half], False)
    inside = values[None] > ALPHAS[:, None, None]
    return inside[:, np.arange(n), codes].mean(axis=1), inside.sum(axis=2).mean(axis=1)


class ChancesDisplay(Display):
    """Reliability, coverage of prediction sets, and error against the share of rows answered.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import ChancesDisplay, LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> view = ChancesDisplay.from_estimator(LinearSVM(probability=True).fit(X, y)).view
    >>> [scene.title for scene in view.scene().scenes]
    ['reliability', 'coverage of sets', 'error against answers']
    """

    view: Chances

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a model with probabilities knows of rows that were left out."""
        if not hasattr(estimator, "calibration_"):
            raise ValueError(
                f"This {type(estimator).__name__} has left no rows out: fit it with "
                "probability=True, or a search for C."
            )
        return cls.of(chances_view(estimator.calibration_), ax)
