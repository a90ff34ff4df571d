"""Numbers of two float64, against decimals of many digits."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from maxmargin.core.rows import double_double as dd
from maxmargin.core.rows.double_double import EXP_ERROR, Pair, U, gamma, quick

MANY = Context(prec=100)
STEP = Decimal(8 * U * U)


def exact(pair: Pair, i) -> Decimal:
    return MANY.add(Decimal(float(pair.hi[i])), Decimal(float(pair.lo[i])))


def pairs(seed: int, n: int = 200) -> Pair:
    rng = np.random.default_rng(seed)
    return quick(10.0 ** rng.uniform(-9, 9, n), 1e-17 * rng.standard_normal(n))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(dd.plus, MANY.add), (dd.times, MANY.multiply), (dd.over, MANY.divide)],
)
def test_a_step_is_off_by_eight_squared_units_at_most(ours, theirs):
    a, b = pairs(0), pairs(1)
    found = ours(a, b)
    for i in range(len(a.hi)):
        true = theirs(exact(a, i), exact(b, i))
        assert abs(exact(found, i) - true) <= STEP * abs(true)


def test_roots_and_exponentials():
    a = pairs(2)
    root = dd.root(a)
    t = quick(-np.minimum(a.hi, 600.0), np.where(a.hi < 600.0, -a.lo, 0.0))
    power = dd.exp(t)
    for i in range(len(a.hi)):
        true = MANY.sqrt(exact(a, i))
        assert abs(exact(root, i) - true) <= STEP * true
        true = MANY.exp(exact(t, i))
        assert abs(exact(power, i) - true) <= Decimal(EXP_ERROR) * true


def test_products_that_cancel():
    rng = np.random.default_rng(3)
    A = 1e8 + rng.standard_normal((4, 30))
    B = rng.standard_normal((30, 3))
    B -= B.mean(axis=0)
    found, size = dd.product(A, B), np.abs(A) @ np.abs(B)
    for i, j in np.ndindex(4, 3):
        true = sum(Fraction(a) * Fraction(b) for a, b in zip(A[i], B[:, j], strict=True))
        got = Fraction(float(found.hi[i, j])) + Fraction(float(found.lo[i, j]))
        assert abs(got - true) <= Fraction(gamma(30) ** 2 * size[i, j])
