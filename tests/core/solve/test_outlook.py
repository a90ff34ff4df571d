"""Which solver k classes begin with, and when descent gives way."""

import numpy as np
import pytest

from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.core.solve.many_class import outlook
from maxmargin.core.solve.many_class.form import choose_classes, solve_classes
from maxmargin.core.solve.many_class.outlook import Outlook, newton_epochs

from ...class_helpers import class_problem, clouds


@pytest.fixture(scope="module")
def overlapping():
    """Too many rows to be solved to rounding, and no two classes apart."""
    return clouds(3_000, 30, 5, seed=1)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_small_C_is_left_to_descent_and_a_large_one_to_newton(overlapping, tol):
    assert choose_classes(class_problem(*overlapping, 1e-3), tol)[0] == "descent"
    assert choose_classes(class_problem(*overlapping, 1e4), tol)[0] == "newton"


def test_small_data_are_solved_to_rounding_unless_less_is_asked():
    X, y = clouds(1_500, 10, 5)
    problem = class_problem(X, y, 1e-2)
    assert choose_classes(problem, 1e-6)[0] == "newton"
    assert choose_classes(problem, 1e-3)[0] == "descent"
    assert choose_classes(class_problem(X[:300], y[:300], 1e-2), 1e-3)[0] == "newton"


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_descent_that_gives_way_leaves_no_less_to_folds(C):
    """A gap that would do is not yet the one that small data are solved to."""
    problem = class_problem(*clouds(700, 8, 6), C, ("max", "squared_hinge"))
    found = solve_classes(problem, Monitor(tol=1e-3, max_iter=10_000))
    assert found.ending is Ending.REACHED
    assert found.certificate.relative_gap <= 2e-5


def test_less_asked_of_small_data_is_given_with_some_more():
    """Folds that choose C judge rows by models that are nearly the optimum."""
    problem = class_problem(*clouds(1_500, 10, 5), 1e-2)
    found = solve_classes(problem, Monitor(tol=1e-3))
    assert found.solver == "descent"
    assert found.certificate.relative_gap <= 2e-5
    named = solve_classes(problem, Monitor(tol=1e-3), "descent")
    assert named.n_iter < found.n_iter, "who names a solver gets what was asked"


def test_descent_that_is_slow_gives_way(overlapping, monkeypatch):
    monkeypatch.setattr(outlook, "MIN_STIFFNESS", np.inf)
    problem = class_problem(*overlapping, 30.0)
    found = solve_classes(problem, Monitor(tol=1e-6, max_iter=10_000))
    assert found.solver == "newton"
    assert found.why.startswith("descent stopped at a relative gap of ")
    assert found.certificate.holds(1e-6)
    assert found.n_iter < newton_epochs(problem, 1e-6)
    named = solve_classes(problem, Monitor(tol=1e-6, max_iter=600), "descent")
    assert (named.solver, named.n_iter) == ("descent", 600), "by name it does not"


def test_the_same_data_take_the_same_way(overlapping, monkeypatch):
    """No clock decides."""
    monkeypatch.setattr(outlook, "MIN_STIFFNESS", np.inf)
    problem = class_problem(*overlapping, 3.0)
    one, two = (solve_classes(problem, Monitor(tol=1e-4)) for _ in range(2))
    assert one.n_iter == two.n_iter
    np.testing.assert_array_equal(one.point.W, two.point.W)


def test_epochs_left():
    steady = Outlook(np.inf)
    for epochs in (4, 8, 16, 30):
        left = steady.epochs_left(epochs, 10.0 ** (-epochs / 10), 1e-6)
        assert left == pytest.approx(60 - epochs)
    assert Outlook(np.inf).epochs_left(24, 1.0, 1e-6) == np.inf, "the gap does not close at all"


def test_what_patience_has_an_end():
    assert not Outlook(np.inf).is_bleak(10**6, np.inf)
    assert not Outlook(100.0).is_bleak(4, np.inf), "too early to tell"
    assert Outlook(100.0).is_bleak(24, np.inf)
    assert not Outlook(100.0).is_bleak(24, 30.0)
