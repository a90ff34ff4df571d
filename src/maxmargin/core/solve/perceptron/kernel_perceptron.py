"""The dual perceptron: only counts and scores are kept, w is never formed.

    f_i = Σ_j a_j (k(x_j, x_i) + 1)          a_j = η α_j y_j;   without a bias, no "+ 1"

An update on point i adds η y_i to a_i, hence η y_i (K_i + 1) to the scores of all points:
one row of the Gram matrix per update, none for points that are right.
"""

from __future__ import annotations

import numpy as np

from ...kernels.kernel_rows import KERNEL_BATCH_ROWS, KernelRows
from .updates import Rule, violations

# Points whose scores are looked at together in search of the next violation.
LOOK_AHEAD_POINTS = 256


class KernelLearner:
    """Scores F and coefficients A, both (n, 1) for two classes and (n, k) otherwise."""

    def __init__(self, gram: KernelRows, codes: np.ndarray, rule: Rule, height: int):
        n = len(codes)
        self.gram, self.codes, self.rule = gram, codes, rule
        self.F = np.zeros((n, height))
        self.alpha = np.zeros((n, height), dtype=np.int64)
        self.late = np.zeros((n, height))  # Σ (t − 1) of every update, for the average
        self.clock = 0.0
        self.updated: list[int] = []  # the points updated, in order

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        updates, loss, place = 0, 0.0, 0
        while place < len(order):
            ahead = order[place : place + LOOK_AHEAD_POINTS]
            bad, rival, short = violations(self.F[ahead], self.codes[ahead], self.rule.margin)
            hits = np.flatnonzero(bad)
            if len(hits) == 0:
                place += len(ahead)
                continue
            first = int(hits[0])
            loss += float(short[first])
            updates += 1
            place += first + 1
            self._update(
                int(ahead[first]), int(rival[first]), place - 1, ahead[hits[:KERNEL_BATCH_ROWS]]
            )
        self.clock += len(order)
        return updates, loss

    def _update(self, i: int, z: int, place: int, soon: np.ndarray) -> None:
        right = int(self.codes[i])
        change = self.rule.rate[right] * (self.gram.row(i, soon.tolist()) + self.rule.bias)
        time = self.clock + place
        if self.F.shape[1] == 1:
            sign = 2 * right - 1
            self.F[:, 0] += sign * change
            self.alpha[i, 0] += 1
            self.late[i, 0] += time
        else:
            for c, sign in ((right, 1), (z, -1)):
                self.F[:, c] += sign * change
                self.alpha[i, c] += sign
                self.late[i, c] += sign * time
        self.updated.append(i)

    def coefficients(self, average: bool) -> np.ndarray:
        """A, such that the scores are (K + 1) A: the last ones, or their mean over time."""
        counts = self.alpha - self.late / max(1.0, self.clock) if average else self.alpha
        signs = self.rule.rate[self.codes][:, None]
        if self.F.shape[1] == 1:
            signs = signs * (2.0 * self.codes - 1.0)[:, None]
        return counts * signs

    def count(self) -> tuple[int, int]:
        return tally(self.F, self.codes, self.rule.margin)[:2]

    def snapshot(self) -> np.ndarray:
        return self.alpha.copy()


def tally(F, codes, margin) -> tuple[int, int, float]:
    """Misclassified points, points the rule would still update, and their loss."""
    bad, _, short = violations(F, codes, margin)
    guess = (F[:, 0] > 0).astype(int) if F.shape[1] == 1 else F.argmax(axis=1)
    return int((guess != codes).sum()), int(bad.sum()), float(short[bad].sum())
