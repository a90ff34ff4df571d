"""Scores of rows that are not here: every block says a little, and that is put together.

    cells    how many rows of class a are taken for class b, and their weight: k × k numbers
    sums     Σ s · loss and Σ s of probabilities
    values   the answers themselves, one number or k for every row: for ranks there is no sum

scikit-learn's own scorer judges cells, as rows with their weight, and values; the scores are its.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator, ClassifierMixin

CONFUSION_SCORES = (
    "accuracy", "balanced_accuracy", "matthews_corrcoef",
    *(
        name + average
        for name in ("f1", "precision", "recall", "jaccard")
        for average in ("", "_macro", "_micro", "_weighted")
    ),
)  # fmt: skip
SUM_SCORES = ("neg_log_loss", "neg_brier_score")
GATHERED_SCORES = (
    "roc_auc", "average_precision", "top_k_accuracy",
    "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted",
)  # fmt: skip
# The most values that come here for one score: 160 MB.
MAX_GATHERED_VALUES = 20_000_000


class Judge(NamedTuple):
    """A scorer by name, and the method whose answers it asks for."""

    name: str
    method: str


def judge_of(scoring: Any, model: Any) -> Judge:
    """The scorer asked for, or a refusal that names those there are."""
    name = "accuracy" if scoring is None else scoring
    if not isinstance(name, str) or name not in (*CONFUSION_SCORES, *SUM_SCORES, *GATHERED_SCORES):
        raise ValueError(
            f"On Dask scoring is the name of a score that blocks of rows can add up, got "
            f"scoring={scoring!r}. There are "
            f"{', '.join((*CONFUSION_SCORES, *SUM_SCORES, *GATHERED_SCORES))}."
        )
    if name in CONFUSION_SCORES:
        return Judge(name, "predict")
    from sklearn.metrics import get_scorer

    asked = get_scorer(name)._response_method
    asked = [asked] if isinstance(asked, str) else list(asked)
    has = [method for method in asked if hasattr(model, method)]
    if not has:
        raise ValueError(
            f"scoring={name!r} asks for {asked[0]}, which {type(model).__name__} does not have. "
            "LogisticRegression has probabilities."
        )
    return Judge(name, has[0])


# --- where the rows are -------------------------------------------------------------------


def hear(judge: Judge, model: Any, X, y: np.ndarray, weight):
    """What one block has to say: a few numbers, or values if they are not too many."""
    y = np.asarray(y)
    if len(y) == 0:
        return None
    answers = getattr(model, judge.method)(X)
    if judge.name in CONFUSION_SCORES:
        return _cells(y, answers, weight)
    if judge.name in SUM_SCORES:
        return _sums(judge.name, model.classes_, y, answers, weight)
    if answers.size > MAX_GATHERED_VALUES:
        return TooMany(answers.size)
    return Said(y, answers, weight)


class TooMany(NamedTuple):
    """Answers that are too many to be sent."""

    values: int


class Said(NamedTuple):
    """Labels, answers and weights, of rows or of cells."""

    y: np.ndarray
    answers: np.ndarray
    weight: np.ndarray | None


def _cells(y, guess, weight) -> Said:
    """Every pair of label and guess that occurs, with the rows' weight."""
    labels, a = np.unique(y, return_inverse=True)
    guesses, b = np.unique(guess, return_inverse=True)
    cell = a * len(guesses) + b
    size = len(labels) * len(guesses)
    there = np.flatnonzero(np.bincount(cell, minlength=size))
    mass = np.bincount(cell, weight, minlength=size).astype(float)
    return Said(labels[there // len(guesses)], guesses[there % len(guesses)], mass[there])


def _sums(name: str, classes, y, p, weight) -> tuple[float, float]:
    """Σ s · loss and Σ s, as scikit-learn has the losses."""
    codes = np.searchsorted(classes, y)
    known = classes[np.minimum(codes, len(classes) - 1)] == y
    if not known.all():
        raise ValueError(
            f"There is a label the model does not know: {y[~known][0]}. It was fitted on "
            f"{classes.tolist()}, and {name} needs the probability of every label."
        )
    targets = np.eye(len(classes))[codes]
    if name == "neg_log_loss":
        tiny = np.finfo(p.dtype).eps
        loss = -xlogy(targets, np.clip(p, tiny, 1.0 - tiny)).sum(axis=1)
    else:
        loss = ((targets - p) ** 2).sum(axis=1) * (0.5 if len(classes) == 2 else 1.0)
    weight = np.ones(len(y)) if weight is None else weight
    return float(weight @ loss), float(weight.sum())


# --- where they are put together ----------------------------------------------------------


def verdict(judge: Judge, classes: np.ndarray, said: Iterable[Any]) -> float:
    """The score of all blocks together; larger is better."""
    heard = [each for each in said if each is not None]
    if not heard:
        raise ValueError("There are no rows to judge by: every partition is empty.")
    if judge.name in SUM_SCORES:
        return -sum(loss for loss, _ in heard) / sum(mass for _, mass in heard)
    values = sum(each.values if isinstance(each, TooMany) else each.answers.size for each in heard)
    if values > MAX_GATHERED_VALUES:
        raise ValueError(
            f"{judge.name} ranks all rows by their scores, {values:,} values that would have to "
            f"come to one place; {MAX_GATHERED_VALUES:,} is the most. Use accuracy, neg_log_loss "
            "or "
            "another score that adds up, or fewer rows."
        )
    from sklearn.metrics import get_scorer

    y = np.concatenate([each.y for each in heard])
    answers = np.concatenate([each.answers for each in heard])
    weights = [each.weight for each in heard if each.weight is not None]
    given = {"sample_weight": np.concatenate(weights)} if weights else {}
    return float(get_scorer(judge.name)(Witness(classes, answers), y, y, **given))


class Witness(ClassifierMixin, BaseEstimator):
    """A classifier that has been asked already."""

    def __init__(self, classes=None, answers=None):
        self.classes, self.answers = classes, answers

    @property
    def classes_(self):
        return self.classes

    def predict(self, X):
        return self.answers

    decision_function = predict_proba = predict
