"""Matrices of two hundred digits, and numbers rounded together."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from maxmargin.core.rows import lattice
from maxmargin.core.rows.decimals import (
    Deficient,
    decimals,
    floats,
    independent,
    many_digits,
    pairs,
    solved,
)
from maxmargin.core.rows.lattice import nearest


def test_a_system_far_beyond_float64_is_solved():
    """Hilbert's matrix of 20 rows has a condition of 1e28."""
    with many_digits():
        hilbert = np.array([[Decimal(1) / (i + j + 1) for j in range(20)] for i in range(20)])
        x = decimals(np.arange(20.0))
        off = abs(solved(hilbert, hilbert.dot(x)) - x)
    assert max(off) < Decimal("1e-150")


def test_a_singular_matrix_tells_what_it_makes_zero():
    with many_digits():
        M = decimals([[1.0, 2.0, 3.0], [2.0, 4.0, 1.0], [3.0, 6.0, 2.0]])
        with pytest.raises(Deficient) as caught:
            solved(M, decimals(np.ones(3)))
        assert not M.dot(caught.value.null).any()
        assert caught.value.null.any()


def test_the_first_columns_that_are_independent_are_found():
    with many_digits():
        A = decimals([[1.0, 2.0, 0.0, 1.0], [2.0, 4.0, 1.0, 0.0], [3.0, 6.0, 1.0, 1.0]])
        rows, columns = independent(A)
    assert columns == [0, 2]
    assert len(rows) == 2


def test_pairs_are_within_a_few_units_of_the_square_of_rounding():
    with many_digits():
        third = np.array([Decimal(1) / 3])
        hi, lo = pairs(third)
    assert abs(Fraction(hi[0]) + Fraction(lo[0]) - Fraction(1, 3)) < Fraction(1, 2**106)


def test_numbers_rounded_together_keep_their_sum():
    """Σ u_j x_j = 1 for x near 1e9: rounded one by one it is off by 5e-9."""
    rng = np.random.default_rng(0)
    x = 1e9 + rng.standard_normal(8)
    u = rng.standard_normal(8)
    u[-1] = (1.0 - u[:-1] @ x[:-1]) / x[-1]
    demand, room = Decimal("1e-12"), Decimal("1e-8")
    with many_digits():
        X, units = decimals(x), decimals(np.spacing(np.abs(u)))
        missing = np.array([decimals(u).dot(X) - 1]) / demand
        z = nearest((units * X / demand)[:, None], np.diag(units / room), missing, lambda: True)
        found = decimals(u) + z * units
        left, moved = found.dot(X) - 1, abs(found - decimals(u))
        assert (floats(found) == found).all()  # they are float64
    assert abs(missing[0]) > 1000 > 10 > abs(left / demand)
    assert max(moved) < 10 * room


def test_rounding_gives_up_when_there_is_no_time(monkeypatch):
    monkeypatch.setattr(lattice, "FEW_STEPS", 0)
    with many_digits():
        many = decimals(np.diag(np.full(30, 1.0)) + 1e9)
        assert nearest(many, decimals(np.eye(30)), decimals(np.ones(30)), lambda: False) is None
