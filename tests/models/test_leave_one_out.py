"""Leaving one out: the answers of fits that were never made, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    Perceptron,
    leave_one_out,
)
from maxmargin.core.certify.circulation import ties_all_classes
from maxmargin.core.problem.class_losses import MaxHinge
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.left_out import refit

from ..helpers import cloud
from .loo_problems import Case, random_case
from .loo_soak import check

X, y = cloud(n=40, d=3, seed=3)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
WEIGHT = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
TWO_CLASSES = [
    LinearSVM(),
    LinearSVM(C=100.0, class_weight="balanced"),
    LinearSVM(loss="squared_hinge"),
    LinearSVM(penalize_bias=True),
    LinearSVM(fit_intercept=False),
    LogisticRegression(),
    LeastSquaresClassifier(alpha=0.5),
    FisherDiscriminant(),
    pytest.param(KernelSVM(gamma=0.5, tol=1e-6), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("model", TWO_CLASSES, ids=lambda model: str(model)[:40])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_two_classes_equal_a_fit_without_each_row(model, weight):
    found = check(Case("two", model, X, y, weight))
    assert found.wrong == 0
    assert found.beyond <= 0.0


@pytest.mark.parametrize("weight", [None, WEIGHT[:16]], ids=["plain", "weighted"])
def test_few_rows_of_a_kernel_equal_a_fit_without_each(weight):
    found = check(Case("two", KernelSVM(gamma=0.5, tol=1e-6), X[:16], y[:16], weight))
    assert found.wrong == 0
    assert found.beyond <= 0.0


@pytest.mark.parametrize(
    "model",
    [LinearSVM(multiclass="rest"), LinearSVM(multiclass="pairs"), LeastSquaresClassifier(),
     FisherDiscriminant(shrinkage=0.2)],
    ids=["rest", "pairs", "least squares", "fisher"],
)  # fmt: skip
def test_three_classes_equal_a_fit_without_each_row(model):
    found = check(Case("three", model, X, np.array(["a", "b", "c"])[THREE], None))
    assert found.wrong == 0
    assert found.beyond <= 0.0


@pytest.mark.parametrize(
    "model",
    [LinearSVM(), LinearSVM(multiclass="sum"), LogisticRegression(), KernelSVM(multiclass="rest")],
    ids=["max", "sum", "softmax", "kernel"],
)
def test_few_rows_of_three_classes(model):
    some = np.concatenate([np.flatnonzero(c == THREE)[:5] for c in range(3)])
    found = check(Case("three", model, X[some], THREE[some], None))
    assert found.wrong == 0
    assert found.beyond <= 0.0


@pytest.mark.parametrize("seed", [71120, 71595, 72617], ids=["max", "pairs", "least squares"])
def test_data_of_the_fit_are_known_through_rounding(seed):
    """At C = 1e4 rounding of slacks is 2e-8 of the objective; a perfect fit has nothing else."""
    found = check(random_case(seed))
    assert found is not None
    assert found.wrong == 0
    assert found.beyond <= 0.0


def test_what_is_told():
    found = leave_one_out(LinearSVM().fit(X, y), X, y)
    assert found.labels.shape == found.scores.shape == found.tolerance.shape == (40,)
    assert found.error == np.mean(found.labels != y)
    assert sum(found.settled.values()) == 40
    assert found.settled["no multiplier"] > 0
    assert 0.0 < found.tolerance.max() < 1e-4
    assert "leave-one-out error" in str(found)


def test_a_search_is_asked_at_the_C_it_chose():
    search = LinearSVMCV(Cs=[0.1, 1.0]).fit(X, y)
    plain = leave_one_out(search.plain(), X, y)
    assert np.array_equal(leave_one_out(search, X, y).scores, plain.scores)


def test_other_data_are_refused():
    model = LinearSVM().fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="here are 39 rows, there were 40"):
        leave_one_out(model, X[:39], y[:39])
    flipped = y.copy()
    flipped[-1] *= -1
    with pytest.raises(ValueError, match="not the data that the LinearSVM was fitted to"):
        leave_one_out(model, X, flipped)
    with pytest.raises(ValueError, match="not the data"):
        leave_one_out(model, X, y, WEIGHT)
    assert vars(model).keys() == before.keys()
    for other in (LogisticRegression(), LeastSquaresClassifier(), FisherDiscriminant()):
        with pytest.raises(ValueError, match="not the data"):
            leave_one_out(clone(other).fit(X, y), X, flipped)


def test_a_row_without_which_there_is_no_discriminant_is_named():
    """Class 2 has spread by its last row alone."""
    where = np.array([0.0, 2.8, 0.0, 0.0, 2.8, 0.0, 0.0, 2.8, 2.8])[:, None]
    model = FisherDiscriminant().fit(where, [0, 1, 2] * 3)
    with pytest.raises(ValueError, match=r"Without row 8 \(counted from 0\) there is no fit"):
        leave_one_out(model, where, [0, 1, 2] * 3)


def test_what_cannot_be_left_out_is_refused_in_words():
    few = np.r_[y[:2], np.ones(38)]
    few[:2] = 1.0, -1.0
    with pytest.raises(ValueError, match=r"two rows of each class .* class -1\.0 has 1"):
        leave_one_out(LinearSVM().fit(X, few), X, few)
    with pytest.raises(ValueError, match="labels the model does not know"):
        leave_one_out(LinearSVM().fit(X, y), X, np.where(y > 0, 1.0, 7.0))
    with pytest.raises(TypeError, match=r"leave_one_out knows LinearSVM.* got Perceptron"):
        leave_one_out(Perceptron(max_passes=5).fit(X, y), X, y)


def test_a_multiplier_at_its_cap_but_for_rounding_ties_no_class():
    """Two rows of class 0 at their cap, one class 2 free against 1: class 0 floats."""
    C = 0.3580485939408841
    codes = np.array([0, 2, 1])
    problem = MulticlassProblem(as_rows(np.eye(3)), codes, np.full(3, C), MaxHinge(), 3)
    beta = np.array([[0.0, 0.19402742, C - 0.19402742], [0.0, 0.32, 0.0], [C, 0.0, 0.0]])
    beta[0, 2] = np.nextafter(beta[0, 2], 0.0)
    assert beta[0].sum() < C
    assert ties_all_classes(problem, beta)
    assert not ties_all_classes(problem, beta, least=1e-9)
    beta[0, 2] -= 0.1
    assert ties_all_classes(problem, beta, least=1e-9)


def test_fits_that_are_too_rough_are_made_again(monkeypatch):
    """A first fit serves where it proves the scores to 1e-3; else what rounding allows is asked."""
    rows, y = X[:16], THREE[:16]
    model = LinearSVM(multiclass="sum").fit(rows, y)
    told = leave_one_out(model, rows, y)
    monkeypatch.setattr(refit, "QUICK_TOL", 0.1)
    monkeypatch.setattr(refit, "QUICK_ENOUGH", 0.1)
    again = leave_one_out(model, rows, y)
    assert told.settled["fitted"] > 3
    assert (np.abs(told.scores - again.scores) <= 2e-3 * (1.0 + np.abs(told.scores))).all()
    assert (again.labels == told.labels).all()
