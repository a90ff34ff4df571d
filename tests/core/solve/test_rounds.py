"""Which rows a round is given."""

import numpy as np
import pytest

from maxmargin.core.solve.two_class.rounds import _smallest


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
