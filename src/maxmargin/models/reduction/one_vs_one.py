"""OneVsOne: a duel for every pair of classes, with the region where they go in circles."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from ...core.types import MatrixLike
from ..calibration.maps import agree
from ..routing import Metadata, rows_of
from ..stored import REDUCED
from .coupling import coupled
from .reduction import Guess, Reduction, confidence, gives_probabilities
from .rows import some_rows
from .votes import votes


class OneVsOne(Reduction):
    """One classifier for every pair of classes, fitted to the examples of the two.

    By default a point goes to the class that wins the most of the k(k − 1)/2 duels; among
    those with as many, to the one with the highest sum of scores.  With ``unknown``, only a
    class that wins all its k − 1 duels may claim the point.  There is at most one; where
    there is none, as in the middle between the classes where a beats b, b beats c and c
    beats a, the point is called by that label instead.

    Parameters
    ----------
    estimator : classifier of two classes
        Of this package or of scikit-learn.  Its ``decision_function`` is used, or else its
        ``predict_proba`` (less ½), or else its ``predict`` (as ±1).
    unknown : label, default: always guess
        The label of points that no class claims.  Any single label will do, also ``None``.
        The predictions are of the classes' own type if it can hold the label (-1 among
        integers, nan among floats, a word among words), and objects otherwise.
    n_jobs : int or None, default=None
        Threads to fit in: ``None`` for one (or what a joblib context says), -1 for as many
        as there are processors.
    verbose : int, default=0
        1 prints progress a few times a second, 2 after every classifier.

    Attributes
    ----------
    estimators_ : list of fitted classifiers, whose class 1 is the second of their pair
    pairs_ : (k(k − 1)/2, 2) the labels that each of them tells apart
    coef_, intercept_ : (k(k − 1)/2, d) and (k(k − 1)/2,), where the classifiers have them
    certificates_ : list of the classifiers' certificates, where they have them
    classes_, n_features_in_, feature_names_in_

    Notes
    -----
    A class that wins all its duels also has the most votes, so where ``claims`` has an answer
    both ways of predicting give it.  From five classes on a class can have the most votes
    without winning all its duels; this still counts as unknown, and keeps the region of every
    class an intersection of half-spaces when the classifiers are linear.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM, OneVsOne
    >>> X = np.array([[0, 0], [0, 1], [9, 0], [9, 1], [4, 8], [5, 8]])
    >>> y = ["left", "left", "right", "right", "top", "top"]
    >>> model = OneVsOne(LinearSVM(), unknown=None).fit(X, y)
    >>> print(model.predict([[0, 2], [9, 2]]))
    ['left' 'right']
    >>> print(model.pairs_.tolist())
    [['left', 'right'], ['left', 'top'], ['right', 'top']]
    >>> model.duels([[0, 2]]).round(2)  # negative: the first of the pair wins
    array([[-1.  , -0.78,  0.32]])
    """

    _stored = REDUCED | {"_duels": "int q t !", "_known": "parts"}
    _chosen = ("pairs_", "_duels")  # classes, by their places: made again when read

    def __init__(
        self, estimator: Any, *, unknown: Any = Guess, n_jobs: int | None = None, verbose: int = 0
    ):
        self.estimator = estimator
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _questions(self, codes) -> dict[str, Any]:
        duels = list(combinations(range(len(self.classes_)), 2))
        self._duels = np.array(duels)
        self.pairs_ = self.classes_[self._duels]
        # A base that is given a Gram matrix must meet the same training points again.
        pairwise = get_tags(self.estimator).input_tags.pairwise
        self._known = [_rows(duel, codes) for duel in duels] if pairwise else None
        return {
            f"class {first!r} against {second!r}": duel
            for (first, second), duel in zip(self.pairs_.tolist(), duels, strict=True)
        }

    def _part_for(self, question, X, codes, given: Metadata):
        rows = _rows(question, codes)
        part = some_rows(X, rows) if self._known is None else X[np.ix_(rows, rows)]
        target = (codes[rows] == question[1]).astype(int)
        return part, target, rows_of(given, rows, len(codes))

    def _seen_by(self, place: int, X):
        return X if self._known is None else X[:, self._known[place]]

    def duels(self, X: MatrixLike) -> Any:
        """(n, k(k − 1)/2) scores: positive where the second of the pair in ``pairs_`` wins."""
        return self._ask(X, confidence)

    @available_if(gives_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """(n, k): the classes' probabilities that agree best with those of all duels.

        The most probable class is the one with the most votes, which ``predict`` guesses.
        """
        second = self._ask(X, lambda model, rows: model.predict_proba(rows)[:, 1])
        k = len(self.classes_)
        answers = self._ask(X, confidence)
        winner = (answers[:, 0] > 0).astype(int) if k == 2 else self._contest(answers).argmax(1)
        return agree(coupled(second, self._duels, k), winner)

    def _contest(self, answers) -> np.ndarray:
        """Votes, and less than half a vote by which the sum of scores decides among equals."""
        return votes(-answers, len(self.classes_))

    def _claimed(self, answers) -> np.ndarray:
        low, high = self._duels.T
        claimed = np.ones((len(answers), len(self.classes_)), dtype=bool)
        for place, wins in enumerate((answers > 0).T):
            claimed[:, low[place]] &= ~wins
            claimed[:, high[place]] &= wins
        return claimed


def _rows(duel, codes) -> np.ndarray:
    """The examples of the two classes."""
    return np.flatnonzero((codes == duel[0]) | (codes == duel[1]))
