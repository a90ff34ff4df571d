"""Venn–Abers intervals: a probability for each label the row might have.

Add the row to the calibration rows once with label 0 and once with label 1, and fit each time the
best non-decreasing function of the score (isotonic regression).  The two values at the row are
p₀ ≤ p₁; whichever label is true, one of them is calibrated, whatever the distribution (Vovk and
Petej, 2014).  Scores are put into at most MAX_GROUPS groups of neighbours, so that all answers
are known before anybody asks.
"""

from __future__ import annotations

import numpy as np

MAX_GROUPS = 200


class VennAbers:
    """Steps (groups) of both functions for calibration scores and labels 0 or 1."""

    def __init__(self, scores: np.ndarray, labels: np.ndarray):
        self.edges, counts, sums = _groups(scores, labels.astype(float))
        self.low, self.high = (_with_one_more(counts, sums, label) for label in (0.0, 1.0))

    def __call__(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p₀ and p₁ of rows with these scores."""
        group = np.searchsorted(self.edges, scores, side="left")
        return self.low[group], self.high[group]


def _groups(scores, labels):
    """Edges between groups, half way from one score to the next; rows and sums of each."""
    if not len(scores):
        return np.empty(0), np.zeros(1), np.zeros(1)
    order = np.argsort(scores, kind="stable")
    s, t = scores[order], labels[order]
    cuts = np.flatnonzero(s[1:] > s[:-1]) + 1
    if len(cuts) >= MAX_GROUPS:
        wanted = np.linspace(0, len(s), MAX_GROUPS + 1)[1:-1]
        cuts = np.unique(cuts[np.minimum(np.searchsorted(cuts, wanted), len(cuts) - 1)])
    starts = np.concatenate([[0], cuts])
    edges = 0.5 * (s[cuts - 1] + s[cuts])
    return edges, np.diff(np.append(starts, len(s))).astype(float), np.add.reduceat(t, starts)


def _with_one_more(counts, sums, label: float) -> np.ndarray:
    """The isotonic value of every group when one row of this label joins it."""
    from scipy.optimize import isotonic_regression  # a heavy import, for intervals only

    out = np.empty(len(counts))
    for group in range(len(counts)):
        more, total = counts.copy(), sums.copy()
        more[group] += 1.0
        total[group] += label
        out[group] = isotonic_regression(total / more, weights=more).x[group]
    return out
