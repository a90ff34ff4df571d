"""The last resort in 100 digits: its solvers, its rounding to float64, its proof."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import FisherDiscriminant, LeastSquaresClassifier
from maxmargin.core.certify.certificate import Certificate
from maxmargin.core.certify.rational import dual_of, many_digits, primal_of, rational_certificate
from maxmargin.core.problem.class_losses import (
    MaxHinge,
    MaxSquaredHinge,
    Softmax,
    SumHinge,
    SumSquaredHinge,
)
from maxmargin.core.problem.demands import Penalty, demands, whole
from maxmargin.core.problem.label_pairs import LabelPairsProblem
from maxmargin.core.problem.losses import Hinge, Logistic, SquaredHinge
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.problem.targets import Values
from maxmargin.core.rows.decimals import decimals
from maxmargin.core.rows.lattice import nearest_floats
from maxmargin.core.rows.rows import DenseRows
from maxmargin.core.solve.precise.interior import interior
from maxmargin.core.solve.precise.least_squares import (
    Squares,
    precise_equations,
    precise_least_squares,
)
from maxmargin.core.solve.precise.newton import newton
from maxmargin.core.solve.precise.rounded import Precise, float_weights
from maxmargin.core.solve.precise.system import Factor, system

LOSSES = {2: (Hinge(), SquaredHinge(), Logistic()),
          3: (MaxHinge(), SumHinge(), MaxSquaredHinge(), SumSquaredHinge(), Softmax())}  # fmt: skip
CASES = [(k, loss, bias) for k, losses in LOSSES.items() for loss in losses for bias in Bias]
NOTHING = Certificate(np.inf, -np.inf, {}, 0.0, 0.0, 0.0, "nothing yet")


def posed(k, loss, bias, scale=1.0, c=3.0):
    rng = np.random.default_rng(7)
    X, codes = scale * rng.standard_normal((9, 2)), np.arange(9) % k
    cost = np.where(np.arange(9) == 4, 0.0, c)  # one row does not count
    if k == 2:
        return Problem(DenseRows(X), 2.0 * codes - 1.0, cost, loss, bias)
    return MulticlassProblem(DenseRows(X), codes.astype(np.int64), cost, loss, k, bias)


def answer_of(asked):
    with many_digits(150):
        there = system(asked)
        start = decimals(np.zeros(there.E.shape[1]))
        smooth = asked.penalty is Penalty.LOG
        found = newton(there, start, int) if smooth else interior(there, int)
        D = there.weights
        return Precise(found.x[:D] / there.sigma, found.x[D:], found.alpha * there.largest)


@pytest.mark.parametrize(("k", "loss", "bias"), CASES, ids=str)
def test_weights_and_multipliers_prove_each_other(k, loss, bias):
    """Primal − dual, in rationals, of what the solver found and of what float64 keeps of it."""
    asked = demands(posed(k, loss, bias))
    answer = answer_of(asked)
    with many_digits(150):
        W, b = next(float_weights(asked, answer, 1e-6))
        gap = primal_of(asked, W, b) - dual_of(asked, answer.alpha)
    assert 0 <= gap < 1e-13 * dual_of(asked, answer.alpha)


def test_hard_margin_of_rows_of_any_size():
    """At C = ∞ the multipliers of rows 10⁹⁰ times as large are 10¹⁸⁰ times smaller."""
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [-2.0, 0.0]]), np.array([1.0, 1, -1, -1])
    for scale in (1.0, 2.0**300, 2.0**-300):
        problem = Problem(DenseRows(scale * X), y, np.full(4, np.inf), Hinge())
        answer = answer_of(demands(problem))
        np.testing.assert_allclose(
            [float(w * Decimal(scale)) for w in answer.w], [16 / 17, -4 / 17]
        )


def test_pairs_of_labels_on_no_cycle_have_no_multipliers():
    """Nothing can come back from class 2: the proof leaves those pairs out, and holds."""
    X = np.array([[1.0], [2.0], [3.0], [0.5]])
    example, winner, loser = np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1]), np.array([1, 0, 2, 0])
    problem = LabelPairsProblem(DenseRows(X), 3, example, winner, loser, np.full(4, 2.0))
    asked = demands(problem)
    answer = answer_of(asked)
    W, b = (np.array([float(v) for v in part]) for part in (answer.w, answer.at_place))
    b -= W * asked.place[0]
    certificate = rational_certificate(asked, W[:, None], b, answer.alpha, NOTHING)
    assert certificate.holds(1e-12)


def test_multipliers_outside_their_box_prove_nothing():
    asked = demands(posed(2, Hinge(), Bias.NONE))
    too_large = [Decimal(4)] * len(asked.group)
    assert dual_of(asked, too_large) is None
    assert rational_certificate(asked, np.zeros(2), np.zeros(1), too_large, NOTHING) is NOTHING


def test_whole_numbers_are_the_floats():
    values = np.array([[1e-300, -3.5, 0.0], [1e300, 0.1, 7.0]])
    numbers, exponent = whole(values)
    exact = [int(n) * Fraction(2) ** exponent for n in numbers.ravel()]
    assert exact == [Fraction(v) for v in values.ravel().tolist()]


def test_rounding_together_loses_less():
    """Rows near 10¹⁰ couple a weight to its bias: what one loses the other makes up for."""
    with many_digits(60):
        answer = decimals(np.array([1.0, -1.0])) / 3 * decimals(np.array([1, 10**10 + 7]))
        rows = decimals(np.array([[10**10, 1], [10**10 + 7, 1]]))
        H = rows.T @ rows * 10**12 + decimals(np.diag([1, 0]))
        lost = []
        reach = decimals(np.ones(2))
        for found in (np.array([float(a) for a in answer]), nearest_floats(answer, H, reach)):
            off = decimals(found) - answer
            lost.append(off @ H @ off)
    assert lost[1] < lost[0] / 100


def test_factor_solves():
    with many_digits(60):
        H, right = decimals(np.array([[4, 1], [1, 3]])), decimals(np.array([1, 2]))
        assert max(abs(H @ Factor(H).solve(right) - right)) < Decimal("1e-55")


def test_a_bias_where_there_is_none_proves_nothing():
    asked = demands(posed(2, Hinge(), Bias.NONE))
    assert primal_of(asked, np.zeros(2), np.array([0.5])) is None


def test_fisher_in_many_digits():
    """A class of one row each has no spread: J is of Σ = 1, not of rounding."""
    X = np.random.default_rng(2).standard_normal((3, 6))
    model = FisherDiscriminant(covariance="none").fit(X, [0, 1, 2])
    apart = X - X.mean(axis=0)
    most = np.linalg.eigvalsh(apart @ apart.T / 3)[-1]
    np.testing.assert_allclose(model.certificate_.criterion[0], most)
    assert model.certificate_.holds(1e-6)
    assert "100 digits" in model.certificate_.method


def test_least_squares_in_fractions():
    """The excess of any weights is what it is; of equal rows the smallest weights are zero."""
    rng = np.random.default_rng(5)
    X, T = rng.standard_normal((7, 3)), rng.standard_normal((7, 2))
    near = LeastSquaresClassifier().fit(X, np.arange(7) % 2).certificate_
    near = replace(near, relative_residual=np.inf, null_objective=1.0)
    asked = Squares(X, Values(T), np.arange(1.0, 8.0), 0.5, True)
    W, b, proof = precise_least_squares(asked, near)

    def f(W, b):
        left = T - X @ W - b
        return 0.5 * float(asked.weight @ (left**2).sum(axis=1)) + 0.25 * float((W**2).sum())

    assert proof.holds(1e-14)
    other = precise_equations(asked, W + 0.1, b - 0.2, near)
    np.testing.assert_allclose(other.excess, f(W + 0.1, b - 0.2) - f(W, b), rtol=1e-12)
    W, b, proof = precise_least_squares(
        Squares(np.full((7, 2), 0.1), Values(T), None, 0.0, True), near
    )
    assert proof.holds(1e-14)
    assert not W.any()
    np.testing.assert_allclose(b, T.mean(axis=0))
