"""fit_many: every fit is the one that LinearSVM makes, and is proved to be."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from maxmargin import LeastSquaresClassifier, LinearSVM, NotSeparableError, fit_many
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) * [1, 10, 0.1, 1, 1, 1] + 3
    y = X[:, 0] + rng.standard_normal(60) > 3
    return X, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def labellings(data):
    return np.random.default_rng(1).permuted(np.tile(data[1], (4, 1)), axis=1)


@pytest.fixture(scope="module")
def permuted(data, labellings):
    return fit_many(LinearSVM(), data[0], labellings, cv=3, n_jobs=2, decisions=True)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0, "no": 0.5}])
def test_a_batch_is_the_fits_one_by_one(data, labellings, loss, intercept, class_weight):
    svm = LinearSVM(C=0.5, loss=loss, fit_intercept=intercept, class_weight=class_weight, tol=1e-8)
    weight = np.random.default_rng(2).integers(0, 3, 60).astype(float)
    found = fit_many(svm, data[0], labellings, sample_weight=weight)
    assert "batches" in found.how
    assert found.proved.all()
    for k, y in enumerate(labellings):
        alone = svm.fit(data[0], y, sample_weight=weight)
        np.testing.assert_allclose(found.coef[k], alone.coef_[0], atol=3e-4)
        proof = found.certificate(k)
        assert proof.holds(1e-8)
        assert found.gap[k] == proof.relative_gap
        # Whatever is between two proved bounds is the optimum.
        assert proof.dual <= alone.certificate_.primal
        assert alone.certificate_.dual <= proof.primal


def test_a_certificate_is_that_of_the_one_place_where_proofs_are_made(data, permuted, labellings):
    rows = next(iter(KFold(3).split(data[0])))[0]
    found = fit_many(LinearSVM(), data[0], labellings, cv=[(rows, np.arange(60)[:5])])
    y = np.where(labellings[0] == "yes", 1.0, -1.0)[rows]
    problem = Problem(as_rows(data[0][rows]), y, np.ones(len(rows)), LOSSES["hinge"], Bias.FREE)
    w, b = found.coef[0, 0], float(found.intercept[0, 0])
    again = certify(problem, w, b, np.zeros(len(rows)))
    assert found.certificate(0, 0).primal == pytest.approx(again.primal, rel=1e-12)
    assert found.certificate(0, 0).problem == again.problem


def test_folds_and_labellings(data, permuted, labellings):
    assert permuted.coef.shape == (4, 3, 6)
    assert permuted.scores.shape == (4, 3)
    assert permuted.decisions.shape == (4, 3, 60)
    held = ~np.isnan(permuted.decisions)
    assert (held.sum(axis=1) == 1).all()  # every row is held out once
    right = (permuted.decisions > 0) == (labellings == "yes")[:, None]
    mean = (right & held).sum(axis=2) / held.sum(axis=2)
    np.testing.assert_array_equal(permuted.scores, mean)


def test_threads_change_no_bit(data, permuted, labellings):
    one = fit_many(LinearSVM(), data[0], labellings, cv=3)
    np.testing.assert_array_equal(one.coef, permuted.coef)
    np.testing.assert_array_equal(one.gap, permuted.gap)


def test_searchlights_of_different_sizes(data):
    X, y = data
    found = fit_many(LinearSVM(), X, y, columns=[[0, 1], [5], X[0] > -9], cv=3)
    assert found.scores.shape == (3, 3)
    assert [len(w) for w in found.coef[:, 0]] == [2, 1, 6]
    whole = fit_many(LinearSVM(), X, y, cv=3)
    np.testing.assert_array_equal(found.coef[2, 1], whole.coef[1])


def test_what_no_batch_proves_is_fitted_alone(data):
    """Rows far from the origin: the bound on rounding is what a batch cannot get below."""
    X, y = data
    found = fit_many(LinearSVM(tol=1e-9), X + 1e6, np.stack([y, y[::-1]]))
    assert "on their own" in found.how
    assert found.proved.all()


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (LeastSquaresClassifier(), "LeastSquaresClassifier"),
        (LinearSVM(solver="tiny"), "one solver"),
    ],
)
def test_others_are_fitted_one_by_one(data, estimator, said):
    X, y = data
    found = fit_many(estimator, X, y, columns=[[0, 1, 2]], cv=3)
    assert said in found.how
    assert found.scores.shape == (1, 3)
    rows, held = next(iter(StratifiedKFold(3).split(X, y)))
    alone = estimator.fit(X[rows][:, :3], y[rows])
    np.testing.assert_array_equal(found.coef[0, 0], alone.coef_)
    assert found.scores[0, 0] == alone.score(X[held][:, :3], y[held])


def test_the_hard_margin_goes_its_own_way(data):
    with pytest.raises(NotSeparableError, match="fit_many, all rows"):
        fit_many(LinearSVM(C=np.inf), *data)


def test_refusals(data, labellings):
    X, y = data
    alone = labellings.copy()
    alone[2] = "no"
    with pytest.raises(ValueError, match=r"1 of 4 labellings have only one.*labelling 2"):
        fit_many(LinearSVM(), X, alone)
    with pytest.raises(ValueError, match="a label for each of the 60 rows"):
        fit_many(LinearSVM(), X, labellings.T)
    with pytest.raises(ValueError, match="column numbers from 0 to 5"):
        fit_many(LinearSVM(), X, y, columns=[[0, 6]])
    with pytest.raises(ValueError, match="two classes have"):
        fit_many(LinearSVM(), X, np.arange(60) % 3, decisions=True)
    with pytest.raises(ValueError, match="C must be"):
        fit_many(LinearSVM(C=-1), X, y)
    with pytest.raises(IndexError, match="a place along each of 0 axes"):
        fit_many(LinearSVM(), X, y).certificate(3)
