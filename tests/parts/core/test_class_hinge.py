"""All classes at once over parts: the optimum and the proof of memory, however rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

from maxmargin import LinearSVM
from maxmargin.core.certify.circulation import repair_classes
from maxmargin.core.certify.multiclass import certify_classes, residual
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.parts.certify.many_class import certify_class_parts, repair_class_parts
from maxmargin.parts.parts import Block
from maxmargin.parts.solve.many_class import near as class_near
from maxmargin.parts.solve.many_class.driver import solve_class_hinge
from maxmargin.parts.solve.many_class.tasks import ClassSpec, begin, count, pose_classes
from maxmargin.parts.solve.tasks import ask_total
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.tasks import BinarySpec
from tests.parts.core.helpers import Here

RULES = list(CLASS_LOSSES)


def iris(order: str = "shuffled"):
    X, y = load_iris(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    return (X, y) if order == "sorted" else (X[mixed], y[mixed])


def solve(parts, rule, k, C=0.1, bias=Bias.FREE, tol=1e-5, **budget):
    return solve_class_hinge(
        parts, ClassSpec(C, CLASS_LOSSES[rule], k, bias), Monitor(tol=tol, **budget)
    )


def proved(fit, whole, tol):
    """Both are proved, so each optimum lies between the other's bounds."""
    assert fit.ending is Ending.REACHED
    assert fit.certificate.holds(tol)
    assert fit.certificate.feasible
    assert fit.certificate.dual <= whole.primal * (1 + 1e-12)
    assert whole.dual <= fit.certificate.primal * (1 + 1e-12)


@pytest.mark.parametrize("cuts", [[], [7, 11], [20, 20, 90]], ids=["one", "uneven", "empty"])
@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_same_optimum_as_in_memory(rule, cuts):
    X, y = iris()
    multiclass, loss = rule
    whole = LinearSVM(C=0.1, multiclass=multiclass, loss=loss).fit(X, y)
    fit = solve(Here(X, y, cuts), rule, 3)
    proved(fit, whole.certificate_, 1e-5)
    assert fit.b.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.mean((X @ fit.w.T + fit.b).argmax(axis=1) == whole.predict(X)) > 0.97


@pytest.mark.parametrize("fit_intercept", [True, "penalized", False])
def test_parts_without_some_class_weights_and_biases(fit_intercept):
    X, y = iris("sorted")  # the first part holds one class, the last two others
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    weight[::7] = 0.0
    whole = LinearSVM(C=0.5, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    parts = Here(X, y, [40, 60], weight)
    fit = solve(parts, ("max", "hinge"), 3, C=0.5, bias=whole._bias())
    proved(fit, whole.certificate_, 1e-5)


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_sparse_rows_of_many_columns(rule):
    rng = np.random.default_rng(2)
    X = sparse.random(300, 800, 0.02, format="csr", dtype=np.float32, random_state=rng)
    y = (X @ rng.standard_normal((800, 5)) + 0.2 * rng.standard_normal((300, 5))).argmax(axis=1)
    multiclass, loss = rule
    whole = LinearSVM(multiclass=multiclass, loss=loss).fit(X, y)
    proved(solve(Here(X, y, [100, 130]), rule, 5, C=1.0, tol=1e-4), whole.certificate_, 1e-4)


def test_ten_digits():
    X, y = load_digits(return_X_y=True)
    whole = LinearSVM(C=0.01).fit(X / 16, y)
    parts = Here(X / 16, y, [400, 900, 1400])
    proved(solve(parts, ("max", "hinge"), 10, C=0.01, tol=1e-3), whole.certificate_, 1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_two_classes_by_both_problems(loss):
    """W₁ = −W₂ = w/2, and C here is 2C there: ¼‖w‖² + C Σ ℓ = ½ (½‖w‖² + 2C Σ ℓ)."""
    X, y = iris()
    X, y = X[y > 0], y[y > 0] - 1
    both = solve(Here(X, y, [30]), ("max", loss), 2, C=0.1, tol=1e-7)
    two = solve_hinge(Here(X, y, [30]), BinarySpec(0.2, LOSSES[loss]), Monitor(tol=1e-7))
    assert both.certificate.primal == pytest.approx(0.5 * two.certificate.primal, rel=2e-7)
    assert both.w[1] - both.w[0] == pytest.approx(two.w, abs=2e-3)


def machine_with_multipliers(rule=("max", "hinge")):
    """A machine, parts that hold random multipliers, and the same multipliers in one place."""
    X, y = iris()
    machine, cuts = ClassSpec(0.3, CLASS_LOSSES[rule], 3), [50, 50, 90]
    parts = Here(X, y, cuts)
    mean = ask_total(parts, count, machine).sum_x / len(y)
    ask_total(parts, begin, machine, mean)
    beta = np.random.default_rng(3).uniform(0.0, 0.2, (len(y), 3))
    beta[np.arange(len(y)), y] = 0.0
    for memory, part in zip(parts.memory, np.split(beta, cuts), strict=True):
        memory["all classes"] = memory["all classes"]._replace(beta=part)
    return machine, parts, mean, pose_classes(Block(X, y, None), machine), beta


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_repair_and_proof_are_those_of_memory(rule):
    machine, parts, mean, problem, beta = machine_with_multipliers(rule)
    repair_class_parts(parts, machine)
    found = np.concatenate([memory["all classes"].beta for memory in parts.memory])
    assert found == pytest.approx(repair_classes(problem, beta), rel=1e-9, abs=1e-12)
    assert np.abs(residual(problem, found)).max() <= 1e-12 * found.sum()
    rng = np.random.default_rng(4)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    ours = certify_class_parts(parts, machine, W, b, mean)
    theirs = certify_classes(problem, W, b, found)
    for name in ("primal", "dual", "stationarity", "box_violation"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-12)
    assert ours.kkt_violation == pytest.approx(theirs.kkt_violation)
    assert ours.problem == theirs.problem


def clouds(n=3000, d=4, k=3):
    """So many rows for so few unknowns that a part sends only some of them."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, k, n)
    return rng.standard_normal((k, d))[y] + rng.standard_normal((n, d)), y


def test_a_second_fit_starts_from_the_multipliers_of_the_first():
    X, y = clouds()
    parts, first, second = Here(X, y, [1200]), Monitor(tol=1e-6), Monitor(tol=1e-6)
    machine = ClassSpec(0.1, CLASS_LOSSES["max", "hinge"], 3)
    proof = solve_class_hinge(parts, machine, first).certificate
    again = solve_class_hinge(parts, machine, second)
    assert again.certificate.holds(1e-6)
    assert second.n_iter < first.n_iter
    assert first.history[0].dual < 0.5 * proof.dual
    assert second.history[0].dual > 0.999 * proof.dual


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_equal_parts_count_as_often_as_they_are_there(rule):
    """Parts are known by a digest of their rows: the law of weights must hold for equal ones."""
    X, y = clouds()
    thrice = Here(np.tile(X, (3, 1)), np.tile(y, 3), [len(y), 2 * len(y)])
    once = Here(X, y, [], np.full(len(y), 3.0))
    found = [solve(parts, rule, 3, tol=1e-6) for parts in (thrice, once)]
    proved(found[0], found[1].certificate, 1e-6)
    assert found[0].solver == "rounds"
    assert np.abs(found[0].w - found[1].w).max() < 2e-3


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_rows_left_behind_do_not_matter(rule, monkeypatch):
    """Where a part may send a few rows a round, the optimum is that of all rows."""
    monkeypatch.setattr("maxmargin.parts.solve.many_class.near.MIN_SENT_VALUES", 1200)
    X, y = clouds(1500)
    multiclass, loss = rule
    whole = LinearSVM(C=0.1, multiclass=multiclass, loss=loss).fit(X, y)
    parts = Here(X, y, [300, 800])
    fit = solve(parts, rule, 3, tol=1e-5)
    proved(fit, whole.certificate_, 1e-5)
    assert fit.solver == "rounds"


def test_more_rows_than_may_be_held_go_to_ascent():
    X, y = clouds()
    machine = ClassSpec(0.01, CLASS_LOSSES["max", "hinge"], 3)
    fit = solve_class_hinge(Here(X, y, [1200]), machine, Monitor(tol=1e-3), values=200)
    assert fit.solver == "ascent"
    proved(fit, LinearSVM(C=0.01).fit(X, y).certificate_, 1e-3)


@pytest.mark.parametrize("n_parts", [2, 8])
def test_digits_take_few_rounds(n_parts):
    """A promise: 120 rounds and more with ascent alone, 14 when this was written."""
    X, y = load_digits(return_X_y=True)
    cuts = [len(y) * i // n_parts for i in range(1, n_parts)]
    parts = Here(X / 16, y, cuts)
    fit = solve(parts, ("max", "hinge"), 10, C=1.0, tol=1e-3)
    assert fit.ending is Ending.REACHED
    assert fit.certificate.holds(1e-3)
    assert parts.rounds <= 25


def test_a_budget_that_is_too_small_is_admitted():
    X, y = clouds()
    fit = solve(Here(X, y, [1200]), ("max", "hinge"), 3, C=100.0, tol=1e-6, max_iter=1)
    assert fit.ending is Ending.ITERATIONS
    assert not fit.certificate.holds(1e-6)
    whole = LinearSVM(C=100.0).fit(X, y).certificate_
    assert fit.certificate.dual <= whole.primal * (1 + 1e-9)
    assert fit.certificate.primal >= whole.dual * (1 - 1e-9)


@pytest.mark.parametrize("rule", [("max", "hinge"), ("sum", "hinge")], ids=" ".join)
def test_a_budget_that_ends_before_a_solution_is_told_keeps_its_proof(rule, monkeypatch):
    """Rows and cells have the multipliers of the last small problem, not of the one before."""
    small = {
        "MIN_SAMPLE_ROWS": 60,
        "SAMPLE_ROWS_PER_UNKNOWN": 1,
        "MIN_SENT_VALUES": 600,
        "SENT_VALUES_PER_WEIGHT": 6,
    }
    for name, value in small.items():
        monkeypatch.setattr(class_near, name, value)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.standard_normal((600, 6)) + rng.standard_normal((3, 6))[y]
    machine, whole = ClassSpec(10.0, CLASS_LOSSES[rule], 3), Monitor(tol=1e-6)
    assert solve_class_hinge(Here(X, y, [200, 400]), machine, whole).solver == "rounds"
    short = Monitor(tol=1e-6, max_iter=whole.n_iter - 1)
    fit = solve_class_hinge(Here(X, y, [200, 400]), machine, short)
    assert fit.ending is Ending.ITERATIONS
    assert fit.certificate.relative_gap < 0.1
