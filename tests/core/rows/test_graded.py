"""Grades: whatever is counted without listing the pairs equals the sum over the listed ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.rows.graded import (
    INSERTION_SORT_SIZE,
    as_grades,
    between,
    by_score,
    count,
    ramp,
    sample_between,
    tally,
)


@st.composite
def cases(draw, most=14):
    """Few values, so that grades, scores and offsets tie often; some weights are zero."""
    n = draw(st.integers(2, most))
    column = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    grade, group = np.array(draw(column)), np.array(draw(column)) // 2
    f = np.array(
        draw(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.5]), min_size=n, max_size=n))
    )
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    return grade, group, f, weight


def listed(grade, group, weight):
    n = len(grade)
    return [
        (u, v)
        for u in range(n)
        for v in range(n)
        if group[u] == group[v] and grade[u] > grade[v] and weight[u] * weight[v] > 0
    ]


def random_case(n, groups, seed=0):
    rng = np.random.default_rng(seed)
    grade, group = rng.integers(0, 4, n), rng.integers(0, groups, n)
    return (
        grade,
        group,
        np.round(2 * rng.standard_normal(n)) / 2,
        rng.integers(0, 3, n).astype(float),
    )


def check_against_brute_force(grade, group, f, weight):
    pairs = listed(grade, group, weight)
    grades = as_grades(grade, group, weight)
    order = by_score(grades, f)
    assert grades.pairs == len(pairs)
    for offset in (-0.5, 0.0, 1.0, np.inf):
        low = [(u, v) for u, v in pairs if f[u] - f[v] < offset]
        assert count(grades, order, f, offset) == len(low)
        found = tally(grades, order, f, offset)
        pull, total = np.zeros(len(f)), 0.0
        for u, v in low:
            s = weight[u] * weight[v]
            pull[u] += s
            pull[v] -= s
            total += s
        np.testing.assert_allclose(found.pull, pull, atol=1e-9)
        assert found.total == pytest.approx(total)
        if offset < np.inf:
            loss = sum(weight[u] * weight[v] * (offset - f[u] + f[v]) for u, v in low)
            assert found.loss == pytest.approx(loss, abs=1e-9)
            slack = np.zeros(len(f))
            for u, v in low:
                z = weight[u] * weight[v] * (offset - f[u] + f[v])
                slack[u] += z
                slack[v] -= z
            np.testing.assert_allclose(found.slack, slack, atol=1e-9)
    for width in (0.0, 0.5, 2.0):
        check_ramp(pairs, grades, order, f, weight, width)
    for low, high in ((-1.0, 0.5), (0.5, 1.5), (-np.inf, np.inf)):
        winner, loser = between(grades, order, f, low, high)
        expected = {(u, v) for u, v in pairs if low <= f[u] - f[v] < high}
        assert len(winner) == len(expected)
        assert set(zip(winner.tolist(), loser.tolist(), strict=True)) == expected


def check_ramp(pairs, grades, order, f, weight, width):
    pull, total = np.zeros(len(f)), 0.0
    for u, v in pairs:
        z = 1.0 - f[u] + f[v]
        share = float(z > 0) if width == 0 else np.clip((z + width) / (2 * width), 0.0, 1.0)
        pull[u] += weight[u] * weight[v] * share
        pull[v] -= weight[u] * weight[v] * share
        total += weight[u] * weight[v] * share
    got_pull, got_total, _ = ramp(grades, order, f, width)
    np.testing.assert_allclose(got_pull, pull, atol=1e-9)
    assert got_total == pytest.approx(total, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_sum_equals_brute_force(case):
    check_against_brute_force(*case)


@pytest.mark.parametrize(("n", "groups"), [(INSERTION_SORT_SIZE + 30, 1), (150, 3), (30, 30)])
def test_every_sum_equals_brute_force_in_groups_of_any_size(n, groups):
    check_against_brute_force(*random_case(n, groups))


def test_order_is_ascending_within_every_group():
    grade, group, f, weight = random_case(200, 3)
    grades = as_grades(grade, group, weight)
    order = by_score(grades, f)
    for low, high in zip(grades.start[:-1], grades.start[1:], strict=True):
        places = order[low:high]
        np.testing.assert_array_equal(np.sort(places), np.arange(low, high))
        assert (np.diff(f[grades.item[places]]) >= 0).all()


def test_a_sample_estimates_any_sum_over_pairs():
    """Pairs come with their weight: sums over the sample are unbiased, whatever the weights."""
    grade, group, f, _ = random_case(150, 3)
    rng = np.random.default_rng(1)
    weight = np.exp(2 * rng.standard_normal(150))
    grades, g = as_grades(grade, group, weight), rng.random(150)
    order = by_score(grades, f)
    winner, loser, each = sample_between(grades, order, f, (0.0, 1.0), 200_000, rng)
    assert (grade[winner] > grade[loser]).all()
    assert (group[winner] == group[loser]).all()
    assert ((f[winner] - f[loser] >= 0) & (f[winner] - f[loser] < 1)).all()
    u, v = between(grades, order, f, 0.0, 1.0)
    exact = weight[u] * weight[v]
    assert each * len(winner) == pytest.approx(exact.sum(), rel=0.03)
    assert each * (g[winner] * g[loser]).sum() == pytest.approx(
        (exact * g[u] * g[v]).sum(), rel=0.03
    )


def test_no_pairs_no_sample():
    grades = as_grades(np.array([0, 1]), np.array([0, 0]))
    f = np.array([0.0, 5.0])
    winner, loser, _ = sample_between(grades, by_score(grades, f), f, (0.0, 1.0), 10,
                                      np.random.default_rng(0))  # fmt: skip
    assert len(winner) == len(loser) == 0


def test_counts_beyond_what_could_be_listed():
    n = 300_000
    grade = np.arange(n) % 2
    grades = as_grades(grade, np.zeros(n, dtype=int))
    f = np.zeros(n)
    order = by_score(grades, f)
    assert grades.pairs == (n // 2) ** 2
    assert tally(grades, order, f, 1.0).total == (n // 2) ** 2
