"""Models of changed data, and what each row does to one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    influence,
    verify,
)
from maxmargin.core.solve.two_class.changed_smooth import _bfgs

from ..helpers import cloud

X, signs = cloud(n=60, d=3, seed=5)
y = np.where(signs > 0, "yes", "no")
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
WEIGHT = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
GONE = np.array([0, 7, 8, 30])
REST = np.setdiff1d(np.arange(60), GONE)
MODELS = [
    (LinearSVM(tol=1e-9), y),
    (LinearSVM(penalize_bias=True), y),
    (LinearSVM(class_weight="balanced"), y),
    (LinearSVM(multiclass="pairs"), THREE),
    (LogisticRegression(tol=1e-10), y),
    (LeastSquaresClassifier(alpha=1.0), y),
    (FisherDiscriminant(), THREE),
    (KernelSVM(tol=1e-8), y),
]


@pytest.mark.parametrize(("model", "labels"), MODELS, ids=lambda each: str(each)[:30])
def test_without_equals_a_fit_to_the_rest(model, labels):
    fitted = clone(model).fit(X, labels, WEIGHT)
    before = fitted.decision_function(X)
    less = fitted.without(GONE, X, labels, WEIGHT)
    anew = clone(model).fit(X[REST], labels[REST], WEIGHT[REST])
    np.testing.assert_allclose(less.decision_function(X), anew.decision_function(X), atol=1e-4)
    assert verify(less, X[REST], labels[REST], WEIGHT[REST]).holds(1e-6)
    assert np.array_equal(fitted.decision_function(X), before)
    assert less.get_params() == fitted.get_params()


@pytest.mark.parametrize(("model", "labels"), MODELS[:2], ids=["hinge", "penalized"])
def test_rows_come_back(model, labels):
    less = clone(model).fit(X[REST], labels[REST], WEIGHT[REST])
    all_rows = np.r_[REST, GONE]
    more = less.with_rows(X[GONE], labels[GONE], X[REST], labels[REST], WEIGHT[REST], WEIGHT[GONE])
    anew = clone(model).fit(X[all_rows], labels[all_rows], WEIGHT[all_rows])
    np.testing.assert_allclose(more.coef_, anew.coef_, atol=1e-6)
    assert len(more.alpha_) == 60


def test_sparse_rows_masks_and_searches():
    S = sparse.csr_matrix(X)
    mask = np.isin(np.arange(60), GONE)
    less = LinearSVM().fit(S, y).without(mask, S, y)
    assert less.alpha_.shape == (56,)
    search = LinearSVMCV(Cs=[0.1, 1.0]).fit(X, y)
    found = search.without(3, X, y)
    assert type(found) is LinearSVM
    assert found.C == search.C_


@pytest.fixture(scope="module")
def many():
    """Rows enough for forgetting to be more than another fit, and a machine of them."""
    X, y = cloud(n=3000, d=4, seed=7)
    weight = np.where(np.arange(3000) % 3 == 0, 2.0, 1.0)
    model = LinearSVM(tol=1e-8, class_weight={-1.0: 1.5, 1.0: 1.0}).fit(X, y, weight)
    return X, y, weight, model


@pytest.mark.parametrize("count", [1, 90])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_of_many_rows_those_near_their_margin_are_solved_again(many, count, storage):
    X, y, weight, model = many
    gone = np.random.default_rng(count).choice(model.support_, count, replace=False)
    rest = np.setdiff1d(np.arange(len(y)), gone)
    less = model.without(gone, storage(X), y, weight)
    assert "near their margin" in less.solver_reason_
    assert verify(less, X[rest], y[rest], weight[rest]).holds(1e-8)
    anew = clone(model).fit(X[rest], y[rest], weight[rest])
    np.testing.assert_allclose(less.coef_, anew.coef_, atol=1e-3)
    np.testing.assert_allclose(less.dual_coef_ @ X[rest][less.support_], less.coef_, atol=1e-9)
    assert np.array_equal(less.support_, np.flatnonzero(less.alpha_))
    assert len(less.slack_) == len(less._codes) == len(rest)
    assert less.certificate_.problem == anew.certificate_.problem


@pytest.mark.parametrize("count", [1, 90])
@pytest.mark.parametrize(
    "model", [LinearSVM(loss="squared_hinge"), LogisticRegression()], ids=["squared", "logistic"]
)
def test_smooth_losses_take_steps_from_the_optimum(many, model, count):
    X, y, weight, _ = many
    X = X + 5.0  # far from the origin the bias and the weights pull together
    model = clone(model).set_params(tol=1e-8).fit(X, y, weight)
    gone = np.random.default_rng(count).choice(np.flatnonzero(y > 0), count, replace=False)
    rest = np.setdiff1d(np.arange(len(y)), gone)
    less = model.without(gone, X, y, weight)
    assert "steps from the optimum" in less.solver_reason_ or not model.alpha_[gone].any()
    assert verify(less, X[rest], y[rest], weight[rest]).holds(1e-8)
    anew = clone(model).fit(X[rest], y[rest], weight[rest])
    np.testing.assert_allclose(less.coef_, anew.coef_, atol=1e-3)
    assert less.certificate_.problem == anew.certificate_.problem
    told = {name for name in vars(less) if name.endswith("_")}
    assert told == {name for name in vars(anew) if name.endswith("_")}


def test_steps_explain_their_gradients():
    """BFGS maps the last change of the gradient to the step that made it."""
    rng = np.random.default_rng(0)
    H = np.diag(rng.uniform(1.0, 5.0, 4))
    steps = [(s, H @ s) for s in rng.standard_normal((3, 4))]
    step, change = steps[-1]
    np.testing.assert_allclose(_bfgs(np.copy, steps, change), step)


def test_a_row_without_a_multiplier_leaves_the_machine_and_its_proof(many):
    X, y, weight, model = many
    gone = np.flatnonzero(model.alpha_ == 0)[[0, 5]]
    rest = np.setdiff1d(np.arange(len(y)), gone)
    less = model.without(gone, X, y, weight)
    assert np.array_equal(less.coef_, model.coef_)
    assert less.certificate_.gap == model.certificate_.gap
    assert verify(less, X[rest], y[rest], weight[rest]).holds(1e-8)
    assert np.array_equal(less.support_, np.flatnonzero(less.alpha_))
    np.testing.assert_allclose(less.dual_coef_ @ X[rest][less.support_], less.coef_, atol=1e-9)


@pytest.mark.parametrize("count", [1, 90])
def test_a_model_that_knows_no_slacks_forgets_alike(many, count):
    """As one from a file: then a pass finds which rows are near."""
    X, y, weight, model = many
    gone = np.random.default_rng(count).choice(model.support_, count, replace=False)
    from copy import copy

    loaded = copy(model)
    del loaded._z
    one, other = model.without(gone, X, y, weight), loaded.without(gone, X, y, weight)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    for name in ("alpha_", "slack_", "_codes", "margin_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-5)
    assert np.array_equal(one.support_, np.flatnonzero(one.alpha_))
    rest = np.setdiff1d(np.arange(len(y)), gone)
    here = (X[rest] @ one.coef_[0] + one.intercept_[0]) * np.where(one._codes == 1, 1.0, -1.0)
    np.testing.assert_allclose(one.slack_, np.maximum(0.0, 1.0 - here), atol=1e-9)
    capped = one.alpha_[one.support_] >= model.C * weight[rest][one.support_] * np.where(
        y[rest][one.support_] == -1.0, 1.5, 1.0
    )
    assert np.array_equal(one.support_kind_ == "margin", ~capped | (one.slack_[one.support_] == 0))
    again = one.without(0, X[rest], y[rest], weight[rest])  # it knows its own
    assert again.certificate_.holds(1e-8)


def test_other_data_are_refused_by_one_pass_too(many):
    X, y, weight, model = many
    row, idle = int(model.support_[3]), int(np.flatnonzero(model.alpha_ == 0)[4])
    far = X.copy()
    far[idle] -= 9.0 * y[idle] * model.coef_[0] / np.linalg.norm(model.coef_) ** 2
    flipped, heavy = y.copy(), weight.copy()
    flipped[idle] *= -1.0
    heavy[model.support_[9]] *= 1.5
    moved = X.copy()
    moved[model.support_[9]] += 0.01
    for data in ((far, y, weight), (X, flipped, weight), (X, y, heavy), (moved, y, weight)):
        with pytest.raises(ValueError, match="not the data that the LinearSVM was fitted to"):
            model.without(row, *data)


def test_what_is_not_near_is_fitted(many, monkeypatch):
    from maxmargin.core.solve.two_class import changed_costs

    X, y, weight, model = many
    monkeypatch.setattr(changed_costs, "MAX_ROUNDS", 0)
    less = model.without(model.support_[:3], X, y, weight)
    assert "near their margin" not in less.solver_reason_
    assert less.certificate_.holds(1e-8)


def test_a_value_that_is_no_number_is_refused_in_words(many):
    X, y, weight, model = many
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[5, 1] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.without(0, bad, y, weight)


def test_probabilities_are_those_of_the_rows_left():
    model = LinearSVM(probability=True).fit(X, y)
    less = model.without(GONE, X, y)
    anew = clone(model).fit(X[REST], y[REST])
    np.testing.assert_allclose(less.predict_proba(X), anew.predict_proba(X), atol=1e-3)


def test_refusals():
    model = LinearSVM().fit(X, y)
    for rows, said in [
        (60, "no row 60: the data have rows 0 to 59"),
        (-1, "no row -1"),
        ([], "row numbers counted from 0"),
        (0.5, "row numbers counted from 0"),
        (np.zeros(3, dtype=bool), "must have 60 entries"),
        (np.flatnonzero(y == "no"), "no row of class no"),
    ]:
        with pytest.raises(ValueError, match=said):
            model.without(rows, X, y)
    with pytest.raises(ValueError, match="not the data that the LinearSVM was fitted to"):
        model.without(0, X[::-1].copy(), y)
    with pytest.raises(ValueError, match="labels the model does not know"):
        model.with_rows(X[:1], ["perhaps"], X, y)
    with pytest.raises(ValueError, match="precomputed"):
        KernelSVM(kernel="precomputed").fit(X @ X.T, y).without(0, X @ X.T, y)


@pytest.mark.parametrize("model", [LinearSVM(), LogisticRegression(tol=1e-10)], ids=str)
def test_the_pulls_of_all_rows_make_the_weights(model):
    model = clone(model).fit(X, y)
    told = influence(model, X, y, at=X[:5])
    centred = (X[:5] - X.mean(axis=0)) @ model.coef_[0]
    np.testing.assert_allclose(told.part.sum(axis=0), centred, atol=1e-3)
    assert told.pull[told.most(3)].min() >= np.sort(told.pull)[-3]
    with pytest.raises(TypeError, match="got LeastSquaresClassifier"):
        influence(LeastSquaresClassifier().fit(X, y), X, y)
