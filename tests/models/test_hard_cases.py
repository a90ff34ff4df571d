"""Cases that broke an earlier version, found by trying to."""

import pickle
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import (
    KernelPerceptron,
    LinearSVM,
    NoMistakeBound,
    Perceptron,
    mistake_bound,
    separability,
    verify,
)

from ..helpers import cloud, oracle, separable_cloud

X, Y = cloud(60, 4, seed=0)


def quiet_fit(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **more)


@pytest.mark.parametrize("solver", ["auto", "newton", "descent"])
def test_warm_start_forgets_a_bias_that_is_not_wanted(solver):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 50))
    t = (Z[:, 0] + rng.standard_normal(300) + 0.5 > 0).astype(int)
    warm = LinearSVM(warm_start=True, solver=solver).fit(Z, t)
    warm.set_params(fit_intercept=False).fit(Z, t)
    cold = LinearSVM(fit_intercept=False).fit(Z, t)
    assert warm.intercept_[0] == 0.0
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-5)


def test_a_bias_without_fit_intercept_proves_nothing():
    fit = LinearSVM(fit_intercept=False).fit(X, Y)
    fit.intercept_ = np.array([0.9])
    assert not verify(fit, X, Y).holds(1e-6)


@pytest.mark.parametrize("scale", [1e14, 1e20, 1e80, 1e155])
def test_enormous_numbers_end_in_time_and_honestly(scale):
    began = time.perf_counter()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = LinearSVM(max_seconds=2).fit(X * scale, Y)
    assert time.perf_counter() - began < 120
    assert np.isfinite(fit.coef_).all()


def test_enormous_C_ends_in_time():
    began = time.perf_counter()
    fit = quiet_fit(LinearSVM(C=1e30, max_seconds=2), X, Y)
    assert time.perf_counter() - began < 120
    assert np.isfinite(fit.coef_).all()


def test_singular_newton_systems_do_not_escape():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 200)) * 10 ** rng.uniform(-3, 3, 200) * 400
    Z[:60] = 0
    for C in (1e4, 1e6, 1e8):
        fit = quiet_fit(LinearSVM(C=C, max_seconds=20), Z, rng.integers(0, 2, 300))
        assert np.isfinite(fit.certificate_.relative_gap)


def test_nearly_touching_hulls():
    """An answer must be true; none is better than a wrong one."""
    answer = separability([[0.0], [1.0], [1 + 1e-10], [2.0]], [0, 0, 1, 1])
    assert answer.separable
    assert answer.margin == pytest.approx(5e-11, rel=1e-4)
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, 60, 2))
    A[:, 0], B[:, 0] = -abs(A[:, 0]), abs(B[:, 0]) + 1e-8
    A[0], B[0] = 0, [1e-8, 0]
    assert separability(np.vstack([A, B]), [0] * 60 + [1] * 60).separable


def test_an_empty_proof_is_no_proof():
    Z, t = separable_cloud(40, 3)
    fit = LinearSVM(C=np.inf).fit((Z * 1e-30).astype(np.float32), t)
    assert (t * fit.decision_function((Z * 1e-30).astype(np.float32))).min() > 0.99


@pytest.mark.parametrize("C", [10.0, 100.0, np.inf])
def test_float32_is_certified_like_float64(C):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((100, 30)).astype(np.float32)
    t = (Z @ rng.standard_normal(30) > 0).astype(int)
    assert LinearSVM(C=C).fit(Z, t).certificate_.holds(1e-6)


def exact_primal(fit, X, y, C):
    """The objective of the stored numbers in exact arithmetic."""
    w = [Fraction(float(v)) for v in fit.coef_[0]]
    b = Fraction(float(fit.intercept_[0]))
    slack = (
        1 - int(s) * (sum(v * Fraction(float(u)) for v, u in zip(w, x, strict=True)) + b)
        for x, s in zip(X, y, strict=True)
    )
    return sum(v * v for v in w) / 2 + Fraction(C) * sum(max(Fraction(0), s) for s in slack)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e6])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_the_certificate_is_true_in_exact_arithmetic(scale, C):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((10, 3)) * scale
        t = np.where(Z[:, 0] > 0, 1, -1)
        if abs(t.sum()) == 10:
            continue
        fit = quiet_fit(LinearSVM(C=C), Z, t)
        primal = exact_primal(fit, Z, t, C)
        true_gap = float((primal - Fraction(fit.certificate_.dual)) / primal)
        assert true_gap <= 1.05 * fit.certificate_.relative_gap + 1e-9


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-100, 100], dtype=np.int8),
        np.array([-30000, 30000], dtype=np.int16),
        np.array([2**63, 2**63 + 5], dtype=np.uint64),
        np.array([-(2**62), 2**62]),
    ],
    ids=str,
)
def test_integer_labels_of_every_width(labels):
    t = labels[(Y > 0).astype(int)]
    for model in (LinearSVM(), Perceptron(max_passes=5)):
        quiet_fit(model, X, t)
        np.testing.assert_array_equal(model.classes_, labels)
        assert model.score(X, t) > 0.6


def test_proofs_survive_pickling():
    with pytest.raises(NoMistakeBound) as caught:
        mistake_bound(X, Y)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    with pytest.raises(ValueError, match="finite C") as caught:
        LinearSVM(C=np.inf).fit(X, Y)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_free_multipliers_are_on_the_margin(solver):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 60))
    t = (Z[:, 0] + rng.standard_normal(300) > 0).astype(int)
    fit = LinearSVM(solver=solver).fit(Z, t)
    free = fit.alpha_[fit.support_] < 1
    assert free.sum() > 10
    assert (fit.support_kind_[free] == "margin").all()


def test_wild_weights_never_prove_less_than_nothing():
    rng = np.random.default_rng(2)
    Z = (rng.standard_normal((40, 200)) * 280)[rng.integers(0, 40, 40)]
    t = rng.integers(0, 2, 40)
    t[:2] = 0, 1
    model = LinearSVM(loss="squared_hinge", C=1e5, fit_intercept=False)
    fit = quiet_fit(model, Z, t, sample_weight=10 ** rng.uniform(-6, 6, 40))
    assert fit.certificate_.relative_gap <= 1.0


def test_verify_takes_what_fit_takes_and_refuses_the_rest():
    fit = LinearSVM().fit(X, Y)
    with pytest.warns(UserWarning, match="column-vector"):
        assert verify(fit, X, Y[:, None]).holds(1e-6)
    with pytest.raises(TypeError, match="got Perceptron"):
        verify(quiet_fit(Perceptron(max_passes=3), X, Y), X, Y)


@pytest.mark.parametrize("weight", [{-1.0: -1, 1.0: 3}, {-1.0: np.nan}, {-1.0: np.inf}])
def test_bad_class_weights(weight):
    for model in (LinearSVM, Perceptron):
        with pytest.raises(ValueError, match="class_weight must hold finite weights"):
            model(class_weight=weight).fit(X, Y)


def test_a_kernel_must_return_numbers():
    with pytest.raises(ValueError, match="not a finite number"):
        KernelPerceptron(kernel=lambda a, b: np.nan).fit(X, Y)


def test_a_generator_is_no_random_state():
    with pytest.raises(ValueError, match="seed"):
        LinearSVM(random_state=np.random.default_rng(0)).fit(X, Y)


def test_far_from_the_origin():
    fit = LinearSVM().fit(X + 1e6, Y)
    best, _, _ = oracle(X, Y)
    assert fit.certificate_.primal == pytest.approx(best, rel=1e-6)
