"""Metadata routing: who inside a wrapper or a search gets weights and groups."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from maxmargin import KernelSVMCV, LinearSVM, LinearSVMCV, LogisticRegressionCV, OneVsOne, OneVsRest

X, Y = load_iris(return_X_y=True)
WEIGHT, GROUPS = np.linspace(0.5, 3.0, 150), np.arange(150) % 5
BOTH = [OneVsRest, OneVsOne]
SEARCHES = [LinearSVMCV, LogisticRegressionCV, KernelSVMCV]


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def _asking():
    return LinearSVM(C=0.1).set_fit_request(sample_weight=True)


@pytest.mark.parametrize("kind", BOTH)
def test_weights_reach_the_classifiers_that_ask_for_them(kind, routing):
    plain, weighted = (kind(_asking()).fit(X, Y, sample_weight=w).coef_ for w in (None, WEIGHT))
    assert np.abs(plain - weighted).max() > 1e-3
    renamed = kind(LinearSVM(C=0.1).set_fit_request(sample_weight="heft"))
    np.testing.assert_array_equal(renamed.fit(X, Y, heft=WEIGHT.tolist()).coef_, weighted)
    itself = kind(LinearSVM(C=0.1)).set_fit_request(sample_weight=True)
    np.testing.assert_array_equal(itself.fit(X, Y, sample_weight=WEIGHT).coef_, weighted)


@pytest.mark.parametrize("kind", BOTH)
def test_who_has_not_said_whether_is_asked(kind, routing):
    with pytest.raises(UnsetMetadataPassedError, match=r"LinearSVM\.fit"):
        kind(LinearSVM()).fit(X, Y, sample_weight=WEIGHT)
    with pytest.raises(TypeError, match="not routed"):
        kind(LinearSVM().set_fit_request(sample_weight=False)).fit(X, Y, sample_weight=WEIGHT)


@pytest.mark.parametrize("kind", BOTH)
def test_through_a_search_of_scikit_learns(kind, routing):
    model = kind(_asking()).set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=3, refit=True)
    search.fit(X, Y, sample_weight=WEIGHT)
    alone = kind(_asking()).set_params(**search.best_params_)
    np.testing.assert_array_equal(
        search.best_estimator_.coef_, alone.fit(X, Y, sample_weight=WEIGHT).coef_
    )


@pytest.mark.parametrize("kind", BOTH)
def test_part_by_part(kind, routing):
    base = SGDClassifier(random_state=0)
    plain = kind(base).partial_fit(X, Y, classes=[0, 1, 2]).coef_
    base.set_partial_fit_request(sample_weight=True)
    model = kind(base).partial_fit(X, Y, classes=[0, 1, 2], sample_weight=WEIGHT)
    assert np.abs(plain - model.coef_).max() > 1e-3


@pytest.mark.parametrize("kind", BOTH)
def test_without_routing_other_metadata_are_refused(kind):
    with pytest.raises(TypeError, match=r"unexpected heft.*enable_metadata_routing"):
        kind(LinearSVM()).fit(X, Y, heft=WEIGHT)


@pytest.mark.parametrize("kind", SEARCHES)
def test_the_scorer_of_a_search_gets_what_it_asks_for(kind, routing):
    def scores(scoring):
        return kind(Cs=[0.01, 1.0], cv=3, scoring=scoring).fit(X, Y, sample_weight=WEIGHT).scores_

    accuracy = get_scorer("accuracy")
    weighted = scores(accuracy.set_score_request(sample_weight=True))
    np.testing.assert_allclose(weighted, scores(None))
    plain = scores(accuracy.set_score_request(sample_weight=False))
    assert np.abs(plain - weighted).max() > 1e-6
    with pytest.raises(UnsetMetadataPassedError, match="accuracy"):
        scores("accuracy")


@pytest.mark.parametrize("kind", SEARCHES)
def test_groups_reach_the_splitter_of_a_nested_search(kind, routing):
    inner = kind(Cs=[0.1, 1.0], cv=GroupKFold(2)).set_fit_request(sample_weight=True)
    inner.set_score_request(sample_weight=False)
    params = {"sample_weight": WEIGHT, "groups": GROUPS}
    found = cross_validate(inner, X, Y, params=params, cv=GroupKFold(3), return_estimator=True)
    assert found["test_score"].min() > 0.8
    assert {model.n_splits_ for model in found["estimator"]} == {2}


def test_a_search_scores_with_weights_as_it_chose(routing):
    scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
    model = LinearSVMCV(Cs=[0.01], cv=3, scoring=scorer).fit(X, Y, sample_weight=WEIGHT)
    right = model.predict(X) == Y
    assert model.score(X, Y, sample_weight=WEIGHT) == pytest.approx(
        np.average(right, weights=WEIGHT)
    )
    with pytest.raises(TypeError, match="heft"):
        model.score(X, Y, heft=WEIGHT)
