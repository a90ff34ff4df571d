"""Proofs that no float64 weights are within a gap."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import LinearSVM, LogisticRegression
from maxmargin.core.certify.rational import above, dual_of, many_digits, primal_of
from maxmargin.core.problem.demands import Penalty, demands
from maxmargin.core.rows.decimals import decimals
from maxmargin.core.solve.precise.beyond import ellipsoid
from maxmargin.core.solve.precise.rounded import biases_of

from .test_precise import CASES, answer_of, posed


@pytest.mark.parametrize(("k", "loss", "bias"), CASES)
@pytest.mark.parametrize("c", [0.05, 3.0, 1e4])
def test_weights_are_within_the_ellipsoid_of_their_gap(k, loss, bias, c):
    """However far weights are from the best, and wherever: none pays less than was said."""
    asked = demands(posed(k, loss, bias, c=c))
    if asked.penalty is Penalty.HARD:
        return
    answer, rng = answer_of(asked), np.random.default_rng(3)
    with many_digits(150):
        biases = biases_of(asked, answer)
        dual = dual_of(asked, answer.alpha)
        for size in (1e-6, 1e-3, 0.1, 3.0):
            w = np.array([float(each) for each in answer.w])
            w = w + size * rng.standard_normal(len(w)) * (rng.random(len(w)) < 0.7)
            b = np.array([float(each) for each in biases])
            b[1:] += size * rng.standard_normal(len(b[1:]))
            primal = primal_of(asked, w, b)
            gap = Decimal(above(primal - dual)) * Decimal("1.0000001")
            x, H = ellipsoid(asked, answer, gap)
            there = np.concatenate([decimals(w), decimals(b[1:] if len(b) > 1 else b)])
            if len(b) > 1:  # the first is what it is, to fewer digits
                there[len(w) :] += biases[0] - Decimal(b[0])
            off = there - x
            assert off @ H @ off <= 1


def far_from_the_origin():
    """Rows near 1e14, without a bias: weights must cancel."""
    X = 1e14 + np.array([[-1, 2], [3, -1], [0, 1], [1, 1], [0, -1], [2, 2]]) * 0.625
    return X, np.array([0, 1, 0, 0, 0, 1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("family", "tol"), [(LinearSVM, 1e-7), (LogisticRegression, 1e-8)])
def test_where_none_are_good_none_are_found(family, tol):
    """Tried out with two thousand float64 weights, whose sum is what matters far out."""
    X, y = far_from_the_origin()
    model = family(fit_intercept=False, tol=tol).fit(X, y)
    assert f"none at all have a gap of {tol:g}, which is proved" in model.certificate_.method
    sign = np.where(y == 1, 1, -1)
    rng, (w, v) = np.random.default_rng(0), model.coef_[0]

    def objective(w: float, v: float) -> float:
        m = [float(Fraction(w) * Fraction(p) + Fraction(v) * Fraction(q)) for p, q in X]
        m = m * sign
        loss = np.logaddexp(0, -m) if family is LogisticRegression else 1 - m
        return 0.5 * (w * w + v * v) + float(np.maximum(0, loss).sum())

    steps = rng.integers(-(10.0 ** rng.integers(1, 9, 400)), 10.0 ** rng.integers(1, 9, 400))
    unit = min(np.spacing(w), np.spacing(abs(v)))
    tried = [objective(w + unit * i, v - unit * (i + j)) for i in steps for j in range(-2, 3)]
    assert min(tried) - model.certificate_.dual > tol * min(tried)


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_said_where_float64_are_good():
    X, y = far_from_the_origin()
    model = LinearSVM(tol=1e-6).fit(X, y)
    assert model.certificate_.holds(1e-6)
    assert "none" not in model.certificate_.method
