"""CSearch: what every ``…CV`` estimator does around the estimator it tunes.

    C = argmax over the grid of the mean score of k fits, each judged on the rows it never saw

Every fold follows the grid upwards, each fit starting from the last (``folds.py``).  Nothing of
the held-out rows reaches a fold's fit, not even a starting point: held-out rows changed, its
models stay the same to the last bit.  The final fit starts from the mean of the folds'
multipliers, of each row over the folds that were trained on it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ...core.types import ArrayLike, MatrixLike
from ..deadline import OutOfTimeError, deadline, folds_seconds
from ..device.tensors import wants_device
from ..routing import (
    Metadata,
    given_to_folds,
    given_to_scorer,
    rows_of,
    search_router,
)
from ..validation import all_or_nothing, check_sample_weight, one_of, positive
from .best import CHOICE_RULES, best_index
from .checked_data import CheckedData, checked
from .folds import Chains
from .grid import check_cs
from .lacking import WithAllClasses, told_labels, weights_of_all
from .out_of_fold import OutOfFold
from .path_extrapolation import PathExtrapolation
from .scoring import accuracy, scorer_of, sklearn_scorer

# Bytes of X up to which the training parts of all folds are kept side by side; beyond, they are
# cut out again for every fit, which costs about as much as one pass over the data.
MAX_FOLD_BYTES = 256e6
# Where a solver estimates its error well (quasi-Newton steps on logistic losses), the fits of the
# folds end without a proof when the estimate is this share of the gap asked for.  A proof exceeds
# the error there by up to a thousand times, the more the larger C is.  With this share 63 of 65
# fits to MiniLM embeddings had smaller errors than scikit-learn's, the others larger by 2e-7.
ESTIMATE_TOL_SHARE = 0.005
# Multipliers of all folds and all C that are kept to start the final fit from.
MAX_KEPT_MULTIPLIERS = 5e7
# Weights of all folds and all C that a fitted search keeps as coefs_paths_: 80 MB.
MAX_PATH_WEIGHTS = 1e7


# What a search adds to the attributes of the estimator it tunes.
SEARCH_ATTRIBUTES = (
    "C_",
    "Cs_",
    "scores_",
    "cv_results_",
    "best_index_",
    "best_score_",
    "n_splits_",
    "coefs_paths_",
)


class CSearch:
    """Mixin of ``…CV`` estimators, in front of the estimator they tune.

    A class names the estimator in ``_tuned`` and has the parameters Cs, cv, scoring, rule,
    tol_cv, n_jobs, and all of the estimator's except C and warm_start.
    """

    _tuned: Any
    warm_start = False
    probability = True  # the folds have the scores it takes
    Cs: Any
    cv: Any
    scoring: Any
    rule: str
    tol: float
    tol_cv: float
    n_jobs: int | None
    verbose: int
    get_params: Callable

    @property
    def C(self) -> float:
        """The C chosen; what the methods of the tuned estimator call C."""
        return self.C_

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose C by cross-validation, then fit to all of X (n, d) and y.

        ``groups`` go to the splitter; ``sample_weight`` to every fit and to the scorer.  Where
        scikit-learn's metadata routing is enabled, splitter and scorer get what they ask for, of
        these and of ``params``.
        """
        told = given_to_folds(self, sample_weight, groups, params)
        if hasattr(self, "device") and wants_device(self, X):
            return self._fit_on_device(X, y, sample_weight, told.split.get("groups"))
        with all_or_nothing(self):
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)  # of an earlier fit
            Cs = check_cs(self.Cs)
            one_of("rule", self.rule, CHOICE_RULES)
            data = checked(self, X, y, sample_weight)
            splits = _splits(self.cv, data, told.split)
            search = CGridSearch(self._model(positive("tol_cv", self.tol_cv)), Cs, data, splits)
            search.scored_with = checked_metadata(told.score, data)
            scorer = scorer_of(self.scoring)
            with deadline(folds_seconds()):
                whole = search.run(type(self).__name__, scorer, self.n_jobs, int(self.verbose))
            self._choose(search, Cs)
            self._refit(search, data)
            self._keep_calibration(search)
        if not whole:
            self._tell_of_interrupt(search)
        return self

    def _fit_on_device(self, X, y, sample_weight, groups) -> Self:
        from ..device.search import fit

        return fit(self, X, y, sample_weight, groups)

    def plain(self) -> Any:
        """The tuned estimator with the C chosen, fitted, as if the search had never been."""
        model = self._model(self.tol).set_params(C=self.C_, warm_start=False)
        left = {*self.get_params(deep=False), *SEARCH_ATTRIBUTES}
        vars(model).update({k: v for k, v in vars(self).items() if k not in left})
        return model

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> float:
        """The score by which C was chosen, on any data: accuracy unless ``scoring`` says other."""
        given = given_to_scorer(self, sample_weight, params)
        return scorer_of(self.scoring)(self, X, y, **given)

    def get_metadata_routing(self) -> Any:
        """Who gets what, as scikit-learn's routing asks: splitter and scorer, what they ask for."""
        return search_router(self, self.cv, sklearn_scorer(self.scoring))

    def _model(self, tol: float):
        """The tuned estimator with our parameters."""
        names = set(self._tuned._get_param_names()) - {"C", "warm_start", "tol", "probability"}
        params = {name: getattr(self, name) for name in names}
        verbose = {"verbose": max(0, int(self.verbose) - 1)} if "verbose" in names else {}
        return self._tuned(tol=tol, warm_start=True, **(params | verbose))

    def _choose(self, search: CGridSearch, Cs: np.ndarray) -> None:
        done = search.complete
        if done == 0 and search.late:
            raise OutOfTimeError(
                f"{type(self).__name__} had no time to try any C on all {len(search.splits)} folds."
            )
        if done == 0:
            raise KeyboardInterrupt(
                f"{type(self).__name__} was interrupted before any C had been tried on all "
                f"{len(search.splits)} folds; there is nothing to choose from."
            )
        self.Cs_, self.scores_ = Cs, search.scores
        self.best_index_ = best_index(search.scores[:, :done], self.rule)
        self.C_ = float(Cs[self.best_index_])
        self.best_score_ = float(search.scores[:, self.best_index_].mean())
        self.n_splits_ = len(search.splits)
        self.cv_results_ = search.results()
        if (paths := search.paths()) is not None:
            self.coefs_paths_ = paths

    def _refit(self, search: CGridSearch, data: CheckedData) -> None:
        model = self._model(self.tol).set_params(C=self.C_)
        vars(model).update(search.start(self.best_index_))
        with config_context(assume_finite=True):
            data.fit(model)
        params = set(self.get_params(deep=False)) | {"C", "warm_start", "probability"}
        vars(self).update({k: v for k, v in vars(model).items() if k not in params})

    def _keep_calibration(self, search: CGridSearch) -> None:
        """Probabilities, sets and the error on new rows, from what the folds said anyway."""
        done = search.complete
        search.out_of_fold.answers = search.out_of_fold.answers[:, :done]
        own = self._tuned._own_probabilities
        found = search.out_of_fold.calibration(self.best_index_, search.data.weight, own)
        if found is not None:
            self.calibration_ = found

    def _tell_of_interrupt(self, search: CGridSearch) -> None:
        done = search.complete
        why = "ran out of time" if search.late else "was interrupted from the keyboard"
        warnings.warn(
            f"{type(self).__name__} {why}: C was chosen among the first {done} of "
            f"{len(self.Cs_)} values, up to C = {self.Cs_[done - 1]:.4g}, for which all folds were "
            "done.",
            ConvergenceWarning,
            stacklevel=3,
        )


@dataclass
class CGridSearch:
    """All fits of a grid and a list of splits, and what came of them."""

    model: Any
    Cs: np.ndarray
    data: CheckedData
    splits: list
    scores: np.ndarray = field(init=False)
    scored_with: Metadata = field(default_factory=dict)
    complete: int = 0
    late: bool = False

    def __post_init__(self):
        shape = (len(self.splits), len(self.Cs))
        self.scores = np.full(shape, np.nan)
        self.fit_times, self.score_times = np.full(shape, np.nan), np.full(shape, np.nan)
        self.gaps = np.full(shape, np.nan)
        self.models = [clone(self.model) for _ in self.splits]
        self.foresight = [
            PathExtrapolation(ESTIMATE_TOL_SHARE * self.model.tol) for _ in self.splits
        ]
        self.found: list[dict[int, dict]] = [{} for _ in self.splits]
        self.keep = len(self.splits) * self.data.nbytes <= MAX_FOLD_BYTES
        self.parts: dict[int, tuple[CheckedData, CheckedData]] = {}
        self.out_of_fold = OutOfFold(self.data.codes, len(self.data.classes), len(self.Cs))

    def run(self, who: str, scorer: Callable, n_jobs, verbose: int) -> bool:
        """False if interrupted; ``complete`` says how many C all folds have got to."""

        def link(fold: int, step: int) -> None:
            with config_context(assume_finite=True):
                self._fit(fold, step, scorer)

        def name(fold: int, step: int) -> str:
            return f"fold {fold + 1}, C = {self.Cs[step]:.4g}"

        chains = Chains(who, len(self.splits), len(self.Cs), link)
        whole = chains.run(n_jobs, verbose, name)
        self.complete = chains.complete
        self.late = not whole and not chains.pressed and chains.error is None
        self.parts.clear()
        self.scores[:, self.complete :] = np.nan
        return whole

    def _fit(self, fold: int, step: int, scorer: Callable) -> None:
        train, test = self._part(fold)
        model, foresight = self.models[fold], self.foresight[fold]
        began = time.perf_counter()
        foresight.prepare(model, float(self.Cs[step]))
        train.fit(model, foresight.memory)
        foresight.remember(model)
        fitted = time.perf_counter()
        self.scores[fold, step] = self._judge(fold, step, model, test, scorer)
        self.fit_times[fold, step] = fitted - began
        self.score_times[fold, step] = time.perf_counter() - fitted
        certificate = model.certificate_
        bounds = model.history_[-1] if certificate is None else certificate
        self.gaps[fold, step] = bounds.relative_gap
        self._note(fold, step, model)

    def _judge(self, fold: int, step: int, model, test: CheckedData, scorer: Callable) -> float:
        """The score of a fit on rows it has not seen, and what it said of each."""
        S, predicted = model._class_scores(test.X)
        own = np.searchsorted(self.data.classes, model.classes_)
        self.out_of_fold.note(self.splits[fold][1], step, S, predicted, own)
        given = rows_of(self.scored_with, self.splits[fold][1], len(self.data.y))
        if scorer is accuracy:
            right = model.classes_[predicted] == test.y
            return float(np.average(right, weights=given.get("sample_weight")))
        classes = self.data.classes
        if len(own) < len(classes) or test.lacks_a_class:
            model, scorer = WithAllClasses(model, classes), told_labels(scorer, classes)
        return scorer(model, test.X, test.y, **given)

    def _part(self, fold: int) -> tuple[CheckedData, CheckedData]:
        """The rows to train on and those to judge by."""
        if fold in self.parts:
            return self.parts[fold]
        train, test = self.splits[fold]
        parts = self.data.part(train), self.data.part(test)
        if self.keep:
            self.parts[fold] = parts
        return parts

    def _note(self, fold: int, step: int, model) -> None:
        """What the final fit may start from."""
        names = ("coef_", "intercept_", "alpha_", "classes_")
        kept = {name: getattr(model, name) for name in names if hasattr(model, name)}
        size = kept["alpha_"].size if "alpha_" in kept else 0
        if size * self.scores.size > MAX_KEPT_MULTIPLIERS:
            del kept["alpha_"]
        self.found[fold][step] = kept

    def start(self, step: int) -> dict:
        """Fitted attributes for all rows, averaged over the folds; none if classes differ."""
        found = [self.found[fold][step] for fold in range(len(self.splits))]
        first = found[0]
        if any(not np.array_equal(f["classes_"], first["classes_"]) for f in found):
            return {}
        mean = {
            name: np.mean([f[name] for f in found], axis=0)
            for name in ("coef_", "intercept_")
            if name in first
        }
        if "alpha_" in first:
            n = len(self.data.y)
            total, times = np.zeros((n, *first["alpha_"].shape[1:])), np.zeros(n)
            for (train, _), f in zip(self.splits, found, strict=True):
                total[train] += f["alpha_"]
                times[train] += 1.0
            mean["alpha_"] = (total.T / np.maximum(times, 1.0)).T
        return mean | {"classes_": first["classes_"]}

    def paths(self) -> np.ndarray | None:
        """(folds, Cs, rows of coef_, d + 1): weights and biases of every fit, NaN where there is
        none; None where these are no weights, or too many to be kept."""
        done = [found for fold in self.found for found in fold.values()]
        if not done or "coef_" not in done[0]:
            return None
        rows, d = max(found["coef_"].shape for found in done)
        shape = (*self.scores.shape, rows, d + 1)
        if np.prod(shape) > MAX_PATH_WEIGHTS:
            return None
        paths = np.full(shape, np.nan)
        for fold, steps in enumerate(self.found):
            for step in range(self.complete):
                paths[fold, step] = weights_of_all(steps[step], self.data.classes, rows)
        return paths

    def results(self) -> dict:
        """As ``GridSearchCV`` writes it, for every C that all folds have got to."""
        done = slice(0, self.complete)
        told = (self.scores, self.fit_times, self.score_times, self.gaps)
        return search_results(self.Cs[done], *(each[:, done] for each in told))


def search_results(Cs, scores, fit_times, score_times, gaps) -> dict:
    """As ``GridSearchCV`` writes it, from what every fold (row) told of every C (column)."""
    mean = scores.mean(axis=0)
    known = np.where(np.isnan(mean), -np.inf, mean)
    return {
        "param_C": Cs,
        "params": [{"C": float(C)} for C in Cs],
        **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": 1 + (known[:, None] < known).sum(axis=1),
        "mean_fit_time": fit_times.mean(axis=0),
        "std_fit_time": fit_times.std(axis=0),
        "mean_score_time": score_times.mean(axis=0),
        "std_score_time": score_times.std(axis=0),
        "max_relative_gap": gaps.max(axis=0),
    }


def checked_metadata(given: Metadata, data: CheckedData) -> Metadata:
    """The same with weights of at least zero, if there are any."""
    if "sample_weight" not in given:
        return given
    return given | {"sample_weight": check_sample_weight(data.X, given["sample_weight"])}


def _splits(cv, data: CheckedData, given: Metadata) -> list:
    """(train, test) rows of every fold.  Where they are given scikit-learn need not be asked."""
    if isinstance(cv, list):
        return cv
    from sklearn.model_selection import check_cv

    given = {"groups": None} | given
    splitter = check_cv(cv, data.y, classifier=True)
    return list(splitter.split(data.X, data.y, given.pop("groups"), **given))
