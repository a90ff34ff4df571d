"""Kernel sums lie within their bounds, by the referee's own kernel values; and kernel machines on
data that once were claimed, refused or never finished wrongly."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin import KernelRidge, KernelSVM, verify
from maxmargin.core.kernels.enclosed import enclosed_sums
from maxmargin.core.kernels.kernel_block import KernelPoints
from maxmargin.core.kernels.kernels import Kernel
from maxmargin.referee import check
from maxmargin.referee.intervals import high, low
from maxmargin.referee.read import gram

SHAPES = {
    "ordinary": lambda X: X,
    "far": lambda X: X + 1e8,
    "outlier": lambda X: X * np.where(np.arange(len(X)) == 0, 1e7, 1.0)[:, None],
    "tiny": lambda X: 1e-6 * X,
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian", "cosine"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_lie_within_their_bounds(name, shape):
    rng = np.random.default_rng(0)
    X, beta = SHAPES[shape](rng.standard_normal((6, 2))), 10 * rng.standard_normal((6, 1))
    points = KernelPoints(X, Kernel(name, 0.37, 3, 1.0))
    K = gram(X, SimpleNamespace(kernel=name, gamma_=0.37, coef0=1.0, degree=3))
    whole = np.array([[float(high(v)) for v in row] for row in K])
    for sharp in (False, True):
        F = enclosed_sums(points, np.arange(6), beta, sharp=sharp)
        assert (F.error[:, 0] <= (1e-24 if sharp else 1e-10) * (np.abs(whole).max() * 100)).all()
        for i in range(6):
            terms = [K[i][j] * Fraction(float(beta[j, 0])) for j in range(6)]
            found = Fraction(float(F.hi[i, 0])) + Fraction(float(F.lo[i, 0]))
            bound = Fraction(float(F.error[i, 0]))
            assert sum(map(low, terms)) - bound <= found <= sum(map(high, terms)) + bound


def labelled(n=20, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize("rule", ["pairs", "max", "sum"])
def test_float32_rows_under_a_polynomial(rule):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((14, 3)).astype(np.float32)
    y = rng.integers(0, 2 if rule == "pairs" else 3, 14)
    given = {"kernel": "poly", "gamma": 0.37, "degree": 3, "coef0": 1, "multiclass": rule}
    model = KernelSVM(C=1e3, tol=1e-9, **given).fit(X, y)
    assert model.certificate_.holds(1e-9)
    assert check(model, X, y, slack=0.0).verdict == "confirmed"
    assert verify(model, X, y).holds(1e-9)


@pytest.mark.parametrize("far", [1e6, 1e8])
def test_a_far_row_is_far_and_no_more(far):
    X, y = labelled(6)
    X[0] *= far
    model = KernelSVM(gamma=1.0, tol=1e-9).fit(X, y)
    assert model.certificate_.holds(1e-9)
    assert check(model, X, y, slack=0.0).verdict == "confirmed"
    ridge = KernelRidge(gamma=1.0).fit(X, y)
    assert ridge.certificate_.holds(1e-9)
    assert check(ridge, X, y, slack=0.0).verdict == "confirmed"


def test_kernels_that_are_kernels_are_not_refused():
    X, y = labelled(30)
    assert KernelSVM(gamma=1.0).fit(1e-6 * X, y).certificate_.holds(1e-9)
    outlier = X * np.where(np.arange(30) == 7, 1e7, 1.0)[:, None]
    assert KernelSVM(gamma=1.0).fit(outlier, y).certificate_.holds(1e-3)
    far = KernelSVM(kernel="poly", gamma=1.0)
    assert far.fit(np.column_stack([X, np.full(30, 1e6)]), y).certificate_.holds(1e-3)


@pytest.mark.parametrize(
    ("kernel", "gamma"),
    [("linear", 1.0), ("poly", 1.0), ("poly", "scale"), ("rbf", "scale"), ("laplacian", "scale")],
)
def test_values_that_are_no_numbers_are_refused_in_words(kernel, gamma):
    X, y = labelled()
    with pytest.raises(ValueError, match="cale the features"):
        KernelSVM(kernel=kernel, gamma=gamma).fit(1e160 * X, y)


def test_directions_have_no_length():
    X, y = labelled()
    plain = KernelSVM(kernel="cosine").fit(X, y)
    for scale in (1e-200, 1e-30, 1e160):
        model = KernelSVM(kernel="cosine").fit(scale * X, y)
        assert model.certificate_.holds(1e-3)
        assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)


def test_ten_badly_scaled_rows_end():
    X, y = labelled(10, 4)
    X *= 10.0 ** np.array([-8, -3, 2, 8])
    assert KernelSVM(kernel="poly", gamma=1.0, max_seconds=60).fit(X, y).certificate_.holds(1e-3)


def test_a_row_far_out_under_a_polynomial_ends():
    """Kernel values from 1 to 1e42: pair steps gain less than rounding, for ever if allowed to."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 3)), (rng.random(12) < 0.5).astype(int)
    X[0] *= 1e7
    model = KernelSVM(kernel="poly", gamma=1.0, C=10.0, max_seconds=60.0).fit(X, y)
    assert model.certificate_.holds(1e-3)
