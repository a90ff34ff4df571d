"""The hinge over parts: the same optimum and the same proof as in memory, however rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.certify.bias import best_bias
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.rows.rows import scores
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.parts.certify.two_class import best_bias_parts, repair_parts
from maxmargin.parts.solve.tasks import ask_total
from maxmargin.parts.solve.two_class.ascent import Ascent, accept, best_in_triangle
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.newton import Newton
from maxmargin.parts.solve.two_class.tasks import BinarySpec, begin, pose, weigh
from tests.biases import BIASES, posed
from tests.helpers import cloud, oracle
from tests.parts.core.helpers import Here

CUTS = {"one": [], "uneven": [7, 11], "empty": [20, 20], "one class": [5, 30]}


def data(n=60, d=4, seed=0, scale=0.0):
    X, y = cloud(n, d, seed=seed, scale=scale)
    order = np.argsort(y)[::-1] if seed == 3 else np.arange(n)  # a part may lack a class
    return X[order], y[order]


def codes(y):
    return (y > 0).astype(np.int64)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_same_optimum_as_an_independent_solver(cuts, loss, bias):
    X, y = data(seed=3)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    Z, own = posed(X, bias)
    parts = Here(Z, codes(y), cuts, weight)
    fit = solve_hinge(parts, BinarySpec(0.5, LOSSES[loss], own), Monitor(tol=1e-6))
    optimum, *_ = oracle(X, y, 0.5, loss, bias, weight)
    assert fit.ending is Ending.REACHED
    assert fit.certificate.holds(1e-6)
    assert fit.certificate.primal == pytest.approx(optimum, rel=2e-6)
    assert fit.certificate.dual <= optimum * (1 + 1e-7)


@pytest.mark.parametrize("method", ["ascent", "newton", "products"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_method_alone(method, loss):
    X, y = data(200, 5)
    X = sparse.csr_matrix(X * (np.abs(X) > 0.5)).astype(np.float32)
    parts, machine = Here(X, codes(y), [90]), BinarySpec(0.1, LOSSES[loss])
    monitor = Monitor(tol=1e-4, max_iter=3000)
    census = ask_total(parts, begin, machine)
    if method == "ascent":
        run = Ascent(parts, machine, monitor, census)
        assert run.run(1e-4) is Ending.REACHED
        ask_total(parts, accept, machine, run.mix)
    else:
        run = Newton(parts, machine, monitor, census, 16 if method == "newton" else 0)
        assert run.run(1e-4) is Ending.REACHED
    optimum, *_ = oracle(X.astype(float), y, 0.1, loss)
    assert run.primal == pytest.approx(optimum, rel=2e-4)
    assert run.dual == pytest.approx(optimum, rel=2e-4)


def test_the_certificate_is_that_of_memory():
    X, y = data(80, 3)
    parts, machine = Here(X, codes(y), [10, 50]), BinarySpec(1.0, LOSSES["hinge"])
    fit = solve_hinge(parts, machine, Monitor(tol=1e-5))
    alpha = np.concatenate([m[machine.key].alpha for m in parts.memory])
    whole = certify(pose(Here(X, codes(y), []).blocks[0], machine), fit.w, fit.b, alpha)
    ours = fit.certificate
    assert ours.primal == pytest.approx(whole.primal, rel=1e-12)
    assert ours.dual == pytest.approx(whole.dual, rel=1e-12)
    assert ours.kkt_violation == pytest.approx(whole.kkt_violation, abs=1e-12)
    assert ours.problem == whole.problem
    assert ours.feasible
    assert whole.feasible


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_best_bias_over_parts_is_exact(loss, seed):
    rng = np.random.default_rng(seed)
    n = 3000 if seed % 2 else 40
    X = np.round(rng.standard_normal((n, 2)), 1 if seed == 4 else 12)  # ties
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    weight = rng.integers(0, 3, n).astype(float) if seed > 2 else None
    w = rng.standard_normal(2)
    parts, machine = Here(X, codes(y), [n // 5, n // 2], weight), BinarySpec(1.0, LOSSES[loss])
    ask_total(parts, begin, machine)
    whole = pose(Here(X, codes(y), [], weight).blocks[0], machine)
    expected = best_bias(whole, scores(whole.rows, w))
    assert best_bias_parts(parts, machine, w, 0.0) == pytest.approx(expected, abs=1e-9)


def test_repair_makes_any_multipliers_feasible():
    X, y = data(50, 3)
    parts, machine = Here(X, codes(y), [20]), BinarySpec(1.0, LOSSES["hinge"])
    ask_total(parts, begin, machine)
    rng = np.random.default_rng(0)
    for memory in parts.memory:
        share = memory[machine.key]
        memory[machine.key] = share._replace(alpha=rng.uniform(-0.5, 1.5, len(share.alpha)))
    repair_parts(parts, machine)
    alpha = np.concatenate([m[machine.key].alpha for m in parts.memory])
    assert alpha.min() >= 0.0
    assert alpha.max() <= 1.0
    assert abs(alpha @ y) <= 1e-12 * alpha.sum()
    assert ask_total(parts, weigh, machine)[2] == pytest.approx(0.0, abs=1e-12)


def test_a_fit_starts_from_the_last_one():
    X, y = data(400, 30)
    parts = Here(sparse.csr_matrix(X), codes(y), [200])
    cold = Monitor(tol=1e-5)
    solve_hinge(parts, BinarySpec(0.02, LOSSES["hinge"]), cold)
    warm = Monitor(tol=1e-5)
    solve_hinge(parts, BinarySpec(0.02, LOSSES["hinge"]), warm)
    assert warm.n_iter < cold.n_iter


def test_tasks_write_nothing_they_were_given():
    X, y = data(60, 4)
    parts, machine = Here(X, codes(y), [30]), BinarySpec(0.5, LOSSES["hinge"])
    kept = []
    ask = parts.ask

    def watched(task, *told):
        before = [m and {k: [np.copy(a) for a in v if isinstance(a, np.ndarray)]
                         for k, v in m.items()} for m in parts.memory]  # fmt: skip
        old = list(parts.memory)
        yield from ask(task, *told)
        for memory, arrays in zip(old, before, strict=True):
            for key, values in (arrays or {}).items():
                now = [a for a in memory[key] if isinstance(a, np.ndarray)]
                kept.append(all(np.array_equal(a, b) for a, b in zip(now, values, strict=True)))

    parts.ask = watched
    solve_hinge(parts, machine, Monitor(tol=1e-4))
    assert kept
    assert all(kept)


def test_a_badly_scaled_problem_at_large_C():
    X, y = cloud(300, 6, seed=2, scale=3.0)
    fit = solve_hinge(Here(X, codes(y), [100, 200]), BinarySpec(10.0, LOSSES["hinge"]), Monitor())
    assert fit.certificate.holds(1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_best_in_triangle(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2, 2))
    g, H = rng.standard_normal(2), A @ A.T
    t = best_in_triangle(g, H)
    grid = np.array([(a, b) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1 - a, 41)])
    values = grid @ g - 0.5 * np.einsum("ij,jk,ik->i", grid, H, grid)
    assert t.min() >= 0
    assert t.sum() <= 1 + 1e-12
    assert g @ t - 0.5 * t @ H @ t >= values.max() - 1e-9
