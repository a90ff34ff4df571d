"""Newton's method for k classes: the right optimum, on any scale, to rounding."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine

from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.core.solve.many_class import class_direction
from maxmargin.core.solve.many_class.class_lagrangian import ClassRows, Trades, _answer, _traders
from maxmargin.core.solve.many_class.class_newton import class_newton
from maxmargin.core.solve.many_class.form import choose_classes
from maxmargin.core.solve.many_class.row_subproblem import limits

from ...biases import BIASES
from ...class_helpers import RULES, certificate_of, class_oracle, class_problem, clouds

WEIGHT = np.random.default_rng(5).integers(0, 3, 60) + (np.arange(60) < 4).astype(float)


def solve(problem, tol=1e-9, start=None, **budget):
    monitor = Monitor(tol=tol, **budget)
    point, ending = class_newton(problem, monitor, start)
    return point, ending, monitor


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("rule", RULES, ids="-".join)
@pytest.mark.parametrize("C", [0.03, 10.0])
def test_same_optimum_as_clarabel(C, rule, bias, weight):
    X, y = clouds(60, 3, 4, seed=7)
    X += 2.0
    problem = class_problem(X, y, C, rule, bias, weight)
    best, W, _ = class_oracle(problem, X)
    point, ending, _ = solve(problem)
    certificate = certificate_of(problem, point)
    assert ending is Ending.REACHED
    assert certificate.holds(1e-9), str(certificate)
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    # ½‖W − W*‖² is at most the gap: the objective is strongly convex in W.
    np.testing.assert_allclose(point.W, W, atol=2e-3 * max(1, np.abs(W).max()))


@pytest.mark.parametrize("rule", RULES, ids="-".join)
@pytest.mark.parametrize(
    ("X", "y"),
    [load_iris(return_X_y=True), load_wine(return_X_y=True), clouds(300, 8, 12, scale=3)],
    ids=["iris", "wine unscaled", "scales 1e-3 to 1e3, 12 classes"],
)
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_certified_to_1e_9(X, y, C, rule):
    problem = class_problem(X, y, C, rule)
    point, ending, monitor = solve(problem)
    certificate = certificate_of(problem, point)
    assert ending is Ending.REACHED
    assert certificate.holds(1e-9), str(certificate)
    assert monitor.n_iter < 300
    assert np.abs(point.W.sum(axis=0)).max() <= 1e-9 * np.abs(point.W).max()


def smooth_state(rule, bias, seed=3, n=30, d=3):
    """Rows, V, present multipliers and stiffnesses of one smooth function, drawn at random."""
    rng = np.random.default_rng(seed)
    k = 4
    E = np.append(np.ones(d), 0.0 if bias == "free" else 1.0)
    Z = np.column_stack([rng.standard_normal((n, d)), np.ones(n)])
    c, y = rng.uniform(0.5, 2.0, n), rng.integers(0, k, n)
    problem = class_problem(Z, y, 1.0, rule, k=k)
    limit = tuple(
        np.array(part, dtype=float) for part in np.broadcast_arrays(*limits(problem.loss, c))
    )
    B0 = rng.random((n, k)) * 0.1 * (rng.random((n, k)) < 0.5)
    B0[np.arange(n), y] = 0.0
    B0[np.arange(n), y] = -B0.sum(axis=1)
    V = 0.3 * rng.standard_normal((k, d + 1))
    return ClassRows(Z, y, limit, E), V - V.mean(axis=0), B0, rng.uniform(0.2, 0.6, n)


def smooth_value(rows, V, B0, A):
    """The smooth function itself, from the maximising multipliers, and its gradient."""
    Z, y, limit, E = rows
    S, own = Z @ V.T, (np.arange(len(y)), y)
    B, theta, below = np.empty_like(S), S[own], np.empty(len(y), dtype=bool)
    _answer(limit, A, S, y, B0, B, theta, below)
    beta = B.copy()
    beta[own] = 0.0
    T = -B[own]
    # −½A‖B − B0‖² covers the row's sum as well: it is the entry of the own class.
    inside = (B * S).sum(axis=1) + T - 0.5 * A * ((B - B0) ** 2).sum(axis=1)
    inside -= 0.5 * limit[3] * T**2 + 0.5 * limit[1] * (beta**2).sum(axis=1)
    value = 0.5 * float(np.sum(E * V * V)) + float(inside.sum())
    return value, V * E + B.T @ Z, Trades(*_traders(limit, A, y, B, below))


@pytest.mark.parametrize("bias", ["free", "penalized"])
@pytest.mark.parametrize("rule", RULES, ids="-".join)
def test_gradient_by_finite_differences(rule, bias):
    rows, V, B0, A = smooth_state(rule, bias)
    _, g, _ = smooth_value(rows, V, B0, A)
    h, found = 1e-6, np.empty_like(V)
    for at in np.ndindex(*V.shape):
        step = np.zeros_like(V)
        step[at] = h
        up, down = smooth_value(rows, V + step, B0, A)[0], smooth_value(rows, V - step, B0, A)[0]
        found[at] = (up - down) / (2 * h)
    np.testing.assert_allclose(found, g, atol=1e-6)


@pytest.mark.parametrize(
    ("most", "n", "d"),
    [(10_000, 30, 3), (10_000, 12, 20), (0, 30, 3)],
    ids=["columns", "rows", "conjugate gradients"],
)
@pytest.mark.parametrize("bias", ["free", "penalized"])
@pytest.mark.parametrize("rule", RULES, ids="-".join)
def test_a_newton_step_takes_its_share_of_the_gradient(rule, bias, most, n, d, monkeypatch):
    """H dV = −g, so a small step t leaves (1 − t) g."""
    monkeypatch.setattr(class_direction, "MAX_DIRECT_UNKNOWNS", most)
    monkeypatch.setattr(class_direction, "CG_TOL", 1e-9)
    rows, V, B0, A = smooth_state(rule, bias, n=n, d=d)
    _, g, trades = smooth_value(rows, V, B0, A)
    few = len(trades.who) - len(trades.row) < 3 * (d + 1)
    assert few == (n < d), "the system that is named is the one solved"
    dV, _ = class_direction.class_direction(rows.Z, rows.E, trades, 1.0, g)
    t = 1e-6
    _, after, _ = smooth_value(rows, V + t * dV, B0, A)
    np.testing.assert_allclose((g - after) / t, g, atol=1e-6 * np.abs(g).max())


def test_conjugate_gradients_reach_the_same_optimum(monkeypatch):
    X, y = load_digits(return_X_y=True)
    problem = class_problem(X[:120], y[:120], 0.01)
    exact, _, _ = solve(problem)
    monkeypatch.setattr(class_direction, "MAX_DIRECT_UNKNOWNS", 0)
    point, ending, _ = solve(problem)
    assert ending is Ending.REACHED
    assert certificate_of(problem, point).holds(1e-9)
    np.testing.assert_allclose(point.W, exact.W, atol=1e-4 * np.abs(exact.W).max())


def test_few_rows_and_a_large_C_are_left_to_newton():
    """Descent needs thousands of epochs there; systems as large as the rows on their margin few."""
    X, y = load_digits(return_X_y=True)
    stiff = class_problem(X[:150] - X.mean(axis=0), y[:150], 10.0)
    assert choose_classes(stiff)[0] == "newton"
    assert choose_classes(class_problem(X[:550], y[:550], 1e-3))[0] == "descent"
    point, ending, _ = solve(stiff)
    assert ending is Ending.REACHED
    assert certificate_of(stiff, point).holds(1e-6)


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("bias", BIASES)
def test_more_columns_than_rows(bias, storage):
    X, y = clouds(25, 200, 3, seed=1)
    problem = class_problem(storage(X), y, 0.1, bias=bias)
    best, W, _ = class_oracle(problem, X)
    point, _, _ = solve(problem)
    certificate = certificate_of(problem, point)
    assert certificate.holds(1e-9), str(certificate)
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(point.W, W, atol=1e-4)


def test_float32_rows_are_solved_in_float64():
    X, y = clouds(200, 5, 4)
    point, ending, _ = solve(class_problem(X.astype(np.float32), y))
    assert ending is Ending.REACHED
    assert point.W.dtype == np.float64


def test_a_warm_start_saves_steps():
    X, y = clouds(300, 6, 5)
    first, _, cold = solve(class_problem(X, y, 1.0))
    again, ending, warm = solve(class_problem(X, y, 1.0), start=first)
    assert ending is Ending.REACHED
    assert warm.n_iter <= cold.n_iter // 3
    np.testing.assert_allclose(again.W, first.W, atol=1e-6)
    _, ending, near = solve(class_problem(X, y, 1.1), start=first)
    assert ending is Ending.REACHED
    assert near.n_iter < cold.n_iter


def test_rows_of_weight_zero_do_not_count():
    X, y = clouds(80, 3, 3)
    weight = np.ones(80)
    weight[40:] = 0.0
    point, _, _ = solve(class_problem(X, y, 1.0, weight=weight))
    part, _, _ = solve(class_problem(X[:40], y[:40], 1.0))
    np.testing.assert_allclose(point.W, part.W, atol=1e-6)
    assert not point.beta[40:].any()


def test_two_classes_are_the_binary_svm():
    """W_1 = −W_2 = w/2, and C here is half of C there (see ``core/problem/multiclass.py``)."""
    from maxmargin import LinearSVM

    X, y = clouds(100, 4, 2)
    point, _, _ = solve(class_problem(X, y, 1.0))
    binary = LinearSVM(C=2.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(point.W[1] - point.W[0], binary.coef_[0], atol=1e-6)


def test_names_of_classes_do_not_matter():
    X, y = clouds(120, 4, 5)
    order = np.array([3, 0, 4, 1, 2])
    point, _, _ = solve(class_problem(X, y))
    other, _, _ = solve(class_problem(X, order[y]))
    np.testing.assert_allclose(other.W[order], point.W, atol=1e-6)


def test_a_budget_ends_it_with_the_best_point_so_far():
    X, y = clouds(300, 6, 5)
    problem = class_problem(X, y)
    point, ending, monitor = solve(problem, max_iter=20)
    assert ending is Ending.ITERATIONS
    assert monitor.n_iter == 20
    assert certificate_of(problem, point).primal < 300
    assert solve(problem, max_seconds=0.0)[1] is Ending.TIME


@pytest.mark.parametrize("bias", BIASES)
def test_columns_of_zeros_and_a_class_without_rows(bias):
    X, y = np.zeros((30, 2)), np.repeat([0, 1, 2], 10)
    problem = class_problem(X, y, 1.0, bias=bias, k=4)
    point, ending, _ = solve(problem)
    best, _, _ = class_oracle(problem, X)
    assert ending is Ending.REACHED
    assert certificate_of(problem, point).primal == pytest.approx(best, rel=1e-6)


def test_a_large_C_makes_newton_worth_more_work():
    """Descent needs ever more epochs, Newton does not: more rows do not turn the choice."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 16)), rng.integers(26, size=20_000)
    assert choose_classes(class_problem(X, y, 1e-2))[0] == "descent"
    assert choose_classes(class_problem(X, y, 10.0))[0] == "newton"
    wide = rng.standard_normal((2_000, 85))
    assert choose_classes(class_problem(wide, y[:2_000], 1.0))[0] == "descent"
    assert choose_classes(class_problem(wide, y[:2_000], 1e3))[0] == "newton"
