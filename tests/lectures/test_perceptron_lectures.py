"""What the lectures say the perceptron does."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin.models.perceptron.mistake_bound import mistake_bound
from maxmargin.models.perceptron.perceptron import Perceptron


def eighty_five():
    """85 linearly separable points in the plane (lecture 000; its picture is lost)."""
    rng = np.random.default_rng(85)
    X = rng.uniform(-3, 3, (400, 2))
    f = X @ [1.0, -0.7] - 0.4
    keep = np.abs(f) > 0.35
    return X[keep][:85], np.where(f > 0, 1, -1)[keep][:85]


def test_many_permutations_of_85_points():
    X, y = eighty_five()
    bound = mistake_bound(X, y).bound
    runs = [Perceptron("shuffle", random_state=seed).fit(X, y) for seed in range(50)]
    for run in runs:
        assert run.score(X, y) == 1.0
        assert run.certificate_.wrong == 0
        b = run.intercept_[0]
        assert b == int(b)
        assert -run.updates_ <= b <= run.updates_ <= bound
        assert np.allclose(run.coef_[0], (run.alpha_ * y) @ X)
    directions = {tuple(np.round(run.coef_[0] / np.linalg.norm(run.coef_), 6)) for run in runs}
    assert len(directions) > 10
    assert len({run.updates_ for run in runs}) > 3


@pytest.mark.parametrize("size", [1, 10, "all"])
def test_update_formula_of_lecture_004(size):
    """Δw = η Σ (t − sign(w·x)) x over the batch, where t − sign is 0 or ±2.

    So the lecture's η is half of ours; sign(0) is read as a mistake.
    """
    X, t = eighty_five()
    eta, step = 0.25, len(t) if size == "all" else size
    w, b = np.zeros(2), 0.0
    model = Perceptron("cycle", batch_size=size, learning_rate=eta, max_passes=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, t)
    for _ in range(model.n_iter_):
        for start in range(0, len(t), step):
            batch = slice(start, start + step)
            f = X[batch] @ w + b
            delta = t[batch] - np.where(f == 0, -t[batch], np.sign(f))
            w = w + eta / 2 * delta @ X[batch]
            b += eta / 2 * delta.sum()
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12, atol=1e-12)
    assert model.intercept_[0] == pytest.approx(b)


def overlapping():
    """Two clouds that overlap a little, far from the origin."""
    rng = np.random.default_rng(4)
    t = np.repeat([-1, 1], 60)
    return rng.standard_normal((120, 2)) + np.outer(t, [1.2, 0.8]) + 4.0, t


def test_too_large_a_learning_rate_oscillates_and_says_so():
    X, t = overlapping()
    rough = Perceptron(batch_size="all", margin=1.0, learning_rate=1.0, max_passes=300)
    with pytest.warns(ConvergenceWarning, match="learning rate 1 is too large.*learning_rate=0.1"):
        rough.fit(X, t)
    assert rough.certificate_.oscillates
    assert "the loss oscillates" in str(rough.certificate_)
    fine = Perceptron(batch_size="all", margin=1.0, learning_rate=1e-4, max_passes=300)
    with pytest.warns(ConvergenceWarning, match="max_passes") as caught:
        fine.fit(X, t)
    assert not fine.certificate_.oscillates
    assert "too large" not in str(caught[0].message)
    losses = [line.loss for line in fine.history_]
    assert losses[-1] == min(losses)
    assert losses[-1] < min(line.loss for line in rough.history_[1:])


def test_from_zero_without_a_margin_the_rate_only_scales():
    X, t = overlapping()
    one, ten = (Perceptron(batch_size="all", learning_rate=r, max_passes=50) for r in (1.0, 8.0))
    with pytest.warns(ConvergenceWarning, match="only scales w"):
        one.fit(X, t)
    with pytest.warns(ConvergenceWarning, match="only scales w"):
        ten.fit(X, t)
    assert np.array_equal(8.0 * one.coef_, ten.coef_)


def test_k_classes_of_lecture_001():
    """Three classes, zero errors, at most R²/γ² violations, all three claims."""
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3 + 1
    X = rng.standard_normal((90, 2)) * 0.4 + np.array([[0, 3], [3, -2], [-3, -2]])[y - 1]
    answer = mistake_bound(X, y)
    for order in ("cycle", "shuffle", "random"):
        run = Perceptron(order, trace=True).fit(X, y)
        assert run.score(X, y) == 1.0
        assert run.updates_ <= answer.bound
        assert answer.claims(run.trace_)


def test_iris_is_not_separable():
    """Lecture 000: sepal and petal width, three classes: the perceptron cannot be run on it."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="still wrong"):
        run = Perceptron(max_passes=100, explain=True).fit(X[:, [1, 3]], y)
    assert run.certificate_.wrong > 0
    assert not run.certificate_.separation.separable
    setosa = Perceptron().fit(X[:, [1, 3]], y == 0)
    assert setosa.certificate_.separates
