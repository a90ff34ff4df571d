"""The choice of C by our cross-validated estimators, told as errors and as a plain model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models.registry import Method
from ...models.tune.stratified_folds import stratified_folds

TUNING_CS = np.logspace(-3, 3, 13)
# Values of X below which the fits of a fold are mostly Python, which threads cannot share.
MIN_THREADED_VALUES = 200_000


@dataclass(frozen=True)
class Tuning:
    """Errors (folds, Cs) of every C tried; ``best`` is the place of the C chosen."""

    Cs: np.ndarray
    errors: np.ndarray
    best: int

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
            "C": self.Cs.tolist(),
            "error": self.mean.tolist(),
            "standard_error": self.standard_error.tolist(),
        }


def tune(
    method: Method, given: dict, X, y, weight, folds: int, seed: int, threads: int | None = None
) -> tuple[Tuning, Any, list[str]]:
    """The C with the fewest errors on held-out rows, the smallest of equals.

    ``given``: parameters of the method's estimator.  ``threads`` is the most to use, None for one
    a core.  Returns the model fitted with that C too, and its warnings.
    """
    fewest = int(np.unique(y, return_counts=True)[1].min())
    if fewest < 2:
        raise ValueError(
            "C cannot be chosen by cross-validation: some class has one example only. Give --C, "
            "or more examples of it."
        )
    splits = stratified_folds(y, min(folds, fewest), seed)
    jobs = 1 if X.size < MIN_THREADED_VALUES else (threads or -1)
    search = method.search_class()(Cs=TUNING_CS, cv=splits, n_jobs=jobs, **given)
    notes = fit_quietly(search, X, y, sample_weight=weight)
    tuning = Tuning(np.asarray(search.Cs_), 1.0 - search.scores_, int(search.best_index_))
    return tuning, search.plain(), notes


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
