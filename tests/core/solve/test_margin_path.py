"""What fits of the hinge leave for another C: a start that is lowest on a line, and no rows."""

import gc
import weakref

import numpy as np
import pytest

from maxmargin import LinearSVM, LinearSVMCV, c_path
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows, scores
from maxmargin.core.solve.contract import Monitor, Point
from maxmargin.core.solve.two_class.blocks import NearRows, State
from maxmargin.core.solve.two_class.compact import CompactRows, is_compact
from maxmargin.core.solve.two_class.lagrangian import Goal, augment, block_slack
from maxmargin.core.solve.two_class.margin_path import MarginPath

from ...helpers import cloud

CS = 10.0 ** np.arange(-2.0, 3.5, 0.5)


def made(n=4000, d=8, C=1.0, seed=0):
    X, y = cloud(n, d, seed=seed)
    return Problem(as_rows(X), np.asarray(y, float), np.full(n, C), Hinge())


def objective(problem, w, b):
    z = 1.0 - problem.y * (scores(problem.rows, w) + b)
    return 0.5 * w @ w + problem.c @ np.maximum(z, 0.0)


def remembered(problem, *fits):
    path = MarginPath()
    for C, w, b in fits:
        earlier = Problem(problem.rows, problem.y, np.full(len(problem.y), C), Hinge())
        path.begin(earlier)
        alpha = np.where(np.arange(len(problem.y)) % 2, C, 0.3 * C)
        path.end(earlier, Point(w, b, alpha), scores(problem.rows, w))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_a_start_is_the_lowest_point_of_its_line(seed):
    rng = np.random.default_rng(seed)
    problem = made(C=3.0, seed=seed)
    w = rng.standard_normal((2, 8)) * [[0.3], [0.5]]
    path = remembered(problem, (0.3, w[0], 0.1), (1.0, w[1], -0.2))
    path.begin(problem)
    start = path.start(problem)
    value = objective(problem, start.w, start.b)
    for t in (0.0, *rng.uniform(0.0, 3.0, 20)):
        there = objective(problem, w[1] + t * (w[1] - w[0]), -0.2 - 0.3 * t)
        assert value <= there * (1.0 + 1e-6)
    np.testing.assert_allclose(
        path.scores(problem.rows, start.w), scores(problem.rows, start.w), atol=1e-12
    )
    assert (start.alpha[1::2] == problem.c[1::2]).all()  # at its cap it stays at it
    np.testing.assert_allclose(start.alpha[::2], 0.9)


def test_scores_for_a_proof_are_those_computed_from_the_rows():
    problem = made()
    path = remembered(problem, (0.1, np.ones(8), 0.0), (0.3, np.full(8, 1.1), 0.0))
    path.begin(problem)
    start = path.start(problem)
    path.scores(problem.rows, start.w)
    assert path.known_scores(start.w) is None  # a combination of earlier ones proves nothing
    w = start.w.copy()
    f = path.scores(problem.rows, w)
    assert path.known_scores(w) is f
    other = made(seed=1)
    path.scores(other.rows, v := np.zeros(8))
    assert path.known_scores(v) is None  # other rows are no affair of a path


def test_nothing_is_foreseen_of_a_hard_margin_or_from_other_solvers():
    problem = made(C=np.inf)
    path = remembered(problem, (1.0, np.ones(8), 0.0))
    path.begin(problem)
    assert path.start(problem) is None
    path.end(problem, Point(np.ones(8), 0.0, np.zeros(4000)), None)
    assert path.past == []


def test_a_path_holds_no_rows_between_fits():
    class Rows(np.ndarray):
        """An array that tells when it is gone."""

    X, y = cloud(300, 3)
    X = X.view(Rows)
    gone, path = weakref.ref(X), MarginPath()
    problem = Problem(as_rows(X), np.asarray(y, float), np.ones(300), Hinge())
    path.begin(problem)
    w = np.ones(3)
    path.end(problem, Point(w, 0.0, np.zeros(300)), path.scores(problem.rows, w))
    del X, problem
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("bias", list(Bias))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_steps_find_what_steps_in_python_find(bias, dtype):
    """Near rows with the pull of others, by either loop."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6)).astype(dtype)
    y = np.where(rng.standard_normal(400) > 0.3, 1.0, -1.0)
    mu = X.mean(axis=0, dtype=np.float64) if bias else np.zeros(6)
    c = rng.uniform(0.5, 2.0, 400)
    found = []
    for compact in (True, False):
        block = NearRows(as_rows(X), y, c, mu, bias, rng.standard_normal(6) * 0 + 0.7, 3.0)
        if not bias:
            block.r0 = 0.0
        state = State(np.zeros(6), 0.0, 0.5 * c, block_slack(block, np.zeros(6), 0.0))
        assert is_compact(block)
        monitor = Monitor(path=MarginPath() if compact else None)
        goal = Goal(1e-10, lambda terms: terms.gap <= 1e-9 * abs(terms.primal), -np.inf, (4.0, 8.0))
        assert augment(block, state, 1.0, monitor, goal)[0]
        np.testing.assert_allclose(state.z, block_slack(block, state.w, state.b), atol=1e-9)
        found.append((state.w, state.b, block.objective(state)))
    (w, b, value), (v, a, other) = found
    np.testing.assert_allclose(w, v, atol=1e-4)
    assert abs(b - a) <= 1e-3
    assert abs(value - other) <= 1e-8 * abs(other)


def test_compiled_steps_end_below_a_floor_and_with_their_budget():
    """Rows that pull harder than the near ones can hold have no minimum."""
    X, y = cloud(200, 3)
    block = NearRows(
        as_rows(X), np.asarray(y, float), np.ones(200), np.zeros(3), Bias.FREE, np.zeros(3), 500.0
    )
    state = State(np.zeros(3), 0.0, np.full(200, 0.5), np.ones(200))
    rows, monitor = CompactRows(block, state), Monitor()
    terms, _ = rows.minimise(np.ones(200), monitor, 0.05, -1e6)
    assert terms.primal < -1e6
    assert monitor.n_iter < 60


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_a_path_and_single_fits_prove_the_same(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 12))
    y = X[:, :3].sum(axis=1) + noise * rng.standard_normal(6000) > 0.2
    path = c_path(LinearSVM(), X, y, CS, stop=False)
    assert all(model.certificate_.holds(1e-6) for model in path.models)
    for model in path.models[::3]:
        alone = LinearSVM(C=model.C).fit(X, y).certificate_
        assert abs(model.certificate_.primal - alone.primal) <= 2e-6 * alone.primal
    assert path.column("iterations").sum() < 25 * len(CS)


def test_a_search_over_many_rows_chooses_as_single_fits_do():
    X, y = cloud(3000, 5, seed=2)
    search = LinearSVMCV(CS, cv=3, tol_cv=1e-6).fit(X, y)
    assert search.cv_results_["max_relative_gap"].max() <= 1e-6
    from sklearn.model_selection import cross_val_score

    for i in (0, 5, 10):
        alone = cross_val_score(LinearSVM(C=CS[i]), X, y, cv=3)
        np.testing.assert_allclose(search.scores_[:, i], alone, atol=2.0 / 1000)
