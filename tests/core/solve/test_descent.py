"""Dual coordinate descent: the certificate holds, and the optimum is the one others find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.certify.bias import best_bias
from maxmargin.core.certify.repair import repair
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import Hinge, SquaredHinge
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows, combine, scores
from maxmargin.core.solve.contract import Ending, Monitor, Point
from maxmargin.core.solve.two_class.descent import Descent, descent
from maxmargin.core.solve.two_class.epochs import march

from ...biases import BIASES, posed

TOL = 1e-7


def points(n=150, d=30, seed=0, noise=0.5):
    """Sparse, shifted, overlapping classes of unequal size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.3) + 0.2 * (rng.random(d) < 0.2)
    y = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(n) > 0.7, 1.0, -1.0)
    return X, y


def store(X, storage):
    if storage == "dense":
        return as_rows(np.ascontiguousarray(X))
    if storage == "fortran":
        return as_rows(np.asfortranarray(X, dtype=np.float32))
    csr = sparse.csr_array(X)
    if storage == "wide":
        csr = csr.astype(np.float32)
        csr.indptr, csr.indices = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
    return as_rows(csr)


def problem_of(X, y, C=1.0, loss=None, bias=Bias.FREE, storage="csr"):
    X, bias = posed(X, bias)
    c = np.full(len(y), float(C)) if np.isscalar(C) else np.asarray(C, dtype=float)
    return Problem(store(X, storage), y, c, loss if loss is not None else Hinge(), bias)


def prove(problem, point):
    """The certificate a caller makes: repaired multipliers, the best bias."""
    alpha, b = repair(problem, point.alpha), point.b
    if problem.bias is Bias.FREE:
        b = best_bias(problem, scores(problem.rows, point.w), b)
    return certify(problem, point.w, b, alpha)


def solve(problem, tol=TOL, start=None, **budget):
    monitor = Monitor(tol=tol, **{"max_iter": 20_000, **budget})
    point, ending = descent(problem, monitor, start)
    return point, ending, prove(problem, point), monitor


def oracle(X, y, c, loss, bias):
    """The optimal value by a general-purpose cone solver."""
    cp = pytest.importorskip("cvxpy")
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, X @ w + (0 if bias == "none" else b)))
    losses = slack if isinstance(loss, Hinge) else cp.square(slack)
    value = 0.5 * cp.sum_squares(w) + c @ losses
    if bias == "penalized":
        value += 0.5 * cp.square(b)
    problem = cp.Problem(cp.Minimize(value))
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
def test_agrees_with_a_cone_solver(loss, bias):
    X, y = points()
    problem = problem_of(X, y, 2.0, loss, bias)
    _, ending, proof, _ = solve(problem)
    assert ending is Ending.REACHED
    assert proof.holds(TOL)
    assert proof.primal == pytest.approx(oracle(X, y, problem.c, loss, bias), rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_agrees_with_newton(C):
    from maxmargin.core.solve.two_class.newton import newton

    problem = problem_of(*points(seed=3), C)
    point, _ = newton(problem, Monitor(tol=1e-9))
    other = prove(problem, point)
    _, ending, proof, _ = solve(problem)
    assert ending is Ending.REACHED
    assert proof.holds(TOL)
    assert proof.primal == pytest.approx(other.primal, rel=1e-6)


# Tables of columns and wide indices reach solvers as they are only when they are large.
LARGE_ONLY = [pytest.param(name, marks=pytest.mark.slow) for name in ("fortran", "wide")]


@pytest.mark.parametrize("storage", ["dense", *LARGE_ONLY])
def test_storages_give_the_same_optimum(storage):
    X, y = points(seed=1)
    X = X.astype(np.float32).astype(np.float64)  # so that float32 storage is exact
    _, _, expected, _ = solve(problem_of(X, y))
    _, ending, proof, _ = solve(problem_of(X, y, storage=storage))
    assert ending is Ending.REACHED
    assert proof.holds(TOL)
    assert proof.primal == pytest.approx(expected.primal, rel=1e-6)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
def test_rows_of_no_weight_do_not_exist(loss):
    X, y = points(seed=2)
    rng = np.random.default_rng(2)
    c = rng.choice([0.0, 0.5, 3.0], size=len(y))
    keep = c > 0
    point, ending, proof, _ = solve(problem_of(X, y, c, loss))
    _, _, alone, _ = solve(problem_of(X[keep], y[keep], c[keep], loss))
    assert ending is Ending.REACHED
    assert proof.holds(TOL)
    assert not point.alpha[~keep].any()
    assert proof.primal == pytest.approx(alone.primal, rel=1e-6)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
def test_empty_rows_are_harmless(loss, bias):
    X, y = points(seed=4)
    X[::7] = 0.0
    _, ending, proof, _ = solve(problem_of(X, y, 1.0, loss, bias))
    assert ending is Ending.REACHED
    assert proof.holds(TOL)


def test_nothing_but_empty_rows():
    _, y = points(n=20)
    _, ending, proof, _ = solve(problem_of(np.zeros((20, 3)), y))
    assert ending is Ending.REACHED
    assert proof.holds(TOL)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
def test_hard_margin_on_separable_points(loss, bias):
    X, _ = points(n=60, d=80, seed=5)
    y = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    problem = problem_of(X, y, np.inf, loss, bias)
    point, ending, proof, _ = solve(problem)
    assert ending is Ending.REACHED
    assert proof.holds(TOL)
    margins = y * (scores(problem.rows, point.w) + point.b)
    assert margins.min() == pytest.approx(1.0, abs=1e-9)


def test_hard_margin_on_inseparable_points_ends_without_a_model():
    X, y = points(n=80, d=5, seed=6)
    _, ending, proof, _ = solve(problem_of(X, y, np.inf), max_iter=500)
    assert ending in (Ending.ITERATIONS, Ending.STALLED)
    assert proof.primal == np.inf


def test_a_warm_start_saves_work_and_changes_nothing():
    X, y = points(n=300, seed=7)
    point, _, proof, cold = solve(problem_of(X, y, 1.0))
    _, ending, _, again = solve(problem_of(X, y, 1.0), start=point)
    assert ending is Ending.REACHED
    assert again.n_iter == 0
    _, ending, near, warm = solve(problem_of(X, y, 1.05), start=point)
    assert ending is Ending.REACHED
    assert near.holds(TOL)
    assert warm.n_iter < cold.n_iter
    assert near.primal > proof.primal


def test_a_start_outside_the_box_is_clipped():
    X, y = points(seed=8)
    wild = Point(np.ones(X.shape[1]), 3.0, np.linspace(-5.0, 5.0, len(y)))
    _, ending, proof, _ = solve(problem_of(X, y), start=wild)
    assert ending is Ending.REACHED
    assert proof.holds(TOL)


def test_budgets_end_with_a_valid_point():
    problem = problem_of(*points(n=400, seed=9), 10.0)
    _, ending, proof, monitor = solve(problem, tol=1e-12, max_iter=3)
    assert ending is Ending.ITERATIONS
    assert monitor.n_iter == 3
    assert proof.feasible
    assert 0.0 < proof.relative_gap < 1.0
    _, ending, proof, _ = solve(problem, tol=1e-12, max_seconds=0.0)
    assert ending is Ending.TIME
    assert proof.feasible


def test_an_impossible_tolerance_stalls():
    _, ending, proof, _ = solve(problem_of(*points(n=60, seed=10)), tol=0.0)
    assert ending in (Ending.STALLED, Ending.REACHED)
    assert proof.relative_gap < 1e-12


def test_an_interrupt_returns_the_best_point(monkeypatch):
    monitor = Monitor(tol=1e-12, max_iter=20_000)
    step = monitor.step

    def interrupted(count):
        if monitor.n_iter >= 12:
            raise KeyboardInterrupt
        step(count)

    monkeypatch.setattr(monitor, "step", interrupted)
    problem = problem_of(*points(n=400, seed=9), 10.0)
    point, ending = descent(problem, monitor)
    assert ending is Ending.INTERRUPTED
    assert 0.0 < prove(problem, point).relative_gap < 1.0


def test_every_seed_finds_the_optimum_and_repeats_itself():
    problem = problem_of(*points(n=300, seed=11), 5.0)
    runs = [solve(problem, seed=seed) for seed in (0, 1, 2, 0)]
    values = [proof.primal for _, _, proof, _ in runs]
    assert max(values) - min(values) <= TOL * max(values)
    assert all(proof.holds(TOL) for _, _, proof, _ in runs)
    assert np.array_equal(runs[0][0].w, runs[3][0].w)
    assert np.array_equal(runs[0][0].alpha, runs[3][0].alpha)


def test_recorded_bounds_never_cross():
    for C in (0.1, 1e3):
        _, _, proof, monitor = solve(problem_of(*points(n=250, d=60, seed=12), C), tol=1e-9)
        for step in monitor.history:
            assert step.dual <= proof.primal * (1 + 1e-10)
            assert step.primal >= proof.dual * (1 - 1e-10)


def test_near_duplicates_do_not_stop_it():
    X, y = points(n=120, seed=13)
    rng = np.random.default_rng(13)
    X = np.vstack([X, X + 1e-3 * rng.standard_normal(X.shape)])
    _, ending, proof, _ = solve(problem_of(X, np.concatenate([y, y]), 10.0), tol=1e-6)
    assert ending is Ending.REACHED
    assert proof.holds(1e-6)


def test_a_march_may_pause_anywhere(monkeypatch):
    """Calls that end within an epoch, for the sake of Ctrl-C, change nothing in the result."""
    problem = problem_of(*points(n=200, seed=13), 20.0)
    whole, _ = descent(problem, Monitor(tol=1e-8, max_iter=20_000))
    monkeypatch.setattr(
        "maxmargin.core.solve.two_class.descent.CALL_VALUES", 400
    )  # a few rows at a time
    monitor = Monitor(tol=1e-8, max_iter=20_000)
    pieces, ending = descent(problem, monitor)
    assert ending is Ending.REACHED
    assert np.array_equal(whole.w, pieces.w)
    assert np.array_equal(whole.alpha, pieces.alpha)


def test_a_march_ends_with_the_iterations_allowed():
    problem = problem_of(*points(n=200, seed=14), 1e3)
    monitor = Monitor(tol=1e-12, max_iter=7)
    _, ending = descent(problem, monitor)
    assert ending is Ending.ITERATIONS
    assert monitor.n_iter == 7


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("last", [1, 2, 5, 16])
def test_who_is_not_enrolled_sleeps_and_who_is_not_on_the_trail_has_not_moved(C, last):
    """What an epoch and a leap leave out has nothing to do with them."""
    problem = problem_of(*points(n=600, d=40, seed=3), C=C)
    run = Descent(problem, Monitor(), None)
    for _ in range(2):  # on from where a check has left it
        hopeless = (0.0, np.inf, np.inf, 10**6)
        goal = int(run.now["epochs"]) + last
        march(
            problem.loss, problem.rows, run.bends, run.rho, True, run.stride, run.slice, goal,
            hopeless, run.states, run.points, run.w, run.past,
        )  # fmt: skip
        old_alpha, _, trail, some, *_ = run.past
        listed, enrolled = trail[: run.now["gone"]], some[: run.now["enrolled"]]
        assert len(np.unique(listed)) == len(listed)
        assert set(listed) == set(np.flatnonzero(run.points["listed"]))
        assert set(np.flatnonzero(run.points["alpha"] != old_alpha)) <= set(listed)
        # Whoever was awake when the last epoch began had been enrolled.
        began = run.now["clock"] - run.now["speed"]
        others = np.delete(run.points["wake"], enrolled)
        assert not len(others) or others.min() > began
        np.testing.assert_allclose(run.w, combine(problem.rows, run.points["alpha"] * problem.y))
        run.check()
        assert run.now["horizon"] == -np.inf
        assert run.now["seen"] == 0


def test_a_leap_strikes_those_from_the_trail_who_are_where_it_began():
    problem = problem_of(*points(n=400, d=20, seed=5), C=1.0)
    point, ending, certificate, _ = solve(problem, tol=1e-10)
    assert ending is Ending.REACHED
    assert certificate.holds(1e-9)
    run = Descent(problem, Monitor(), point)
    run.leap()  # nobody has moved: there is no path
    assert run.now["gone"] == 0
    np.testing.assert_array_equal(run.points["alpha"], np.clip(point.alpha, 0.0, problem.cap))
