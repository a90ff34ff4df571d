"""The best bias is a minimiser, the middle one, whatever the guess."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.certify.bias import best_bias
from maxmargin.core.rows.rows import scores

from ...helpers import problem

number = st.integers(-4, 4).map(float)


@settings(max_examples=200, deadline=None)
@given(
    f=st.lists(number, min_size=2, max_size=25),
    signs=st.lists(st.booleans(), min_size=25, max_size=25),
    costs=st.lists(st.integers(0, 3), min_size=25, max_size=25),
    guess=st.floats(-6, 6),
)
def test_hinge_bias_is_the_middle_minimiser(f, signs, costs, guess):
    n = len(f)
    y = np.where(signs[:n], 1.0, -1.0)
    weight = np.array(costs[:n], dtype=float)
    y[:2], weight[:2] = (1.0, -1.0), 1.0
    q = problem(np.array(f)[:, None], y, C=0.1, weight=weight)
    f = scores(q.rows, np.ones(1))

    def loss(b):
        return q.c @ np.maximum(0.0, 1.0 - y * (f + b))

    corners = np.unique(y - f)
    values = np.array([loss(b) for b in corners])
    flat = corners[values <= values.min() + 1e-12]
    b = best_bias(q, f, guess)
    assert loss(b) == pytest.approx(values.min(), abs=1e-12)
    assert b == pytest.approx(0.5 * (flat[0] + flat[-1]), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), guess=st.floats(-3, 3))
def test_squared_hinge_bias_has_no_slope(seed, guess):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X, weight = 2 * rng.standard_normal((n, 1)), rng.random(n) + 0.1
    q = problem(X, y, loss="squared_hinge", weight=weight)
    f = scores(q.rows, np.ones(1))
    b = best_bias(q, f, guess)
    slack = np.maximum(0.0, 1.0 - y * (f + b))
    assert q.c @ (y * slack) == pytest.approx(0.0, abs=1e-9 * q.c.sum())
