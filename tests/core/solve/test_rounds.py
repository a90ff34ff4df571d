"""Which rows a round is given."""

import numpy as np
import pytest

from maxmargin.core.solve.two_class.rounds import _kth, _smallest


@pytest.mark.parametrize("size", [1, 7, 40, 41, 99, 100])
def test_the_smallest_values_are_found_also_among_equals(size):
    rng = np.random.default_rng(size)
    for values in (rng.standard_normal(100), rng.integers(0, 4, 100) * 1.0, np.ones(100)):
        index = _smallest(values, size)
        assert len(index) == len(set(index)) == size
        assert (np.diff(index) > 0).all()
        np.testing.assert_array_equal(np.sort(values[index]), np.sort(values)[:size])


def test_equal_rows_are_left_out_evenly():
    """Rows sorted by their labels: both classes stay."""
    index = _smallest(np.ones(100), 50)
    assert 20 <= (index < 50).sum() <= 30


@pytest.mark.parametrize("k", [0, 1, 30, 300, 1500, 2999])
def test_the_kth_value_of_a_sample_s_choice_is_that_of_all(k):
    """Whatever the order and however many are equal."""
    rng = np.random.default_rng(k)
    x = rng.random(3000)
    for values in (x, np.sort(x), np.sort(x)[::-1].copy(), np.round(x, 1), np.zeros(3000)):
        assert _kth(values, k) == np.sort(values)[k]
