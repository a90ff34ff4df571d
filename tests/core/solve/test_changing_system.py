"""A Newton system that is updated gives the directions of one that is made anew."""

import numpy as np
import pytest

from maxmargin import LinearSVM
from maxmargin.core.problem.problem import Bias
from maxmargin.core.rows import changing_gram
from maxmargin.core.rows.changing_gram import ChangingGram
from maxmargin.core.rows.gram import column_gram
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.two_class import changing_system
from maxmargin.core.solve.two_class.changing_system import ChangingSystem
from maxmargin.core.solve.two_class.direction import newton_system

N, D = 300, 40


@pytest.fixture(autouse=True)
def even_little_is_kept(monkeypatch):
    monkeypatch.setattr(changing_gram, "MIN_KEPT_PRODUCTS", 0)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * np.logspace(-3, 3, D)
    return as_rows(X), rng.uniform(0.1, 10.0, N), X.mean(axis=0)


def choices(changes: int, seed: int = 1):
    """Sets of rows, in order, of which each differs from the last by a few."""
    rng = np.random.default_rng(seed)
    inside = rng.random(N) < 0.4
    for _ in range(12):
        yield np.flatnonzero(inside)
        inside[rng.choice(N, changes, replace=False)] ^= True


@pytest.mark.parametrize("changes", [1, 5, 200])
def test_gram_of_rows_that_come_and_go(data, changes):
    rows, s, mu = data
    kept = ChangingGram(rows, s, mu)
    for index in choices(changes):
        G, h = kept.of(index)
        fresh, pull = column_gram(rows, index, s[index], mu)
        size = np.sqrt(np.outer(fresh.diagonal(), fresh.diagonal()))
        assert np.abs(np.tril(G - fresh) / size).max() < 1e-12
        np.testing.assert_allclose(h, pull, atol=1e-12 * np.abs(pull).max())
        G[:], h[:] = np.nan, np.nan  # they are the caller's


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("changes", [1, 2, 30])
def test_directions_are_those_of_a_fresh_system(data, bias, changes):
    rows, s, mu = data
    system, rng, updated = ChangingSystem(rows, s, mu, bias), np.random.default_rng(2), 0
    for index in choices(changes):
        g_w, g_b = rng.standard_normal(D), rng.standard_normal() if bias else 0.0
        dw, db = system.direction(index, g_w, g_b)
        want_w, want_b = newton_system(rows, index, s[index], mu, bias)(g_w, g_b)
        np.testing.assert_allclose(dw, want_w, rtol=1e-7, atol=1e-10 * np.abs(want_w).max())
        assert db == pytest.approx(want_b, rel=1e-7)
        updated += system._factored.used
    assert (updated > 3) == (changes < 30)  # a law of updates that tests none would be none


def test_the_same_rows_again_are_made_anew(data):
    """Nothing changed, and yet one more step is wanted: the last was not good enough."""
    rows, s, mu = data
    system = ChangingSystem(rows, s, mu, Bias.FREE)
    first, second, *_ = choices(1)
    for index, used in ((first, False), (second, True), (second, True), (first, False)):
        system.direction(index, np.ones(D), 0.0)
        assert system._factored.used == used


def test_lost_digits_are_noticed():
    """A row that was everything has left: what remains of the update is its rounding."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D))
    X[0] *= 1e9
    rows, s, mu, g = as_rows(X), np.ones(N), np.zeros(D), rng.standard_normal(D)
    system, every = ChangingSystem(rows, s, mu, Bias.NONE), np.arange(N)
    system.direction(every, g, 0.0)
    for again in range(2):
        dw, _ = system.direction(every[1:], g, 0.0)
        slope = float(g @ dw)
        lost = system.lost_digits(slope, float(dw @ dw) + float(((X[1:] @ dw) ** 2).sum()))
        assert lost == (again == 0)
    want, _ = newton_system(rows, every[1:], s[1:], mu, Bias.NONE)(g, 0.0)
    np.testing.assert_allclose(dw, want, rtol=1e-9)


def test_gram_is_made_anew_when_little_is_left_of_it(data):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N, D))
    X[:2] *= 1e8
    rows, s, mu = as_rows(X), np.ones(N), np.zeros(D)
    kept = ChangingGram(rows, s, mu)
    kept.of(np.arange(N))
    G, _ = kept.of(np.arange(2, N))
    np.testing.assert_allclose(np.tril(G), np.tril(X[2:].T @ X[2:]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_fits_are_the_same_with_and_without(monkeypatch, loss):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 60))
    y = X[:, 0] + rng.standard_normal(400) > 0
    with_updates = LinearSVM(loss=loss, solver="newton", tol=1e-9).fit(X, y)
    monkeypatch.setattr(changing_gram, "MIN_KEPT_PRODUCTS", 1 << 60)
    without = LinearSVM(loss=loss, solver="newton", tol=1e-9).fit(X, y)
    assert with_updates.certificate_.holds(1e-9)
    np.testing.assert_allclose(with_updates.coef_, without.coef_, rtol=1e-6, atol=1e-9)


def test_a_system_costs_what_it_should(data, monkeypatch):
    """Of twelve sets that differ by two rows each at most every third is factored anew."""
    factored = []
    through = changing_system.through_columns
    monkeypatch.setattr(
        changing_system, "through_columns", lambda *given: factored.append(1) or through(*given)
    )
    system = ChangingSystem(*data, Bias.FREE)
    for index in choices(2):
        system.direction(index, np.ones(D), 0.0)
    assert len(factored) <= 5
