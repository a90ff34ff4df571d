"""Weights that cannot be meant: too large for arithmetic, or perhaps those of something else."""

import numpy as np
import pytest

import maxmargin as mm

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])
PAIRS = [(0, 1), (1, 2), (3, 2), (4, 3), (5, 4), (5, 0)]


@pytest.mark.parametrize("model", [mm.LinearSVM(), mm.LogisticRegression(), mm.LinearSVMCV(Cs=2)])
def test_weights_beyond_arithmetic_are_refused(model):
    weight = np.ones(6)
    weight[3] = 1e308
    with pytest.raises(ValueError, match=r"at most 1e\+100, but entry 3 is 1e\+308. Divide all"):
        model.fit(X, Y, sample_weight=weight)


def test_class_weights_and_weights_of_pairs_too():
    with pytest.raises(ValueError, match=r"class_weight must be at most 1e\+100"):
        mm.LinearSVM(class_weight={0: 1e308, 1: 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match=r"The weight of pairs must be at most 1e\+100"):
        mm.PairwiseRanker().fit(X, [(0, 1, 1e308), (1, 2, 1.0)])


@pytest.mark.parametrize("ranker", [mm.PairwiseRanker(), mm.LabelRanker()])
def test_weights_that_fit_rows_and_pairs_are_not_guessed(ranker):
    pairs = PAIRS
    if isinstance(ranker, mm.LabelRanker):
        pairs = [(i, "a", "b") for i in range(5)] + [(5, "b", "a")]
    with pytest.raises(ValueError, match="which of them are meant"):
        ranker.fit(X, pairs, sample_weight=np.arange(1.0, 7.0))
    ranker.fit(X, [(*pair, 2.0) for pair in pairs], sample_weight=np.arange(1.0, 7.0))
    ranker.fit(X, pairs[:5], sample_weight=np.arange(1.0, 7.0))
    if isinstance(ranker, mm.LabelRanker):  # labels imply their pairs, which have no weights
        ranker.fit(X, list("aabbab"), sample_weight=np.arange(1.0, 7.0))
