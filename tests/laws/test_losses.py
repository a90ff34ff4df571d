"""One inequality ties value, slope and conjugate together, in Python and in compiled code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import floats
from numba import njit

from maxmargin.core.problem.losses import (
    Hinge,
    PerceptronLoss,
    SquaredHinge,
    best_alpha,
    conjugate,
    largest,
    slope,
    value,
)

LOSSES = [Hinge(), SquaredHinge(), PerceptronLoss()]
margins = floats(-20, 20)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(m=margins, share=floats(0, 1))
def test_fenchel_young(loss, m, share):
    a = share * min(largest(loss), 50.0)
    assert value(loss, m) + conjugate(loss, a) >= -a * m - 1e-9
    tight = -slope(loss, m)
    assert value(loss, m) + conjugate(loss, tight) == pytest.approx(-tight * m, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(m=margins)
def test_slope_is_the_derivative_away_from_kinks(loss, m):
    h = 1e-6
    if min(abs(m), abs(m - 1)) > 1e-3:
        difference = (value(loss, m + h) - value(loss, m - h)) / (2 * h)
        assert slope(loss, m) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(m=margins, other=margins, t=floats(0, 1))
def test_convex_and_non_increasing(loss, m, other, t):
    mixed = value(loss, t * m + (1 - t) * other)
    assert mixed <= t * value(loss, m) + (1 - t) * value(loss, other) + 1e-9
    assert slope(loss, m) <= 0.0


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@given(
    m=floats(-5, 5), start=floats(0, 1), q=floats(0.01, 10), c=floats(0.01, 10), other=floats(0, 1)
)
def test_best_alpha_maximises_the_dual_over_one_example(loss, m, start, q, c, other):
    """D(a) = −c ℓ*(−a/c) − (a − a₀) m − ½ q (a − a₀)² up to a constant."""
    a0 = start * c

    def dual(a):
        return -c * conjugate(loss, a / c) - (a - a0) * m - 0.5 * q * (a - a0) ** 2

    best = best_alpha(loss, a0, m - 1.0, q, c)
    rival = other * c * (1.0 if isinstance(loss, Hinge) else 5.0)
    assert dual(best) >= dual(rival) - 1e-9 * max(1.0, abs(dual(rival)))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_compiled_verbs_equal_plain_python(loss):
    @njit
    def compiled(loss, m, a):
        return value(loss, m), slope(loss, m), conjugate(loss, a)

    for m in (-3.0, 0.0, 0.5, 1.0, 2.0):
        for a in (0.0, 0.3, 1.0):
            plain = value(loss, m), slope(loss, m), conjugate(loss, a)
            assert compiled(loss, m, a) == plain


def test_losses_bound_the_zero_one_loss():
    m = np.linspace(-3, 3, 61)
    wrong = (m <= 0).astype(float)
    for loss in (Hinge(), SquaredHinge()):
        assert (np.array([value(loss, x) for x in m]) >= wrong).all()
