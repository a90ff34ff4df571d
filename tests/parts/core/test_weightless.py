"""Rows that count for nothing: refused in words, before anything is divided by their sum."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Monitor
from maxmargin.parts.ones import OnesParts
from maxmargin.parts.solve.closed_form.fisher import solve_fisher
from maxmargin.parts.solve.closed_form.least_squares import solve_least_squares
from maxmargin.parts.solve.many_class.driver import solve_class_hinge
from maxmargin.parts.solve.many_class.tasks import ClassSpec
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.tasks import BinarySpec
from tests.parts.core.helpers import Here


def two(parts, C=1.0, bias=Bias.FREE):
    return solve_hinge(parts, BinarySpec(C, LOSSES["hinge"], bias), Monitor(tol=1e-4))


def three(parts, C=1.0, bias=Bias.FREE):
    rule = CLASS_LOSSES["max", "hinge"]
    return solve_class_hinge(parts, ClassSpec(C, rule, 3, bias), Monitor(tol=1e-4))


SOLVERS = {
    "two": (2, two),
    "two, hard": (2, lambda parts: two(parts, np.inf)),
    "three": (3, three),
    "three, hard": (3, lambda parts: three(parts, np.inf)),
    "fisher": (3, lambda parts: solve_fisher(parts, 3, None, False, "auto", 2)),
    "least squares": (3, lambda parts: solve_least_squares(parts, 3, 1.0, True)),
}


def rows(k, alive):
    """Rows of k classes of which only some weigh anything."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % k
    X = rng.standard_normal((30, 4)) + 5.0 * rng.standard_normal((k, 4))[y]
    return Here(X, y, [10, 12], np.isin(y, alive).astype(float))


@pytest.mark.parametrize("name", SOLVERS)
def test_no_row_weighs_anything(name):
    k, solve = SOLVERS[name]
    with pytest.raises(ValueError, match="none of them has"):
        solve(rows(k, []))


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "least squares"])
def test_one_class_alone_cannot_be_told_from_others(name):
    k, solve = SOLVERS[name]
    with pytest.raises(ValueError, match="rows of positive weight, but 1 of them has"):
        solve(rows(k, [1]))


@pytest.mark.parametrize("bias", ["penalized", "none"])
@pytest.mark.parametrize("solve", [two, three])
def test_without_a_free_bias_one_class_is_a_problem_as_any_other(solve, bias):
    parts = rows(2 if solve is two else 3, [1])
    fit = solve(OnesParts(parts) if bias == "penalized" else parts, bias=Bias.NONE)
    assert fit.certificate.holds(1e-4)
    assert fit.certificate.primal > 0.0


def test_a_dual_without_curvature_is_climbed_to_its_corner():
    """Rows of zeros without a bias: their losses are what they are, and no weights matter."""
    y = np.arange(60) % 3
    machine = ClassSpec(0.1, CLASS_LOSSES["max", "hinge"], 3, Bias.NONE)
    fit = solve_class_hinge(Here(np.zeros((60, 4)), y, [20, 40]), machine, Monitor(tol=1e-3), 20)
    assert fit.solver == "ascent"
    assert fit.certificate.holds(1e-3)
