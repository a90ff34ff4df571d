"""Laws of the referee itself: it must be right where others are, and see through what is false."""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from maxmargin import LinearSVM, save
from maxmargin.referee import Unknown, check, closed, hinge, optimum, softmax
from maxmargin.referee.__main__ import main
from maxmargin.referee.hinge import Demand, HingeProblem
from maxmargin.referee.intervals import Interval, exp, interval, log, sqrt, square

from .problems import ESTIMATORS, FAMILIES, Posed, problem
from .soak import judge, soak, table

MANY = Context(prec=120)


def rows_of(X) -> list[list[Fraction]]:
    return [[Fraction(each) for each in row] for row in X.tolist()]


def posed(seed: int, rule: str, squared: bool, hard: bool = False) -> HingeProblem:
    rng = np.random.default_rng(seed)
    k = 2 if rule == "two" else 3
    X, y = rng.standard_normal((12, 2)), rng.integers(0, k, 12)
    if hard:
        X = X + 9 * np.eye(k)[y][:, :2]
    demands, cost = [], []
    for i, own in enumerate(y.tolist()):
        for c in (c for c in range(k) if c != own):
            if rule == "sum" or not demands or demands[-1].row != i:
                cost.append(None if hard else Fraction(3, 2))
            demands.append(Demand(i, own, c, len(cost) - 1))
    return HingeProblem(k, demands, cost, rows_of(X), squared=squared)


def clarabel(given: HingeProblem) -> float:
    """The same problem, put together anew for a solver that is not ours."""
    X = np.array(given.rows, dtype=float)
    W, b = cp.Variable((given.k, X.shape[1])), cp.Variable(given.k)
    xi = cp.Variable(len(given.cost), nonneg=True)
    constraints = [b[0] == 0] + ([W[0] == 0] if given.k == 2 else [])
    for p in given.demands:
        lead = (W[p.win] - W[p.lose]) @ X[p.row] + b[p.win] - b[p.lose]
        constraints.append(lead >= 1 - (0 if given.hard else xi[p.group]))
    loss = 0 if given.hard else 1.5 * cp.sum(cp.square(xi) if given.squared else xi)
    asked = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + loss), constraints)
    return asked.solve(solver="CLARABEL")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("rule", "squared", "hard"),
    [("two", False, False), ("two", True, False), ("two", False, True), ("max", False, False),
     ("max", True, False), ("sum", False, False), ("sum", True, False), ("max", False, True)],
)  # fmt: skip
def test_the_optimum_is_that_of_another_solver(rule, squared, hard, seed):
    given = posed(seed, rule, squared, hard)
    lower, upper = optimum.enclose(given)
    assert 0 <= upper - lower <= upper / 10**25
    assert float(upper) == pytest.approx(clarabel(given), rel=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_the_logistic_optimum_is_that_of_another_solver(k):
    rng = np.random.default_rng(k)
    X, y = rng.standard_normal((10, 2)), np.arange(10) % k
    given = softmax.pose(rows_of(X), y.tolist(), k, [Fraction(2)] * 10, True)
    start = {c: [Fraction(0)] * 2 for c in given.blocks}
    lower, upper = softmax.enclose(given, y.tolist(), start, [Fraction(0)] * k)

    def objective(x):
        W, b = np.zeros((k, 2)), np.zeros(k)
        W[k - len(given.blocks) :] = x[: 2 * len(given.blocks)].reshape(-1, 2)
        b[1:] = x[2 * len(given.blocks) :]
        S = X @ W.T + b
        return 0.5 * np.sum(W * W) + 2 * np.sum(logsumexp(S, axis=1) - S[np.arange(10), y])

    found = minimize(objective, np.zeros(2 * len(given.blocks) + k - 1), method="BFGS").fun
    assert 0 <= upper - lower <= upper / 10**25
    assert float(upper) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("rule", ["two", "max", "sum"])
def test_any_multipliers_become_feasible_and_bound_the_optimum(rule):
    given = posed(5, rule, squared=False)
    _, upper = optimum.enclose(given)
    rng = np.random.default_rng(0)
    for scaled in (False, True):
        for _ in range(5):
            gamma = [Fraction(each) for each in rng.uniform(-0.5, 2.0, len(given.demands))]
            gamma = hinge.feasible(given, gamma, scaled)
            assert not any(hinge.outflow(given, gamma))
            assert min(gamma) >= 0
            for c, members in zip(given.cost, given.members, strict=True):
                assert sum(gamma[p] for p in members) <= c
            assert hinge.dual(given, gamma) <= upper


def test_feasible_multipliers_are_left_alone():
    given = posed(1, "max", squared=True)
    gamma = [Fraction(0)] * len(given.demands)
    assert hinge.feasible(given, gamma) == gamma


# --- intervals ----------------------------------------------------------------------------


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(7), Fraction(-5, 7), Fraction(-39000, 101)])
def test_exponentials_contain_the_value_in_many_digits(x):
    exact = Fraction(MANY.exp(MANY.divide(Decimal(x.numerator), Decimal(x.denominator))))
    found = exp(x)
    assert found.lo < exact < found.hi
    assert found.hi - found.lo <= exact / 10**45


@pytest.mark.parametrize("x", [Fraction(1, 10**40), Fraction(2), Fraction(10**40 + 1, 10**40)])
def test_logarithms_and_roots_contain_the_value_in_many_digits(x):
    y = MANY.divide(Decimal(x.numerator), Decimal(x.denominator))
    assert log(x).lo < Fraction(MANY.ln(y)) < log(x).hi
    assert sqrt(x).lo < Fraction(MANY.sqrt(y)) < sqrt(x).hi


def test_what_is_known_of_e_and_of_the_smallest_numbers():
    e = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772")
    assert exp(Fraction(1)).lo < e < exp(Fraction(1)).hi
    assert log(Fraction(1)) == Interval(Fraction(0), Fraction(0))
    assert exp(Fraction(-(10**9))).lo == 0 < exp(Fraction(-(10**9))).hi < Fraction(1, 10**100)


def test_products_and_squares_of_intervals_contain_those_of_their_members():
    a, b = Interval(Fraction(-2), Fraction(3)), Interval(Fraction(-5), Fraction(1, 2))
    assert a * b == Interval(Fraction(-15), Fraction(10))
    assert square(a) == Interval(Fraction(0), Fraction(9))
    assert a - a == Interval(Fraction(-5), Fraction(5))  # it does not know that they are the same
    assert 1 - interval(2) == interval(-1)


# --- elimination --------------------------------------------------------------------------


def test_elimination_solves_and_leaves_free_what_is_free():
    A = [[Fraction(2), Fraction(4)], [Fraction(1), Fraction(2)]]
    X = closed.eliminate(A, [[Fraction(6)], [Fraction(3)]])
    assert [[Fraction(3)], [Fraction(0)]] == X


@pytest.mark.parametrize("seed", range(4))
def test_semidefinite_agrees_with_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (4, 3))
    G = A @ A.T  # of rank 3
    assert closed.semidefinite(rows_of(G))
    G[0, 0] -= 1  # below the zero eigenvalue, unless its vector avoids the first row
    assert closed.semidefinite(rows_of(G)) == (np.linalg.eigvalsh(G.astype(float))[0] > -1e-9)


# --- verdicts -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_ordinary_fits_of_every_estimator_are_confirmed(estimator, number):
    given = problem(7, number, "ordinary", estimator)
    _, report = judge(given)
    assert report.verdict == "confirmed", report


def blobs():
    rng = np.random.default_rng(0)
    return rng.standard_normal((20, 2)), np.arange(20) % 2


def test_a_worse_model_with_the_certificate_of_a_better_one_is_refuted():
    X, y = blobs()
    model = LinearSVM().fit(X, y)
    model.coef_ = model.coef_ + 1e-3
    report = check(model, X, y, slack=1e-12)
    assert (report.verdict, report.fault) == ("refuted", "gap")
    assert report.excess[0] > report.claimed


def test_multipliers_that_do_not_prove_the_claim_are_not_believed():
    X, y = blobs()
    model = LinearSVM().fit(X, y)
    model.alpha_ = 0.9 * model.alpha_
    report = check(model, X, y, slack=1e-12)
    assert report.verdict == "not confirmed"
    assert "the claim is true" in report.notes
    assert check(model, X, y, slack=1e-12, seconds=0.0).excess is None  # it was not looked for


def test_a_bound_above_the_optimum_is_refuted():
    X, y = blobs()
    model = LinearSVM().fit(X, y)
    model.certificate_ = replace(model.certificate_, dual=model.certificate_.primal * 1.01)
    report = check(model, X, y, slack=1e-12)
    assert report.verdict == "no claim"  # which the certificate itself calls unsound
    model.certificate_ = replace(model.certificate_, dual=model.certificate_.primal * (1 + 1e-10))
    report = check(model, X, y, slack=1e-12)
    assert (report.verdict, report.fault) == ("refuted", "bound")


def test_multipliers_that_use_the_allowance_for_rounding_prove_nothing():
    """|Σαy| ≤ 1e-9 Σα is nothing, but one point at 1e9 makes it count."""
    X = np.array([[0.0], [1.0], [1e9]])
    y = np.array([0, 1, 1])
    model = LinearSVM(C=0.5).fit(X, y)
    model.coef_, model.intercept_ = np.array([[0.7]]), np.array([0.0])
    claim = model.certificate_
    primal = 0.5 * 0.49 + 0.5 * (1.0 + 0.3)
    model.certificate_ = replace(claim, primal=primal, dual=primal, bias_residual=9e-10)
    assert model.certificate_.holds(1e-12)
    assert check(model, X, y, slack=1e-12).verdict == "refuted"


def test_what_the_referee_does_not_know_it_says():
    with pytest.raises(Unknown, match="does not know the certificate of a ndarray"):
        check(np.zeros(3), None, None)


# --- problems and soak --------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_number_is_a_problem_and_survives_a_file(family):
    one, same = problem(3, 4, family), problem(3, 4, family)
    again = Posed.from_dict(one.to_dict())
    for other in (same, again):
        assert one.to_dict() == other.to_dict()
        assert one.X.dtype == other.X.dtype


def test_a_short_soak_of_ordinary_problems_finds_nothing_and_says_so():
    tallies = soak(range(12), 11, ["ordinary"], keep=0)
    assert sum(tally["fits"] for tally in tallies.values()) == 12
    assert not any(tally["refuted"] or tally["error"] for tally in tallies.values())
    assert "ordinary" in table(tallies, 0)


# --- the program --------------------------------------------------------------------------


def written(tmp_path, model, X, y) -> list[str]:
    table = tmp_path / "data.npz"
    np.savez(table, X=X, y=y)
    save(model, tmp_path / "model.maxmargin")
    return [str(tmp_path / "model.maxmargin"), str(table)]


def test_the_program_confirms_refutes_and_refuses(tmp_path, capsys):
    X, y = blobs()
    model = LinearSVM().fit(X, y)
    arguments = written(tmp_path, model, X, y)
    assert main([*arguments, "--slack", "1e-12"]) == 0
    said = capsys.readouterr().out
    assert "verdict:  confirmed" in said
    assert "exactly" in said
    assert main([*arguments, "--seconds", "0"]) == 2
    assert "exact arithmetic" in capsys.readouterr().err
    assert main([arguments[0], str(tmp_path / "none.npz")]) == 2
    assert "referee: There is no file" in capsys.readouterr().err
    model.coef_ = 1.01 * model.coef_
    assert main(written(tmp_path, model, X, y)) == 1
    assert "verdict:  refuted" in capsys.readouterr().out
