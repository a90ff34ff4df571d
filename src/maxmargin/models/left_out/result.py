"""What leaving one out tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LeaveOneOutResult:
    """What the model that never saw a row says of it, for every row.

    ``labels`` (n,): the label it predicts.  ``scores``: its ``decision_function``, (n,) with two
    classes, else (n, k).  ``tolerance`` (n,): no score is further than this from that of the exact
    optimum without the row; for "pairs" the scores of its duels.  ``error``: share of the rows
    whose label is wrong, by weight.  ``settled``: how many rows were settled by which way.
    """

    labels: np.ndarray
    scores: np.ndarray
    tolerance: np.ndarray
    error: float
    settled: dict[str, int]

    def __str__(self) -> str:
        ways = ", ".join(f"{count} by {way}" for way, count in self.settled.items())
        most = float(self.tolerance.max(initial=0.0))
        exact = f"scores are exact to {most:.1e}" if most < np.inf else "the model is not proved"
        return f"leave-one-out error {self.error:.2%} of {len(self.labels)} rows; {exact} ({ways})"
