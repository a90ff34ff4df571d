"""An interior-point conic solver, which shares nothing with ours, ranks the same."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LabelRanker, PairwiseRanker
from maxmargin.models.ranking import pairwise_ranker

from ..ranking_helpers import (
    all_pairs,
    graded,
    label_objective,
    label_oracle,
    label_preferences,
    pair_objective,
    pair_oracle,
    preferences,
)

PRICES = [0.01, 1.0, 100.0]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", PRICES)
def test_listed_pairs(C, weighted):
    X, pairs = preferences(seed=1)
    weight = np.random.default_rng(2).integers(0, 3, len(pairs)) + 0.5 if weighted else None
    best, w = pair_oracle(X, pairs, C, weight)
    table = pairs if weight is None else np.column_stack([pairs, weight])
    for solver in ("tiny", "newton", "descent", "interior"):
        fit = PairwiseRanker(C, solver=solver, tol=1e-8, max_iter=100_000).fit(X, table)
        assert fit.certificate_.holds(1e-8), solver
        assert fit.certificate_.primal == pytest.approx(best, rel=1e-6), solver
        assert fit.certificate_.dual <= best * (1 + 1e-7), solver
        value = pair_objective(X, pairs, fit.coef_, C, 1.0 if weight is None else weight)
        assert value == pytest.approx(fit.certificate_.primal, rel=1e-9), solver
        np.testing.assert_allclose(fit.coef_, w, atol=2e-3 * max(1, np.abs(w).max()))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", [0.001, 0.1, 10.0])
def test_grades_in_groups(C, weighted, monkeypatch):
    """The path that counts pairs, forced on data small enough for the oracle."""
    monkeypatch.setattr(pairwise_ranker, "MAX_LISTED_PAIRS", 0)
    X, grade, group = graded(100, groups=2, seed=3)
    weight = np.random.default_rng(4).integers(0, 4, len(X)) / 2 if weighted else None
    pairs, each = all_pairs(grade, group, weight)
    best, w = pair_oracle(X, pairs, C, each)
    fit = PairwiseRanker(C, tol=1e-8).fit(X, grade, groups=group, sample_weight=weight)
    assert fit.solver_ == "rounded corner"
    assert fit.n_pairs_ == len(pairs)
    assert fit.certificate_.holds(1e-8)
    assert fit.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert fit.certificate_.dual <= best * (1 + 1e-7)
    np.testing.assert_allclose(fit.coef_, w, atol=1e-3 * max(1, np.abs(w).max()))


def test_hard_margin_of_pairs():
    X, pairs = preferences(noise=0.0, m=40, seed=5)
    best, w = pair_oracle(X, pairs, np.inf)
    fit = PairwiseRanker(np.inf).fit(X, pairs)
    assert fit.certificate_.primal == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(fit.coef_, w, rtol=1e-3, atol=1e-3)
    assert fit.score(X, pairs) == 1.0


@pytest.mark.parametrize("solver", ["newton", "descent"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("bias", [True, False], ids=["free biases", "no biases"])
@pytest.mark.parametrize("C", PRICES)
def test_label_pairs(C, bias, weighted, solver):
    X, pairs = label_preferences(seed=6)
    weight = np.random.default_rng(7).integers(0, 3, len(pairs)) + 0.25 if weighted else None
    best, W = label_oracle(X, pairs, 4, C, weight, bias)
    table = pairs if weight is None else np.column_stack([pairs, weight])
    fit = LabelRanker(C, fit_intercept=bias, solver=solver, tol=1e-7, max_iter=100_000)
    fit.fit(X, table)
    assert fit.certificate_.holds(1e-7)
    assert fit.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert fit.certificate_.dual <= best * (1 + 1e-7)
    value = label_objective(
        X, pairs, fit.coef_, fit.intercept_, C, 1.0 if weight is None else weight
    )
    assert value == pytest.approx(fit.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(fit.coef_, W, atol=2e-3 * max(1, np.abs(W).max()))


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_a_class_that_always_loses_costs_nothing(solver):
    """Class 3 loses every pair, class 4 wins every pair: biases settle both for free."""
    X, pairs = label_preferences(k=3, seed=8)
    rng = np.random.default_rng(9)
    extra = [(i, rng.integers(0, 3), 3) for i in range(40)]
    extra += [(i, 4, rng.integers(0, 4)) for i in range(20)]
    every = np.concatenate([pairs, extra])
    best, W = label_oracle(X, every, 5)
    fit = LabelRanker(solver=solver).fit(X, every)
    assert fit.certificate_.holds(1e-6)
    assert fit.certificate_.primal == pytest.approx(best, rel=2e-6)
    assert fit.certificate_.primal == pytest.approx(label_oracle(X, pairs, 3)[0], rel=2e-6)
    np.testing.assert_allclose(fit.coef_, W, atol=5e-3)
    assert fit.score(X, np.array(extra)) == 1.0


def test_partial_rankings_of_sparse_examples():
    rng = np.random.default_rng(10)
    X = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.3)
    rankings = [rng.permutation(5)[: rng.integers(2, 5)].tolist() for _ in range(30)]
    pairs = np.array(
        [(i, a, b) for i, r in enumerate(rankings) for j, a in enumerate(r) for b in r[j + 1 :]]
    )
    best, _ = label_oracle(X, pairs, 5, 0.5)
    fit = LabelRanker(0.5).fit(sparse.csr_matrix(X), rankings=rankings)
    assert fit.certificate_.holds(1e-6)
    assert fit.certificate_.primal == pytest.approx(best, rel=2e-6)
