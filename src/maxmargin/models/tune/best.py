"""Which C: the best mean score, or the smallest C within one standard error of it."""

from __future__ import annotations

import numpy as np

CHOICE_RULES = ("best", "one_se")
# Means of the same numbers in another order differ by rounding; that is still a tie.
TIE_ROUNDING = 1e-12


def best_index(scores: np.ndarray, rule: str) -> int:
    """``scores``: one row per fold, one column per C, increasing; larger is better.

    Of equal means the smaller C wins.  "one_se": of all C whose mean is no more than one standard
    error (of the best one's mean over the folds) below the best, the smallest.
    """
    mean = scores.mean(axis=0)
    if not np.isfinite(mean).any():
        raise ValueError(
            "Every score is NaN: the scorer failed on all folds. Check `scoring`, or that every "
            "fold holds what it needs, two classes for instance."
        )
    mean = np.where(np.isfinite(mean), mean, -np.inf)
    top = int(mean.argmax())
    allowance = TIE_ROUNDING * abs(mean[top])
    if rule == "one_se":
        allowance += standard_error(scores[:, top])
    return int(np.flatnonzero(mean >= mean[top] - allowance)[0])


def standard_error(scores: np.ndarray) -> float:
    """Of the mean over the folds."""
    return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
