"""Probabilities, their intervals and prediction sets, for every classifier that has scores.

An estimator with the parameter ``probability`` calibrates itself at the end of ``fit``; a search
for C has the scores of rows that its folds had not seen, and needs not be asked.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...core.types import MatrixLike
from ..reduction.votes import votes
from .calibration import Calibration, learn
from .costs import costs_of
from .error_estimate import ErrorEstimate, counted
from .maps import class_scores
from .unseen import unseen_scores


def _calibrates(model) -> bool:
    """Whether there are probabilities; if not the error says how to have them, as SVC's does."""
    if getattr(model, "probability", False) or hasattr(model, "calibration_"):
        return True
    raise AttributeError(
        "Probabilities, their intervals, prediction sets and decisions by costs are calibrated "
        f"where they are asked for, and probability is False. Fit {type(model).__name__}"
        "(probability=True) to have them."
    )


def _has_probabilities(model) -> bool:
    return hasattr(model, "predict_proba") or _calibrates(model)


class Calibrated:
    """Mixin of estimators with ``probability``; ``calibration_`` is there once they are fitted."""

    calibration_: Calibration
    classes_: np.ndarray
    # Whether scores are the logarithms of probabilities, which then are what they are.
    _own_probabilities = False

    @available_if(_calibrates)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """(n, k) probabilities of the classes; the most probable is the one of ``predict``.

        Calibrated on scores of training rows by models that had not seen them.
        """
        S, predicted = self._class_scores(X)
        return self._calibration().probabilities(S, predicted)

    @available_if(_calibrates)
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Logarithms of ``predict_proba``."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))

    @available_if(_calibrates)
    def predict_proba_interval(self, X: MatrixLike) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper probabilities, (n, k) each, which enclose ``predict_proba``.

        Venn–Abers: of two values between these bounds one is calibrated, whatever the rows'
        distribution is; wide where few calibration rows are near.
        """
        S, _ = self._class_scores(X)
        return self._calibration().intervals(S, self.predict_proba(X))

    @available_if(_calibrates)
    def predict_set(self, X: MatrixLike, alpha: float = 0.1, per_class: bool = False) -> np.ndarray:
        """(n, k) booleans: labels that together hold the true one for a share 1 − alpha of rows.

        A set of several says that they cannot be told apart there; an empty one that the row is
        among the strangest, of which a share alpha may be missed.  ``per_class``: 1 − alpha of
        the rows of every class.
        Nothing is proved of this coverage, though measured it is 1 − alpha: new rows have scores
        of the whole model, those they are compared with of models that lack one row or one fold.
        ``conformal_sets`` is proved to cover 1 − alpha, with ``folds`` about 1 − 2 alpha.
        """
        S, _ = self._class_scores(X)
        return self._calibration().sets(S, alpha, per_class)

    @available_if(_has_probabilities)
    def decide(self, X: MatrixLike, costs: Any) -> np.ndarray:
        """The cheapest action for every row, under ``predict_proba``.

        ``costs`` map every true class to the price of every action, in words (``Costs``); an
        action that is no label, such as "ask", is a way to abstain.
        """
        P = self.predict_proba(X)
        return costs_of(costs).decide(P, self.classes_)

    def _raw_scores(self, X) -> np.ndarray:
        """The scores of the machines; ``decision_function`` where it does not count votes."""
        return self.decision_function(X)  # type: ignore[attr-defined]

    def _class_scores(self, X) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) scores to calibrate, and the places of the labels predicted."""
        check_is_fitted(self)
        return self._interpreted(self._raw_scores(X))

    def _interpreted(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(self.classes_)
        pairs = getattr(self, "multiclass", "") == "pairs" and k > 2
        return class_scores(F, k, pairs), predicted_codes(F, k, pairs)

    def _calibration(self) -> Calibration:
        if not hasattr(self, "calibration_"):
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without probability=True. Fit it with "
                "probability=True to have probabilities."
            )
        return self.calibration_

    def _calibrate(self, X, codes, weight, sample_weight=None) -> None:
        """At the end of a fit to checked rows; ``weight`` has the classes' weights in it."""
        self.__dict__.pop("calibration_", None)
        if not getattr(self, "probability", False):
            return
        _warn_of_singles(self, codes)
        found = unseen_scores(self, X, codes, weight, sample_weight)
        S, predicted = self._interpreted(found.scores)
        own = codes[found.rows]
        error = counted(predicted != own, found.way) if len(own) else nothing_known()
        share = None if sample_weight is None else sample_weight[found.rows]
        self.calibration_ = learn(S, own, found.way, error, share, self._own_probabilities)


def predicted_codes(F: np.ndarray, k: int, pairs: bool) -> np.ndarray:
    """The places of the labels that ``predict`` gives for these scores."""
    if k == 2:
        return (F.reshape(len(F), -1)[:, 0] > 0).astype(int)
    return (votes(F, k) if pairs else F).argmax(axis=1)


def nothing_known() -> ErrorEstimate:
    """Every class has one row: nothing can be left out."""
    return ErrorEstimate(1.0, 0.0, 1.0, 0, "no rows to leave out")


def _warn_of_singles(model, codes) -> None:
    counts = np.bincount(codes, minlength=len(model.classes_))
    single = model.classes_[counts == 1]
    if len(single):
        warnings.warn(
            f"{len(single)} of {len(counts)} classes have one row only, {single[0]} for one; it "
            "cannot be left out, so probabilities of such a class rest on the rows of others. "
            "Give it more rows.",
            UserWarning,
            stacklevel=4,
        )
