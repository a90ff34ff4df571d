"""Calibration: what a model learned of its own scores from rows it had not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.solve.closed_form.non_decreasing import believed, non_decreasing
from .conformal import check_alpha, p_values
from .error_estimate import ErrorEstimate
from .maps import agree, apply_map, class_scores, fit_map, targets
from .venn_abers import VennAbers


@dataclass(frozen=True)
class Calibration:
    """Scores of rows by models that had not seen them, and the map to probabilities.

    scores : (n, k) class scores; with two classes (n,), of the second one against the first
    codes : (n,) places of their labels among the classes
    slope, offset : p = softmax(slope · s + offset), offset (k,)
    way : how the scores were found, "cross-validation" or "approximate leave-one-out"
    error : ErrorEstimate of the model on new rows, from the same answers
    weight : (n,) of the rows, where they have any
    mixed : whether the sigmoid of two classes is mixed with the best non-decreasing function;
        that of a file from before there was one is not
    """

    scores: np.ndarray
    codes: np.ndarray
    slope: float
    offset: np.ndarray
    way: str
    error: ErrorEstimate
    weight: np.ndarray | None = None
    mixed: bool = False

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def classes(self) -> int:
        return len(self.offset)

    def counts(self) -> np.ndarray:
        """(k, k): how many rows of each class were taken for which."""
        two = self.scores.ndim == 1
        said = (self.scores > 0).astype(int) if two else self.scores.argmax(axis=1)
        return count_pairs(self.codes, said, self.classes)

    def probabilities(self, S: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """(n, k), in which the most probable label is the one predicted."""
        P = apply_map(S, self.slope, self.offset)
        if self.mixed:
            steps, share = self.steps
            p = np.interp(S[:, 1] - S[:, 0], *steps.T)
            P = (1.0 - share) * P + share * np.column_stack([1.0 - p, p])
        return agree(P, predicted)

    @cached_property
    def steps(self) -> tuple[np.ndarray, float]:
        """(m, 2) scores and values of the best non-decreasing function of two classes, and the
        share by which it takes the place of the sigmoid; found when first asked for."""
        weight = np.ones(self.rows) if self.weight is None else self.weight
        order = np.argsort(self.scores, kind="stable")
        order = order[weight[order] > 0.0]
        s, t = self.scores[order], targets(self.codes, 2, weight)[order, 1]
        found = non_decreasing(s, t, weight[order])
        p = self.seen_probabilities[order, 1]
        return found.knots(), believed(s, p, weight[order], found)

    def intervals(self, S: np.ndarray, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Venn–Abers' lower and upper probabilities (n, k), which enclose P."""
        raw = self._log_odds(S)
        low, high = np.empty_like(P), np.empty_like(P)
        for c, venn_abers in enumerate(self._venn_abers):
            low[:, c], high[:, c] = venn_abers(raw[:, c])
        return np.minimum(low, P), np.maximum(high, P)

    def p_values(self, S: np.ndarray, per_class: bool) -> np.ndarray:
        """(n, k): how usual each label is at each row."""
        P = apply_map(S, self.slope, self.offset)
        return p_values(P, self._own, self.codes, per_class)

    def sets(self, S: np.ndarray, alpha, per_class: bool) -> np.ndarray:
        """(n, k) booleans: the labels that belong to each row's set."""
        alpha = check_alpha(alpha)
        return self.p_values(S, per_class) > alpha

    @cached_property
    def seen_probabilities(self) -> np.ndarray:
        """(n, k) of the calibration rows themselves, before they agree with a prediction, by the
        sigmoid: the steps know these rows too well."""
        return apply_map(self._class_scores, self.slope, self.offset)

    @property
    def _class_scores(self) -> np.ndarray:
        if self.scores.ndim == 2:
            return self.scores
        return class_scores(self.scores, 2, pairs=False)

    @cached_property
    def _own(self) -> np.ndarray:
        return self.seen_probabilities[np.arange(self.rows), self.codes]

    @cached_property
    def _venn_abers(self) -> list[VennAbers]:
        raw = self._log_odds(self._class_scores)
        return [VennAbers(raw[:, c], self.codes == c) for c in range(self.classes)]

    def _log_odds(self, S: np.ndarray) -> np.ndarray:
        """log p − log(1 − p) of every class."""
        Z = self.slope * S + self.offset
        if self.classes == 2:
            return np.column_stack([Z[:, 0] - Z[:, 1], Z[:, 1] - Z[:, 0]])
        P = apply_map(S, self.slope, self.offset)
        tiny = np.finfo(float).tiny
        return np.log(np.maximum(P, tiny)) - np.log(np.maximum(1.0 - P, tiny))


def count_pairs(true: np.ndarray, said: np.ndarray, k: int) -> np.ndarray:
    """(k, k) counts: the true class by row, the predicted by column."""
    table = np.zeros((k, k), dtype=np.int64)
    np.add.at(table, (true, said), 1)
    return table


def learn(
    S: np.ndarray, codes: np.ndarray, way: str, error: ErrorEstimate, weight=None, own=False
) -> Calibration:
    """The calibration of class scores (n, k); ``own``: they are log-probabilities already."""
    k = S.shape[1]
    slope, offset = (1.0, np.zeros(k)) if own else fit_map(S, codes, weight)
    kept = np.ascontiguousarray(S[:, 1] - S[:, 0] if k == 2 else S)
    mixed = k == 2 and slope > 0.0 and not own
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    return Calibration(kept, codes, slope, offset, way, error, weight if mixed else None, mixed)
