"""The cheapest action, abstaining among them, and what is no table of costs."""

import numpy as np
import pytest

from maxmargin import (
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    cost_scorer,
    costs_of,
    read_costs,
)

RNG = np.random.default_rng(0)
Y = np.where(RNG.random(300) < 0.5, "ill", "well")
X = RNG.standard_normal((300, 2)) + np.where(Y == "ill", 1.0, -1.0)[:, None]
EVEN = {"ill": {"ill": 0, "well": 1}, "well": {"ill": 1, "well": 0}}
DEAR = {"ill": {"ill": 0, "well": 50}, "well": {"ill": 1, "well": 0}}
ASK = {"ill": {"ill": 0, "well": 1, "ask": 0.1}, "well": {"ill": 1, "well": 0, "ask": 0.1}}
MODEL = LinearSVM(probability=True).fit(X, Y)


def test_equal_costs_are_the_labels_predicted():
    np.testing.assert_array_equal(MODEL.decide(X, EVEN), MODEL.predict(X))


def test_the_dearer_mistake_is_made_less():
    said = MODEL.decide(X, DEAR)
    assert said.dtype == Y.dtype
    assert (said[Y == "ill"] == "ill").mean() > (MODEL.predict(X)[Y == "ill"] == "ill").mean()
    paid = costs_of(DEAR)
    cheap = paid.paid(Y, said, MODEL.classes_).mean()
    assert cheap < paid.paid(Y, MODEL.predict(X), MODEL.classes_).mean()


def test_abstaining_is_chosen_where_it_is_cheaper_than_the_risk():
    said, P = MODEL.decide(X, ASK), MODEL.predict_proba(X)
    np.testing.assert_array_equal(said == "ask", P.min(axis=1) > 0.1)


def test_logistic_regression_decides_without_being_asked_for_more():
    assert set(LogisticRegression().fit(X, Y).decide(X, DEAR)) <= {"ill", "well"}
    assert not hasattr(LinearSVM().fit(X, Y), "decide")


def test_labels_that_are_numbers_stay_numbers():
    y = (Y == "ill").astype(int)
    said = LogisticRegression().fit(X, y).decide(X, {0: {0: 0, 1: 1}, 1: {0: 9, 1: 0}})
    assert said.dtype == y.dtype


def test_a_scorer_for_searches():
    search = LinearSVMCV(Cs=[0.01, 1.0], scoring=cost_scorer(DEAR)).fit(X, Y)
    assert search.best_score_ <= 0.0
    assert search.score(X, Y) == pytest.approx(cost_scorer(DEAR)(search, X, Y))


def test_a_file_of_costs(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,ill,well,ask\nwell,1,0,0.1\nill,0,1,0.1\n")
    found = read_costs(path)
    assert found.to_dict() == {k: ASK[k] for k in ("well", "ill")}
    np.testing.assert_array_equal(MODEL.decide(X, found), MODEL.decide(X, ASK))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ill": {"ill": 0}, "well": {"well": 0}}, "do not say what"),
        ({"ill": {"ill": 0, "well": np.nan}, "well": {"ill": 1, "well": 0}}, "finite"),
        ({"ill": {"ill": 0, "well": "dear"}, "well": {"ill": 1, "well": 0}}, "is a number"),
        ([[0, 1], [1, 0]], "must map every true class"),
        ({**EVEN, "dead": {"ill": 1, "well": 1}}, "'dead' is none of its labels"),
        ({"ill": EVEN["ill"]}, "no costs for 'well'"),
    ],
)
def test_what_is_no_table_of_costs_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        MODEL.decide(X, given)


def test_files_that_are_no_tables_of_costs_are_refused(tmp_path):
    path = tmp_path / "costs.csv"
    for text, words in (
        ("", "line of actions"),
        ("true,ill,well\nill,0\n", "1 prices for 2 actions"),
        ("true,ill,ill\nill,0,1\n", "twice"),
        ("true,ill\nill,inf\n", "finite"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            read_costs(path)
    with pytest.raises(ValueError, match="no true label 'dead'"):
        costs_of(EVEN).paid(["dead"], ["ill"], MODEL.classes_)
