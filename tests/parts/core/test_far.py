"""Parts whose answers travel: vectors only, few rounds, and the same optimum."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Monitor
from maxmargin.parts.certify.smooth import certify_smooth
from maxmargin.parts.dask.sample import draw
from maxmargin.parts.dask.traffic import Traffic
from maxmargin.parts.solve.smooth import Asked, solve_smooth
from maxmargin.parts.solve.tasks import ask_total
from maxmargin.parts.solve.two_class import near as hinge_near
from maxmargin.parts.solve.two_class import sample as hinge_sample
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.newton import Newton
from maxmargin.parts.solve.two_class.tasks import BinarySpec, begin
from tests.biases import BIASES, posed
from tests.helpers import oracle
from tests.parts.core.helpers import Here


class Far(Here):
    """Parts in this process that count what would travel."""

    far = True

    def __init__(self, *rows):
        super().__init__(*rows)
        self.traffic = Traffic(self.n_parts)

    def ask(self, task, *told):
        self.traffic.ask(told, self.n_parts)
        for answer in super().ask(task, *told):
            self.traffic.answer(answer)
            yield answer


def clouds(n, d, k=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(0, -1, d)
    f = X @ rng.standard_normal((d, k)) + noise * rng.standard_normal((n, k))
    return X, (f[:, 0] > 0.3).astype(np.int64) if k == 2 else f.argmax(axis=1)


def fit_smooth(parts, y, k, C, tol):
    mass = np.bincount(y, minlength=k).astype(float)
    data = SimpleNamespace(parts=parts, n=len(y), classes=np.arange(k), mass=mass)
    asked = Asked(k, C, Bias.FREE)
    found = solve_smooth(parts, asked, Monitor(tol=tol), draw(data, 0))
    return certify_smooth(parts, asked, found.W, found.b, tol, found.mu)[1]


CUTS = {"uneven": [70, 110], "empty": [200, 200], "one class": [150]}


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_by_vectors_the_optimum_of_an_independent_solver(cuts, loss, bias):
    X, y = clouds(400, 20)
    if len(cuts) == 1:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    Z, own = posed(X, bias)
    machine = BinarySpec(0.5, LOSSES[loss], own)
    fit = solve_hinge(Far(Z, y, cuts, weight), machine, Monitor(tol=1e-6))
    optimum, *_ = oracle(X, np.where(y > 0, 1.0, -1.0), 0.5, loss, bias, weight)
    assert fit.solver == "newton"
    assert fit.certificate.holds(1e-6)
    assert fit.certificate.primal == pytest.approx(optimum, rel=2e-6)
    assert fit.certificate.dual <= optimum * (1 + 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_twice_counts_as_one_of_weight_two(loss):
    """Two parts that hold the very same rows cannot be told apart, and need not be."""
    X, y = clouds(300, 18)
    machine = BinarySpec(0.2, LOSSES[loss])
    twice = solve_hinge(Far(np.vstack([X, X]), np.tile(y, 2), [300]), machine, Monitor(tol=1e-7))
    once = solve_hinge(Far(X, y, [100], np.full(300, 2.0)), machine, Monitor(tol=1e-7))
    assert twice.certificate.holds(1e-7)
    assert twice.certificate.primal == pytest.approx(once.certificate.primal, rel=2e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_products_with_fewer_free_rows_than_columns(loss):
    X, y = clouds(150, 300)
    X = sparse.csr_matrix(X * (np.abs(X) > 0.3))
    parts, machine = Far(X, y, [60]), BinarySpec(0.3, LOSSES[loss])
    run = Newton(parts, machine, Monitor(tol=1e-4), ask_total(parts, begin, machine))
    run.run(1e-4)
    optimum, *_ = oracle(X, np.where(y > 0, 1.0, -1.0), 0.3, loss)
    assert run.primal == pytest.approx(optimum, rel=2e-4)
    assert run.dual == pytest.approx(optimum, rel=2e-4)


@pytest.mark.parametrize("method", ["hinge", "squared_hinge", "logistic", "softmax"])
def test_questions_and_answers_grow_with_columns_and_not_with_rows(method):
    """A question or an answer is some vectors of d·k numbers: no d × d matrix, nothing of n."""
    largest = {}
    for n, d in ((1500, 25), (6000, 25), (6000, 100)):
        k = 4 if method == "softmax" else 2
        X, y = clouds(n, d, k)
        parts = Far(X, y, [n // 3])
        if method in LOSSES:
            found = solve_hinge(
                parts, BinarySpec(0.1, LOSSES[method]), Monitor(tol=1e-3)
            ).certificate
        else:
            found = fit_smooth(parts, y, k, 0.1, 1e-3)
        assert found.holds(1e-3)
        columns = 1 if k == 2 else k
        # The multipliers of rows near their margin are sent back: at most 40 a column.
        assert parts.traffic.largest_sent <= 8 * (d + 1) * (3 * columns + 45)
        assert parts.traffic.largest_received <= 8 * (d + 1) * (3 * columns + 8)
        largest[n, d] = parts.traffic.largest_received
    assert largest[6000, 25] <= 1.1 * largest[1500, 25]
    assert largest[6000, 100] <= 4.1 * largest[6000, 25]


def test_few_rounds_where_there_are_many_columns():
    """Conjugate gradients without a model needed thousands."""
    X, y = clouds(1500, 300, noise=0.1)
    parts = Far(X, y, [700])
    fit = solve_hinge(parts, BinarySpec(1.0, LOSSES["hinge"]), Monitor(tol=1e-5))
    assert fit.certificate.holds(1e-5)
    assert parts.rounds <= 150


def test_few_rounds_of_logistic_regression():
    X, y = clouds(20_000, 30, noise=0.5)
    parts = Far(X.astype(np.float32), y, [9000])
    assert fit_smooth(parts, y, 2, 1.0, 1e-3).holds(1e-3)
    assert parts.rounds <= 30


def test_no_row_near_its_margin(monkeypatch):
    """At a tiny C all rows are far inside theirs, and are one vector: none need be fetched."""
    monkeypatch.setattr(hinge_sample, "MIN_SAMPLE_ROWS", 20)
    monkeypatch.setattr(hinge_sample, "SAMPLE_ROWS_PER_COLUMN", 2)
    monkeypatch.setattr(hinge_near, "NEAR_ROWS_PER_COLUMN", 5)
    X, y = clouds(300, 18)
    Z, own = posed(X, "penalized")
    machine = BinarySpec(1e-6, LOSSES["hinge"], own)
    fit = solve_hinge(Far(Z, y, [70, 110]), machine, Monitor(tol=1e-6))
    side = np.where(y > 0, 1e-6, -1e-6)
    assert fit.certificate.holds(1e-6)
    assert fit.w[:-1] == pytest.approx(side @ X, rel=1e-6)
    assert fit.w[-1] == pytest.approx(side.sum(), rel=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("bias", BIASES)
def test_an_optimum_known_from_the_start_is_proved_in_few_rounds(bias, C):
    """Few rows all come as the sample, whose optimum is that of all: only the proof is missing."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 30)), np.arange(600) % 2
    X[:, :6] += rng.standard_normal((2, 6))[y]
    X, own = posed(X, bias)
    parts = Far(X, y, [100, 300])
    fit = solve_hinge(parts, BinarySpec(C, LOSSES["hinge"], own), Monitor(tol=1e-5))
    assert fit.certificate.holds(1e-5)
    assert parts.rounds < 150
