"""Loops and their counterparts on whole arrays: the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.certify import at_once, bias, repair, two_class
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.solve.two_class import tiny


def digits(value):
    """All numbers of an answer, as they are stored."""
    if isinstance(value, tuple):
        return b"".join(map(digits, value))
    return np.float64(value).tobytes()


def made(seed, n, costs, hard=False):
    """Rows as a fit ends with: multipliers at both bounds and between, slacks of all sizes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    c = {
        "equal": np.full(n, 10.0 ** rng.uniform(-3, 3)),
        "by class": np.where(y > 0, 1.7, 0.3),
        "any": rng.exponential(size=n) * (rng.random(n) < 0.9),
    }[costs]
    c[:2] = np.maximum(c[:2], 0.1)
    cap = np.where(c > 0, np.inf, 0.0) if hard else c
    alpha = np.clip(rng.normal(0.3, 0.6, n), 0.0, 1.0) * c
    z = rng.normal(size=n) * 10.0 ** rng.integers(-12, 3, n) * (rng.random(n) < 0.9)
    return y, c, cap, alpha, z, rng.exponential(size=n)


COSTS = st.sampled_from(["equal", "by class", "any"])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 400), COSTS, st.booleans())
def test_sums(seed, n, costs, hard):
    y, c, cap, alpha, z, size = made(seed, n, costs, hard)
    rest = (1e-16, 3e-16, 1e-13, 2.0, hard, 1.0)
    args = Hinge(), c, cap, alpha, y, z, size, *rest
    assert digits(at_once.sums(*args)) == digits(two_class.sums.py_func(*args))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 400), COSTS, st.integers(0, 4))
def test_best_bias(seed, n, costs, places):
    rng = np.random.default_rng(seed)
    y, c, *_ = made(seed, n, costs)
    f = rng.normal(size=n).round(places)  # few places: many breakpoints are equal
    told = at_once.hinge_bias(f, y, c, 0.3, bias.SUM_EQUALITY_TOL)
    assert told is not NotImplemented
    assert digits(told) == digits(bias._hinge_bias.py_func(f, y, c, 0.3))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 400), COSTS, st.sampled_from([0.0, 0.01, -0.3]))
def test_shift(seed, n, costs, step):
    y, _, cap, alpha, z, _ = made(seed, n, costs)
    one, other = alpha + 1e-3 * z, alpha + 1e-3 * z
    told = at_once.shift(one, cap, y, step)
    assert digits(told) == digits(repair.shift.py_func(other, cap, y, step))
    assert one.tobytes() == (other + 0.0).tobytes()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 300), st.integers(0, 6), COSTS, st.booleans())
def test_bounds(seed, n, d, costs, free_bias):
    rng = np.random.default_rng(seed)
    y, c, _, alpha, z, _ = made(seed, n, costs)
    Z, D, w = rng.normal(size=(n, d + 1)), np.ones(d + 1), rng.normal(size=d + 1)
    D[d] = 0.0 if free_bias else 1.0
    args = Z, y, c, D, False, w, z, alpha
    assert digits(at_once.bounds(*args)) == digits(tiny._bounds.py_func(*args))


@pytest.mark.parametrize("shape", [(7, 1), (1, 5), (9, 2), (5_000, 3), (20_000, 12), (700, 41)])
def test_columns_are_added_up_row_by_row(shape):
    terms = np.random.default_rng(0).normal(size=shape)
    told = at_once.total_by_column(terms)
    assert told.tobytes() == np.array([sum(column.tolist(), 0.0) for column in terms.T]).tobytes()


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, -1.0])
def test_what_loops_treat_apart_is_left_to_them(spoilt):
    y, c, cap, alpha, z, size = made(0, 20, "equal")
    alpha[3] = spoilt
    args = Hinge(), c, cap, alpha, y, z, size, 1e-16, 3e-16, 1e-13, 2.0, False, 1.0
    assert at_once.sums(*args) is NotImplemented


def test_sums_that_rounding_could_tell_apart_are_left_to_the_loop():
    y, f = np.array([1.0, 1.0, -1.0, -1.0]), np.zeros(4)
    c = np.array([1.0, 1.0, 1.0, 1.0 - 2e-12])  # two sums are equal up to 2e-12, their target is 2
    assert at_once.hinge_bias(f, y, c, 0.0, 1e-12) is NotImplemented
    assert at_once.hinge_bias(f, y, c, 0.0, 1e-11) == 0.0
