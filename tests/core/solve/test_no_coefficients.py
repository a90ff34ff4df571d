"""Proofs that no float64 coefficients of a kernel machine are within a gap."""

from decimal import Decimal

import numpy as np
import pytest

from maxmargin.core.kernels.kernel_block import KernelPoints
from maxmargin.core.kernels.kernels import Kernel
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.kernelised import KernelProblem
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.rows.decimals import decimals, many_digits
from maxmargin.core.rows.rows import DenseRows
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.kernel.exact import machine_of
from maxmargin.core.solve.kernel.exact_classes import machine_of_classes
from maxmargin.core.solve.kernel.no_coefficients import coefficient_ellipsoid, no_float_function
from maxmargin.core.solve.kernel.other_coefficients import KernelFunction


def machine(rule: str, c: float):
    rng = np.random.default_rng(5)
    X, k = rng.standard_normal((7, 2)), 3
    points, cost = KernelPoints(X, Kernel("poly", gamma=0.5, degree=3, coef0=1.0)), np.full(7, c)
    if rule == "two":
        y = np.array([1.0, -1, 1, 1, -1, -1, 1])
        return machine_of(KernelProblem(points, y, cost, Hinge()), np.zeros(7))
    loss, y = CLASS_LOSSES[rule, "hinge"], np.array([0, 1, 2, 0, 1, 2, 0])
    problem = MulticlassProblem(DenseRows(X), y, cost, loss, k)
    return machine_of_classes(problem, points, np.zeros((7, k)), Monitor())


@pytest.mark.parametrize("rule", ["two", "max", "sum"])
@pytest.mark.parametrize("c", [0.05, 30.0])
def test_coefficients_are_within_the_ellipsoid_of_their_gap(rule, c):
    """However far they are from the best, none pays less than was said."""
    rng = np.random.default_rng(3)
    with many_digits():
        found = machine(rule, c)
        u, b, K, _ = found.best
        for size in (1e-6, 1e-2, 1.0):
            off = decimals(size * rng.standard_normal(u.shape) * (rng.random(u.shape) < 0.7))
            aside = decimals(size * rng.standard_normal(len(b)))
            aside[0] = aside[0] if len(b) == 1 else Decimal(0)
            primal = found.primal(KernelFunction(u + off, b + aside, K, K))
            gap = (primal - found.dual) * Decimal("1.0000001")
            _, H = coefficient_ellipsoid(found, gap)
            moved = np.concatenate([off.T.ravel(), aside if len(b) == 1 else aside[1:]])
            assert moved @ H @ moved <= 1


def test_where_float64_will_do_nothing_is_proved():
    """Small numbers near the origin: rounded coefficients are within 1e-12, none within 1e-25."""
    with many_digits():
        found = machine("two", 1.0)
        assert not no_float_function(found, Decimal("1e-12"))
        assert no_float_function(found, Decimal("1e-25"))
