"""What least squares aims at: one column per class, or per output of a regression."""

from __future__ import annotations

import numpy as np


class OneOfK:
    """1 for the row's class and 0 for the others.  Two classes need one column, −1 or +1:
    its solution is the difference of the two columns'."""

    def __init__(self, codes: np.ndarray, k: int):
        self.codes, self.k = codes, k
        self.width = 1 if k == 2 else k

    def block(self, part: slice) -> np.ndarray:
        codes = self.codes[part]
        if self.k == 2:
            return (2.0 * codes - 1.0)[:, None]
        out = np.zeros((len(codes), self.k))
        out[np.arange(len(codes)), codes] = 1.0
        return out

    def mean(self, weight) -> np.ndarray:
        """The weighted mean of every column."""
        shares = np.bincount(self.codes, weight, self.k)
        shares = shares / shares.sum()
        return shares[1:] - shares[:1] if self.k == 2 else shares

    def length(self, weight, offset) -> float:
        """‖T − offset‖ with the weights."""
        shares = np.bincount(self.codes, weight, self.k).astype(np.float64)
        each = np.array([[-1.0], [1.0]]) if self.k == 2 else np.eye(self.k)
        return float(np.sqrt(shares @ ((each - offset) ** 2).sum(axis=1)))

    def mistakes_of(self, part: slice, scores: np.ndarray) -> np.ndarray:
        """Which of these rows a model with these scores gets wrong."""
        guess = (scores[:, 0] > 0).astype(int) if self.k == 2 else scores.argmax(axis=1)
        return guess != self.codes[part]


class Values:
    """Numbers to be met, (n, outputs)."""

    def __init__(self, Y: np.ndarray):
        self.Y, self.width = Y, Y.shape[1]

    def block(self, part: slice) -> np.ndarray:
        return self.Y[part]

    def length(self, weight, offset) -> float:
        squares = ((self.Y - offset) ** 2).sum(axis=1)
        return float(np.sqrt(squares.sum() if weight is None else weight @ squares))

    def mean(self, weight) -> np.ndarray:
        return np.average(self.Y, axis=0, weights=weight)
