"""What every C said of rows that its fold had not seen: wrong or right, and with which scores."""

from __future__ import annotations

import numpy as np

from ..calibration.calibration import Calibration, learn
from ..calibration.error_estimate import corrected
from ..calibration.unseen import FOLDED, most_calibration_rows

# Answers, rows times values of C, that are kept to judge the choice of C by.
MAX_ANSWERS = 5e7
# Numbers, rows times values of C times classes, that are kept to calibrate with.
MAX_SCORES = 2e7
RIGHT, WRONG, UNKNOWN = 0, 1, 2


class OutOfFold:
    """Answers (rows, Cs) of all rows and scores (rows, Cs, k) of some, where they are many."""

    def __init__(self, codes: np.ndarray, k: int, Cs: int):
        n = len(codes)
        self.codes, self.k = codes, k
        rng = np.random.default_rng(0)
        self.judged = _places(n, int(MAX_ANSWERS // Cs), rng)
        most = min(most_calibration_rows(k), int(MAX_SCORES // (Cs * k)))
        self.calibrated = _places(n, max(most, 1), rng)
        self.answers = np.full((self.judged.max() + 1, Cs), UNKNOWN, dtype=np.uint8)
        self.scores = np.full((self.calibrated.max() + 1, Cs, k), np.nan)

    def note(self, test: np.ndarray, step: int, S: np.ndarray, predicted, own: np.ndarray) -> None:
        """The scores S and places of labels for the rows ``test``, of a model whose classes are
        those at ``own``; a class it has never seen is below all others."""
        wrong = own[predicted] != self.codes[test]
        place = self.judged[test]
        self.answers[place[place >= 0], step] = wrong[place >= 0]
        place = self.calibrated[test]
        mine = place >= 0
        full = S[mine]
        if len(own) < self.k:
            full = np.repeat(S[mine].min(axis=1, keepdims=True) - 1.0, self.k, axis=1)
            full[:, own] = S[mine]
        self.scores[place[mine], step] = full

    def calibration(self, step: int, weight, own: bool) -> Calibration | None:
        """Of the C at this step; None where no row was left out by any fold."""
        known = (self.answers != UNKNOWN).all(axis=1)
        rows = np.flatnonzero((self.calibrated >= 0) & (np.bincount(self.codes)[self.codes] > 1))
        S = self.scores[self.calibrated[rows], step]
        left_out = np.isfinite(S).all(axis=1)
        if not known.any() or not left_out.any():
            return None
        rows, S = rows[left_out], S[left_out]
        share = None if weight is None else weight[rows]
        error = corrected(self.answers[known] == WRONG, step)
        return learn(S, self.codes[rows], FOLDED, error, share, own)


def _places(n: int, most: int, rng) -> np.ndarray:
    """(n,) the place of each row among those kept, −1 for the others."""
    if n <= most:
        return np.arange(n)
    places = np.full(n, -1)
    places[np.sort(rng.choice(n, most, replace=False))] = np.arange(most)
    return places
