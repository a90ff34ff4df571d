"""Laws of conversions: every form of preferences says the same."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import (
    LabelRanker,
    label_pairs,
    pairs_from_comparisons,
    pairs_from_grades,
    pairs_from_labels,
    pairs_from_rankings,
    pairs_from_scores,
    rankings_from_scores,
)

from ..ranking_helpers import (
    label_objective,
)


def rows_of(pairs):
    return sorted((i, a, b) for i, a, b, _ in pairs.table())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0]), min_size=3, max_size=3),
                min_size=1, max_size=5))  # fmt: skip
def test_scores_become_every_pair_they_imply(scores):
    expected = [
        (i, a, b)
        for i, row in enumerate(scores)
        for a, b in itertools.permutations(range(3), 2)
        if row[a] > row[b]
    ]
    if expected:
        assert rows_of(pairs_from_scores(scores)) == sorted(expected)
    else:
        with pytest.raises(ValueError, match="no pair"):
            pairs_from_scores(scores)


def test_rankings_with_ties_and_gaps():
    rankings = [["a", ("b", "c"), "d"], [], ["d"], [["b", "a"], {"c"}]]
    found = rows_of(pairs_from_rankings(rankings))
    assert found == [
        (0, "a", "b"), (0, "a", "c"), (0, "a", "d"), (0, "b", "d"), (0, "c", "d"),
        (3, "a", "c"), (3, "b", "c"),
    ]  # fmt: skip


def test_rankings_and_scores_say_the_same():
    S = np.random.default_rng(0).standard_normal((7, 4))
    rankings = rankings_from_scores(S, ["w", "x", "y", "z"])
    assert rows_of(pairs_from_rankings(rankings)) == rows_of(
        pairs_from_scores(S, ["w", "x", "y", "z"])
    )
    for row, order in zip(S, rankings, strict=True):
        assert order[0] == "wxyz"[row.argmax()]
    assert rankings_from_scores([[1.0, 1.0, 2.0]]).tolist() == [[2, 0, 1]]


def test_labels_are_preferred_to_every_other():
    pairs = pairs_from_labels(["b", "a"], classes=["a", "b", "c"])
    assert rows_of(pairs) == [(0, "b", "a"), (0, "b", "c"), (1, "a", "b"), (1, "a", "c")]
    assert repr(pairs) == "<4 pairs of 3 classes from 2 examples>"
    assert rows_of(label_pairs(pairs.table())) == rows_of(pairs)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=9))
def test_grades_become_every_pair_they_imply(rows):
    grade, group = (np.array(column) for column in zip(*rows, strict=True))
    expected = [
        (u, v) for u, v in itertools.permutations(range(len(rows)), 2)
        if group[u] == group[v] and grade[u] > grade[v]
    ]  # fmt: skip
    assert sorted(map(tuple, pairs_from_grades(grade, group).tolist())) == expected


def test_comparisons_by_name():
    pairs, names = pairs_from_comparisons(["x", "y"], ["y", "z"], ["y", "y"], items=["z", "y", "x"])
    assert pairs.tolist() == [[1, 2], [1, 0]]
    assert names.tolist() == ["z", "y", "x"]


def test_every_form_of_label_preferences_gives_the_same_fit():
    rng = np.random.default_rng(1)
    X, S = rng.standard_normal((20, 2)), rng.standard_normal((20, 3))
    by_scores = LabelRanker().fit(X, scores=S)
    pairs = pairs_from_scores(S)
    for fit in (
        LabelRanker().fit(X, rankings=rankings_from_scores(S).tolist()),
        LabelRanker().fit(X, pairs),
        LabelRanker().fit(X, pairs.table()),
        LabelRanker().fit(X, iter(pairs.table())),
    ):
        np.testing.assert_allclose(fit.coef_, by_scores.coef_, atol=1e-3)
        assert fit.n_pairs_ == 60
    assert by_scores.score(X, scores=S) == pytest.approx(by_scores.score(X, pairs))
    value = label_objective(
        X, np.array([row[:3] for row in pairs.table()], dtype=int), by_scores.coef_,
        by_scores.intercept_,
    )  # fmt: skip
    assert value == pytest.approx(by_scores.certificate_.primal, rel=1e-9)
