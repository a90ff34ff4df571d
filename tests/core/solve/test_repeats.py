"""Equal rows are solved once; nothing but the time may tell."""

import numpy as np
import pytest

from maxmargin import LinearSVM, verify
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.problem import Problem
from maxmargin.core.rows.rows import DenseRows
from maxmargin.core.solve.contract import Point
from maxmargin.core.solve.two_class.repeats import MIN_GROUPED_ROWS, find_repeats


def table(n, d, levels=2, seed=0, dtype=np.float64, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d)).astype(dtype)
    y = np.where(X @ np.arange(1, d + 1) + noise * d * rng.standard_normal(n) > d, 1.0, -1.0)
    return X, y


def problem(X, y, c=None):
    return Problem(DenseRows(X), y, np.ones(len(y)) if c is None else c, Hinge())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_different_rows_are_those_numpy_finds_and_costs_add_up(dtype, order):
    X, y = table(MIN_GROUPED_ROWS, 4, levels=3, dtype=dtype)
    c = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    found = find_repeats(problem(np.asarray(X, order=order), y, c))
    expected, inverse = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    joined = found.problem
    assert len(joined.y) == len(expected)
    np.testing.assert_array_equal(joined.rows.X[found.which], X)
    np.testing.assert_array_equal(joined.y[found.which], y)
    np.testing.assert_allclose(
        np.sort(joined.c), np.sort(np.bincount(inverse.ravel(), c)), rtol=1e-12
    )


def test_multipliers_survive_the_way_there_and_back():
    X, y = table(MIN_GROUPED_ROWS, 3)
    found = find_repeats(problem(X, y, np.random.default_rng(2).uniform(0.5, 2.0, len(y))))
    alpha = 0.3 * found.problem.c
    wide = found.expand(Point(np.zeros(3), 0.0, alpha))
    np.testing.assert_allclose(wide.alpha, 0.3 * (found.problem.c[found.which] * found.share))
    np.testing.assert_allclose(found.shrink(wide).alpha, alpha, rtol=1e-12)


def test_minus_zero_is_zero_and_no_weight_is_no_row():
    X, y = table(MIN_GROUPED_ROWS, 2)
    X[::2][X[::2] == 0] = -0.0
    c = np.where(np.arange(len(y)) < 100, 0.0, 1.0)
    found = find_repeats(problem(X, y, c))
    assert len(found.problem.y) == 8
    assert found.problem.c.sum() == c.sum()


def test_rows_that_differ_are_left_alone():
    X = np.random.default_rng(0).standard_normal((MIN_GROUPED_ROWS, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    assert find_repeats(problem(X, y)) is None
    X, y = table(MIN_GROUPED_ROWS - 1, 3)
    assert find_repeats(problem(X, y)) is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_same_optimum_as_a_solver_that_sees_all_rows(loss, C):
    X, y = table(12_000, 5, levels=3)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    once = LinearSVM(C=C, loss=loss).fit(X, y, sample_weight=weight)
    every = LinearSVM(C=C, loss=loss, solver="newton").fit(X, y, sample_weight=weight)
    assert once.certificate_.holds(1e-6)
    assert verify(once, X, y, sample_weight=weight).holds(1e-6)
    np.testing.assert_allclose(once.certificate_.primal, every.certificate_.primal, rtol=2e-6)


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_two_points_many_times(C):
    """Every row on its margin at once: Newton's method over all rows stalled here."""
    X, y = np.tile(np.eye(2), (100_000, 1)), np.tile([0, 1], 100_000)
    model = LinearSVM(C=C).fit(X, y)
    assert model.certificate_.holds(1e-6)
    np.testing.assert_allclose(model.coef_, [[-1.0, 1.0]], atol=1e-6)
    np.testing.assert_allclose(model.alpha_.sum(), 2.0, rtol=1e-6)
