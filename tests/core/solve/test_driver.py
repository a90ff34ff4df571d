"""A new loss and a new solver through the documented steps: five rules, one declaration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from maxmargin.core.problem.losses import (
    Hinge,
    PerceptronLoss,
    SquaredHinge,
    best_alpha,
    conjugate,
    largest,
    slope,
    value,
)
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.rule import rule
from maxmargin.core.solve.contract import Ending, Monitor, origin, serves
from maxmargin.core.solve.driver import drive
from maxmargin.core.solve.two_class.form import SOLVERS, TwoClassForm, solve

from ...helpers import cloud


class HalfHinge(NamedTuple):
    """ℓ(m) = ½ max(0, 2 − m);  ℓ*(−a) = −2a on [0, ½]."""


@rule(value, HalfHinge)
def _(loss, m):
    return 0.5 * max(0.0, 2.0 - m)


@rule(slope, HalfHinge)
def _(loss, m):
    return -0.5 if m < 2.0 else 0.0


@rule(conjugate, HalfHinge)
def _(loss, a):
    return -2.0 * a if 0.0 <= a <= 0.5 else np.inf


@rule(largest, HalfHinge)
def _(loss):
    return 0.5


@rule(best_alpha, HalfHinge)
def _(loss, alpha, G, q, c):
    return min(max(alpha + (1.0 - G) / q, 0.0), 0.5 * c)


class RoundHinge(NamedTuple):
    """ℓ(m) = ½(1 − m)² on [0, 1], ½ − m below;  ℓ*(−a) = −a + a²/2 on [0, 1]."""


@rule(value, RoundHinge)
def _(loss, m):
    return 0.5 - m if m < 0.0 else 0.5 * max(0.0, 1.0 - m) ** 2


@rule(slope, RoundHinge)
def _(loss, m):
    return -min(max(0.0, 1.0 - m), 1.0)


@rule(conjugate, RoundHinge)
def _(loss, a):
    return -a + 0.5 * a * a if 0.0 <= a <= 1.0 else np.inf


@rule(largest, RoundHinge)
def _(loss):
    return 1.0


@rule(best_alpha, RoundHinge)
def _(loss, alpha, G, q, c):
    return min(max(alpha - (G + alpha / c) / (q + 1.0 / c), 0.0), c)


def posed(loss, C=1.0, bias=Bias.FREE, n=120):
    X, y = cloud(n, 4, seed=3)
    return Problem(as_rows(X + 1.0), y, np.full(n, C), loss, bias)


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("loss", [HalfHinge(), RoundHinge()], ids=["kinked", "smooth"])
def test_a_loss_with_five_rules_is_solved_and_proved(loss, C, bias):
    found = solve(posed(loss, C, bias), Monitor(tol=1e-6, max_iter=100_000))
    assert found.solver == "descent"
    assert found.why == f"it serves {type(loss).__name__}"
    assert found.ending is Ending.REACHED
    assert found.certificate.holds(1e-6)
    assert found.certificate.feasible


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_optimum_is_that_of_the_hinge_in_other_units(C):
    """½ max(0, 2 − m) is the hinge of w/2: ½‖w‖² + CΣℓ = 4(½‖w/2‖² + C/4 Σ hinge)."""
    toy = solve(posed(HalfHinge(), C), Monitor(tol=1e-8, max_iter=100_000))
    hinge = solve(posed(Hinge(), C / 4), Monitor(tol=1e-8))
    assert toy.certificate.primal == pytest.approx(4.0 * hinge.certificate.primal, rel=1e-7)
    np.testing.assert_allclose(toy.point.w, 2.0 * hinge.point.w, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "descent"])
def test_a_solver_refuses_a_loss_it_does_not_serve(name):
    words = f"^solver='{name}' serves Hinge and SquaredHinge, got HalfHinge. Use solver='descent'.$"
    with pytest.raises(ValueError, match=words):
        solve(posed(HalfHinge()), Monitor(), name)


def test_a_loss_that_no_solver_serves():
    with pytest.raises(ValueError, match="no solver of this form serves the loss, got Perceptron"):
        solve(posed(PerceptronLoss()), Monitor())
    with pytest.raises(ValueError, match="losses with a rule for best_alpha, got PerceptronLoss"):
        solve(posed(PerceptronLoss()), Monitor(), "descent")
    with pytest.raises(TypeError, match="PerceptronLoss has no rule for best_alpha"):
        best_alpha(PerceptronLoss(), 0.0, 0.0, 1.0, 1.0)


@serves(Hinge)
def boaster(problem, monitor, start=None):
    """Does nothing, and calls it the optimum."""
    monitor.n_iter += 1
    return origin(problem), Ending.REACHED


@serves(SquaredHinge)
def modest(problem, monitor, start=None):
    """Gives up at once."""
    return origin(problem) if start is None else start, Ending.STALLED


MORE = {"boaster": boaster, "modest": modest, **SOLVERS}


class ToyForm(TwoClassForm):
    """Two classes, with two more solvers."""

    solvers = MORE

    def plan(self, problem):
        return "boaster", "it says so"

    def run(self, name, problem, monitor, start):
        return self.solvers[name](problem, monitor, start)


def test_only_the_proof_says_reached():
    found = drive(ToyForm(), posed(Hinge()), Monitor(), "boaster")
    assert found.ending is Ending.STALLED
    assert found.solver == "boaster"
    assert found.certificate.relative_gap == pytest.approx(1.0)


def test_where_the_planned_solver_falls_short_others_are_tried():
    found = drive(ToyForm(), posed(Hinge()), Monitor())
    assert found.ending is Ending.REACHED
    assert found.solver == "newton"
    assert found.why == "boaster stopped at a relative gap of 1.0e+00"
    plain = solve(posed(Hinge()), Monitor())
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-6)


def test_a_plan_gives_way_to_a_solver_that_serves():
    found = drive(ToyForm(), posed(SquaredHinge()), Monitor())
    assert found.ending is Ending.REACHED  # what "modest" left was fallen back from
    assert found.solver == "newton"
    with pytest.raises(ValueError, match="solver='boaster' serves Hinge, got SquaredHinge"):
        drive(ToyForm(), posed(SquaredHinge()), Monitor(), "boaster")
