"""The certificate of many rows from two readings: no more than the careful one proves, and true."""

import numpy as np
import pytest
from scipy.special import expit

from maxmargin.core.certify.bias import best_bias
from maxmargin.core.certify.logistic import certify_margins, scores_and_lengths
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import Logistic
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.exponential import logarithms
from maxmargin.core.rows.rows import DenseRows, combine
from maxmargin.core.solve.softmax.logistic_pass import logistic_pass

from ...helpers import cloud


def posed(n=3001, d=7, scale=1.0, bias=Bias.FREE, dtype=np.float64):
    rng = np.random.default_rng(n + d)
    X, y = cloud(n, d, seed=2)
    c = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.1, 3.0, n))
    return Problem(DenseRows((scale * X).astype(dtype)), y, c, Logistic(), bias)


def test_logarithms_are_exact_to_rounding():
    x = np.concatenate([np.logspace(-300, 0, 3001), np.linspace(0, 1, 1001)[1:], [0.0]])
    out = np.empty_like(x)
    logarithms(x, out)
    exact = np.log1p(x.astype(np.longdouble))
    np.testing.assert_allclose(out, exact.astype(float), rtol=4 * np.finfo(float).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
def test_both_certificates_agree(scale, bias, dtype):
    """Weights of any size: margins from none to thousands, on both sides."""
    problem = posed(scale=scale, bias=bias, dtype=dtype)
    w = 3.0 * np.random.default_rng(0).standard_normal(7)
    f, lengths = scores_and_lengths(problem, w)
    b = best_bias(problem, f) if bias else 0.0
    careful = certify(problem, w, b, problem.c * expit(-problem.y * (f + b)), f)
    quick = certify_margins(problem, w, b, b, f, lengths)
    np.testing.assert_allclose(f, problem.rows.X.astype(float) @ w, rtol=1e-12, atol=1e-12)
    assert quick.primal == pytest.approx(careful.primal, rel=1e-9)
    assert quick.dual == pytest.approx(careful.dual, rel=1e-9, abs=1e-9 * careful.primal)
    assert quick.feasible
    assert 0.0 < quick.rounding < 1e-9 * (quick.primal - quick.dual)
    assert quick.kkt_violation["free"] < 1e-14


def test_its_bounds_hold_in_twice_the_digits():
    """Primal and dual of the very numbers, in long double, lie inside."""
    problem = posed(scale=40.0)
    w = 3.0 * np.random.default_rng(1).standard_normal(7)
    f, lengths = scores_and_lengths(problem, w)
    b = best_bias(problem, f)
    found = certify_margins(problem, w, b, b, f, lengths)
    X, y, c = (np.asarray(v, dtype=np.longdouble) for v in (problem.rows.X, problem.y, problem.c))
    m = y * (X @ w.astype(np.longdouble) + b)
    primal = 0.5 * (w.astype(np.longdouble) ** 2).sum() + (c * np.logaddexp(0, -m)).sum()
    u = 1 / (1 + np.exp(m))
    entropy = np.logaddexp(0, -np.abs(m)) + np.abs(m) * np.exp(-np.abs(m)) / (
        1 + np.exp(-np.abs(m))
    )
    dual = -0.5 * (((c * u * y) @ X) ** 2).sum() + (c * entropy).sum()
    assert found.dual <= dual
    assert primal <= found.primal
    assert found.primal - found.dual <= (primal - dual) * (1 + 1e-9) + 1e-9 * primal


def test_another_bias_is_charged_and_told():
    problem = posed()
    w = np.random.default_rng(0).standard_normal(7)
    f, lengths = scores_and_lengths(problem, w)
    b = best_bias(problem, f)
    best = certify_margins(problem, w, b, b, f, lengths)
    other = certify_margins(problem, w, b + 0.3, b, f, lengths)
    assert other.dual == pytest.approx(best.dual, rel=1e-12)
    assert other.primal > best.primal
    alpha = problem.c * expit(-problem.y * (f + b))
    careful = certify(problem, w, b + 0.3, alpha, f)
    assert other.kkt_violation["free"] == pytest.approx(careful.kkt_violation["free"], rel=1e-6)


def test_what_is_no_number_proves_nothing():
    problem = posed()
    problem.rows.X[5] = 1e200
    w = np.full(7, 1e150)
    with np.errstate(all="ignore"):
        f, lengths = scores_and_lengths(problem, w)
        assert not certify_margins(problem, w, 0.0, 0.0, f, lengths).holds(1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [5, 4097])
def test_one_reading_gives_scores_loss_and_gradient(n, dtype):
    problem = posed(n, 6, dtype=dtype)
    X, w, s = problem.rows.X.astype(float), np.linspace(-2, 2, 6), np.empty(n, dtype)
    loss, pull, g = logistic_pass(problem.rows.X, w, 0.3, problem.y, problem.c, s)
    f = X @ w + 0.3
    r = -problem.c * problem.y * expit(-problem.y * f)
    rough = 1e-12 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(s, f, rtol=rough, atol=rough)
    assert loss == pytest.approx(problem.c @ np.logaddexp(0.0, -problem.y * f), rel=1e-12)
    assert pull == pytest.approx(r.sum(), rel=1e-10, abs=1e-10 * n)
    np.testing.assert_allclose(g, r @ X, rtol=rough, atol=rough * n)
    np.testing.assert_allclose(combine(problem.rows, r), r @ X, rtol=1e-10, atol=1e-10 * n)
