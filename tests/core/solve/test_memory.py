"""What one C leaves for the next: the same optimum, in fewer steps, and nothing of the rows."""

import gc

import numpy as np
import pytest

from maxmargin.core.problem.losses import Logistic
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.core.solve.softmax.form import certify_logistic, solve_logistic
from maxmargin.core.solve.softmax.path_state import Known, PathState

from ...helpers import cloud
from ...logistic_helpers import blobs, softmax_problem

CS = 10.0 ** np.arange(-2.0, 3.0)


def several(C, dtype=np.float64):
    """Too many weights for the Hessian itself: pairs and a Kronecker model do the work."""
    X, y = blobs(1200, 60, 8, spread=2.0, seed=3)
    return softmax_problem(X.astype(dtype), y, C)


def two(C, dtype=np.float64):
    X, y = cloud(5000, 40, seed=4)
    rows = as_rows(X.astype(dtype))
    return Problem(rows, np.asarray(y, float), np.full(len(y), C), Logistic())


def along(make, memory, tol, **other):
    """The steps and solutions of a path."""
    start, found, steps = None, [], []
    for C in CS:
        monitor = Monitor(tol=tol, max_iter=1000)
        solution = solve_logistic(make(C, **other), monitor, "newton", start, memory)
        certificate = solution.certificate
        start = solution.point.W, solution.point.b
        found.append((solution, certificate))
        steps.append(solution.n_iter)
    return found, steps


@pytest.mark.parametrize("make", [several, two])
def test_carried_pairs_lead_to_the_same_optimum(make):
    cold = [solve_logistic(make(C), Monitor(tol=1e-9, max_iter=1000)).certificate for C in CS]
    warm, _ = along(make, PathState(), 1e-9)
    for one, (solution, other) in zip(cold, warm, strict=True):
        assert solution.ending is Ending.REACHED
        assert other.holds(1e-9)
        assert abs(other.primal - one.primal) <= 1e-9 * one.primal


def test_carried_pairs_save_steps():
    _, with_memory = along(several, PathState(), 1e-6)
    start, without = None, []
    for C in CS:
        monitor = Monitor(tol=1e-6, max_iter=1000)
        solution = solve_logistic(several(C), monitor, "newton", start)
        start = solution.point.W, solution.point.b
        without.append(solution.n_iter)
    assert sum(with_memory) < 0.9 * sum(without)


def test_a_pair_of_another_c_is_exact_for_a_quadratic():
    """y = s + C G s, whatever C is; the bias has no ridge."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((6, 6))
    G, s = G @ G.T, rng.standard_normal((6, 2))
    ridge = np.diag([1.0] * 5 + [0.0])
    y = (ridge + 3.0 * G) @ s
    known = Known(3.0, np.zeros(5), None, [(s, y, 1.0 / np.vdot(s, y))])
    ((same, grown, rho),) = known.pairs_at(7.0)
    np.testing.assert_allclose(grown, (ridge + 7.0 * G) @ s)
    assert same is s
    assert rho == pytest.approx(1.0 / np.vdot(s, grown))


@pytest.mark.parametrize("make", [several, two])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("estimate", [1e-5, 1e-3])
def test_an_estimate_is_about_right(make, dtype, estimate):
    """Fits that end at an estimate are as near to the optimum as they say, within a factor."""
    found, _ = along(make, PathState(estimate), 1e-3, dtype=dtype)
    for C, (solution, certificate) in zip(CS, found, strict=True):
        problem = make(C)
        sharp = solve_logistic(problem, Monitor(tol=1e-9, max_iter=1000)).certificate
        assert solution.ending in (Ending.ESTIMATED, Ending.REACHED)
        assert (certificate is None) == (solution.ending is Ending.ESTIMATED)
        error = objective(problem, solution) - sharp.primal
        gain = without_weights(problem) - sharp.primal
        assert error <= 10.0 * estimate * gain


def test_a_memory_holds_no_rows():
    memory = PathState(1e-5)
    problem = several(1.0)
    solve_logistic(problem, Monitor(tol=1e-3, max_iter=1000), "newton", None, memory)
    X = problem.rows.X
    assert memory.known is not None
    assert not any(_holds(item, X) for item in _reachable(memory))


def test_an_interrupted_search_leaves_the_memory_as_it_was(monkeypatch):
    memory = PathState(1e-5)
    first = solve_logistic(several(1.0), Monitor(tol=1e-3, max_iter=1000), "newton", None, memory)
    before = memory.known
    monitor = Monitor(tol=1e-12, max_iter=1000)

    def pressed(count=1):
        raise KeyboardInterrupt

    monkeypatch.setattr(monitor, "step", pressed)
    solution = solve_logistic(several(100.0), monitor, "newton", first.point, memory)
    certificate = solution.certificate
    assert solution.ending is Ending.INTERRUPTED
    assert certificate is not None
    assert memory.known is before


def objective(problem, solution) -> float:
    if isinstance(problem, Problem):
        return certify_logistic(problem, solution.point.W[0], float(solution.point.b[0])).primal
    s = problem.rows.X.astype(float) @ solution.point.W.T + solution.point.b
    loss = np.logaddexp.reduce(s, axis=1) - s[np.arange(len(s)), problem.y]
    return 0.5 * float((solution.point.W**2).sum()) + float(problem.c @ loss)


def without_weights(problem) -> float:
    assert problem.bias is Bias.FREE
    shares = np.array([problem.c[problem.y == label].sum() for label in np.unique(problem.y)])
    return -float(shares @ np.log(shares / shares.sum()))


def _reachable(thing):
    """Everything a thing refers to, but modules, classes and functions."""
    seen, todo = set(), [thing]
    while todo:
        item = todo.pop()
        if id(item) in seen or callable(item) or isinstance(item, str | type(np)):
            continue
        seen.add(id(item))
        yield item
        todo.extend(gc.get_referents(item))


def _holds(item, X) -> bool:
    return isinstance(item, np.ndarray) and np.shares_memory(item, X)
