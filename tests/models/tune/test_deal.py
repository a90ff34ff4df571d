"""Folds that are dealt: a partition, even in size, class by class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.models.tune.stratified_folds import stratified_folds


@given(
    counts=st.lists(st.integers(2, 20), min_size=2, max_size=5),
    folds=st.integers(2, 6),
    seed=st.integers(0, 1000),
)
def test_every_row_is_judged_once_and_classes_are_even(counts, folds, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(list("abcde"[: len(counts)]), counts))
    splits = stratified_folds(y, folds, seed)
    judged = np.concatenate([test for _, test in splits])
    assert sorted(judged) == list(range(len(y)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(y)))
    for rows in (np.ones(len(y), bool), *(y == label for label in np.unique(y))):
        sizes = [rows[test].sum() for _, test in splits]
        assert max(sizes) - min(sizes) <= 1


def test_the_seed_decides():
    y = np.repeat([0, 1], 30)
    first, again, other = (stratified_folds(y, 3, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0][1], other[0][1])
