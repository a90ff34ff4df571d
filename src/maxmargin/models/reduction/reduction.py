"""What OneVsRest and OneVsOne share: k classes reduced to many questions of two."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...core.types import ArrayLike, MatrixLike
from ..fitting import frozen
from ..routing import Metadata, base_router, given_to_base
from ..validation import all_or_nothing, check_sample_weight, check_weights
from .fit_all import fit_all
from .rows import new_rows, training_rows

UNDECIDED = -1


class Guess:
    """The default of ``unknown``: no point is left undecided.  ``None`` is a label."""


def _learns_by_parts(model) -> bool:
    return hasattr(model.estimator, "partial_fit")


class Reduction(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):
    """Classifiers of two classes, and a way to agree on one of k.

    A subclass says which questions there are, and what the answers mean: how much each
    class has for itself (``_contest``) and which classes claim a point (``_claimed``).
    """

    estimator: Any
    unknown: Any
    n_jobs: int | None
    verbose: int

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit all classifiers to X (n, d), dense or sparse, and labels y of any kind.

        ``params``: what the classifiers ask for besides, where scikit-learn's metadata routing is
        enabled; ``sample_weight`` then goes to those that ask for it.
        """
        with all_or_nothing(self):
            check_base(self)
            _check_label(self.unknown)
            given = given_to_base(self, "fit", sample_weight, params)
            jobs = self._jobs(X, y, given)
            self.estimators_ = fit_all(type(self).__name__, jobs, self.n_jobs, self.verbose)
        return self

    def _jobs(self, X, y, given: Metadata) -> dict[str, Callable]:
        """The fits to be made, by the names that they have in messages."""
        X, classes, codes = training_rows(self, X, y)
        if "sample_weight" in given:
            weight = check_weights(self, X, codes, classes, given["sample_weight"], None)
            given = given | {"sample_weight": weight}
        self.classes_ = classes
        _check_new(self.unknown, classes)
        return {
            name: partial(self._fit_one, question, X, codes, given)
            for name, question in self._questions(codes).items()
        }

    @abstractmethod
    def _questions(self, codes) -> dict[str, Any]:
        """What the classifiers are to tell apart, by the name it has in messages."""

    @abstractmethod
    def _part_for(self, question, X, codes, given: Metadata):
        """The rows that one of the questions is about, their targets 0 and 1, and what else is
        given of them."""

    def _fit_one(self, question, X, codes, given: Metadata):
        """The classifier that answers one of the questions."""
        return self._fit_base(*self._part_for(question, X, codes, given))

    @available_if(_learns_by_parts)
    def partial_fit(self, X, y, classes=None, sample_weight=None, **params):
        """Learn from one part of the rows more, where the classifiers can.

        ``classes`` names all labels that any part may bring; it is needed in the first call.
        """
        from .part_by_part import learn_part

        with all_or_nothing(self):
            check_base(self)
            given = given_to_base(self, "partial_fit", sample_weight, params)
            learn_part(self, X, y, classes, given)
        return self

    def _fit_base(self, X, target, given: Metadata):
        return clone(self.estimator).fit(X, target, **given)

    def get_metadata_routing(self) -> Any:
        """Who gets what, as scikit-learn's routing asks: the classifiers, what they ask for."""
        return base_router(self)

    def _ask(self, X, ask: Callable) -> np.ndarray:
        """(n, number of classifiers): what each classifier says of each row."""
        check_is_fitted(self, "estimators_")
        X = new_rows(self, X)
        models = enumerate(self.estimators_)
        return np.column_stack([ask(model, self._seen_by(place, X)) for place, model in models])

    def _seen_by(self, place: int, X):
        """The columns of X that the classifier at this place knows."""
        return X

    @abstractmethod
    def _contest(self, answers) -> np.ndarray:
        """(n, k) from the answers: the class with the most wins."""

    @abstractmethod
    def _claimed(self, answers) -> np.ndarray:
        """(n, k) from the answers: which classes claim the point."""

    def claims(self, X: MatrixLike) -> Any:
        """(n, k) booleans: which classes claim each row.

        A row with exactly one claim is decided.  All others are what ``unknown`` names.
        """
        return self._claimed(self._ask(X, confidence))

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """(n, k): the class with the most wins; (n,) for two, positive for ``classes_[1]``."""
        answers = self._ask(X, confidence)
        return answers[:, 0] if len(self.classes_) == 2 else self._contest(answers)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of each row, or the label ``unknown`` where it was given and none is sure."""
        answers = self._ask(X, confidence)
        claimed = self._claimed(answers)
        decided = claimed.sum(axis=1) == 1
        winner = claimed.argmax(axis=1)
        if self.unknown is Guess:
            winner[~decided] = self._contest(answers[~decided]).argmax(axis=1)
            return self.classes_[winner]
        winner[~decided] = UNDECIDED
        return label(self.classes_, winner, self.unknown)

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows whose label is predicted.  Undecided rows count as errors."""
        if self.unknown is Guess:
            return super().score(X, y, sample_weight)
        right = self.predict(X) == column_or_1d(y)
        return float(np.average(right, weights=sample_weight))

    @property
    def coef_(self) -> np.ndarray:
        """(number of classifiers, d): the weights of ``estimators_``, where they have some."""
        return frozen(np.vstack([model.coef_ for model in self.estimators_]))

    @property
    def intercept_(self) -> np.ndarray:
        """(number of classifiers,): the biases of ``estimators_``, where they have some."""
        return frozen(np.concatenate([np.ravel(model.intercept_) for model in self.estimators_]))

    @property
    def certificates_(self) -> Any:
        """The certificates of ``estimators_``, where they have some."""
        return [model.certificate_ for model in self.estimators_]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        tags.input_tags.pairwise = base.pairwise
        return tags


def gives_probabilities(model) -> bool:
    """Whether the base of a reduction has them."""
    return hasattr(model.estimator, "predict_proba")


def confidence(model, X) -> np.ndarray:
    """How sure a classifier of two classes is of the second: positive where it says so.

    Its decision function; without one, its probability less ½; without either, ±1.
    """
    if hasattr(model, "decision_function"):
        return np.ravel(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1] - 0.5
    return np.where(model.predict(X) == 1, 1.0, -1.0)


def label(classes: np.ndarray, winner: np.ndarray, unknown) -> np.ndarray:
    """The classes of the winners, and ``unknown`` where there is none.

    The array is of the classes' own kind if that can hold ``unknown`` unchanged (−1 among
    whole numbers, nan among floats, a word among words), and else one of objects.
    """
    answer = np.full(len(winner), unknown, dtype=_common_type(classes, unknown))
    decided = winner != UNDECIDED
    answer[decided] = classes[winner[decided]]
    return answer


def _common_type(classes: np.ndarray, unknown) -> np.dtype:
    own, kind = classes.dtype, np.asarray(unknown).dtype
    if own.kind == "f" and kind.kind in "iuf":
        return own
    if own.kind in "iu" and kind.kind in "iu":
        wide = np.result_type(own, np.min_scalar_type(unknown))
        return wide if wide.kind in "iu" else np.dtype(object)
    return np.result_type(own, kind) if own.kind == kind.kind else np.dtype(object)


def check_base(model) -> None:
    base = model.estimator
    answers = ("decision_function", "predict_proba", "predict")
    able = hasattr(base, "fit") and any(hasattr(base, name) for name in answers)
    if isinstance(base, type) or not able or is_regressor(base):
        raise TypeError(
            f"{type(model).__name__} needs a classifier of two classes, such as LinearSVM(): an "
            "object with fit and with decision_function, predict_proba or predict. "
            f"Got estimator={base!r}."
        )


def with_checked_weights(X, given: Metadata) -> Metadata:
    """The same with weights of at least zero, if there are any."""
    if "sample_weight" not in given:
        return given
    return given | {"sample_weight": check_sample_weight(X, given["sample_weight"])}


def _check_new(unknown, classes: np.ndarray) -> None:
    """A label for what is not known must not be one of the classes."""
    if unknown is not Guess and unknown in classes.tolist():
        raise ValueError(
            f"unknown={unknown!r} is one of the classes in y, so nobody could tell the two apart. "
            "Choose another label, such as 'unknown', -1 or None."
        )


def _check_label(unknown) -> None:
    if np.ndim(unknown) != 0:
        raise ValueError(
            f"unknown must be a single label, such as 'unknown', -1 or None, got {unknown!r}."
        )
