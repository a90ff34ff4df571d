"""Weak duality holds for any point; the gap closes at the optimum; repair makes it true."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.certify.repair import repair
from maxmargin.core.certify.two_class import certify
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.two_class.form import SOLVERS, solve

from ..biases import BIASES
from ..helpers import cloud, problem

KINDS = [(loss, bias) for loss in ("hinge", "squared_hinge") for bias in BIASES]


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, 50.0])
)
def test_weak_duality_for_arbitrary_points(kind, seed, C):
    loss, bias = kind
    rng = np.random.default_rng(seed)
    X, y = cloud(int(rng.integers(4, 40)), 3, seed=seed)
    q = problem(X, y, C, loss, bias, weight=rng.integers(0, 3, len(y)) + (np.arange(len(y)) < 2))
    alpha = repair(q, C * rng.random(len(y)) * 2)
    b = rng.standard_normal() if bias == "free" else 0.0
    certificate = certify(q, rng.standard_normal(q.shape[1]), b, alpha)
    assert certificate.feasible
    assert certificate.gap >= -1e-9 * max(1.0, abs(certificate.primal))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_repair_is_feasible_and_leaves_feasible_points_alone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 50))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    q = problem(rng.standard_normal((n, 2)), y)
    alpha = repair(q, np.clip(rng.normal(0.5, 1.0, n), 0, 1))
    assert abs(alpha @ y) <= 1e-12 * max(1.0, alpha.sum())
    assert (alpha >= 0).all()
    assert (alpha <= q.cap).all()
    np.testing.assert_allclose(repair(q, alpha), alpha, atol=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("loss", "bias"), KINDS, ids=str)
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_every_solver_closes_the_gap(name, loss, bias, C):
    X, y = cloud(120, 4, seed=3)
    weight = np.random.default_rng(0).integers(0, 4, 120) + (np.arange(120) < 2)
    q = problem(X, y, C, loss, bias, weight=weight.astype(float))
    solution = solve(q, Monitor(tol=1e-6, max_iter=100_000), name)
    certificate = solution.certificate
    assert certificate.holds(1e-6), f"{name}: {certificate}"
    assert solution.solver == name
    assert certificate.gap >= -1e-9 * certificate.primal


def test_infeasible_multipliers_prove_nothing():
    X, y = cloud()
    q = problem(X, y)
    certificate = certify(q, np.zeros(3), 0.0, np.full(60, 5.0))
    assert not certificate.feasible
    assert not certificate.holds(10.0)
    assert "nothing is proved" in str(certificate)
