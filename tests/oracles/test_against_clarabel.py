"""An interior-point conic solver, which shares nothing with ours, gives the same optimum."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.two_class.form import SOLVERS, solve

from ..biases import BIASES
from ..helpers import cloud, oracle, problem, separable_cloud

WEIGHT = np.random.default_rng(5).integers(0, 3, 60) + (np.arange(60) < 2).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_same_optimum(C, loss, bias, weight):
    X, y = cloud(60, 4, seed=7)
    best, w, _ = oracle(X, y, C, loss, bias, weight)
    for name in SOLVERS:
        q = problem(X, y, C, loss, bias, weight)
        solution = solve(q, Monitor(tol=1e-8, max_iter=100_000), name)
        certificate = solution.certificate
        assert certificate.primal == pytest.approx(best, rel=1e-6), name
        assert certificate.dual <= best * (1 + 1e-7), name
        # ½‖w − w*‖² is at most the gap: the objective is strongly convex in w.
        np.testing.assert_allclose(solution.point.w, w, atol=2e-3 * max(1, np.abs(w).max()))


@pytest.mark.parametrize("bias", BIASES)
def test_same_hard_margin(bias):
    X, y = separable_cloud(40, 3, seed=2)
    best, w, _ = oracle(X, y, np.inf, "hinge", bias)
    for name in ("tiny", "newton", "descent", "interior"):
        q = problem(X, y, np.inf, bias=bias)
        solution = solve(q, Monitor(tol=1e-6, max_iter=100_000), name)
        certificate = solution.certificate
        assert certificate.holds(1e-6), (name, str(certificate))
        assert certificate.primal == pytest.approx(best, rel=1e-5)
        np.testing.assert_allclose(solution.point.w, w, atol=1e-2 * np.abs(w).max())


@pytest.mark.parametrize("storage", ["wide dense", "wide sparse"])
def test_more_columns_than_rows(storage):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((25, 300)) * (rng.random((25, 300)) < 0.2)
    y = np.where(rng.random(25) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    best, w, _ = oracle(X, y, 0.5)
    data = X if storage == "wide dense" else sparse.csr_matrix(X)
    solution = solve(problem(data, y, 0.5), Monitor(tol=1e-8))
    certificate = solution.certificate
    assert solution.solver == "newton"
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(solution.point.w, w, atol=1e-4)
