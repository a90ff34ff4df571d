"""No order of visits makes more updates than R²/γ², and the three claims of the proof hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.models.perceptron.kernel_perceptron import KernelPerceptron
from maxmargin.models.perceptron.mistake_bound import differences, mistake_bound
from maxmargin.models.perceptron.perceptron import Perceptron

ORDERS = ["cycle", "shuffle", "random"]


def separable(seed, k, n, d, bias, gap):
    """Points kept at least ``gap`` away from every border of a random W."""
    rng = np.random.default_rng(seed)
    W, b = rng.standard_normal((k, d)), rng.standard_normal(k) * bias
    X = rng.standard_normal((50 * n, d))
    F = np.sort(X @ W.T + b, axis=1)
    X = X[F[:, -1] - F[:, -2] > gap][:n]
    return X, (X @ W.T + b).argmax(axis=1)


data = st.builds(
    separable,
    seed=st.integers(0, 10**6),
    k=st.integers(2, 4),
    n=st.integers(5, 40),
    d=st.integers(1, 5),
    bias=st.sampled_from([0, 1]),
    gap=st.sampled_from([0.05, 0.3, 1.0]),
).filter(lambda pair: len(pair[0]) > 1 and len(np.unique(pair[1])) > 1)


@settings(max_examples=40, deadline=None)
@given(data, st.sampled_from(ORDERS), st.integers(0, 1000), st.sampled_from([1.0, 0.3]))
def test_updates_never_exceed_the_bound(points, order, seed, rate):
    X, y = points
    answer = mistake_bound(X, y)
    assert answer.margin <= answer.margin_at_most
    assert answer.margin == pytest.approx(answer.margin_at_most, rel=1e-5)
    model = Perceptron(
        order, learning_rate=rate, trace=True, max_passes=10**6, random_state=seed
    ).fit(X, y)
    assert model.certificate_.separates
    assert model.updates_ <= answer.bound * (1 + 1e-9)
    claims = answer.claims(model.trace_, rate)
    assert claims.first
    assert claims.second
    assert claims.third


@settings(max_examples=15, deadline=None)
@given(data, st.sampled_from(ORDERS), st.integers(0, 1000))
def test_bound_without_a_bias(points, order, seed):
    X, y = points
    X = np.column_stack([X, np.ones(len(X))])  # separable through the origin, then
    answer = mistake_bound(X, y, fit_intercept=False)
    settings_ = {"order": order, "fit_intercept": False, "random_state": seed}
    model = Perceptron(max_passes=10**6, **settings_).fit(X, y)
    assert model.updates_ <= answer.bound * (1 + 1e-9)
    if model.updates_ < 1000:
        dual = KernelPerceptron("linear", max_passes=10**6, **settings_).fit(X, y)
        assert dual.updates_ <= answer.bound * (1 + 1e-9)
    assert answer.radius == pytest.approx(model.radius_)


@settings(max_examples=20, deadline=None)
@given(data)
def test_margin_of_two_classes_agrees_with_that_of_k(points):
    """margin(W) of lecture 001 with k = 2 is the margin of the difference of the two rows."""
    from scipy import sparse

    X, y = points
    y = (y == y[0]).astype(int)
    if y.min() == y.max():
        return
    try:
        two = mistake_bound(X, y)
    except ValueError:  # one class against the rest need not be separable
        return
    V = differences(sparse.csr_matrix(np.column_stack([X, np.ones(len(X))])), y, 2)
    W = np.concatenate([-two.w, [-two.b], two.w, [two.b]])
    margin = (V @ W).min() / (np.sqrt(2) * np.linalg.norm(W))
    assert margin == pytest.approx(two.margin, rel=1e-9)


def test_too_many_difference_vectors_are_refused(monkeypatch):
    from maxmargin.models.perceptron import mistake_bound as bound

    monkeypatch.setattr(bound, "MAX_DIFFERENCE_VALUES", 10)
    with pytest.raises(ValueError, match="limit is 10"):
        mistake_bound(np.eye(3), [0, 1, 2])
