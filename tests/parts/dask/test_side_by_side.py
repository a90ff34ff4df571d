"""On Dask machines and folds share their rounds; here with parts in one process."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("distributed")

from maxmargin import spread as on_dask
from maxmargin.core.problem.losses import LOSSES
from maxmargin.parts.dask import search
from maxmargin.parts.dask.inputs import DaskData
from maxmargin.parts.dask.scoring import judge_of
from maxmargin.parts.dask.traffic import Traffic
from maxmargin.parts.fit import fit_estimator
from maxmargin.parts.lockstep import run_in_lockstep
from maxmargin.parts.parts import Block
from maxmargin.parts.solve.tasks import ask_total
from maxmargin.parts.solve.two_class.tasks import BinarySpec, begin
from tests.parts.core.helpers import Here
from tests.parts.dask.helpers import clouds


class Client:
    def submit(self, task, *args, pure):
        return task(*args)


class Local(Here):
    """DaskParts in this process; questions and memories are pickled, as on their way."""

    far = True

    def __init__(self, client, blocks, n_features, traffic=None):
        self.client, self.blocks, self.n_features = client, blocks, n_features
        self.n_parts, self.memory = len(blocks), [None] * len(blocks)
        self.traffic, self.rounds = traffic or Traffic(len(blocks)), 0

    def ask(self, task, *told):
        self.traffic.ask(told, self.n_parts)
        for answer in super().ask(task, *told):
            self.traffic.answer(answer)
            yield answer

    def close(self):
        pass


def data(k=4, cuts=(0, 50, 120, 240), weight=None):
    X, y = clouds(k=k)
    classes, codes = np.unique(y, return_inverse=True)
    blocks = [
        Block(X[a:b], codes[a:b], None if weight is None else weight[a:b])
        for a, b in pairwise(cuts)
    ]
    counts = np.bincount(codes)
    parts = Local(Client(), blocks, X.shape[1])
    return DaskData(parts, classes, counts, counts.astype(float), X.dtype)


def one_at_a_time(monkeypatch):
    for module in ("inputs", "search"):
        monkeypatch.setattr(f"maxmargin.parts.dask.{module}.jobs_at_once", lambda *_: 1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("rule", ["rest", "pairs"])
def test_the_same_machines_and_bytes_in_fewer_rounds(monkeypatch, rule, loss):
    def fit():
        rows = data()
        model = on_dask.LinearSVM(C=0.1, multiclass=rule, loss=loss, tol=1e-3)
        fit_estimator(model, rows)
        return model, rows.parts.traffic

    ours, few = fit()
    one_at_a_time(monkeypatch)
    theirs, many = fit()
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.certificate_ == theirs.certificate_
    assert few.rounds < 2 * many.rounds / len(ours.coef_)
    assert few.received == many.received  # what comes back is the same, only together


def test_the_next_fit_along_C_finds_every_machines_multipliers():
    rows = data()
    model = on_dask.LinearSVM(C=0.1, multiclass="rest", tol=1e-4)
    fit_estimator(model, rows)
    machines = [BinarySpec(0.2, LOSSES["hinge"], positive=c) for c in range(4)]
    songs = {machine.key: partial(ask_total, task=begin, spec=machine) for machine in machines}
    for w, census in zip(model.coef_, run_in_lockstep(rows.parts, songs), strict=True):
        # ½‖w − w_α‖² is at most the gap.
        gap = 1e-4 * model.certificate_.primal
        assert 0.5 * np.sum((census.w - w) ** 2) <= gap
        assert census.alpha > 0


@pytest.mark.parametrize(
    ("model", "k"),
    [
        (on_dask.LinearSVM(tol=1e-2), 2),
        (on_dask.LinearSVM(tol=1e-2, multiclass="pairs"), 3),
        (on_dask.LogisticRegression(tol=1e-2), 3),
    ],
    ids=["svm", "pairs", "softmax"],
)
def test_folds_share_their_rounds_and_keep_their_scores(monkeypatch, model, k):
    monkeypatch.setattr(search, "DaskParts", Local)
    folds, grid = 4, [0.01, 0.1]
    weight = np.random.default_rng(0).uniform(0, 2, 240)

    def scores():
        rows = data(k, weight=weight)
        judge = judge_of(None, model)
        told = search.Folds(rows, judge, folds, 0, "here").run(model, grid, "search", 0)
        return told[0], rows.parts.traffic

    ours, few = scores()
    one_at_a_time(monkeypatch)
    theirs, many = scores()
    np.testing.assert_array_equal(ours, theirs)
    assert ours.shape == (folds, len(grid))
    assert few.rounds < 2 * many.rounds / folds
    assert few.received == many.received
