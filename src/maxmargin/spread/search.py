"""Paths over C and cross-validation on the cluster: rows are spread out once for all fits.

A row's fold is drawn where the row is, from a seed, its part and its class, so that folds are
stratified in every part and the same however often a task is run.  A held-out row keeps its place
with weight zero: no data are moved or copied.  Along C the multipliers stay with their parts, and
every fit starts from the last.  The folds are voices of a chorus: one question serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..estimators.validation import all_or_nothing, count, one_of, positive
from ..parts.chorus import sing
from ..parts.parts import Block, Parts, Task, total
from ..parts.side_by_side import machines_at_once
from ..select import linear_svm_cv, logistic_regression_cv
from ..select.best import RULES, best_index
from ..select.grid import check_cs
from .common import OnDask
from .dask_parts import DaskParts
from .extra import some_client
from .inputs import Data, spread_out
from .linear_svm import LinearSVM
from .logistic_regression import LogisticRegression
from .traffic import Traffic


class CPath(NamedTuple):
    """A model for every C, increasing."""

    Cs: np.ndarray
    models: list


def c_path(estimator, X, y, Cs=13, sample_weight=None) -> CPath:
    """Fit an estimator of maxmargin.spread for every C upwards, each from the last."""
    grid = check_cs(Cs)
    with some_client() as (client, where):
        data = spread_out(estimator, client, X, y, sample_weight)
        with closing(data.parts):
            return CPath(grid, list(_along(estimator, grid, data, where)))


def _along(estimator, grid, data: Data, where: str):
    model = None
    for C in grid:
        start = model
        model = clone(estimator).set_params(C=float(C), warm_start=True)
        if start is not None:  # weights; multipliers are with the parts
            vars(model).update(coef_=start.coef_, intercept_=start.intercept_)
        model._introduce(data)
        model.where_ = where
        model._fit_parts(data)
        model.traffic_ = data.parts.traffic
        model._farewell()
        model.set_params(warm_start=estimator.warm_start)
        yield model


class OnDaskCV(OnDask):
    """Chooses C by cross-validation on the cluster, then fits all rows.

    As in memory, but ``cv`` is a number of folds and the score is accuracy.
    """

    _spread: Any
    Cs: Any
    cv: int
    scoring: Any
    rule: str
    tol: float
    tol_cv: float
    random_state: Any

    def fit(self, X, y, sample_weight=None):
        """Choose C, then fit, on the current client's cluster."""
        with all_or_nothing(self), some_client() as (client, where):
            grid, folds = check_cs(self.Cs), count("cv", self.cv)
            one_of("rule", self.rule, RULES)
            if self.scoring not in (None, "accuracy"):
                raise ValueError(f"On Dask C is chosen by accuracy only, got {self.scoring!r}.")
            if folds < 2:
                raise ValueError(f"cv must be at least 2 folds, got cv={self.cv!r}.")
            data = spread_out(self, client, X, y, sample_weight)
            model = self._model(positive("tol_cv", self.tol_cv))
            seed = int(self.random_state or 0)
            scores = _folds(model, grid, data, folds, seed, where)
            self.Cs_, self.scores_, self.n_splits_ = grid, np.array(scores), folds
            self.best_index_ = best_index(self.scores_, self.rule)
            self.C_ = float(grid[self.best_index_])
            self.best_score_ = float(self.scores_[:, self.best_index_].mean())
            self._introduce(data)
            self.where_ = f"{data.parts.n_parts} parts on {where}"
            final = self._model(self.tol).set_params(C=self.C_, warm_start=False)
            final._introduce(data)
            with closing(data.parts):
                final._fit_parts(data)
            kept = set(final.get_params(deep=False))
            vars(self).update({k: v for k, v in vars(final).items() if k not in kept})
            self.traffic_ = data.parts.traffic
        self._spread._farewell(self)
        return self

    def _model(self, tol: float):
        names = set(self._spread._get_param_names()) - {"C", "warm_start", "tol"}
        return self._spread(tol=tol, **{name: getattr(self, name) for name in names})


class LinearSVMCV(OnDaskCV, linear_svm_cv.LinearSVMCV):  # type: ignore[misc]
    """``maxmargin.LinearSVMCV`` on a cluster."""

    _spread = LinearSVM
    _machines = LinearSVM._machines


class LogisticRegressionCV(  # type: ignore[misc]
    OnDaskCV, logistic_regression_cv.LogisticRegressionCV
):
    """``maxmargin.LogisticRegressionCV`` on a cluster."""

    _spread = LogisticRegression
    predict_proba = LogisticRegression.predict_proba
    predict_log_proba = LogisticRegression.predict_log_proba


class Dealt(NamedTuple):
    """A part's rows, and the fold of each."""

    block: Block
    fold: np.ndarray


class _Without:
    """Parts in which the rows of one fold weigh nothing."""

    def __init__(self, parts: Parts, fold: int, traffic: Traffic):
        self.parts, self.fold, self.traffic = parts, fold, traffic
        self.n_parts, self.n_features = parts.n_parts, parts.n_features

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        return self.parts.ask(_train, self.fold, task, *told)


def _folds(model, grid, data: Data, folds: int, seed: int, where: str) -> list[list[float]]:
    """Accuracy on the rows held out, by fold and C; the folds' fits share their rounds."""
    old = data.parts
    blocks = [
        old.client.submit(_deal, block, part, folds, seed, pure=False)
        for part, block in enumerate(old.blocks)
    ]
    parts = DaskParts(old.client, blocks, old.n_features, old.traffic)
    # In every fold all machines of a fit may ask together.
    at_once = machines_at_once(old.n_features, old.n_parts * len(data.classes))
    scores: list[list[float]] = []
    with closing(parts):
        for first in range(0, folds, at_once):
            some = range(first, min(folds, first + at_once))
            scores += sing(
                parts, {fold: partial(_fold, model, grid, data, fold, where) for fold in some}
            )
    return scores


def _fold(model, grid, data: Data, fold: int, where: str, parts: Parts) -> list[float]:
    """Accuracy on the rows of one fold, for every C."""
    rest = data._replace(parts=_Without(parts, fold, data.parts.traffic))  # type: ignore[arg-type]
    k, scores = len(data.classes), []
    for fitted in _along(model, grid, rest, where):
        votes = getattr(fitted, "multiclass", None) == "pairs" and k > 2
        right, seen = total(parts, _judge, fold, fitted.coef_, fitted.intercept_, k, votes)
        scores.append(right / seen)
    return scores


def _deal(block: Block, part: int, folds: int, seed: int) -> Dealt:
    return Dealt(block, _fold_of(block, part, folds, seed))


def _fold_of(block: Block, part: int, folds: int, seed: int) -> np.ndarray:
    """Every row's fold: a random order of each class's rows, dealt out in turn."""
    fold = np.empty(len(block.y), dtype=np.int64)
    for code in np.unique(block.y):
        mine = np.flatnonzero(block.y == code)
        rng = np.random.default_rng([seed, part, int(code)])
        fold[rng.permutation(mine)] = (np.arange(len(mine)) + rng.integers(folds)) % folds
    return fold


def _train(dealt: Dealt, memory, fold: int, task: Task, *told: Any):
    """Ask about the same rows; those of the fold weigh nothing."""
    inside, block = dealt.fold != fold, dealt.block
    weight = inside.astype(float) if block.weight is None else inside * block.weight
    return task(block._replace(weight=weight), memory, *told)


def _judge(dealt: Dealt, memory, fold: int, W, b, k: int, pairs: bool):
    """The weight of the rows held out that are classified rightly, and of all of them."""
    from ..estimators.votes import votes

    block, mine = dealt.block, np.flatnonzero(dealt.fold == fold)
    f = np.asarray(block.X[mine] @ W.T) + b
    f = votes(f, k) if pairs else f
    guess = (f[:, 0] > 0).astype(int) if f.shape[1] == 1 else f.argmax(axis=1)
    weight = np.ones(len(mine)) if block.weight is None else block.weight[mine]
    return memory, (float(weight[guess == block.y[mine]].sum()), float(weight.sum()))


__all__ = ["CPath", "LinearSVMCV", "LogisticRegressionCV", "c_path"]
