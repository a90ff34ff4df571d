"""A hinge's certificate in one pass is that of pass after pass, with bounds no shorter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.certify import hinge_pass
from maxmargin.core.certify.hinge_pass import prove_hinge
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows

STORAGES = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": lambda X: sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0)),
}


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setattr(hinge_pass, "by_rows", lambda rows: True)


def posed(n, d, seed, storage="dense", bias=Bias.FREE):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    c = rng.uniform(0.5, 2.0, n)
    c[rng.random(n) < 0.05] = 0.0
    alpha = c * rng.choice([0.0, 0.3, 1.0], n, p=[0.7, 0.1, 0.2])
    pull = alpha @ y
    free = np.flatnonzero((y == -np.sign(pull)) & (c > 0.0) & (alpha == 0.0))
    alpha[free] = 0.5 * c[free]
    alpha[free] *= abs(pull) / max(alpha[free].sum(), 1e-9)
    alpha = np.minimum(alpha, c)
    w = 0.2 * rng.standard_normal(d)
    return Problem(as_rows(STORAGES[storage](X)), y, c, Hinge(), bias), w, 0.1, alpha


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("n", "d"), [(5, 3), (700, 7), (1300, 50)])
def test_it_says_what_pass_after_pass_says(storage, n, d):
    problem, w, b, alpha = posed(n, d, n + d, storage)
    here, there = prove_hinge(problem, w, b, alpha, 1e-6), certify(problem, w, b, alpha)
    found = here.certificate
    rounding = found.rounding + there.rounding
    assert found.primal == pytest.approx(there.primal, abs=rounding)
    assert found.dual == pytest.approx(there.dual, abs=rounding)
    assert found.rounding < 1e-9 * there.primal
    assert found.kkt_violation == pytest.approx(there.kkt_violation, rel=1e-9)
    assert found.stationarity == pytest.approx(there.stationarity, rel=1e-12)
    assert found.bias_residual == pytest.approx(there.bias_residual, abs=1e-14)
    assert found.problem == there.problem
    np.testing.assert_array_equal(here.support, np.flatnonzero(alpha))


@pytest.mark.parametrize("seed", range(5))
def test_its_bounds_hold_in_exact_arithmetic(seed):
    problem, w, _, alpha = posed(60, 4, seed, bias=Bias.NONE)
    proof = prove_hinge(problem, w, 0.0, alpha, 1e-6).certificate
    X, y = [[Fraction(v) for v in row] for row in problem.rows.X], problem.y
    exact = [Fraction(v) for v in w]
    half, one = Fraction(1, 2), Fraction(1)
    slack = [
        one - int(s) * sum(map(Fraction.__mul__, row, exact)) for row, s in zip(X, y, strict=True)
    ]
    primal = half * sum(v * v for v in exact)
    primal += sum(Fraction(c) * max(Fraction(0), z) for c, z in zip(problem.c, slack, strict=True))
    signed = [Fraction(a) * int(s) for a, s in zip(alpha, y, strict=True)]
    pull = [sum(a * row[j] for a, row in zip(signed, X, strict=True)) for j in range(4)]
    dual = sum(map(Fraction, alpha)) - half * sum(v * v for v in pull)
    assert dual >= Fraction(proof.dual)
    assert primal <= Fraction(proof.primal)
    assert proof.primal - float(primal) < 1e-10 * proof.primal


def test_what_is_irregular_is_left_to_pass_after_pass():
    problem, w, b, alpha = posed(300, 5, 3)
    for place, value in ((7, -0.1), (8, 99.0), (9, np.nan)):
        wrong = alpha.copy()
        wrong[place] = value
        here, there = prove_hinge(problem, w, b, wrong, 1e-6), certify(problem, w, b, wrong)
        assert not here.certificate.holds(1.0)
        assert here.certificate.box_violation == pytest.approx(there.box_violation, nan_ok=True)
    problem.rows.X[5, 2] = np.nan
    assert not prove_hinge(problem, w, b, alpha, 1e-6).certificate.holds(1.0)
