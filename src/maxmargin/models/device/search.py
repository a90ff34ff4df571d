"""Choosing C on torch rows: every fold follows the grid upwards, and every fit is proved."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from ...core.solve.softmax.torch_path import solve_path
from ..fitting import make_monitor
from ..svm.linear_svm import LinearSVM
from ..tune.best import CHOICE_RULES, best_index
from ..tune.grid import check_cs
from ..tune.search import search_results
from ..validation import all_or_nothing, one_of, positive
from . import logistic, svm
from .door import DeviceData, check_device_data, tidy
from .predict import guesses

Weights = tuple[torch.Tensor, torch.Tensor]


def family(model) -> Any:
    """What knows how a model's problem is posed and told."""
    return svm if isinstance(model, LinearSVM) else logistic


def fit(search, X, y, sample_weight=None, groups=None) -> Any:
    """Choose C by cross-validation, then fit to all rows: what ``CSearch.fit`` does on tensors."""
    with all_or_nothing(search):
        for name in [name for name in vars(search) if name.endswith("_")]:
            delattr(search, name)  # of an earlier fit
        Cs = check_cs(search.Cs)
        one_of("rule", search.rule, CHOICE_RULES)
        _check_scoring(search)
        model = search._model(positive("tol_cv", search.tol_cv))
        family(model).check_solver(model)
        data = check_device_data(search, X, y, sample_weight)
        splits = _splits(search.cv, data, groups)
        with tidy(data.rows.chunk):
            found = [follow(model, data, Cs, *split) for split in splits]
        scores, fit_times, score_times, gaps = np.stack([told for told, _ in found], axis=1)
        best = best_index(scores, search.rule)
        ends = [weights[best] for _, weights in found]
        search.Cs_, search.scores_, search.best_index_ = Cs, scores, best
        search.C_ = float(Cs[best])
        search.best_score_ = float(scores[:, best].mean())
        search.n_splits_ = len(splits)
        search.cv_results_ = search_results(Cs, scores, fit_times, score_times, gaps)
        _refit(search, data, ends)
    return search


def follow(model, data: DeviceData, Cs, train, test) -> tuple[np.ndarray, list[Weights]]:
    """Accuracy, seconds of fit and of scoring, and gap for every C; and its weights (m, d)."""
    inside, outside = data.part(train), data.part(test)
    problem = family(model).pose(model, inside, 1.0)
    told, weights = np.empty((4, len(Cs))), []
    share = outside.weight
    assert outside.codes is not None
    began = time.perf_counter()
    for step, solution in enumerate(solve_path(problem, Cs, lambda: make_monitor(model))):
        fitted = time.perf_counter()
        W, b = solution.point.W, solution.point.b
        right = guesses(outside.rows, W.T, b).eq(outside.codes).double()
        mean = right.mean() if share is None else (right * share).sum() / share.sum()
        scored = time.perf_counter()
        told[:, step] = (
            float(mean), fitted - began, scored - fitted, solution.certificate.relative_gap
        )  # fmt: skip
        weights.append((W, b))
        began = scored
    return told, weights


def _refit(search, data: DeviceData, ends: list[Weights]) -> None:
    """The fit to all rows, from the mean of the folds' weights."""
    model = search._model(search.tol).set_params(C=search.C_)
    model.n_features_in_ = data.rows.d
    model.coef_ = torch.stack([W for W, _ in ends]).mean(0)
    model.intercept_ = torch.stack([b for _, b in ends]).mean(0)
    family(model).fit_data(model, data)
    params = set(search.get_params(deep=False)) | {"C", "warm_start"}
    vars(search).update({k: v for k, v in vars(model).items() if k not in params})


def _check_scoring(search) -> None:
    if search.scoring not in (None, "accuracy"):
        raise ValueError(
            f"On torch rows C is chosen by accuracy, got scoring={search.scoring!r}. Leave it "
            "out, or pass NumPy arrays and no device."
        )


def _splits(cv, data: DeviceData, groups) -> list:
    """(train, test) rows of every fold; only labels are asked."""
    if isinstance(cv, list):
        return cv
    from sklearn.model_selection import check_cv

    assert data.codes is not None
    labels = data.codes.cpu().numpy()
    splitter = check_cv(cv, labels, classifier=True)
    return list(splitter.split(np.zeros((len(labels), 1)), labels, groups))
