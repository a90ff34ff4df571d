"""How well a ranker orders: the top of its list, its scores by grade, its clear preferences.

nDCG at n = Σ over the first n places of grade/log₂(place + 1), divided by the best possible
[Järvelin and Kekäläinen 2002], averaged over groups.  Kendall's τ over the pairs that should
differ is 2·(pair accuracy) − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ...models.ranking.label_ranker import LabelRanker, read_pairs
from ...models.ranking.metrics import listed_accuracy, pair_accuracy
from ...models.ranking.object_preferences import check_pairs, group_codes
from ...models.ranking.preference_tables import one_per_row
from ..display import Display
from ..scene import Axis, Board, Line, Mark, Points, Scene

# Places of a list that are told.
MAX_RANK_PLACES = 100
# Grades drawn one by one; more are drawn as they are, on a number line.
MAX_DRAWN_GRADES = 10


def ndcg(grades: np.ndarray, scores: np.ndarray, groups: np.ndarray, places: int) -> np.ndarray:
    """nDCG at 1, 2, … ``places``, averaged over the groups with any grade above the lowest."""
    curves = []
    for g in np.unique(groups):
        own = groups == g
        gain, f = grades[own] - min(float(grades[own].min()), 0.0), scores[own]
        if not gain.any():
            continue
        discount = np.zeros(places)
        n = min(places, len(gain))
        discount[:n] = 1.0 / np.log2(np.arange(2, n + 2))
        found, best = np.zeros(places), np.zeros(places)
        found[:n], best[:n] = gain[np.argsort(-f, kind="stable")][:n], np.sort(gain)[::-1][:n]
        curves.append(np.cumsum(found * discount) / np.cumsum(best * discount))
    return np.mean(curves, axis=0) if curves else np.ones(places)


@dataclass(frozen=True)
class GradedRanking:
    """Scores of items with grades: nDCG at every place, and the scores by grade."""

    grades: np.ndarray
    scores: np.ndarray
    ndcg: np.ndarray
    pair_accuracy: float

    def scene(self) -> Board:
        return Board((self._top(), self._by_grade()))

    @property
    def tau(self) -> float:
        return 2.0 * self.pair_accuracy - 1.0

    def words(self) -> str:
        last = len(self.ndcg)
        return (
            f"{self.pair_accuracy:.2%} of the pairs of different grade are in the right order "
            f"(Kendall's τ {self.tau:.3f}). nDCG is {self.ndcg[0]:.3f} at 1 and "
            f"{self.ndcg[-1]:.3f} at {last}."
        )

    def _top(self) -> Scene:
        n = np.arange(1.0, len(self.ndcg) + 1)
        names = tuple(f"nDCG at {int(k)}: {v:.4f}" for k, v in zip(n, self.ndcg, strict=True))
        marks = (
            Line(n, self.ndcg, "class 0", "nDCG at n"),
            Points(n, self.ndcg, "class 0", "nDCG at n", size=4, names=names),
        )
        low = min(0.9, float(self.ndcg.min())) - 0.02
        y = Axis("nDCG at n", (low, 1.01))
        return Scene(
            "the top of the list", Axis("first n places"), y, marks, self.words(), legend=False
        )

    def _by_grade(self) -> Scene:
        levels = np.unique(self.grades)
        few = len(levels) <= MAX_DRAWN_GRADES
        ticks = tuple((float(level), f"{level:g}") for level in levels) if few else None
        jitter = _jitter(self.grades, levels) if few else np.zeros(len(self.grades))
        marks: list[Mark] = [Points(self.scores, self.grades + jitter, "class 0", "items", size=4)]
        means = np.array([np.median(self.scores[self.grades == level]) for level in levels])
        if few:
            names = tuple(
                f"median score of grade {g:g}: {m:.4g}" for g, m in zip(levels, means, strict=True)
            )
            marks.append(Points(means, levels, "class 1", "median", "diamond", 9, names=names))
        told = ", ".join(
            f"{g:g}: {m:.3g}" for g, m in zip(levels[:MAX_DRAWN_GRADES], means, strict=False)
        )
        axes = Axis("score w·x"), Axis("grade", ticks=ticks)
        return Scene("scores by grade", *axes, tuple(marks), f"Median score by grade: {told}.")


def _jitter(grades: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Spread items of one grade, within a quarter of the step to the next; always the same."""
    step = float(np.diff(levels).min()) if len(levels) > 1 else 1.0
    return step * np.random.default_rng(0).uniform(-0.25, 0.25, len(grades))


@dataclass(frozen=True)
class PairRanking:
    """Lead of the preferred over the other, for every listed pair."""

    lead: np.ndarray
    weight: np.ndarray

    @property
    def pair_accuracy(self) -> float:
        return listed_accuracy(self.lead, self.weight)

    @property
    def tau(self) -> float:
        return 2.0 * self.pair_accuracy - 1.0

    def accuracy_from(self, least: np.ndarray) -> np.ndarray:
        """Pair accuracy among the pairs whose scores differ by at least this much."""
        size = np.abs(self.lead)
        return np.array(
            [listed_accuracy(self.lead[size >= s], self.weight[size >= s]) for s in least]
        )

    def scene(self) -> Board:
        return Board((self._leads(), self._clear()))

    def words(self) -> str:
        wide = float(np.average(self.lead >= 1.0, weights=self.weight))
        return (
            f"{self.pair_accuracy:.2%} of {len(self.lead)} preferences are agreed with "
            f"(Kendall's τ {self.tau:.3f}), {wide:.2%} with a lead of at least 1."
        )

    def _leads(self) -> Scene:
        order = np.argsort(self.lead, kind="stable")
        share = 100 * np.cumsum(self.weight[order]) / self.weight.sum()
        x = self.lead[order]
        ends = np.array([0.0, 100.0])
        wrong = 100 * (1 - self.pair_accuracy)
        marks = (
            Line(x, share, "class 0", "pairs with at most this lead", width=2.0),
            Line(np.zeros(2), ends, "ink", f"wrong to the left: {wrong:.3g} %"),
            Line(np.ones(2), ends, "muted", "without slack from here", "dashed"),
        )
        axes = (
            Axis("lead of the preferred: difference of scores"),
            Axis("percent of pairs", (0, 100)),
        )
        return Scene("leads", *axes, marks, self.words())

    def _clear(self) -> Scene:
        size = np.abs(self.lead)
        least = np.quantile(size, np.linspace(0.0, 0.95, 20))
        kept = np.array([100 * self.weight[size >= s].sum() / self.weight.sum() for s in least])
        right = 100 * self.accuracy_from(least)
        names = tuple(
            f"{r:.4g} % of the clearest {k:.3g} %" for r, k in zip(right, kept, strict=True)
        )
        marks = (
            Line(kept, right, "class 1", "pair accuracy"),
            Points(kept, right, "class 1", "pair accuracy", size=5, names=names),
        )
        half = float(np.interp(50, kept[::-1], right[::-1]))
        words = f"Of the clearest half of the pairs {half:.4g} % are right."
        axes = Axis("percent of pairs, clearest first", (0, 102)), Axis("percent right")
        return Scene("accuracy of the clearest pairs", *axes, marks, words, legend=False)


def ranking_view(
    estimator, X, y=None, groups=None, rankings=None, scores=None
) -> GradedRanking | PairRanking:
    """What a fitted ranker makes of preferences in any of their forms."""
    f = estimator.decision_function(X)
    if isinstance(estimator, LabelRanker):
        pairs = read_pairs(f, y, rankings, scores, estimator.classes_)
        lead = f[pairs.example, pairs.preferred] - f[pairs.example, pairs.other]
        return PairRanking(lead, pairs.weight)
    if not one_per_row(y):
        winner, loser, weight = check_pairs(y, len(f))
        return PairRanking(f[winner] - f[loser], weight)
    return graded_view(y, f, groups)


def graded_view(grades, scores, groups=None) -> GradedRanking:
    """Any scores of items with known grades, within groups."""
    grades, scores = np.asarray(grades, dtype=float), np.asarray(scores, dtype=float)
    accuracy = pair_accuracy(grades, scores, groups)
    codes = group_codes(groups, len(grades))
    places = min(MAX_RANK_PLACES, int(np.bincount(codes).max()))
    return GradedRanking(grades, scores, ndcg(grades, scores, codes, places), accuracy)


class RankingDisplay(Display):
    """How well a ranker orders items by grade, or agrees with listed preferences.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import PairwiseRanker, RankingDisplay
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> grades = np.round(X @ [2.0, 1.0, 0.0])
    >>> ranker = PairwiseRanker().fit(X, grades)
    >>> view = RankingDisplay.from_estimator(ranker, X, grades).view
    >>> view.pair_accuracy == ranker.score(X, grades)
    True
    """

    view: GradedRanking | PairRanking

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        rankings: Any = None,
        scores: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted ``PairwiseRanker`` on pairs or grades y, or a ``LabelRanker`` on pairs,
        labels, ``rankings`` or ``scores`` of labels."""
        return cls.of(ranking_view(estimator, X, y, groups, rankings, scores), ax)

    @classmethod
    def from_scores(
        cls,
        grades: ArrayLike,
        scores: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw any scores of items with known grades, within groups."""
        return cls.of(graded_view(grades, scores, groups), ax)
