"""Multipliers of k classes are made feasible, cheaply where it can be done cheaply."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.certify.circulation import repair_classes
from maxmargin.core.certify.class_bias import middle_biases
from maxmargin.core.certify.multiclass import certify_classes, residual
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.many_class.form import solve_classes

from ...class_helpers import RULES, class_problem, clouds


@pytest.mark.parametrize("rule", RULES, ids="-".join)
@given(seed=st.integers(0, 10**6), k=st.integers(3, 6))
@settings(max_examples=40, deadline=None)
def test_anything_becomes_feasible(rule, seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 40))
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    problem = MulticlassProblem(
        as_rows(rng.standard_normal((n, 2))), y, rng.uniform(0, 2, n), CLASS_LOSSES[rule], k
    )
    wild = rng.exponential(size=(n, k)) * (rng.random((n, k)) < rng.random())
    beta = repair_classes(problem, wild)
    certificate = certify_classes(problem, np.zeros((k, 2)), np.zeros(k), beta)
    assert certificate.feasible, str(certificate)
    assert (beta[np.arange(n), y] == 0.0).all()
    assert certificate.gap >= -1e-9 * certificate.primal  # weak duality


@pytest.mark.parametrize("rule", RULES, ids="-".join)
def test_a_small_residual_costs_the_dual_little(rule):
    X, y = clouds(120, 3, 4, seed=3)
    problem = class_problem(X, y, 1.0, rule)
    solution = solve_classes(problem, Monitor(tol=1e-10))
    W, b, beta = solution.point
    rng = np.random.default_rng(0)
    shaken = beta * (1.0 + 1e-4 * rng.standard_normal(beta.shape))
    assert np.abs(residual(problem, shaken)).max() > 1e-6
    again = certify_classes(problem, W, b, repair_classes(problem, shaken))
    assert again.feasible
    assert again.relative_gap < 1e-4


def test_a_feasible_point_is_left_alone():
    X, y = clouds(60, 3, 4, seed=1)
    problem = class_problem(X, y, 1.0, ("max", "hinge"))
    solution = solve_classes(problem, Monitor(tol=1e-9))
    np.testing.assert_allclose(
        repair_classes(problem, solution.point.beta), solution.point.beta, atol=1e-12
    )


def test_the_middle_of_the_biases_of_separated_points():
    # On a line at 0, 4 and 10 the hard margin leaves the two biases of the outer classes room
    # only where a neighbour does not bind; the middle keeps all margins and sums to zero.
    X, y = np.array([[0.0], [4.0], [10.0]]), np.array([0, 1, 2])
    problem = class_problem(X, y, np.inf, ("max", "hinge"))
    solution = solve_classes(problem, Monitor(tol=1e-9))
    certificate = solution.certificate
    W, b, beta = solution.point
    assert certificate.holds(1e-9)
    assert b.sum() == pytest.approx(0.0, abs=1e-12)
    middle = middle_biases(problem, W, b, beta)
    np.testing.assert_allclose(middle, b, atol=1e-9)


def test_too_large_multipliers_prove_nothing():
    X, y = clouds(60, 3, 4, seed=1)
    problem = class_problem(X, y, 1.0, ("sum", "hinge"))
    solution = solve_classes(problem, Monitor(tol=1e-9))
    W, b, beta = solution.point
    assert not certify_classes(problem, W, b, 2.0 * beta).holds(1e-2)
    tilted = beta.copy()
    tilted[y == 0] *= 0.5
    assert not certify_classes(problem, W, b, tilted).feasible
