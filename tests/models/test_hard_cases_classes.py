"""Cases that once went wrong, or that a user would try to break it with: k classes."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

from maxmargin import LinearSVM, LogisticRegression, OneVsOne, OneVsRest, verify

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize("offset", [1e4, 1e6])
@pytest.mark.parametrize("two", [True, False], ids=["two classes", "three classes"])
def test_a_bound_far_from_the_origin_is_below_the_optimum(offset, two):
    """Rounding in Σα, times the offset, once lifted the dual above the optimum."""
    X, y = np.round(IRIS * 8) / 8, SPECIES  # the offset adds no rounding
    if two:
        X, y = X[50:], y[50:]
    optimum = LogisticRegression(tol=1e-9).fit(X, y).certificate_.primal
    fit = LogisticRegression().fit(X + offset, y)
    assert fit.certificate_.holds(1e-6), str(fit.certificate_)
    coef, intercept = fit.coef_.copy(), fit.intercept_.copy()
    for share in np.linspace(0.0, 0.05, 16):
        fit.coef_, fit.intercept_ = coef * (1 - share), intercept * (1 - share)
        assert verify(fit, X + offset, y).dual <= optimum * (1 + 1e-7)


@pytest.mark.parametrize("rule", ["max", "sum"])
@pytest.mark.parametrize("solver", ["auto", "descent"])
@pytest.mark.parametrize("C", [1e-8, 1e-4])
def test_small_c_leaves_no_row_free(rule, solver, C):
    X, y = load_digits(return_X_y=True)
    fit = LinearSVM(C=C, multiclass=rule, solver=solver).fit(X / 16, y)
    assert fit.certificate_.holds(1e-6)


def test_two_multipliers_that_meet_their_bounds_together():
    X = [[1, 0], [2, 0], [1, 0], [0, 1], [0, 2], [1, 1], [0, 1]]
    assert LinearSVM(C=0.1).fit(X, [0, 0, 1, 1, 0, 0, 0]).certificate_.holds(1e-9)
    assert LinearSVM().fit(np.sign(IRIS - IRIS.mean(axis=0)), SPECIES == 1).certificate_.holds(1e-9)


@pytest.mark.parametrize(
    "change",
    [
        lambda fit: fit.fit(IRIS * 100, SPECIES),
        lambda fit: fit.fit(IRIS, (SPECIES + 1) % 3),
        lambda fit: fit.set_params(fit_intercept=False).fit(IRIS, SPECIES),
    ],
    ids=["scaled", "relabelled", "without intercept"],
)
def test_a_bad_warm_start_is_no_worse_than_none(change):
    fit = change(LogisticRegression(C=1e3, warm_start=True).fit(IRIS, SPECIES))
    assert fit.certificate_.holds(1e-6), str(fit.certificate_)


@pytest.mark.parametrize("seconds", [0.001, 0.1, 0.3])
def test_stopped_early_is_not_worse_than_no_weights(seconds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 60))
    y = (X[:, :8] + 2 * rng.normal(size=(20_000, 8))).argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = LinearSVM(max_seconds=seconds).fit(X, y)
    assert fit.certificate_.primal - fit.certificate_.rounding <= 20_000


def test_verify_never_proves_less_than_nothing():
    for rule in ("max", "sum", "rest", "pairs"):
        fit = LinearSVM(multiclass=rule).fit(IRIS, SPECIES)
        for some in (slice(0, 120), slice(None, None, -1)):
            proof = verify(fit, IRIS[some], SPECIES[some])
            assert proof.feasible
            assert 0.0 <= proof.dual <= proof.primal


def test_thousands_of_classes_answer_in_bounded_time():
    rng = np.random.default_rng(0)
    X, y = sparse.random(4000, 300, 0.05, "csr", random_state=0), rng.integers(0, 2000, 4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (LinearSVM(max_seconds=1.0), LogisticRegression(max_seconds=1.0)):
            fit = model.fit(X, y)
            assert fit.certificate_.feasible
            assert fit.certificate_.sound


def test_too_many_machines_are_refused_with_advice():
    X, y = np.zeros((3000, 1)), np.arange(3000) % 1000
    with pytest.raises(ValueError, match="Use OneVsOne"):
        LinearSVM(multiclass="pairs").fit(X, y)


def test_a_label_for_the_unknown_must_be_new():
    for reduction in (OneVsRest, OneVsOne):
        with pytest.raises(ValueError, match="one of the classes"):
            reduction(LinearSVM(), unknown=0).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="rest must be"):
        OneVsRest(LinearSVM(), rest=[2]).fit(IRIS, SPECIES)


def test_ties_go_to_the_first_class():
    X, y = np.ones((9, 2)), np.arange(9) % 3
    for rule in ("max", "sum", "rest", "pairs"):
        assert set(LinearSVM(multiclass=rule).fit(X, y).predict(X)) == {0}


def test_a_gap_that_rounding_made_negative_is_not_called_zero():
    fit = LinearSVM().fit(IRIS, SPECIES)
    proof = fit.certificate_
    broken = type(proof)(**{**vars(proof), "dual": 2 * proof.primal})
    assert not broken.holds(1.0)
    assert np.isinf(broken.relative_gap)
    assert "nothing is proved" in str(broken)
