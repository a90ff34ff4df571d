"""OneVsRest: each class against all others, with the regions where the answers conflict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from ...core.types import MatrixLike
from ..routing import Metadata
from ..stored import REDUCED
from .multilabel import ConstantLabel, check_table, is_table, refuse_undecided
from .reduction import Guess, Reduction, confidence, gives_probabilities, with_checked_weights
from .rows import new_rows


class OneVsRest(Reduction):
    """One classifier per class, which tells it from all the others.

    Each classifier only learns to get its own sign right, so for some points no classifier
    says yes, and for some several do.  By default such points go to the class with the
    highest score.  With ``unknown`` they are called by that label instead.

    Parameters
    ----------
    estimator : classifier of two classes
        Of this package or of scikit-learn.  Its ``decision_function`` is used, or else its
        ``predict_proba`` (less ½), or else its ``predict`` (as ±1).
    unknown : label, default: always guess
        The label of points that no class or more than one claims.  Any single label will do,
        also ``None``.  The predictions are of the classes' own type if it can hold the label
        (-1 among integers, nan among floats, a word among words), and objects otherwise.
    rest : label or None, default=None
        A class without a classifier of its own, which claims the points that no other class
        claims: k classes with k − 1 classifiers.  Then only points that several classes claim
        are unknown.
    n_jobs : int or None, default=None
        Threads to fit in: ``None`` for one (or what a joblib context says), -1 for as many
        as there are processors.
    verbose : int, default=0
        1 prints progress a few times a second, 2 after every classifier.

    Attributes
    ----------
    estimators_ : list of fitted classifiers, whose class 1 is their own and 0 the rest
    positives_ : the label that each of them tells from the rest
    coef_, intercept_ : (number of classifiers, d) and (number of classifiers,), where the
        classifiers have them
    certificates_ : list of the classifiers' certificates, where they have them
    classes_, n_features_in_, feature_names_in_

    Notes
    -----
    y may be a table of zeros and ones, dense or sparse, with one column per label: rows then have
    any number of labels, ``classes_`` numbers the columns, and predictions are such tables.

    Two classes need one classifier, for ``classes_[1]`` against ``classes_[0]``, and no point
    is unknown.

    Examples
    --------
    Three corners of a triangle.  Nobody claims its middle:

    >>> from maxmargin import LinearSVM, OneVsRest
    >>> X = [[0, 0], [0, 1], [9, 0], [9, 1], [4, 8], [5, 8]]
    >>> y = ["left", "left", "right", "right", "top", "top"]
    >>> model = OneVsRest(LinearSVM(), unknown="?").fit(X, y)
    >>> print(model.predict([[0, 2], [4.5, 3]]))
    ['left' '?']
    >>> model.claims([[0, 2], [4.5, 3]])
    array([[ True, False, False],
           [False, False, False]])
    """

    _stored = REDUCED | {"_own": "int o !", "_table": "text"}
    _chosen = ("positives_", "_own")  # classes, by their places: made again when read

    def __init__(
        self,
        estimator: Any,
        *,
        unknown: Any = Guess,
        rest: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.unknown = unknown
        self.rest = rest
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _jobs(self, X, y, given: Metadata) -> dict[str, Callable]:
        self.__dict__.pop("_table", None)
        if not is_table(y):
            return super()._jobs(X, y, given)
        refuse_undecided(self, Guess)
        self._table = "sparse" if sparse.issparse(y) else "dense"
        X = new_rows(self, X, reset=True)
        table = check_table(_num_samples(X), y)
        given = with_checked_weights(X, given)
        self.classes_ = self.positives_ = self._own = np.arange(table.shape[1])
        return {
            f"label {label}": partial(self._fit_label, table[:, [label]], X, given)
            for label in self.classes_
        }

    def _fit_label(self, column, X, given: Metadata):
        target = column.toarray()[:, 0].astype(int)
        if target.min() == target.max():
            return ConstantLabel(bool(target[0])).fit(X)
        return self._fit_base(X, target, given)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """(n, k): the class with the most wins; (n,) for two, positive for ``classes_[1]``.

        Of a table of labels (n, labels): positive for those that a row has.
        """
        if self._is_table:
            return self._ask(X, confidence)
        return super().decision_function(X)

    def predict(self, X: MatrixLike) -> Any:
        """The class of each row, or the label ``unknown`` where it was given and none is sure.

        Of a table of labels, such a table: dense, or sparse if the one in training was.
        """
        if not self._is_table:
            return super().predict(X)
        said = (self._ask(X, confidence) > 0).astype(int)
        return sparse.csr_array(said) if self._table == "sparse" else said

    @property
    def _is_table(self) -> bool:
        return hasattr(self, "_table")

    def _questions(self, codes) -> dict[str, Any]:
        self._own = np.arange(len(self.classes_))
        if (rest := self._rest()) is not None:
            self._own = np.delete(self._own, rest)
        self.positives_ = self.classes_[self._own]
        names = self.positives_.tolist()
        return {
            f"class {name!r} against the rest": code
            for name, code in zip(names, self._own, strict=True)
        }

    def _rest(self) -> int | None:
        """The code of the class without a classifier, if there is one."""
        one = np.ndim(self.rest) == 0
        place = np.flatnonzero(self.classes_ == self.rest) if one else np.empty(0, dtype=int)
        if self.rest is not None and len(place) == 0:
            raise ValueError(
                f"rest must be None or one of the classes in y, {self.classes_.tolist()}, "
                f"got rest={self.rest!r}."
            )
        if len(self.classes_) == 2:
            return 0
        return int(place[0]) if len(place) else None

    def _part_for(self, question, X, codes, given: Metadata):
        return X, (codes == question).astype(int), given

    def _contest(self, answers) -> np.ndarray:
        """The scores; the class without one has as much as the strongest claim lacks.

        And a hair more: a score of exactly zero is no claim.
        """
        return self._spread(answers, np.nextafter(-answers.max(axis=1), np.inf))

    def _claimed(self, answers) -> np.ndarray:
        said = answers > 0
        if self._is_table:
            return said
        return self._spread(said, ~said.any(axis=1))

    def _spread(self, own, rest) -> np.ndarray:
        """(n, k) from the columns of the classes with a classifier, and that of the rest."""
        full = np.empty((len(own), len(self.classes_)), dtype=own.dtype)
        full[:] = rest[:, None]
        full[:, self._own] = own
        return full

    @available_if(gives_probabilities)
    def predict_proba(self, X):
        """(n, k): the classifiers' probabilities, divided by their sum; of labels, as they are.

        The class without a classifier gets what the largest of the others leaves to one.
        """
        own = self._ask(X, lambda model, rows: model.predict_proba(rows)[:, 1])
        if self._is_table:
            return own
        P = self._spread(own, 1.0 - own.max(axis=1))
        total = P.sum(axis=1, keepdims=True)
        even = np.full_like(P, 1.0 / P.shape[1])  # where every classifier is sure it is not
        return np.divide(P, total, out=even, where=total > 0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
