"""Few rows whose numbers are too much for float64: proved all the same, or said why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from maxmargin import KernelRidge, KernelSVM, verify
from maxmargin.referee import check

from ..referee.problems import problem

# Each ended without a proof: an outlier of 1e8, C of 1e9, an offset of 1e4 to 1e13, columns of
# sizes 1e-8 to 1e8; with "max" and "sum" ordinary rows, too.
UNPROVED = [
    (8, "outlier"), (0, "large C"), (24, "large C"), (13, "far"), (36, "far"),
    (9, "scales"), (32, "hard"), (14, "ordinary"), (43, "ordinary"), (27, "far"), (19, "scales"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "family"), UNPROVED)
def test_fits_that_float64_leaves_unproved_are_proved(number, family):
    posed = problem(1, number, family, "KernelSVM")
    posed.params["max_seconds"] = 60.0  # some are compiled first
    model, tol = posed.fit(), posed.params["tol"]
    assert model.certificate_.holds(tol)
    assert verify(model, posed.data(), posed.targets()).holds(tol)
    assert check(model, posed.data(), posed.targets(), None, 0.0).verdict == "confirmed"


@pytest.mark.parametrize(("number", "family"), [(8, "far"), (11, "outlier"), (16, "scales")])
def test_kernel_ridge_is_proved_where_rounding_moved_its_values_by_more_than_the_targets(
    number, family
):
    posed = problem(1, number, family, "KernelRidge")
    model = posed.fit()
    assert model.certificate_.holds(1e-6)
    assert verify(model, posed.data(), posed.targets()).holds(1e-6)


def test_weights_of_zero_have_no_coefficients():
    rng = np.random.default_rng(0)
    X, y = 1e7 + rng.standard_normal((10, 2)), rng.standard_normal(10)
    weight = np.where(np.arange(10) < 8, 1.0, 0.0)
    model = KernelRidge(1e-2, kernel="linear").fit(X, y, sample_weight=weight)
    assert model.certificate_.holds(1e-6)
    assert not model.dual_coef_[8:].any()


def test_what_float64_cannot_say_is_told():
    """Rows of 1e30 that overlap: multipliers would have to cancel to sixty digits."""
    rng = np.random.default_rng(21)
    X, y = 1e30 * rng.standard_normal((14, 1)), np.arange(14) % 2
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = KernelSVM(100.0, kernel="linear", max_seconds=60.0).fit(X, y)
    assert not model.certificate_.holds(1e-3)
    assert "no float64 found near them prove more" in model.certificate_.method
    assert any("no float64 found near them prove more" in str(each.message) for each in said)


def test_coefficients_of_the_same_function_are_found_where_those_of_the_equations_are_not():
    """Rows of 1e30: the equations' own coefficients, of size one, would have to cancel to sixty
    digits, but others of size 1e-60 say the same function."""
    rng = np.random.default_rng(21)
    X, y = 1e30 * rng.standard_normal((14, 1)), np.arange(14) % 2
    ridge = KernelRidge(1.0, kernel="linear").fit(X, y)
    w = float(X[:, 0] @ y / (X[:, 0] @ X[:, 0] + 1.0))
    assert np.abs(ridge.dual_coef_).max() < 1e-55
    assert ridge.certificate_.holds(1e-6)
    assert verify(ridge, X, y).holds(1e-6)
    assert check(ridge, X, y, None, 0.0).verdict == "confirmed"
    np.testing.assert_allclose(ridge.predict(X), w * X[:, 0], rtol=1e-5)


def test_a_ridge_that_float64_cannot_say_is_no_worse_than_nothing():
    """Fewer rows than monomials, of size 1e72: no others say the same function."""
    rng = np.random.default_rng(3)
    X, y = 1e12 + rng.standard_normal((5, 2)), rng.standard_normal(5)
    ridge = KernelRidge(1e-2, kernel="poly", gamma=0.37).fit(X, y)
    assert not ridge.certificate_.holds(1e-6)
    assert "no float64 found near them are better" in ridge.certificate_.method
    assert ridge.certificate_.objective <= 0.5 * float(y @ y)


def test_ordinary_fits_never_come_here():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    model = KernelSVM(10.0).fit(X, y)
    assert model.solver_ == "factor"
    assert model.certificate_.holds(1e-3)
