"""Block coordinate descent: the optimum of clarabel, whatever the storage, rule and bias."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.core.solve.many_class import class_descent as module
from maxmargin.core.solve.many_class.class_descent import ClassDescent, class_descent
from maxmargin.core.solve.many_class.form import choose_classes, solve_classes

from ...biases import BIASES
from ...class_helpers import RULES, certificate_of, class_oracle, class_problem, clouds

WEIGHT = np.random.default_rng(5).integers(0, 3, 60) + (np.arange(60) < 4).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("rule", RULES, ids="-".join)
@pytest.mark.parametrize("C", [0.03, 1.0])
def test_same_optimum_as_clarabel(C, rule, bias, weight):
    X, y = clouds(60, 3, 4, seed=7)
    X += 2.0
    problem = class_problem(X, y, C, rule, bias, weight)
    best, W, _ = class_oracle(problem, X)
    solution = solve_classes(problem, Monitor(tol=1e-6, max_iter=50_000), "descent")
    certificate = solution.certificate
    assert certificate.holds(1e-6), str(certificate)
    assert certificate.primal == pytest.approx(best, rel=2e-6)
    np.testing.assert_allclose(solution.point.W, W, atol=2e-3 * max(1, np.abs(W).max()))


@pytest.mark.parametrize("rule", RULES, ids="-".join)
def test_dense_sparse_and_float32_agree(rule):
    X, y = clouds(200, 12, 5, seed=2)
    X = np.where(np.abs(X) < 0.8, 0.0, X).astype(np.float32)
    found = [
        solve_classes(class_problem(kind, y, 0.3, rule), Monitor(tol=1e-8), "descent")
        for kind in (X.astype(np.float64), sparse.csr_matrix(X), X)
    ]
    for solution in found:
        certificate = solution.certificate
        assert certificate.holds(1e-8)
        np.testing.assert_allclose(solution.point.W, found[0].point.W, atol=1e-3)
        assert certificate.primal == pytest.approx(found[0].certificate.primal, rel=1e-7)


def test_single_precision_hands_over_to_double(monkeypatch):
    monkeypatch.setattr(module, "MIN_SINGLE_VALUES", 0)
    X, y = clouds(300, 10, 4, seed=4)
    problem = class_problem(X, y, 0.3)
    state = ClassDescent(problem, Monitor(tol=1e-8, max_iter=20_000), None)
    assert state.beta.dtype == np.float32
    assert state.loop() is Ending.REACHED
    assert state.beta.dtype == np.float64
    assert certificate_of(problem, state.point(reached=True)).holds(2e-8)


def test_leaps_save_epochs():
    X, y = clouds(400, 30, 6, seed=1)
    problem = class_problem(X, y, 3.0)
    epochs = []
    for stride in (2, 10**9):
        monitor = Monitor(tol=1e-4, max_iter=100_000)
        state = ClassDescent(problem, monitor, None)
        if stride > 2:
            state.leap = lambda make: None
        assert state.loop() is Ending.REACHED
        epochs.append(state.epochs)
    assert epochs[0] < 0.8 * epochs[1], epochs


def test_the_answer_does_not_depend_on_the_seed_or_the_start():
    X, y = clouds(150, 6, 4, seed=9)
    problem = class_problem(X, y, 0.5)
    first = solve_classes(problem, Monitor(tol=1e-9, seed=0), "descent")
    other = solve_classes(problem, Monitor(tol=1e-9, seed=77), "descent")
    warm = solve_classes(problem, Monitor(tol=1e-9), "descent", other.point)
    np.testing.assert_allclose(first.point.W, other.point.W, atol=1e-4)
    np.testing.assert_allclose(first.point.b, other.point.b, atol=1e-4)
    assert warm.n_iter < 0.5 * first.n_iter


def test_budgets_end_the_run_with_a_usable_point():
    X, y = clouds(500, 20, 5, seed=0)
    problem = class_problem(X, y, 100.0)
    _, ending = class_descent(problem, Monitor(tol=1e-12, max_iter=3))
    assert ending is Ending.ITERATIONS
    point, ending = class_descent(problem, Monitor(tol=1e-12, max_seconds=1e-9))
    assert ending is Ending.TIME
    assert np.isfinite(point.W).all()


def test_empty_rows_constant_columns_and_absent_weights():
    X, y = clouds(80, 4, 3, seed=3)
    X[5] = 0.0
    X[:, 2] = 7.0
    weight = np.ones(80)
    weight[10:20] = 0.0
    problem = class_problem(X, y, 1.0, weight=weight)
    kept = weight > 0
    smaller = class_problem(X[kept], y[kept], 1.0)
    a = solve_classes(problem, Monitor(tol=1e-8), "descent")
    proof = a.certificate
    b = solve_classes(smaller, Monitor(tol=1e-8), "descent")
    assert proof.holds(1e-8)
    np.testing.assert_allclose(a.point.W, b.point.W, atol=1e-3)
    assert not a.point.beta[~kept].any()


def test_choice_of_the_solver():
    X, y = clouds(60, 3, 3)
    assert choose_classes(class_problem(X, y))[0] == "newton"
    wide = sparse.random(60, 5000, 0.01, "csr", random_state=0)
    assert choose_classes(class_problem(wide, y))[0] == "descent"
