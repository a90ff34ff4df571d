"""Small quadratic programs in two hundred digits: the conditions of a minimum hold exactly."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from maxmargin.core.rows.decimals import ONE, ZERO, decimals, many_digits
from maxmargin.core.solve import active_set
from maxmargin.core.solve.active_set import INFINITE, Program, minimised

TINY = Decimal("1e-60")


def svm(rng, n: int, d: int, C: float | None) -> Program:
    """The dual of a hinge with a free bias; of rank d, so that most directions are flat."""
    X, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)
    if C is None:
        X[:, 0] += 4.0 * y
    Z = decimals(X) * decimals(y)[:, None]
    upper = np.full(n, INFINITE if C is None else Decimal(C), dtype=object)
    ones = np.full(n, ONE, dtype=object)
    return Program(Z.dot(Z.T), ones, decimals(y)[None], np.array([ZERO]), upper, ones)


@pytest.mark.parametrize(("n", "d", "C"), [(12, 3, 1.0), (12, 20, 0.1), (10, 1, 5.0), (9, 2, None)])
def test_the_conditions_of_a_minimum_hold(n, d, C):
    with many_digits():
        program = svm(np.random.default_rng(n + d), n, d, C)
        found = minimised(program, np.full(n, ZERO, dtype=object))
        slope = program.H.dot(found.x) - program.g + program.A.T.dot(found.multipliers)
        assert max(abs(program.A.dot(found.x))) < TINY
    for x, most, s in zip(found.x, program.upper, slope, strict=True):
        assert 0 <= x <= most
        assert x == most or s >= -TINY
        assert x == 0 or s <= TINY


def test_classes_that_are_not_separable_have_no_minimum_without_a_cap():
    with many_digits():
        program = svm(np.random.default_rng(0), 8, 1, 1.0)
        program.upper[:] = INFINITE
        assert minimised(program, np.full(8, ZERO, dtype=object)) is None


def test_a_search_stops_when_there_is_no_time(monkeypatch):
    monkeypatch.setattr(active_set, "FEW_PRODUCTS", 0.0)
    with many_digits():
        program = svm(np.random.default_rng(0), 8, 3, 1.0)
        start = np.full(8, ZERO, dtype=object)
        assert minimised(program, start, lambda: False) is None
        assert minimised(program, start) is not None
