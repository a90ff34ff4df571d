"""The pieces of the smooth solvers: exponentials, line derivatives, inverses of models."""

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import entropy

from maxmargin import LogisticRegression
from maxmargin.core.problem.losses import Logistic
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.exponential import exponentials
from maxmargin.core.rows.rows import DenseRows
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.softmax import form
from maxmargin.core.solve.softmax.form import choose, solve_logistic
from maxmargin.core.solve.softmax.hessian_models import Sampled
from maxmargin.core.solve.softmax.products import far_mean
from maxmargin.core.solve.softmax.smooth import LogisticLoss, SoftmaxLoss
from maxmargin.core.solve.softmax.softmax_blocks import Blocks
from maxmargin.core.solve.softmax.softmax_descent import SoftmaxDescent, best_doubt
from maxmargin.core.solve.softmax.softmax_sweep import sweep

from ..helpers import cloud
from ..logistic_helpers import blobs, softmax_problem


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_are_exact_to_rounding(dtype):
    lowest = -80 if dtype == np.float32 else -700
    x = np.append(np.linspace(lowest, 0, 10_007), [-1e-30, 0.0]).astype(dtype)
    values = x.copy()
    exponentials(values)
    np.testing.assert_allclose(
        values, np.exp(x.astype(np.longdouble)), rtol=3 * np.finfo(dtype).eps
    )
    assert values[-1] == 1.0
    far = np.array([-1e30, -np.inf], dtype)
    exponentials(far)
    assert (far <= np.finfo(dtype).tiny * 2).all()


def ready(loss, seed):
    """Random scores S and Z in a loss."""
    rng = np.random.default_rng(seed)
    loss.S[:], loss.Z[:] = 5 * rng.standard_normal(loss.S.shape), rng.standard_normal(loss.S.shape)
    return loss


def softmax_loss(t, loss):
    s, problem = loss.S + t * loss.Z, loss.problem
    return -problem.c @ log_softmax(s, axis=1)[np.arange(len(s)), problem.y]


def logistic_loss(t, loss):
    s = (loss.S + t * loss.Z)[:, 0]
    return loss.problem.c @ np.logaddexp(0.0, -loss.problem.y * s)


@pytest.mark.parametrize("kind", ["softmax", "equal costs", "unequal costs"])
def test_losses_along_a_line_have_their_derivatives(kind):
    rng = np.random.default_rng(0)
    if kind == "softmax":
        X, y = blobs(301, 3, 5, seed=2)
        loss, value = ready(SoftmaxLoss(softmax_problem(X, y, 0.7)), 1), softmax_loss
    else:
        X, y = cloud(5003, 3, seed=2)
        c = np.full(len(y), 0.7) if kind == "equal costs" else rng.uniform(0, 2, len(y))
        loss, value = ready(LogisticLoss(Problem(DenseRows(X), y, c, Logistic())), 1), logistic_loss
        loss.S[:40] *= 1e3  # exponentials that vanish next to 1
    h = 1e-4
    for t in (0.0, 0.6):
        f, first, second = loss.line(t)
        up, down = value(t + h, loss), value(t - h, loss)
        assert f == pytest.approx(value(t, loss), rel=1e-12)
        assert first == pytest.approx((up - down) / (2 * h), rel=1e-5)
        assert second == pytest.approx((up + down - 2 * f) / h**2, rel=1e-2)


def test_exponentials_are_used_again_only_where_they_were_taken():
    X, y = blobs(301, 3, 5, seed=2)
    loss = ready(SoftmaxLoss(softmax_problem(X, y, 0.7)), 1)
    whole = slice(0, len(y))

    def slopes():
        p = np.exp(log_softmax(loss.S, axis=1))
        return 0.7 * (p - np.eye(5)[y])

    loss.line(0.6)
    np.testing.assert_allclose(loss.errors(whole), slopes(), atol=1e-13)  # S has not moved
    loss.S += 0.6 * loss.Z
    loss.moved(0.6)
    assert loss.at == 0.0
    for _ in range(2):  # and they are still there after the first time
        np.testing.assert_allclose(loss.errors(whole), slopes(), atol=1e-13)
    loss.line(0.3)
    loss.S += 0.2 * loss.Z
    loss.moved(0.2)
    np.testing.assert_allclose(loss.errors(whole), slopes(), atol=1e-13)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_the_thin_inverse_is_the_inverse(bias):
    X, y = cloud(12, 30, seed=4)
    loss = ready(LogisticLoss(Problem(DenseRows(X), y, np.ones(12), Logistic(), bias)), 3)
    model = Sampled(loss.products, loss.bends, 0, bias)
    assert model.thin is not None
    assert model.exact
    X = X - loss.products.mu
    X = np.column_stack([X, np.ones(12) if bias is Bias.FREE else np.zeros(12)])
    H = X.T @ (loss.bends(np.arange(12))[:, None] * X)
    H[range(30), range(30)] += 1.0
    g = np.random.default_rng(5).standard_normal((31, 1))
    if bias is Bias.NONE:
        g[-1], H[-1, -1] = 0.0, 1.0
    np.testing.assert_allclose(H @ model(g), g, atol=1e-9)


def test_a_part_first_changes_nothing_but_the_way(monkeypatch):
    """Enough rows for a part to be solved first; a warm start, even from nothing, needs none."""
    X, y = blobs(17_000, 8, 12, seed=6)
    parts, part = [], form._part
    monkeypatch.setattr(form, "_part", lambda *a: parts.append(part(*a)) or parts[-1])
    model = LogisticRegression(C=0.3, tol=1e-9, solver="newton").fit(X, y)
    assert [len(p.y) for p in parts] == [pytest.approx(17_000 / 8, abs=12)]
    assert parts[0].c.sum() == pytest.approx(0.3 * 17_000)
    other = LogisticRegression(C=0.3, tol=1e-9, solver="newton", warm_start=True)
    other.coef_, other.intercept_ = np.zeros((12, 8)), np.zeros(12)
    other.fit(X, y)
    assert len(parts) == 1
    assert model.certificate_.holds(1e-9)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_of_rows_take_the_steps_of_single_rows(dtype):
    X, y = blobs(150, 7, 5, seed=4)  # the last block is not full
    problem = softmax_problem(X.astype(dtype) + 1, y, 0.3)
    one, other = (SoftmaxDescent(problem, Monitor(), None) for _ in range(2))
    order = np.random.default_rng(1).permutation(150)
    state = (other.points, other.logs, other.U, other.r, other.h, other.room)
    blocks = Blocks(problem.rows, order, 5, other.width)
    for _ in range(2):  # the second time inner products are known
        single = sweep(
            problem.rows, order, 5, one.pull, one.points, one.logs, one.U, one.r, one.h, *one.room
        )
        together = blocks.sweep(np.arange(blocks.count), other.pull, state)
        assert together == pytest.approx(single, rel=1e-4)
    np.testing.assert_allclose(other.U, one.U, atol=2e-5)
    np.testing.assert_allclose(other.logs, one.logs, atol=2e-4)
    np.testing.assert_allclose(other.h, one.h, atol=2e-5)


def test_the_first_weights_of_descent_are_those_of_its_probabilities():
    X, y = blobs(150, 7, 5, seed=4)
    descent = SoftmaxDescent(softmax_problem(X, y, 3.0), Monitor(), None)
    U, r, h = descent.U, descent.r, descent.h
    descent.refresh()
    np.testing.assert_allclose(U, descent.U, atol=1e-4)
    np.testing.assert_allclose(r, descent.r, atol=1e-4)
    np.testing.assert_allclose(h, descent.h, atol=1e-4)


@pytest.mark.parametrize("C", [1e-4, 0.03, 3.0, 1e3])
def test_descent_begins_at_the_best_doubt(C):
    """No other point between certainty and the classes' shares has a larger dual."""
    X, y = blobs(150, 7, 5, seed=4)
    problem = softmax_problem(X, y, C)
    shares = np.bincount(y) / len(y)
    W = np.array([C * (X[y == j].sum(axis=0) - shares[j] * X.sum(axis=0)) for j in range(5)])

    def dual(t):
        p = t * shares + (1 - t) * np.eye(5)[y]
        return -0.5 * t * t * (W**2).sum() + C * entropy(p, axis=1).sum()

    doubt = best_doubt(shares, C * len(y), float((W**2).sum()))
    assert dual(doubt) >= max(map(dual, np.geomspace(1e-6, 1.0, 301))) * (1 - 1e-9)
    descent = SoftmaxDescent(problem, Monitor(), None)
    np.testing.assert_allclose(descent.U[:, :5].T, doubt * W, atol=1e-5 * np.abs(W).max())


def test_rows_of_many_to_a_class_do_not_begin_with_weights_far_too_long():
    """With p = shares these took 96 epochs to a gap of 1e-3."""
    X, y = blobs(4000, 32, 30, spread=0.25, seed=2)
    model = LogisticRegression(C=0.1, tol=1e-3, solver="descent").fit(X.astype(np.float32), y)
    assert model.certificate_.holds(1e-3)
    assert model.n_iter_ < 20


def test_a_check_proves_the_weights_whose_scores_the_rows_have_seen():
    """Before Σ α is zero these are not Σ α xᵀ, if the rows' mean is far from the origin."""
    X, y = blobs(2000, 12, 20, seed=6)
    epochs = [
        LogisticRegression(C=0.005, tol=1e-3, solver="descent").fit(X + far, y).n_iter_
        for far in (0.0, 20.0)
    ]
    assert epochs[1] <= epochs[0] + 2  # 4; it took 23


def test_dense_rows_of_many_classes_descend_where_they_share_few_directions():
    rng = np.random.default_rng(0)
    y, X = np.arange(3000) % 60, rng.standard_normal((3000, 100), dtype=np.float32)
    problem = softmax_problem(X / 10, y, 0.5)
    assert choose(problem)[0] == "descent"
    assert choose(problem, fresh=False)[0] == "newton"
    names = [solve_logistic(problem, Monitor(tol=tol)).solver for tol in (1e-4, 1e-9)]
    assert names == ["descent", "newton"]
    for other in (
        softmax_problem(X, y, 5.0),  # large C
        softmax_problem(X / 10 + 3 * rng.standard_normal((3000, 1)), y, 0.5),  # one direction
        softmax_problem(X / 10 + 1000.0, y, 0.5),  # far from the origin
        softmax_problem(X / 10 * (rng.random(X.shape) < 0.1), y, 0.5),  # mostly zeros
        softmax_problem(X / 10, y % 10, 0.5),  # few classes
    ):
        assert choose(other)[0] == "newton"


def test_columns_that_are_rarely_not_zero_are_not_far_from_the_origin():
    X = np.zeros((5000, 2))
    X[7, 0], X[:, 1] = 1.0, np.arange(5000) % 2
    assert not far_mean(X, X.mean(axis=0))
    X[:, 0] = 5.0
    assert far_mean(X, X.mean(axis=0))
