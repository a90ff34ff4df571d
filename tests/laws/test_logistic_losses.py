"""Fenchel–Young ties value, slope and conjugate of the logistic losses together."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from maxmargin.core.problem.class_losses import Softmax, class_conjugate, class_value
from maxmargin.core.problem.losses import Logistic, conjugate, largest, slope, value

LOSS = Logistic()


@given(m=st.floats(-40, 40), a=st.floats(0, 1))
def test_fenchel_young(m, a):
    assert value(LOSS, m) + conjugate(LOSS, a) >= -a * m - 1e-12
    tight = -slope(LOSS, m)
    assert 0.0 <= tight <= largest(LOSS)
    assert value(LOSS, m) + conjugate(LOSS, tight) == pytest.approx(-tight * m, abs=1e-12)


@given(m=st.floats(-20, 20))
def test_slope_is_the_derivative(m):
    h = 1e-5
    difference = (value(LOSS, m + h) - value(LOSS, m - h)) / (2 * h)
    assert slope(LOSS, m) == pytest.approx(difference, abs=1e-9)


def test_stable_far_from_the_margin():
    assert value(LOSS, 800.0) == 0.0
    assert value(LOSS, 40.0) == pytest.approx(math.exp(-40.0), rel=1e-12)
    assert value(LOSS, -800.0) == 800.0
    assert slope(LOSS, -800.0) == -1.0
    assert slope(LOSS, 40.0) == pytest.approx(-math.exp(-40.0), rel=1e-12)
    assert conjugate(LOSS, 0.0) == conjugate(LOSS, 1.0) == 0.0
    assert conjugate(LOSS, 1.1) == conjugate(LOSS, -0.1) == np.inf


def test_compiled_verbs_equal_plain_python():
    @njit
    def compiled(loss, m, a):
        return value(loss, m), slope(loss, m), conjugate(loss, a), largest(loss)

    for m in (-3.0, 0.0, 0.5, 700.0):
        for a in (0.0, 0.3, 1.0):
            plain = value(LOSS, m), slope(LOSS, m), conjugate(LOSS, a), largest(LOSS)
            assert compiled(LOSS, m, a) == pytest.approx(plain, rel=1e-15)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_fenchel_young_for_softmax(seed, k):
    rng = np.random.default_rng(seed)
    s, y = 5 * rng.standard_normal(k), int(rng.integers(k))
    beta = rng.dirichlet(np.full(k, 0.5))
    beta[y] = 0.0
    pull = float(beta @ (s - s[y]))
    assert class_value(Softmax(), s, y) + class_conjugate(Softmax(), beta, y) >= pull - 1e-12
    tight = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
    tight[y] = 0.0
    total = class_value(Softmax(), s, y) + class_conjugate(Softmax(), tight, y)
    assert total == pytest.approx(float(tight @ (s - s[y])), abs=1e-10)


@given(seed=st.integers(0, 10**6))
def test_softmax_gradient_is_p_minus_one_hot(seed):
    rng = np.random.default_rng(seed)
    s, y, h = 3 * rng.standard_normal(4), int(rng.integers(4)), 1e-6
    p = np.exp(s) / np.exp(s).sum()
    for c in range(4):
        e = h * np.eye(4)[c]
        difference = (class_value(Softmax(), s + e, y) - class_value(Softmax(), s - e, y)) / (2 * h)
        assert difference == pytest.approx(p[c] - (c == y), abs=1e-8)


@given(s=st.floats(-30, 30))
def test_two_classes_of_softmax_are_the_logistic_loss(s):
    assert class_value(Softmax(), np.array([0.0, s]), 1) == pytest.approx(value(LOSS, s), abs=1e-13)
