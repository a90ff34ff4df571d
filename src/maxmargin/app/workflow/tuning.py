"""The choice of C by our cross-validated estimators, told as errors and as a plain model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.deadline import OutOfTimeError
from ...models.tune.stratified_folds import stratified_folds

if TYPE_CHECKING:
    from .plan import Plan
    from .rows import TuningRows

TUNING_CS = np.logspace(-3, 3, 13)
# Values of X below which the fits of a fold are mostly Python, which threads cannot share.
MIN_THREADED_VALUES = 200_000
# A class is rare that has less than this share of what it would have if all were equal.
RARE_SHARE = 0.2
_ALWAYS_THE_SAME = (
    "the C with the fewest errors gives every row the same answer: C was chosen by balanced "
    "accuracy instead, in which every class counts the same (--score accuracy: by errors)"
)
SCORES = (
    "accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro", "recall_macro",
    "roc_auc", "average_precision",
)  # fmt: skip


@dataclass(frozen=True)
class Tuning:
    """Errors (folds, Cs) of every C tried; ``best`` is the place of the C chosen."""

    Cs: np.ndarray
    errors: np.ndarray
    best: int
    score: str = "accuracy"

    @property
    def C(self) -> float:
        return float(self.Cs[self.best])

    @property
    def mean(self) -> np.ndarray:
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        return self.errors.std(axis=0, ddof=1) / np.sqrt(len(self.errors))

    def to_dict(self) -> dict:
        return {
            "folds": len(self.errors),
            "score": self.score,
            "C": self.Cs.tolist(),
            "error": self.mean.tolist(),
            "standard_error": self.standard_error.tolist(),
        }


def score_for(y) -> str:
    """What C is chosen by and methods are ranked by unless told: where a class is rare, a score in
    which every class counts the same."""
    counts = np.unique(y, return_counts=True)[1]
    rare = int(counts.min()) * len(counts) < RARE_SHARE * len(y)
    return "balanced_accuracy" if rare else "accuracy"


def tune(plan: Plan, given: dict, rows: TuningRows) -> tuple[Tuning | None, Any, list[str]]:
    """The C with the best score on held-out rows, the smallest of equals.

    ``given``: parameters of the method's estimator.  ``plan.threads`` is the most to use, None for
    one a core.  ``plan.score`` None: accuracy, or where a class is rare balanced accuracy, which
    does not forget it, and is asked, too, where the fewest errors are those of one answer for
    all rows.  Returns the model fitted with that C too, and its warnings; no choice and
    no model where a deadline left no time for any C.
    """
    X, y = rows.X, rows.y
    classes, counts = np.unique(y, return_counts=True)
    fewest, rare = int(counts.min()), classes[counts.argmin()]
    if fewest < 2:
        raise ValueError(
            f"C cannot be chosen by cross-validation: the class {str(rare)!r} has one example "
            "only. Give C (--C 1), or more examples of the class, or leave it out."
        )
    score = plan.score or score_for(y)
    told = []
    if score != (plan.score or "accuracy"):
        told = [
            f"only {fewest} of {len(y)} rows are {str(rare)!r}: C was chosen by balanced "
            "accuracy, in which every class counts the same (--score accuracy: by errors)"
        ]
    try:
        search, notes = _searched(plan, given, rows, score, fewest)
        if plan.score is None and score == "accuracy" and _answers_once(search, X):
            score, told = "balanced_accuracy", [_ALWAYS_THE_SAME]
            search, notes = _searched(plan, given, rows, score, fewest)
    except OutOfTimeError as late:
        return None, None, [*told, f"{late} C = 1 was taken instead; give more --budget"]
    done = np.isfinite(search.scores_).all(axis=0)  # the first ones, where time or patience ended
    errors = 1.0 - search.scores_[:, done]
    tuning = Tuning(np.asarray(search.Cs_)[done], errors, int(search.best_index_), score)
    return tuning, search.plain(), told + notes


def _searched(
    plan: Plan, given: dict, rows: TuningRows, score: str, fewest: int
) -> tuple[Any, list[str]]:
    """The search over all C by this score, and its warnings."""
    X, y, weight, _ = rows
    splits = stratified_folds(y, min(plan.folds, fewest), plan.seed)
    jobs = 1 if X.size < MIN_THREADED_VALUES else (plan.threads or -1)
    scoring = None if score == "accuracy" else score
    search_class = plan.resolved.search_class()
    search = search_class(Cs=TUNING_CS, cv=splits, n_jobs=jobs, scoring=scoring, **given)
    return search, fit_quietly(search, X, y, sample_weight=weight)


def _answers_once(search, X) -> bool:
    """Whether all rows get one answer, as they do for the smallest C where errors are equal."""
    said = search.predict(X)
    return bool((said == said[0]).all())


def fit_quietly(model, X, y, **given) -> list[str]:
    """Fit, and return its warnings; Ctrl-C, which estimators turn into one, is Ctrl-C again."""
    texts = quietly(lambda: model.fit(X, y, **given))
    if any("interrupted from the keyboard" in text for text in texts):
        raise KeyboardInterrupt
    return texts


def quietly(do: Callable[[], Any]) -> list[str]:
    """Do it, and return the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    return [str(warning.message) for warning in caught]
