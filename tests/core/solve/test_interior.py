"""The interior point, and when it is chosen."""

import numpy as np
import pytest

from maxmargin import LinearSVM
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.problem import Problem
from maxmargin.core.rows.gram import column_gram, single_gram
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.two_class import interior
from maxmargin.core.solve.two_class.direction import newton_system
from maxmargin.core.solve.two_class.form import choose


def wide(n=600, d=260, noise=3.0, scale=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.logspace(-scale, scale, d) + 0.5
    y = np.where(rng.standard_normal((n, d))[:, 0] * noise + X @ np.ones(d) > d / 2, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("C", [0.001, 1.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_wide_dense_rows_are_solved_and_proved(C, tol):
    X, y = wide()
    model = LinearSVM(C, tol=tol).fit(X, y)
    other = LinearSVM(C, tol=1e-9, solver="newton").fit(X, y)
    assert model.solver_ == "interior"
    assert model.certificate_.holds(tol)
    assert model.certificate_.primal <= other.certificate_.primal * (1 + tol)
    assert model.n_iter_ <= 25


def test_columns_of_any_scale_and_few_steps():
    X, y = wide(scale=3.0)
    model = LinearSVM(tol=1e-6).fit(X, y)
    assert model.certificate_.holds(1e-6)
    assert model.n_iter_ <= 40


def test_float64_takes_over_where_float32_is_too_coarse(monkeypatch):
    X, y = wide()
    taken = []
    monkeypatch.setattr(interior, "MAX_GAP_LEFT", 0.0)
    monkeypatch.setattr(interior, "MAX_IDLE_STEPS", 30)
    monkeypatch.setattr(
        interior, "newton_system", lambda *given: taken.append(1) or newton_system(*given)
    )
    assert LinearSVM(tol=1e-6).fit(X, y).certificate_.holds(1e-6)
    assert taken


def test_which_problems_are_wide():
    def chosen(n, d, c=1.0):
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        return choose(Problem(as_rows(np.ones((n, d))), y, np.full(n, c), Hinge()))[0]

    assert chosen(1200, 300) == "interior"
    assert chosen(4000, 300) == chosen(1200, 200) == chosen(1200, 300, np.inf) == "newton"


def test_gram_matrix_in_float32():
    X, _ = wide()
    s = np.random.default_rng(1).random(len(X))
    mean = X.mean(axis=0)
    G, h = column_gram(as_rows(X), np.arange(len(X)), s, mean)
    rough, pull = single_gram((X - mean).astype(np.float32), s)
    np.testing.assert_allclose(np.tril(rough), np.tril(G), atol=1e-3)
    np.testing.assert_allclose(pull, h, atol=1e-3)
