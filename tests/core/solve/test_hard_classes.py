"""The hard margin of k classes: exact, or a proof that there is none."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from maxmargin import separability
from maxmargin.core.certify.multiclass import certify_classes
from maxmargin.core.certify.separability import (
    NotSeparableError,
    class_inseparability,
    proves_classes,
)
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.core.solve.many_class.class_newton import class_newton
from maxmargin.core.solve.many_class.hard_classes import ManyClassMargin

from ...biases import BIASES
from ...class_helpers import class_oracle, class_problem, clouds, corners
from ...helpers import separable_cloud

# Three sticks that turn about a hole, each beginning beside the middle of the one before.
# Lines that separate neighbours must run along the sticks, and three lines between three
# classes must meet in one point, which these cannot.
PINWHEEL = np.array([[-2, -2], [0, 2], [-1, -1], [3, -2], [1, -1], [0, 3]], dtype=float)
STICKS = np.array([0, 0, 1, 1, 2, 2])


def hard_margin(X, y, bias=Bias.FREE, tol=1e-6, k=None):
    problem = class_problem(X, y, np.inf, bias=bias, k=k)
    monitor = Monitor(tol=tol, max_iter=10**6)
    point, ending = ManyClassMargin(problem, monitor, class_newton).solve(None)
    return problem, point, ending


def truly_separable(X, y, k) -> bool:
    """A linear programme: are there W, b with every (W_y − W_c)·x + b_y − b_c ≥ 1?"""
    Z = np.column_stack([X, np.ones(len(X))])
    difference = np.eye(k)[y][:, None, :] - np.eye(k)[None, :, :]
    A = (difference[:, :, :, None] * Z[:, None, None, :]).reshape(len(y) * k, -1)
    A = A[np.abs(A).sum(axis=1) > 0]
    return linprog(np.zeros(A.shape[1]), -A, -np.ones(len(A)), bounds=(None, None)).status == 0


def assert_cancels(X, y, weights):
    """β ≥ 0 with unit sum, and Σ α x̃ᵀ = 0 with α_y = Σβ, α_c = −β_c."""
    alpha = -weights
    own = np.arange(len(y)), y
    assert (weights >= 0).all()
    assert not weights[own].any()
    assert weights.sum() == pytest.approx(1.0)
    alpha[own] = weights.sum(axis=1)
    np.testing.assert_allclose(alpha.T @ np.column_stack([X, np.ones(len(X))]), 0.0, atol=1e-9)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("k", [3, 5])
def test_same_hard_margin_as_clarabel(bias, k):
    X, y = corners(60, 6, k)
    problem, point, ending = hard_margin(X, y, bias)
    best, W, _ = class_oracle(problem, X)
    certificate = certify_classes(problem, *point)
    assert ending is Ending.REACHED
    assert certificate.holds(1e-6), str(certificate)
    assert certificate.primal == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(point.W, W, atol=1e-2 * np.abs(W).max())


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_three_clusters_with_certified_margin(solver):
    X, y = corners(90, 2, 3)
    answer = separability(X, y, solver=solver)
    problem = class_problem(X, y, np.inf)
    best, _, _ = class_oracle(problem, X)
    assert answer
    assert answer.classes == 3
    assert answer.certificate.holds(1e-6)
    assert answer.margin == pytest.approx(0.5 / np.sqrt(best), rel=1e-5)
    scores = X @ answer.w.T + answer.b
    own = np.arange(len(y)), y
    right = scores[own]
    scores[own] = -np.inf
    distance = (right - scores.max(axis=1)).min() / (np.sqrt(2) * np.linalg.norm(answer.w))
    assert distance == pytest.approx(answer.margin, rel=1e-9)


def test_every_pair_separable_but_not_all_three():
    for a, b in ((0, 1), (0, 2), (1, 2)):
        some = np.isin(STICKS, (a, b))
        assert separability(PINWHEEL[some], STICKS[some])
    answer = separability(PINWHEEL, STICKS)
    assert not answer
    assert answer.residual < 1e-12
    assert_cancels(PINWHEEL, STICKS, answer.weights)
    assert "all 3 classes" in str(answer)


def test_all_together_separable_implies_every_pair():
    X, y = corners(80, 3, 4)
    together = separability(X, y)
    assert together
    for a in range(4):
        for b in range(a):
            some = (y == a) | (y == b)
            pair = separability(X[some], y[some])
            # W_a − W_b separates the pair, and its norm is at most √2 ‖W‖.
            assert pair.margin >= together.margin * (1 - 1e-6)


def test_two_classes_have_the_binary_margin():
    X, y = separable_cloud(60, 4)
    _, point, _ = hard_margin(X, (y > 0).astype(int), tol=1e-9)
    binary = separability(X, y, tol=1e-9)
    assert np.sqrt(0.5) / np.linalg.norm(point.W) == pytest.approx(binary.margin, rel=1e-7)
    np.testing.assert_allclose(point.W[1] - point.W[0], binary.w, atol=1e-5)


def test_names_and_order_of_classes_do_not_matter():
    X, y = corners(60, 3, 4)
    order = np.array([2, 0, 3, 1])
    first, second = separability(X, y), separability(X[::-1], order[y[::-1]])
    assert first.margin == pytest.approx(second.margin, rel=1e-6)
    np.testing.assert_allclose(second.w[order], first.w, atol=1e-4)
    named = separability(X, np.array(["a", "b", "c", "d"])[y])
    assert named.margin == pytest.approx(first.margin, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2)),
        min_size=4,
        max_size=12,
    )
)
def test_agrees_with_linear_programming(points):
    table = np.array(points, dtype=float)
    X, y = table[:, :2], table[:, 2].astype(int)
    y[:3] = 0, 1, 2
    answer = separability(X, y)
    assert answer.separable == truly_separable(X, y, 3)
    if answer:
        assert answer.certificate.holds(1e-6)
    else:
        assert_cancels(X, y, answer.weights)


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_noise_is_proved_inseparable(scale, storage):
    X, y = clouds(200, 4, 4, scale=scale)
    answer = separability(storage(X), y)
    assert not answer
    assert answer.residual < 1e-12
    assert proves_classes(class_problem(X, y), answer)
    assert separability(
        storage(corners(200, 4, 4)[0] * np.logspace(-scale, scale, 4)), np.arange(200) % 4
    )


def test_weights_that_do_not_cancel_prove_nothing():
    X, y = corners(30, 3, 3)
    problem = class_problem(X, y, np.inf)
    weights = np.ones((30, 3))
    weights[np.arange(30), y] = 0.0
    proof = class_inseparability(problem, weights)
    assert not proves_classes(problem, proof)
    assert proof.margin >= separability(X, y).margin  # a bound all the same
    assert not proves_classes(problem, class_inseparability(problem, np.zeros((30, 3))))


def test_without_a_bias():
    X = np.array([[1.0], [2.0], [3.0]])
    assert separability(X, [0, 1, 2])
    assert not separability(X, [0, 1, 2], fit_intercept=False)


def test_the_error_carries_the_proof_and_speaks_of_k_classes():
    with pytest.raises(NotSeparableError, match="but the 3 classes are not separable") as caught:
        hard_margin(PINWHEEL, STICKS)
    again = pickle.loads(pickle.dumps(caught.value))
    np.testing.assert_array_equal(again.proof.weights, caught.value.proof.weights)
