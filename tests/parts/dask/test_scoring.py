"""Scores that blocks add up are scikit-learn's scores of all rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import get_scorer

import maxmargin
from maxmargin import spread as on_dask
from maxmargin.parts.dask import scoring
from maxmargin.parts.dask.scoring import (
    CONFUSION_SCORES,
    GATHERED_SCORES,
    SUM_SCORES,
    hear,
    judge_of,
    verdict,
)
from maxmargin.parts.dask.search import _deal
from maxmargin.parts.parts import Block
from tests.parts.dask.helpers import clouds, spread

TWO_ONLY = {"f1", "precision", "recall", "jaccard", "average_precision"}
MORE_ONLY = {"top_k_accuracy"} | {name for name in GATHERED_SCORES if name.startswith("roc_auc_")}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weigh", [False, True])
def test_every_score_of_any_cut_is_that_of_all_rows(k, weigh):
    X, y = clouds(150, k=k)
    y = np.searchsorted(np.unique(y), y)
    weight = np.random.default_rng(0).uniform(0, 2, len(y)) if weigh else None
    given = {"sample_weight": weight} if weigh else {}
    model = maxmargin.LogisticRegression(C=0.01, tol=1e-3).fit(X, y)
    tried = 0
    for name in (*CONFUSION_SCORES, *SUM_SCORES, *GATHERED_SCORES):
        if name in (MORE_ONLY if k == 2 else TWO_ONLY | {"roc_auc"}) or (weigh and "ovo" in name):
            continue
        judge = judge_of(name, model)
        for cuts in ([], [2, 2, 70]):  # one block, and four of which one is empty
            edges = [0, *cuts, len(y)]
            said = [
                hear(judge, model, X[a:b], y[a:b], None if weight is None else weight[a:b])
                for a, b in pairwise(edges)
            ]
            assert verdict(judge, model.classes_, said) == pytest.approx(
                get_scorer(name)(model, X, y, **given), rel=1e-9
            )
        tried += 1
    assert tried >= 18


def test_cells_do_not_grow_with_the_rows():
    model = maxmargin.LogisticRegression(tol=1e-3).fit(*clouds(60, k=3))
    for n in (100, 1000):
        said = hear(judge_of("f1_macro", model), model, *clouds(n, k=3), None)
        assert len(said.y) <= 9


def test_what_cannot_be_added_up_is_refused_in_words(monkeypatch):
    svm, logistic = on_dask.LinearSVM(), on_dask.LogisticRegression()
    for asked in ("r2", len, "adjusted_rand_score"):
        with pytest.raises(ValueError, match=r"got scoring=.*There are accuracy"):
            judge_of(asked, svm)
    with pytest.raises(ValueError, match=r"neg_log_loss.*predict_proba.*LinearSVM does not have"):
        judge_of("neg_log_loss", svm)
    X, y = clouds(60)
    model = maxmargin.LogisticRegression(tol=1e-3).fit(X, y)
    with pytest.raises(ValueError, match="a label the model does not know: oak"):
        hear(judge_of("neg_log_loss", logistic), model, X[:1], np.array(["oak"]), None)
    monkeypatch.setattr(scoring, "MAX_GATHERED_VALUES", 50)
    judge = judge_of("roc_auc", logistic)
    for cut in (30, 60):  # too many together, and too many of one block
        said = [hear(judge, model, X[a:b], y[a:b], None) for a, b in ((0, cut), (cut, 60))]
        with pytest.raises(ValueError, match=r"60 values.*50 is the most"):
            verdict(judge, model.classes_, said)


@pytest.mark.parametrize(
    ("name", "asked", "k"),
    [
        ("LogisticRegressionCV", "neg_log_loss", 3),
        ("LogisticRegressionCV", "roc_auc", 2),
        ("LinearSVMCV", "f1_macro", 2),
    ],
)
def test_a_search_is_that_of_memory_on_the_same_splits(near, name, asked, k):
    X, y = clouds(120, 2, k=k)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    cuts = [0, 70, 120]
    codes = np.searchsorted(np.unique(y), y)
    fold = np.concatenate(
        [_deal(Block(None, codes[a:b], None), part, 2, 7).fold
         for part, (a, b) in enumerate(pairwise(cuts))]
    )  # fmt: skip
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    both = {"Cs": [1e-3, 0.1], "scoring": asked, "tol": 1e-4, "tol_cv": 1e-6}
    both |= {"class_weight": "balanced", "random_state": 7}  # of each fold's own training rows
    DX, Dy = spread(X, y, [70])
    there = getattr(on_dask, name)(cv=2, **both).fit(DX, Dy, sample_weight=weight)
    here = getattr(maxmargin, name)(cv=splits, **both).fit(X, y, sample_weight=weight)
    assert there.scores_ == pytest.approx(here.scores_, rel=1e-3)
    assert there.C_ == here.C_
    assert set(here.cv_results_) == set(there.cv_results_)
    assert there.score(DX, Dy, weight) == pytest.approx(here.score(X, y, weight), rel=1e-3)
    assert type(there.plain()) is type(here.plain())
    assert there.plain().C == here.C_


def test_a_fold_is_told_of_progress(near, capsys):
    X, y = clouds(60, 2)
    on_dask.LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, tol=1e-2, verbose=2).fit(*spread(X, y, [30]))
    told = capsys.readouterr().err
    assert "LogisticRegressionCV" in told
    assert "fit    4 of 4  (fold 2, C = 1)" in told
