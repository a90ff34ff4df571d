"""From comparisons of items to their order, and what it foretells of other comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...models.calibration.error_estimate import ErrorEstimate, counted
from ...models.ranking.pairwise_ranker import PairwiseRanker
from ...parts.files.items import Items

# Parts of the comparisons of which each is foretold by the others, and the fewest to do so.
RANK_FOLDS, MIN_JUDGED_COMPARISONS = 5, 10


@dataclass
class Ranked:
    """``items`` best first; ``expected``: the error on comparisons that were left out."""

    ranker: Any
    items: list[dict]
    weights: dict[str, dict]
    comparisons: int
    ties: int
    C: float
    agreement: float
    expected: ErrorEstimate | None
    notes: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        return bool(self.ranker.certificate_.holds(self.ranker.tol))

    @property
    def better(self) -> bool | None:
        """Than tossing a coin; None where that is not known, or not settled."""
        if self.expected is None or self.expected.low < 0.5 <= self.expected.high:
            return None
        return self.expected.high < 0.5

    def first(self) -> str:
        """The first thing to know, in a sentence."""
        if self.expected is None:
            few = f"fewer than {MIN_JUDGED_COMPARISONS} comparisons"
            return f"Not known to be better than tossing a coin: {few}"
        foretold = f"{1.0 - self.expected.error:.2%} of new comparisons foretold".replace("%", " %")
        word = {True: "Better", False: "Worse", None: "Perhaps not better"}[self.better]
        return f"{word} than tossing a coin: {foretold}"

    def to_dict(self) -> dict:
        certificate = self.ranker.certificate_
        return {
            "comparisons": self.comparisons,
            "ties_left_out": self.ties,
            "C": self.C,
            "agreement": self.agreement,
            "verdict": self.first(),
            "expected": None if self.expected is None else self.expected.to_dict(),
            "certificate": str(certificate),
            "relative_gap": certificate.relative_gap,
            "proved": self.proved,
            "notes": self.notes,
            "weights": self.weights,
            "items": self.items,
        }


def rank_items(table: Items, pairs: np.ndarray, ties: int, C: float, scale: bool) -> Ranked:
    """Learn the order of items from (winner, loser) pairs of their rows."""
    X, spread = _scaled(table.X, scale)
    ranker = PairwiseRanker(C=C).fit(X, pairs)
    f, n = ranker.decision_function(X), len(table.names)
    won, lost = (np.bincount(pairs[:, side], minlength=n).tolist() for side in (0, 1))
    weights = zip(table.features, ranker.coef_.tolist(), spread.tolist(), strict=True)
    keys, names = ("rank", "item", "score", "won", "lost"), table.names
    items = [
        dict(zip(keys, (place, names[i], float(f[i]), won[i], lost[i]), strict=True))
        for place, i in enumerate(ranker.rank(X).tolist(), start=1)
    ]
    named = {feature: {"per_unit": w / s, "per_spread": w} for feature, w, s in weights}
    agreement = float(ranker.score(X, pairs))
    return Ranked(
        ranker, items, named, len(pairs), ties, C, agreement, foretold(X, pairs, C), table.notes
    )


def foretold(X: np.ndarray, pairs: np.ndarray, C: float, seed: int = 0) -> ErrorEstimate | None:
    """The share of comparisons that a ranker of the others gets wrong; level scores count half."""
    n = len(pairs)
    if n < MIN_JUDGED_COMPARISONS:
        return None
    part = np.random.default_rng(seed).permutation(n) % RANK_FOLDS
    wrong = np.zeros(n)
    for fold in range(RANK_FOLDS):
        left, rest = part == fold, part != fold
        f = PairwiseRanker(C=C).fit(X, pairs[rest]).decision_function(X)
        ahead = f[pairs[left, 0]] - f[pairs[left, 1]]
        wrong[left] = np.where(ahead == 0.0, 0.5, ahead < 0.0)
    return counted(wrong, "cross-validation")


def _scaled(X: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """About the mean item, which then has score 0, in standard deviations where asked."""
    spread = X.std(axis=0) if scale else np.ones(X.shape[1])
    spread = np.where(spread > 0.0, spread, 1.0)
    return (X - X.mean(axis=0)) / spread, spread
