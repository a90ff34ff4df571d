"""What many fits are about: labellings × subsets of columns × folds of one X, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets

from ..labels import label_codes
from ..validation import EstimatorStandIn, check_rows, check_sample_weight, refuse_masked


@dataclass(frozen=True)
class Problems:
    """Every labelling, on every subset of columns, in every fold.

    ``codes`` (L, n): each label's place among ``classes``.  ``splits``: rows to fit and rows held
    out; without folds all rows, and none.  ``axes``: which of the three were asked for; results
    have no others.
    """

    X: Any
    classes: np.ndarray
    codes: np.ndarray
    columns: list[np.ndarray]
    splits: list[tuple[np.ndarray, np.ndarray]]
    weight: np.ndarray | None
    axes: tuple[bool, bool, bool]

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.codes), len(self.columns), len(self.splits)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of results: the axes that were asked for."""
        return tuple(n for n, asked in zip(self.counts, self.axes, strict=True) if asked)

    def name(self, labelling: int, subset: int, fold: int) -> str:
        """A fit in messages."""
        places = zip(
            ("labelling", "columns", "fold"), (labelling, subset, fold), self.axes, strict=True
        )
        return ", ".join(f"{word} {place}" for word, place, asked in places if asked) or "all rows"


def check_problems(X, y, columns, cv, groups, sample_weight) -> Problems:
    """All that was handed in, or a sentence that says what is wrong with it."""
    X = check_rows(EstimatorStandIn(), X, reset=True)
    refuse_masked(y=y)
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or labels.shape[-1] != X.shape[0]:
        raise ValueError(
            f"y must hold a label for each of the {X.shape[0]} rows of X, or a line of labels for "
            f"every labelling, (labellings, {X.shape[0]}); got shape {labels.shape}."
        )
    check_classification_targets(labels.ravel())
    classes, codes = label_codes(labels.ravel())
    codes = codes.reshape(-1, X.shape[0])
    problems = Problems(
        X, classes, codes, _checked_columns(columns, X.shape[1]),
        _checked_splits(X, classes[codes[0]], cv, groups), check_sample_weight(X, sample_weight),
        (labels.ndim == 2, columns is not None, cv is not None),
    )  # fmt: skip
    _refuse_one_class(problems)
    return problems


def _checked_columns(columns: Sequence | None, d: int) -> list[np.ndarray]:
    """Each subset as indices; all columns where none are named."""
    if columns is None:
        return [np.arange(d)]
    return [_indices(subset, d, place) for place, subset in enumerate(columns)]


def _indices(subset, d: int, place: int) -> np.ndarray:
    chosen = np.asarray(subset)
    if chosen.dtype == bool and chosen.shape == (d,):
        chosen = np.flatnonzero(chosen)
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu" and chosen.size > 0
    if not whole or chosen.min() < 0 or chosen.max() >= d:
        raise ValueError(
            f"columns must hold lists of column numbers from 0 to {d - 1}, or masks of length {d}; "
            f"got {subset!r} at place {place}."
        )
    return chosen.astype(np.int64)


def _checked_splits(X, y, cv, groups) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds, made with the first labelling, for all; without ``cv`` all rows are fitted."""
    n = X.shape[0]
    if cv is None:
        return [(np.arange(n), np.arange(0))]
    found = check_cv(cv, y, classifier=True).split(X, y, groups)
    return [(np.asarray(fit, np.int64), np.asarray(held, np.int64)) for fit, held in found]


def _refuse_one_class(problems: Problems) -> None:
    """Every fit needs two classes among its rows of positive weight."""
    for fold, (rows, _) in enumerate(problems.splits):
        codes = problems.codes[:, weighted(problems, rows)]
        alone = (codes == codes[:, :1]).all(axis=1) if codes.shape[1] else np.ones(len(codes), bool)
        if alone.any():
            which = problems.name(int(alone.argmax()), 0, fold)
            raise ValueError(
                f"fit_many needs two classes in every fit, but {int(alone.sum())} of {len(codes)} "
                f"labellings have only one among the rows of fold {fold}, the first of them at: "
                f"{which}. Leave these labellings out, or use fewer folds."
            )


def weighted(problems: Problems, rows: np.ndarray) -> np.ndarray:
    """The rows whose weight is above zero."""
    return rows if problems.weight is None else rows[problems.weight[rows] > 0]


def is_dense(problems: Problems) -> bool:
    return not sparse.issparse(problems.X)
