"""What many fits tell, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ManyFits:
    """Weights, biases, gaps and scores of many fits.

    Arrays have an axis for the labellings, one for the subsets of columns and one for the folds,
    in this order, of those that were asked for.

    coef : the weights, in a last axis of their own; where subsets differ in size, an array of
        arrays
    intercept : the biases
    gap : the relative gap that the certificate of each fit proves; nan where an estimator has none
    scores : the share of the held-out rows that are told right, or None without folds
    decisions : w·x + b of the held-out rows in a last axis of n, nan elsewhere; None unless asked
    """

    classes: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    gap: np.ndarray
    scores: np.ndarray | None
    decisions: np.ndarray | None
    tol: float
    how: str
    certificate_at: Callable[[tuple[int, ...]], Any] = field(repr=False)

    @property
    def proved(self) -> np.ndarray:
        """Which fits are proved to be as good as was asked for."""
        return self.gap <= self.tol

    def certificate(self, *place: int) -> Any:
        """The certificate of one fit, at its place along the axes; None if it has none."""
        if len(place) != self.gap.ndim:
            raise IndexError(
                f"A fit has a place along each of {self.gap.ndim} axes, of {self.gap.shape} fits; "
                f"got {place}."
            )
        return self.certificate_at(place)

    def __len__(self) -> int:
        return self.gap.size

    def __str__(self) -> str:
        proved = int(np.count_nonzero(self.proved))
        told = f"{len(self):,} fits, {proved:,} proved to {self.tol:g}"
        if proved < len(self) and np.isfinite(self.gap).any():
            told += f" (the worst relative gap is {np.nanmax(self.gap):.1e})"
        if self.scores is not None:
            told += f"; held-out rows told right: {float(np.mean(self.scores)):.2%}"
        return f"{told}; {self.how}"
