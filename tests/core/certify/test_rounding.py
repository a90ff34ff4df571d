"""Certificates are true in real arithmetic: bounds hold, and what is missing is charged."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LabelRanker, LinearSVM, verify
from maxmargin.core.certify.conclude import conclude, norms_of
from maxmargin.core.certify.rounding import gamma, length_above
from maxmargin.core.certify.two_class import certify, tally
from maxmargin.core.problem.losses import LOSSES, Logistic, value
from maxmargin.core.problem.problem import Problem
from maxmargin.core.rows.exponential import exponentials
from maxmargin.core.rows.rows import DenseRows, PairRows, as_rows, lengths
from maxmargin.core.rows.twofold import fused, two_sum, twofold_combine, twofold_slacks
from maxmargin.referee import check


def exact(values) -> list[Fraction]:
    return [Fraction(float(v)) for v in np.ravel(values)]


def dot(u, v) -> Fraction:
    return sum((p * q for p, q in zip(exact(u), exact(v), strict=True)), Fraction(0))


# --- pieces -------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-310, 1e-170, 1.0, 1e160, 1e300])
def test_lengths_are_never_too_short(scale):
    X = np.random.default_rng(0).standard_normal((20, 5)) * scale
    for x, found in zip(X, lengths(as_rows(X)), strict=True):
        squared = dot(x, x)
        assert found == np.inf or Fraction(found) ** 2 >= squared
        assert Fraction(length_above(x)) ** 2 >= squared
    assert length_above(X) < np.inf
    assert np.isnan(length_above(np.array([1.0, np.nan])))


def test_sums_and_products_are_two_floats_exactly():
    rng = np.random.default_rng(1)
    for a, b in rng.standard_normal((50, 2)) * 10.0 ** rng.integers(-9, 9, (50, 2)):
        s, e = two_sum(a, b)
        assert Fraction(s) + Fraction(e) == Fraction(a) + Fraction(b)
        assert Fraction(a * b) + Fraction(fused(a, b, -(a * b))) == Fraction(a) * Fraction(b)


def stores(X):
    pairs = np.arange(len(X)), np.roll(np.arange(len(X)), 1)
    return as_rows(X), as_rows(sparse.csr_array(X)), PairRows(DenseRows(X), *pairs)


@pytest.mark.parametrize("far", [0.0, 1e6, 1e14])
def test_twofold_sums_are_within_their_bounds(far):
    rng = np.random.default_rng(2)
    X, w, y = rng.standard_normal((12, 3)) + far, rng.standard_normal(3), np.ones(12)
    b, step, place = -float(w.sum() * far), rng.standard_normal(12), X[0].copy()
    alone = np.zeros(12, dtype=np.int64)
    for rows in stores(X):
        pairs = isinstance(rows, PairRows)
        true = _rows(X, pairs)
        z, off = twofold_slacks(rows, w, b, y)
        for x, found, bound in zip(true, z, off, strict=True):
            slack = 1 - sum(p * q for p, q in zip(x, exact(w), strict=True)) - Fraction(b)
            assert abs(Fraction(found) - slack) <= Fraction(bound) + abs(slack) / 2**52
        if pairs:
            continue  # pairs have no bias, so no place
        summed = twofold_combine(rows, np.arange(12), alone, step, 1, place)
        for j in range(3):
            column = sum(
                Fraction(s) * (x[j] - Fraction(place[j])) for s, x in zip(step, true, strict=True)
            )
            assert abs(Fraction(summed.W[0, j]) - column) <= Fraction(summed.lost)
        assert abs(Fraction(summed.r[0]) - sum(exact(step))) <= Fraction(summed.hidden)


def _rows(X, pairs: bool):
    rows = [exact(x) for x in X]
    if not pairs:
        return rows
    return [[a - b for a, b in zip(rows[i], rows[i - 1], strict=True)] for i in range(len(rows))]


def test_exponentials_are_as_precise_as_the_proof_assumes():
    x = np.concatenate([np.linspace(-700.0, 0.0, 1001), -np.geomspace(1e-12, 1.0, 200)])
    found = x.copy()
    _exponentials(found)
    true = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(found - true) / true)) < 8 * 2.0**-53


def _exponentials(x):
    from numba import njit

    njit(lambda values: exponentials(values))(x)


@pytest.mark.parametrize(
    "loss", [*LOSSES.values(), Logistic()], ids=lambda loss: type(loss).__name__
)
def test_no_loss_is_below_minus_the_margin(loss):
    """What an imbalance of multipliers may cost is bounded by it."""
    assert all(value(loss, m) >= -m for m in np.linspace(-50.0, 50.0, 101))


# --- two classes against rationals ----------------------------------------------------------


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("far", [0.0, 3e5, 1e10])
def test_primal_and_dual_bound_those_in_real_arithmetic(far, sharp):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 2)) + far
    y = np.where(np.arange(15) % 2, 1.0, -1.0)
    c, w = np.full(15, 100.0), rng.standard_normal(2)
    b, alpha = -float(w @ X.mean(axis=0)), rng.uniform(0.0, 100.0, 15)
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum() * 0.5
    alpha[y < 0] *= 0.5
    problem = Problem(as_rows(X), y, c, LOSSES["hinge"])
    found = tally(problem, w, b, alpha, sharp=sharp)
    proof = conclude(found, norms_of(w, found.w, found.rounding.w), b, problem.bias, "")
    slack = (1 - Fraction(s) * (dot(w, x) + Fraction(b)) for x, s in zip(X, y, strict=True))
    primal = dot(w, w) / 2 + 100 * sum((max(Fraction(0), z) for z in slack), Fraction(0))
    assert Fraction(proof.primal) >= primal
    assert proof.rounding < np.inf
    if sharp:
        assert Fraction(proof.primal) <= primal * (1 + Fraction(1, 10**14))


def test_a_gap_that_is_no_number_never_holds():
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    made = certify(Problem(as_rows(X), y, np.ones(2), LOSSES["hinge"]), X[0], 0.0, np.zeros(2))
    for broken in ({"primal": np.nan}, {"dual": np.nan}, {"dual": np.inf}, {"primal": np.inf}):
        assert not replace(made, **broken).holds(1e9)
    bad = certify(Problem(as_rows(X), y, np.ones(2), LOSSES["hinge"]), np.array([np.nan]), 0.0, y)
    assert not bad.holds(1e9)


# --- what was once claimed and false --------------------------------------------------------


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("offset", [1e4, 1e10, 1e14])
def test_data_far_from_the_origin_claim_nothing_false(offset, C):
    X = np.array([[-1.25], [2.625], [0.5], [0.625], [-0.25]]) + offset
    y = np.array([0, 1, 0, 0, 0])
    model = quietly(LinearSVM(C=C), X, y)
    assert check(model, X, y).verdict == "confirmed"


def test_multipliers_that_use_an_allowance_for_rounding_are_seen_through():
    """One point at 1e9 makes |Σαy| ≤ 1e-9 Σα worth 2.5 % of the objective."""
    X, y = np.array([[0.0], [1.0], [1e9]]), np.array([0, 1, 1])
    model = LinearSVM(C=0.5).fit(X, y)
    problem = Problem(as_rows(X), np.array([-1.0, 1.0, 1.0]), np.full(3, 0.5), LOSSES["hinge"])
    forged = np.array([0.5, 0.5, 0.7e-9])
    proof = certify(problem, np.array([0.7]), 0.0, forged)
    optimum = model.certificate_.primal
    assert proof.dual <= optimum
    assert not proof.holds(1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_pairs_of_labels_of_any_scale_claim_nothing_false(scale):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 2)) * scale
    pairs = [(i, *rng.choice(3, 2, replace=False).tolist()) for i in range(12)]
    pairs += [(0, 0, 1), (1, 1, 2), (2, 2, 0)]
    model = quietly(LabelRanker(C=10.0), X, pairs)
    assert check(model, X, pairs).verdict == "confirmed"


def test_verify_means_the_same():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((60, 3)) + 1e5, np.arange(60) % 2
    model = quietly(LinearSVM(C=100.0), X, y)
    again = verify(model, X, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert again.relative_gap <= model.certificate_.relative_gap * 1.01 + 1e-12


def test_gamma_has_an_end():
    assert gamma(10) == pytest.approx(10 * 2.0**-53)
    assert gamma(2.0**53) == np.inf
