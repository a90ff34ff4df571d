"""Asking: the comparison asked next tells more than one drawn by lot."""

import numpy as np
import pytest

from maxmargin import PairwiseRanker, next_pair
from maxmargin.models.ranking import ask


def _items(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 4)), np.array([2.0, -1.0, 0.5, 0.2])


def _learned(items, taste, questions, choose):
    pairs: list = []
    for _ in range(questions):
        ranker = PairwiseRanker(C=100.0).fit(items, pairs) if pairs else None
        i, j = choose(ranker, pairs)
        pairs.append([i, j] if items[i] @ taste > items[j] @ taste else [j, i])
    w = PairwiseRanker(C=100.0).fit(items, pairs).coef_.ravel()
    return w @ taste / np.linalg.norm(w) / np.linalg.norm(taste)


def test_fifteen_questions_teach_more_than_fifteen_by_lot():
    asked, drawn = [], []
    for seed in range(3):
        items, taste = _items(seed)
        rng = np.random.default_rng(seed)
        asked.append(_learned(items, taste, 15, lambda r, p, X=items: next_pair(r, X, p)))
        drawn.append(_learned(items, taste, 15, lambda r, p, g=rng: g.choice(60, 2, replace=False)))
    assert np.mean(asked) > np.mean(drawn)
    assert np.mean(asked) > 0.98


def test_no_pair_is_asked_twice_and_at_last_none():
    items, _ = _items(0, n=4)
    seen, ranker = [], None
    while (pair := next_pair(ranker, items, seen)) is not None:
        assert sorted(pair) not in [sorted(p) for p in seen]
        seen.append(list(pair))
        ranker = PairwiseRanker().fit(items, seen)
    assert len(seen) == 6


def test_the_question_is_the_closest_plane():
    items, _ = _items(1, n=12)
    ranker = PairwiseRanker().fit(items, [[0, 1], [2, 3]])
    w = ranker.coef_.ravel()
    i, j = next_pair(ranker, items)
    worth = {
        (a, b): abs(w @ (items[a] - items[b])) / np.linalg.norm(items[a] - items[b])
        for a in range(12) for b in range(a + 1, 12)
    }  # fmt: skip
    assert worth[i, j] == pytest.approx(min(worth.values()))


def test_equal_items_are_never_asked_about():
    assert next_pair(None, [[1.0, 2.0], [1.0, 2.0]]) is None


def test_many_items_are_drawn_from(monkeypatch):
    monkeypatch.setattr(ask, "MAX_ASKED_ITEMS", 10)
    items, _ = _items(2)
    assert next_pair(None, items) == next_pair(None, items)


def test_one_item_is_refused():
    with pytest.raises(ValueError, match="at least two items"):
        next_pair(None, [[1.0]])
