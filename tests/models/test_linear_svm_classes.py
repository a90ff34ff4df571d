"""LinearSVM with more than two classes: the four rules, and everything the binary one has."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import LinearSVM, NotSeparableError, verify

from ..class_helpers import clouds, corners

RULES = ["max", "sum", "rest", "pairs"]
JOINT = ["max", "sum"]
X0, Y0 = clouds(90, 4, 4, seed=0)
NAMES = np.array(["ash", "beech", "cedar", "oak"])

every_rule = pytest.mark.parametrize("rule", RULES)
joint = pytest.mark.parametrize("rule", JOINT)


@every_rule
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_what_a_fit_tells(rule, loss):
    fit = LinearSVM(multiclass=rule, loss=loss).fit(X0, NAMES[Y0])
    machines = 6 if rule == "pairs" else 4
    assert fit.coef_.shape == (machines, 4)
    assert fit.intercept_.shape == (machines,)
    assert fit.alpha_.shape == (90, machines)
    assert fit.alpha_.min() >= 0
    assert fit.certificate_.holds(1e-6)
    assert verify(fit, X0, NAMES[Y0]).holds(1e-6)
    assert fit.slack_.shape == (90,)
    assert fit.slack_.min() >= 0
    assert set(fit.support_kind_) <= {"margin", "inside", "misclassified"}
    assert len(fit.support_kind_) == len(fit.support_)
    np.testing.assert_allclose(fit.dual_coef_ @ X0[fit.support_], fit.coef_, atol=1e-5)
    assert fit.decision_function(X0).shape == (90, 4)
    assert set(fit.predict(X0)) <= set(NAMES)
    assert fit.margin_ > 0
    assert fit.n_iter_ >= 1
    assert fit.solver_reason_


@joint
def test_the_objective_is_what_the_certificate_says(rule):
    fit = LinearSVM(C=0.7, multiclass=rule).fit(X0, Y0)
    s = X0 @ fit.coef_.T + fit.intercept_
    z = np.maximum(0.0, 1.0 + s - s[np.arange(90), Y0][:, None])
    z[np.arange(90), Y0] = 0.0
    slack = z.max(axis=1) if rule == "max" else z.sum(axis=1)
    np.testing.assert_allclose(fit.slack_, slack, atol=1e-9)
    objective = 0.5 * (fit.coef_**2).sum() + 0.7 * slack.sum()
    assert fit.certificate_.primal == pytest.approx(objective)
    n, d, k = 90, 4, 4
    slacks = n if rule == "max" else n * (k - 1)
    assert f"{k * d + k + slacks} variables" in fit.certificate_.problem
    assert f"{n * (k - 1)} margin constraints" in fit.certificate_.problem


@every_rule
def test_two_classes_are_one_machine(rule):
    two = Y0 < 2
    fit = LinearSVM(multiclass=rule).fit(X0[two], Y0[two])
    plain = LinearSVM().fit(X0[two], Y0[two])
    np.testing.assert_array_equal(fit.coef_, plain.coef_)


@joint
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_k_class_problem_of_two_classes_is_the_two_class_one_with_twice_c(rule, loss):
    from maxmargin.core.problem.problem import Bias
    from maxmargin.core.solve.contract import Monitor
    from maxmargin.core.solve.many_class.form import solve_classes

    from ..class_helpers import class_problem

    two = Y0 < 2
    X, y = X0[two], Y0[two]
    problem = class_problem(X, y, 0.5, (rule, loss), Bias.FREE)
    for solver in ("newton", "descent"):
        solution = solve_classes(problem, Monitor(tol=1e-9, max_iter=20_000), solver)
        certificate = solution.certificate
        binary = LinearSVM(C=1.0, loss=loss, tol=1e-10).fit(X, y)
        W, b, _ = solution.point
        np.testing.assert_allclose(W[1] - W[0], binary.coef_[0], atol=1e-3)
        np.testing.assert_allclose(W[1] + W[0], 0.0, atol=1e-9)
        assert b[1] - b[0] == pytest.approx(binary.intercept_[0], abs=1e-3)
        assert certificate.primal == pytest.approx(0.5 * binary.certificate_.primal, rel=1e-7)


@every_rule
@given(seed=st.integers(0, 1000))
@settings(max_examples=8, deadline=None)
def test_names_of_classes_and_order_of_rows_do_not_matter(rule, seed):
    rng = np.random.default_rng(seed)
    X, y = clouds(40, 3, 3, seed=seed)
    order, names = rng.permutation(40), rng.permutation(3)
    a = LinearSVM(multiclass=rule, tol=1e-10).fit(X, y)
    b = LinearSVM(multiclass=rule, tol=1e-10).fit(X[order], names[y[order]])
    here, there = a.decision_function(X), b.decision_function(X)[:, names]
    np.testing.assert_allclose(here, there, atol=1e-5)


@every_rule
def test_a_weight_is_a_repetition(rule):
    weight = np.random.default_rng(1).integers(0, 4, 90)
    weight[:4] = 1
    often = np.repeat(np.arange(90), weight)
    a = LinearSVM(multiclass=rule, tol=1e-9).fit(X0, Y0, sample_weight=weight)
    b = LinearSVM(multiclass=rule, tol=1e-9).fit(X0[often], Y0[often])
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-4)
    np.testing.assert_allclose(a.decision_function(X0), b.decision_function(X0), atol=1e-4)


@every_rule
def test_class_weights_are_costs(rule):
    by_class = {0: 2.0, 1: 1.0, 2: 0.5, 3: 1.0}
    a = LinearSVM(multiclass=rule, class_weight=by_class, tol=1e-9).fit(X0, Y0)
    weight = np.array([by_class[c] for c in Y0])
    b = LinearSVM(multiclass=rule, tol=1e-9).fit(X0, Y0, sample_weight=weight)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)


@joint
def test_scaling_the_data_scales_the_weights(rule):
    a = LinearSVM(C=1.0, multiclass=rule, tol=1e-10).fit(X0, Y0)
    b = LinearSVM(C=1.0 / 100, multiclass=rule, tol=1e-10).fit(10 * X0 + 3.0, Y0)
    np.testing.assert_allclose(a.coef_, 10 * b.coef_, atol=1e-4)


@every_rule
@pytest.mark.parametrize("kind", ["csr", "float32", "pandas", "polars", "fortran"])
def test_every_kind_of_input(rule, kind):
    X = {
        "csr": sparse.csr_matrix(X0),
        "float32": X0.astype(np.float32),
        "pandas": pd.DataFrame(X0, columns=list("abcd")),
        "polars": pl.DataFrame(X0, schema=list("abcd")),
        "fortran": np.asfortranarray(X0),
    }[kind]
    fit = LinearSVM(multiclass=rule).fit(X, NAMES[Y0])
    plain = LinearSVM(multiclass=rule).fit(X0, NAMES[Y0])
    np.testing.assert_allclose(fit.coef_, plain.coef_, atol=2e-3)
    assert (fit.predict(X) == plain.predict(X0)).mean() > 0.97
    if kind in ("pandas", "polars"):
        assert list(fit.feature_names_in_) == list("abcd")
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict(X), fit.predict(X))


@every_rule
def test_decision_regions_are_what_the_rule_says(rule):
    fit = LinearSVM(multiclass=rule).fit(X0, Y0)
    f = fit.decision_function(X0)
    np.testing.assert_array_equal(fit.predict(X0), fit.classes_[f.argmax(axis=1)])
    if rule == "pairs":
        with pytest.raises(ValueError, match="one weight vector per class"):
            fit.signed_distance(X0)
        return
    distance = fit.signed_distance(X0)
    assert (distance.max(axis=1) >= 0).all()
    # At its distance from the boundary, in the direction of its rival, a point changes class.
    i = int(np.argmax(distance.max(axis=1)))
    c = f[i].argmax()
    gaps = [
        (f[i, c] - f[i, e]) / np.linalg.norm(fit.coef_[c] - fit.coef_[e]) if e != c else np.inf
        for e in range(4)
    ]
    rival = int(np.argmin(gaps))
    way = fit.coef_[rival] - fit.coef_[c]
    way /= np.linalg.norm(way)
    assert fit.predict([X0[i] + 0.99 * gaps[rival] * way])[0] == c
    assert fit.predict([X0[i] + 1.01 * gaps[rival] * way])[0] != c


@joint
@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_decision_regions_are_convex(rule, seed):
    fit = _fitted(rule)
    rng = np.random.default_rng(seed)
    a, b = 3.0 * rng.standard_normal((2, 200, 4))
    same = fit.predict(a) == fit.predict(b)
    t = rng.random((same.sum(), 1))
    between = t * a[same] + (1 - t) * b[same]
    np.testing.assert_array_equal(fit.predict(between), fit.predict(a[same]))


_CACHE: dict = {}


def _fitted(rule):
    if rule not in _CACHE:
        _CACHE[rule] = LinearSVM(multiclass=rule).fit(X0, Y0)
    return _CACHE[rule]


@every_rule
def test_hard_margin_or_proof(rule):
    X, y = corners(60, 3, 4)
    fit = LinearSVM(C=np.inf, multiclass=rule).fit(X, y)
    assert fit.certificate_.holds(1e-6)
    assert fit.score(X, y) == 1.0
    assert fit.slack_.max() < 1e-7
    if rule in JOINT:
        s = fit.decision_function(X)
        own = s[np.arange(60), y]
        s[np.arange(60), y] = -np.inf
        closest = (own - s.max(axis=1)).min() / (np.sqrt(2.0) * np.linalg.norm(fit.coef_))
        assert fit.margin_ == pytest.approx(closest, rel=1e-6)  # lecture 001
    with pytest.raises(NotSeparableError):
        LinearSVM(C=np.inf, multiclass=rule).fit(*load_iris(return_X_y=True))


@every_rule
def test_warm_start_begins_where_the_last_fit_ended(rule):
    fit = LinearSVM(multiclass=rule, solver="descent", warm_start=True).fit(X0, Y0)
    first = fit.n_iter_
    fit.fit(X0, Y0)
    assert fit.n_iter_ < first
    assert fit.certificate_.holds(1e-6)
    fit.fit(X0[:60], Y0[:60])  # other rows: the multipliers begin anew
    assert fit.certificate_.holds(1e-6)


def test_liblinear_solves_the_penalised_problem():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    fit = LinearSVM(C=0.1, penalize_bias=True, tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(fit.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(fit.intercept_, peer.intercept_, atol=1e-3)


def test_a_class_with_one_example_and_very_many_classes():
    X, y = clouds(50, 3, 3, seed=1)
    y = np.where(np.arange(50) == 7, 9, y)
    for rule in RULES:
        assert LinearSVM(multiclass=rule).fit(X, y).certificate_.holds(1e-6)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 20)), np.arange(600) % 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = LinearSVM(C=0.1, tol=1e-3).fit(X, y)
    assert fit.certificate_.holds(1e-3)
    assert fit.coef_.shape == (300, 20)


def test_other_data_get_an_honest_certificate():
    for rule in RULES:
        fit = LinearSVM(multiclass=rule).fit(X0, Y0)
        elsewhere = verify(fit, X0[:50], Y0[:50])
        best = LinearSVM(multiclass=rule).fit(X0[:50], Y0[:50]).certificate_
        assert elsewhere.feasible
        assert elsewhere.dual <= best.primal
        assert elsewhere.primal >= best.dual


@joint
def test_an_unfinished_fit_says_so(rule):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fit = LinearSVM(C=100.0, multiclass=rule, max_iter=2).fit(X0, Y0)
    assert np.isfinite(fit.coef_).all()
    assert not fit.certificate_.holds(1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"multiclass": "ovr"}, "multiclass must be one of"),
        ({"solver": "tiny"}, "solver must be one of"),
        ({"multiclass": "rest", "solver": "simplex"}, "solver must be one of"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM(**settings).fit(X0, Y0)
