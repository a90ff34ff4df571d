"""Paths over C and cross-validation on the cluster: rows are spread out once for all fits.

A row's fold is drawn where the row is, from a seed, its part and its class, so that folds are
stratified in every part and the same however often a task is run.  A held-out row keeps its place
with weight zero: no data are moved or copied.  Along C the multipliers stay with their parts, and
every fit starts from the last.  The folds run in lockstep: one question serves all of them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ...core.solve.contract import Ending
from ...core.types import ArrayLike, MatrixLike
from ...models.tune import linear_svm_cv, logistic_regression_cv
from ...models.tune.best import CHOICE_RULES, best_index
from ...models.tune.folds import FoldProgress
from ...models.tune.grid import check_cs
from ...models.tune.search import CSearch, search_results
from ...models.validation import all_or_nothing, count, one_of, positive
from ..data import weights_by_class
from ..fit import fit_estimator, warn
from ..lockstep import run_in_lockstep
from ..parts import Block, Parts, Task
from ..side_by_side import jobs_at_once
from .common import OnDask, OneBlock
from .dask_parts import DaskParts
from .estimators import LinearSVM, LogisticRegression
from .inputs import DaskData, is_dask, spread_out, weighed
from .optional_dask import some_client
from .scoring import Judge, hear, judge_of, verdict
from .traffic import Traffic


class CPath(NamedTuple):
    """A model for every C, increasing."""

    Cs: np.ndarray
    models: list


def c_path(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    Cs: ArrayLike | int = 13,
    sample_weight: ArrayLike | None = None,
) -> CPath:
    """Fit an estimator of maxmargin.spread for every C upwards, each from the last.

    Interrupted from the keyboard it warns, and returns the models there are, if there are any.
    """
    grid = check_cs(Cs)
    models: list = []
    with some_client() as (client, where):
        data = spread_out(estimator, client, X, y, sample_weight)
        with closing(data.parts):
            try:
                steps = _along(estimator, grid, data, where)
                while (model := next(steps, None)) is not None:
                    models.append(model)
            except KeyboardInterrupt:
                if not models:
                    raise
                reached = f"C = {grid[len(models) - 1]:.4g}"
                warnings.warn(
                    f"c_path: Interrupted from the keyboard after {reached}.", stacklevel=2
                )
    return CPath(grid[: len(models)], models)


def _along(estimator, grid, data: DaskData, where: str):
    model = None
    for C in grid:
        start = model
        model = clone(estimator).set_params(C=float(C), warm_start=True)
        if start is not None:  # weights; multipliers are with the parts
            vars(model).update(coef_=start.coef_, intercept_=start.intercept_)
        model.where_ = where
        result = fit_estimator(model, data)
        if result.ending is Ending.INTERRUPTED:  # it has kept its best; that was not asked for
            raise KeyboardInterrupt
        model.traffic_ = data.parts.traffic
        warn(model, result)
        model.set_params(warm_start=estimator.warm_start)
        yield model


class OnDaskCV(OnDask, CSearch):
    """Chooses C by cross-validation on the cluster, then fits all rows.

    As in memory, but ``cv`` is a number of folds, and ``scoring`` the name of a score that blocks
    of rows can add up (``maxmargin.parts.dask.scoring``): of predictions, ``accuracy``,
    ``balanced_accuracy``, ``f1``, ``precision``, ``recall``, ``jaccard`` and their averages,
    ``matthews_corrcoef``; of probabilities, ``neg_log_loss``, ``neg_brier_score``; and those
    that rank rows, as ``roc_auc`` does, for which one value per held-out row comes here.
    """

    probability = False  # of held-out rows only what they add to a score comes here
    random_state: Any

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Choose C, then fit, on the current client's cluster."""
        with all_or_nothing(self), some_client() as (client, where):
            grid, folds = check_cs(self.Cs), count("cv", self.cv)
            one_of("rule", self.rule, CHOICE_RULES)
            if folds < 2:
                raise ValueError(f"cv must be at least 2 folds, got cv={self.cv!r}.")
            model = self._model(positive("tol_cv", self.tol_cv))
            judge = judge_of(self.scoring, model)
            data = spread_out(self, client, X, y, sample_weight, weigh=False)
            with closing(data.parts):
                search = Folds(data, judge, folds, int(self.random_state or 0), where)
                told = search.run(model, grid, type(self).__name__, int(self.verbose))
                done = told.shape[2]
                self._choose_from(told, grid)
                final = self._model(self.tol).set_params(C=self.C_, warm_start=False)
                result = fit_estimator(final, weighed(data, final))
            self.where_ = f"{data.parts.n_parts} parts on {where}"
            vars(self).pop("feature_names_in_", None)
            kept = set(final.get_params(deep=False))
            vars(self).update({k: v for k, v in vars(final).items() if k not in kept})
            self.traffic_ = data.parts.traffic
        if done < len(grid):
            self._tell_of_interrupt(done)
        warn(self, result)
        return self

    def _choose_from(self, told: np.ndarray, grid: np.ndarray) -> None:
        self.Cs_, self.scores_, self.n_splits_ = grid, told[0], len(told[0])
        grid = grid[: told.shape[2]]
        self.best_index_ = best_index(self.scores_, self.rule)
        self.C_ = float(grid[self.best_index_])
        self.best_score_ = float(self.scores_[:, self.best_index_].mean())
        self.cv_results_ = search_results(grid, *told)

    def plain(self) -> Any:
        """The estimator of ``maxmargin`` with the C chosen, as if the search had never been."""
        check_is_fitted(self)
        return CSearch.plain(self).plain()

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> float:
        """The score by which C was chosen; of a Dask collection blocks tell what adds up to it."""
        if params or not is_dask(X):
            return CSearch.score(self, X, y, sample_weight, **params)
        return self._judged(self.scoring, X, y, sample_weight)


class LinearSVMCV(OnDaskCV, linear_svm_cv.LinearSVMCV):  # type: ignore[override]
    """``maxmargin.LinearSVMCV`` on a cluster; see ``OnDaskCV`` for what ``scoring`` may be."""

    _tuned = LinearSVM


class LogisticRegressionCV(OnDaskCV, logistic_regression_cv.LogisticRegressionCV):  # type: ignore[override]
    """``maxmargin.LogisticRegressionCV`` on a cluster; see ``OnDaskCV`` for ``scoring``."""

    _tuned = LogisticRegression


class Dealt(NamedTuple):
    """A part's rows, and the fold of each."""

    block: Block
    fold: np.ndarray


class Folds(NamedTuple):
    """Rows dealt to folds where they are, and how the held-out ones are judged."""

    data: DaskData
    judge: Judge
    folds: int
    seed: int
    where: str

    def run(self, model, grid, who: str, verbose: int) -> np.ndarray:
        """Scores, seconds of fitting and of judging, and gaps: (4, folds, Cs).

        The folds share their rounds, so the seconds of one are also those of the others.  After
        Ctrl-C there are as many Cs as all folds have done.
        """
        told = np.full((4, self.folds, len(grid)), np.nan)
        progress = FoldProgress(who, self.folds * len(grid), verbose)
        parts = self._dealt()
        # In every fold all machines of a fit may ask together.
        k = len(self.data.classes)
        at_once = jobs_at_once(parts.n_features, parts.n_parts * k)
        with closing(parts):
            try:
                for first in range(0, self.folds, at_once):
                    some = range(first, min(self.folds, first + at_once))
                    fold = partial(self._fold, model, grid, told, progress)
                    run_in_lockstep(parts, {number: partial(fold, number) for number in some})
            except KeyboardInterrupt:
                done = int(np.isfinite(told[0]).all(axis=0).sum())
                if done == 0:
                    raise KeyboardInterrupt(
                        f"{who} was interrupted before any C had been tried on all {self.folds} "
                        "folds; there is nothing to choose from."
                    ) from None
                return told[:, :, :done]
        return told

    def _dealt(self) -> DaskParts:
        old = self.data.parts
        blocks = [
            old.client.submit(_deal, block, part, self.folds, self.seed, pure=False)
            for part, block in enumerate(old.blocks)
        ]
        return DaskParts(old.client, blocks, old.n_features, old.traffic)

    def _fold(self, model, grid, told: np.ndarray, progress: FoldProgress, fold: int, parts: Parts):
        """Fit all rows but those of the fold for every C, and judge by them."""
        data = self.data
        counts, mass = parts.total(_tally, fold, len(data.classes))
        for label in data.classes[counts == 0]:
            raise ValueError(
                f"All rows of class {label} are in fold {fold + 1} of {self.folds}, so that none "
                "is left to learn from. Leave the class out or give it more rows; if it has "
                "several, another random_state may deal them to different folds."
            )
        rest = replace(data, counts=counts, mass=mass)
        by_class = weights_by_class(model, rest)
        rest = replace(rest, parts=_Without(parts, fold, by_class, data.parts.traffic))  # type: ignore[arg-type]
        began = time.perf_counter()
        for step, fitted in enumerate(_along(model, grid, rest, self.where)):
            ready = time.perf_counter()
            plain = OneBlock(fitted, self.judge.method).model
            said = list(parts.ask(_judge, fold, self.judge, plain))
            score = verdict(self.judge, data.classes, said)
            now = time.perf_counter()
            gap = fitted.certificate_.relative_gap
            told[:, fold, step] = score, ready - began, now - ready, gap
            progress.tell(f"fold {fold + 1}, C = {grid[step]:.4g}")
            began = now


class _Without(Parts):
    """Parts in which the rows of one fold weigh nothing, and the others as their class does."""

    def __init__(self, parts: Parts, fold: int, by_class: np.ndarray | None, traffic: Traffic):
        self.parts, self.traffic = parts, traffic
        self.fold, self.by_class = fold, by_class
        self.n_parts, self.n_features, self.far = parts.n_parts, parts.n_features, parts.far

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        return self.parts.ask(_train, self.fold, self.by_class, task, *told)

    def total(self, task: Task, *told: Any) -> Any:
        return self.parts.total(_train, self.fold, self.by_class, task, *told)


def _deal(block: Block, part: int, folds: int, seed: int) -> Dealt:
    """Every row's fold: a random order of each class's rows, dealt out in turn."""
    fold = np.empty(len(block.y), dtype=np.int64)
    for code in np.unique(block.y):
        mine = np.flatnonzero(block.y == code)
        rng = np.random.default_rng([seed, part, int(code)])
        fold[rng.permutation(mine)] = (np.arange(len(mine)) + rng.integers(folds)) % folds
    return Dealt(block, fold)


def _tally(dealt: Dealt, state, fold: int, k: int):
    """Rows outside the fold by class, and their weights."""
    block, rest = dealt.block, np.flatnonzero(dealt.fold != fold)
    y, weight = block.y[rest], None if block.weight is None else block.weight[rest]
    return state, (np.bincount(y, minlength=k), np.bincount(y, weight, minlength=k))


def _train(dealt: Dealt, state, fold: int, by_class, task: Task, *told: Any):
    """Ask about the same rows; those of the fold weigh nothing."""
    inside, block = dealt.fold != fold, dealt.block
    weight = inside.astype(float) if block.weight is None else inside * block.weight
    weight = weight if by_class is None else weight * by_class[block.y]
    return task(block._replace(weight=weight), state, *told)


def _judge(dealt: Dealt, state, fold: int, judge: Judge, model):
    """What the rows held out say."""
    block, mine = dealt.block, np.flatnonzero(dealt.fold == fold)
    weight = None if block.weight is None else block.weight[mine]
    return state, hear(judge, model, block.X[mine], model.classes_[block.y[mine]], weight)


__all__ = ["CPath", "LinearSVMCV", "LogisticRegressionCV", "c_path"]
