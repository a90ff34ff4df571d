"""The nearest point of a lattice, and proofs that no float64 are near."""

from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from maxmargin.core.rows.closest_vector import closest
from maxmargin.core.rows.decimals import decimals, many_digits
from maxmargin.core.rows.lattice import none_within


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_point_is_found(n, seed):
    rng = np.random.default_rng(seed)
    B, rest = rng.standard_normal((n, n + seed % 3)), 2.0 * rng.standard_normal(n + seed % 3)
    rest = rest - np.rint(np.linalg.lstsq(B.T, rest, rcond=None)[0]) @ B
    found = closest(B, rest)
    every = (np.array(z) for z in product(range(-5, 6), repeat=n))
    best = min(float(np.sum((rest - z @ B) ** 2)) for z in every)
    assert found.square == pytest.approx(best, rel=1e-9)
    assert np.sum((rest - found.steps @ B) ** 2) == pytest.approx(best, rel=1e-9)
    assert found.bound <= best * (1 + 1e-9)


def test_without_time_the_bound_is_that_of_the_last_vector():
    rng = np.random.default_rng(0)
    B, rest = rng.standard_normal((8, 8)), rng.standard_normal(8)
    whole, part = closest(B, rest), closest(B, rest, most=3)
    assert part.bound <= whole.bound <= whole.square <= part.square


def sums_of_two(first: str, second: str, within: str):
    """Two numbers whose sum is to be right to so much, and each to a thousandth."""
    one, unit = decimals(np.ones((2, 2))), decimals(np.eye(2)) * 10**6
    answer = np.array([Decimal(first), Decimal(second)], dtype=object)
    return answer, one / Decimal(within) ** 2 + unit


@pytest.mark.parametrize(
    ("first", "second", "within", "none"),
    [
        ("0.1", "0.7", "1e-18", True),  # sums of such float64 are multiples of 2⁻⁵⁶
        ("0.1", "0.7", "1e-15", False),
        ("0.5", "0.75", "1e-30", False),  # these are float64
        ("1e-25", "0.7", "1e-30", False),  # the first may be near zero, where float64 are finest
    ],
)
def test_float64_with_a_given_sum(first, second, within, none):
    with many_digits():
        answer, H = sums_of_two(first, second, within)
        assert none_within(answer, H, np.zeros(2, dtype=bool)) == none
        assert not none_within(answer, H, np.array([True, False]))
