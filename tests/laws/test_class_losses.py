"""Losses of k scores: one inequality ties value and conjugate; the lectures' simple facts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from maxmargin.core.problem.class_losses import (
    MaxHinge,
    MaxSquaredHinge,
    Softmax,
    SumHinge,
    SumSquaredHinge,
    class_conjugate,
    class_value,
)
from maxmargin.core.problem.losses import Hinge, Logistic, SquaredHinge, value

LOSSES = [MaxHinge(), SumHinge(), MaxSquaredHinge(), SumSquaredHinge(), Softmax()]
K, Y = 4, 1
scores = arrays(np.float64, K, elements=st.floats(-5, 5))
shares = arrays(np.float64, K, elements=st.floats(0, 1))
each = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def inside(loss, share):
    """Multipliers in the domain of the conjugate, from numbers in [0, 1]."""
    beta = share.copy()
    beta[Y] = 0.0
    if isinstance(loss, MaxHinge | Softmax):
        beta /= max(1.0, beta.sum())
        return beta * (1 - 1e-12)
    return beta if isinstance(loss, SumHinge) else 3.0 * beta


def gradient(loss, s, h=1e-6):
    steps = h * np.eye(K)
    return np.array(
        [(class_value(loss, s + e, Y) - class_value(loss, s - e, Y)) / (2 * h) for e in steps]
    )


@each
@given(s=scores, share=shares)
def test_fenchel_young(loss, s, share):
    beta = inside(loss, share)
    bound = float(beta @ (s - s[Y]))
    assert class_value(loss, s, Y) + class_conjugate(loss, beta, Y) >= bound - 1e-9


@each
def test_the_gradient_makes_fenchel_young_tight(loss):
    for seed in range(30):
        s = 2.0 * np.random.default_rng(seed).standard_normal(K)
        g = gradient(loss, s)
        beta = np.maximum(g, 0.0)
        beta[Y] = 0.0
        if isinstance(loss, MaxHinge | Softmax):
            beta /= max(1.0, beta.sum())
        beta = np.minimum(beta, 1.0) if isinstance(loss, SumHinge) else beta
        both = class_value(loss, s, Y) + class_conjugate(loss, beta, Y)
        assert both == pytest.approx(float(beta @ (s - s[Y])), abs=1e-4)
        assert g.sum() == pytest.approx(0.0, abs=1e-5)  # only differences count


@each
@given(a=scores, b=scores, t=st.floats(0, 1))
def test_convex(loss, a, b, t):
    between = class_value(loss, t * a + (1 - t) * b, Y)
    assert between <= t * class_value(loss, a, Y) + (1 - t) * class_value(loss, b, Y) + 1e-9


@each
def test_compiled_and_plain_agree(loss):
    @njit
    def both(loss, s, beta, y):
        return class_value(loss, s, y), class_conjugate(loss, beta, y)

    rng = np.random.default_rng(0)
    s, beta = rng.standard_normal(K), inside(loss, rng.random(K))
    plain = class_value(loss, s, Y), class_conjugate(loss, beta, Y)
    assert both(loss, s, beta, Y) == pytest.approx(plain)


def test_no_weights_cost_one_k_minus_one_and_log_k():
    nothing = np.zeros(K)
    assert class_value(MaxHinge(), nothing, Y) == 1.0
    assert class_value(SumHinge(), nothing, Y) == K - 1
    assert class_value(Softmax(), nothing, Y) == pytest.approx(np.log(K))


@given(s=scores)
def test_both_hinges_bound_the_number_of_errors(s):
    wrong = s[Y] <= np.delete(s, Y).max()
    largest, total = class_value(MaxHinge(), s, Y), class_value(SumHinge(), s, Y)
    assert float(wrong) <= largest + 1e-12
    assert largest <= total + 1e-12
    assert class_value(Softmax(), s, Y) / np.log(2) >= float(wrong) - 1e-9


@given(s=scores)
def test_sum_is_a_sum_of_pairwise_hinges(s):
    pairs = [value(Hinge(), s[Y] - s[c]) for c in range(K) if c != Y]
    assert class_value(SumHinge(), s, Y) == pytest.approx(sum(pairs))
    assert class_value(MaxHinge(), s, Y) == pytest.approx(max(pairs))


@given(m=st.floats(-10, 10))
def test_two_classes_are_the_two_class_losses_of_the_difference(m):
    s = np.array([0.3, 0.3 + m])
    for many, two in [
        (MaxHinge(), Hinge()),
        (SumHinge(), Hinge()),
        (MaxSquaredHinge(), SquaredHinge()),
        (SumSquaredHinge(), SquaredHinge()),
        (Softmax(), Logistic()),
    ]:
        assert class_value(many, s, 1) == pytest.approx(value(two, m), abs=1e-9)
