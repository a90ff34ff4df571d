"""The rankers as a user meets them: bad input, frames, streams, budgets, scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    LabelRanker,
    NotSeparableError,
    PairwiseRanker,
    label_pairs,
    pair_accuracy,
    pairs_from_comparisons,
    pairs_from_rankings,
    pairs_from_scores,
    verify,
)

from ..interrupts import press_ctrl_c
from ..ranking_helpers import graded, label_preferences, preferences

ITEMS = np.arange(10.0).reshape(5, 2) % 7

# --- bad input: the row, what was found, what to do -------------------------------------

BAD_PAIRS = {
    "unknown item": ([(0, 1), (2, 5)], r"Row 1 of pairs names item 5, but X has 5 rows: use numb"),
    "negative item": ([(0, 1), (-1, 2)], r"Row 1 of pairs names item -1.*from 0 to 4"),
    "itself": ([(0, 1), (3, 4), (2, 2)], r"Row 2 of pairs prefers item 2 to itself: remove it"),
    "empty": (np.empty((0, 2)), r"pairs is empty.*\(winner, loser\[, weight\]\)"),
    "empty list": ([], r"pairs is empty.*\(winner, loser\[, weight\]\)"),
    "empty stream": (iter([]), r"pairs is empty"),
    "half an item": ([(0, 1), (1.5, 2)], r"Row 1 of pairs names item 1.5: give the row number"),
    "a name": ([(0, 1), ("tea", 2)], r"Row 1 of pairs names item 'tea': give the row number"),
    "missing item": ([(0, 1), (np.nan, 2)], r"Row 1 of pairs names item nan"),
    "NaN weight": ([(0, 1, 1.0), (1, 2, np.nan)], r"Row 1 of pairs has weight nan: use a finite"),
    "negative weight": ([(0, 1, -1.0)], r"Row 0 of pairs has weight -1.0: use a finite weight"),
    "infinite weight": ([(0, 1, np.inf)], r"Row 0 of pairs has weight inf"),
    "weight in words": ([(0, 1, 1), (1, 2, "much")], r"Row 1 of pairs has weight 'much': use a"),
    "no weight at all": ([(0, 1, 0.0), (1, 2, 0.0)], r"Every pair has weight 0"),
    "four columns": ([(0, 1, 1.0, 3)], r"must have rows \(winner, loser\[, weight\]\).*4 entries"),
    "rows of two lengths": ([(0, 1), (1, 2, 3.0)], r"Row 1 of pairs has 3 entries, the first has"),
    "too few grades": ([1, 2, 3], r"X has 5 rows but y holds 3 grades"),
    "equal grades": ([1, 1, 1, 1, 1], r"imply no pair.*all grades are equal.*Check y and groups"),
    "NaN grade": ([1, 2, np.nan, 0, 0], r"grade 2 is nan.*Leave out items without a grade"),
    "grades in words": (["good", "bad", "ugly", "bad", "bad"], r"no number: grade 0 is 'good'"),
    "nothing": (None, r"requires y to be passed"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_PAIRS)
def test_bad_preferences_among_objects(fault):
    y, message = BAD_PAIRS[fault]
    ranker = PairwiseRanker()
    with pytest.raises(ValueError, match=message):
        ranker.fit(ITEMS, y)
    assert not hasattr(ranker, "n_features_in_")  # as it was before


BAD_LABELS = {
    "unknown example": ([(0, "a", "b"), (9, "a", "b")], r"Row 1 of pairs names example 9, but X"),
    "itself": ([(0, "a", "b"), (1, "b", "b")], r"Row 1 of pairs prefers class 'b' to itself"),
    "empty": ([], r"pairs is empty.*example, preferred class, other class"),
    "two columns": ([(0, "a")], r"must have rows \(example, preferred class, other class"),
    "example in words": ([("x", "a", "b")], r"Row 0 of pairs names example 'x'"),
    "weight": ([(0, "a", "b", 1.0), (0, "a", "b", -2.0)], r"Row 1 of pairs has weight -2.0"),
    "weight in words": ([(0, "a", "b", "much")], r"Row 0 of pairs has weight 'much'"),
    "one class": (["a"] * 5, r"at least two classes.*\['a'\]"),
    "too few labels": (["a", "b"], r"X has 5 rows but there are 2 labels"),
    "nothing": (None, r"requires y to be passed"),
}


@pytest.mark.parametrize("fault", BAD_LABELS)
def test_bad_preferences_among_labels(fault):
    y, message = BAD_LABELS[fault]
    ranker = LabelRanker()
    with pytest.raises(ValueError, match=message):
        ranker.fit(ITEMS, y)
    assert not hasattr(ranker, "classes_")


def test_unknown_classes_are_named_with_their_row():
    table = [(0, "tea", "milk"), (1, "tea", "mud")]
    with pytest.raises(ValueError, match=r"Row 1 of pairs names an unknown class 'mud'.*'milk'"):
        LabelRanker(classes=["tea", "milk"]).fit(ITEMS, table)
    fit = LabelRanker().fit(ITEMS, [(0, "tea", "milk"), (1, "milk", "tea")])
    with pytest.raises(ValueError, match=r"Row 1 of pairs names an unknown class 'mud'"):
        fit.score(ITEMS, table)
    with pytest.raises(ValueError, match="some class twice"):
        LabelRanker(classes=["tea", "tea"]).fit(ITEMS, table)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"groups": [1, 2]}, r"groups must name the group of every row: 5.*np.repeat"),
        ({"groups": np.arange(5)}, r"imply no pair"),
        ({"sample_weight": [1, 2, 3]}, r"sample_weight"),
        ({"sample_weight": [1, -1, 1, 1, 1]}, r"[Nn]egative"),
        ({"sample_weight": [1, np.nan, 1, 1, 1]}, r"NaN"),
        ({"sample_weight": np.zeros(5)}, r"imply no pair|weight"),
    ],
)
def test_groups_and_weights_that_do_not_fit(other, message):
    with pytest.raises(ValueError, match=message):
        PairwiseRanker().fit(ITEMS, [0, 1, 2, 0, 1], **other)


def test_more_complaints():
    with pytest.raises(ValueError, match="groups goes with grades"):
        PairwiseRanker().fit(ITEMS, [(0, 1)], groups=np.zeros(5))
    with pytest.raises(ValueError, match="exactly one of them, got 2"):
        LabelRanker().fit(ITEMS, [(0, 1, 2)], scores=np.eye(5))
    with pytest.raises(ValueError, match="there are 3 rankings"):
        LabelRanker().fit(ITEMS, rankings=[["a", "b"]] * 3)
    with pytest.raises(ValueError, match=r"Row 1 of rankings names class 'a' twice"):
        pairs_from_rankings([["a", "b"], ["a", "b", "a"]])
    with pytest.raises(ValueError, match="imply no pair"):
        pairs_from_rankings([[("a", "b")], ["c"]])
    with pytest.raises(ValueError, match="one row per example and one column per class"):
        pairs_from_scores([1.0, 2.0])
    with pytest.raises(ValueError, match="3 columns, but 2 classes"):
        pairs_from_scores([[1.0, 2.0, 3.0]], ["a", "b"])
    with pytest.raises(ValueError, match="solver"):
        PairwiseRanker(solver="magic").fit(ITEMS, [(0, 1)])
    with pytest.raises(ValueError, match="C must be"):
        LabelRanker(C=-1.0).fit(ITEMS, [(0, 1, 2)])
    with pytest.raises(ValueError, match="5 grades but 3 scores"):
        pair_accuracy([1, 2, 3, 4, 5], [1.0, 2.0, 3.0])
    with pytest.raises(NotFittedError):
        PairwiseRanker().rank(ITEMS)


def test_comparisons_complain_by_row():
    with pytest.raises(ValueError, match=r"Row 1 of comparisons names an unknown item 'mud'"):
        pairs_from_comparisons(["tea", "mud"], ["milk", "tea"], ["tea", "tea"], ["tea", "milk"])
    with pytest.raises(ValueError, match=r"Row 0 of comparisons compares 'tea' with itself"):
        pairs_from_comparisons(["tea"], ["tea"], ["tea"])
    with pytest.raises(
        ValueError, match=r"Row 0 .*winner 'mud', which is neither 'tea' nor 'milk'"
    ):
        pairs_from_comparisons(["tea"], ["milk"], ["mud"])
    with pytest.raises(ValueError, match="equally long, got 1, 2, 1"):
        pairs_from_comparisons(["tea"], ["milk", "mud"], ["tea"])
    with pytest.raises(ValueError, match="no comparison"):
        pairs_from_comparisons([], [], [])


# --- the hard margin --------------------------------------------------------------------


def test_hard_margin_or_the_preferences_that_contradict():
    X, pairs = preferences(noise=0.0, m=50)
    fit = PairwiseRanker(C=np.inf).fit(X, pairs)
    assert (X[pairs[:, 0]] - X[pairs[:, 1]]) @ fit.coef_ == pytest.approx(
        np.maximum((X[pairs[:, 0]] - X[pairs[:, 1]]) @ fit.coef_, 1.0), abs=1e-6
    )
    cycle = np.concatenate([pairs, [(0, 1), (1, 2), (2, 0)]])
    with pytest.raises(NotSeparableError, match=r"every preference.*contradictory.*C=1") as error:
        PairwiseRanker(C=np.inf).fit(X, cycle)
    weights = error.value.proof.weights
    assert "class" not in str(error.value)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((X[cycle[:, 0]] - X[cycle[:, 1]]).T @ weights, 0.0, atol=1e-12)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_hard_margin_of_grades_lists_the_pairs():
    X = np.arange(300.0)[:, None]
    fit = PairwiseRanker(C=np.inf).fit(X, np.arange(300))
    assert fit.n_pairs_ == 300 * 299 // 2
    assert fit.coef_ == pytest.approx(1.0, rel=1e-5)


# --- what goes in and what comes out ----------------------------------------------------


def test_attributes_of_listed_pairs():
    X, pairs = preferences()
    fit = PairwiseRanker().fit(X, pairs)
    assert fit.coef_.shape == (4,)
    assert fit.n_pairs_ == len(pairs) == len(fit.alpha_) == len(fit.slack_)
    z = 1.0 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ fit.coef_
    np.testing.assert_allclose(fit.slack_, np.maximum(z, 0.0), atol=1e-9)
    np.testing.assert_array_equal(fit.support_, np.flatnonzero(fit.alpha_ > 0))
    wrong = fit.support_kind_ == "misclassified"
    np.testing.assert_array_equal(z[fit.support_][wrong] > 1, True)
    np.testing.assert_allclose(
        (X[pairs[:, 0]] - X[pairs[:, 1]]).T @ fit.alpha_, fit.coef_, atol=1e-4
    )


def test_grades_leave_no_stale_multipliers():
    X, grade, group = graded(400)
    fit = PairwiseRanker(0.01).fit(X, [(0, 1), (2, 3)])
    fit.fit(X, grade, group)
    assert not hasattr(fit, "alpha_")
    assert fit.n_pairs_ > 20_000
    assert fit.certificate_.holds(1e-6)


def test_grades_of_texts_are_listed_while_there_is_room():
    """Newton's method needs hundreds of products with 3,000 columns; descent a few epochs."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((260, 3000), density=0.05, rng=rng, format="csr")
    fit = PairwiseRanker(0.01).fit(X, rng.integers(0, 4, 260))
    assert 20_000 < fit.n_pairs_ < X.nnz
    assert fit.solver_ != "rounded corner"
    assert fit.certificate_.holds(1e-6)


def test_rank_orders_group_after_group_and_ties_by_row():
    fit = PairwiseRanker().fit([[0.0], [1.0]], [(1, 0)])
    X = [[1.0], [3.0], [2.0], [3.0], [0.0]]
    assert fit.rank(X).tolist() == [1, 3, 2, 0, 4]
    assert fit.rank(X, groups=["b", "a", "b", "a", "b"]).tolist() == [1, 3, 2, 0, 4]
    assert fit.rank(X, groups=[2, 2, 1, 1, 1]).tolist() == [3, 2, 4, 1, 0]
    with pytest.raises(ValueError, match="groups must name"):
        fit.rank(X, groups=[1, 2])


def test_label_ranker_orders_its_classes():
    X, pairs = label_preferences()
    fit = LabelRanker().fit(X, pairs)
    f, order = fit.decision_function(X), fit.rank(X)
    assert f.shape == order.shape == (40, 4)
    np.testing.assert_array_equal(fit.predict(X), order[:, 0])
    assert (np.diff(np.take_along_axis(f, order, axis=1), axis=1) <= 0).all()
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(4), (40, 1)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(frame):
    X, pairs = preferences()
    items = frame({f"feature {j}": X[:, j] for j in range(4)})
    table = frame({"winner": pairs[:, 0], "loser": pairs[:, 1]})
    fit = PairwiseRanker().fit(items, table)
    assert list(fit.feature_names_in_) == [f"feature {j}" for j in range(4)]
    np.testing.assert_allclose(fit.coef_, PairwiseRanker().fit(X, pairs).coef_)
    X, grade, group = graded(60)
    by_frame = PairwiseRanker().fit(X, frame({"g": grade})["g"], groups=frame({"q": group})["q"])
    np.testing.assert_allclose(by_frame.coef_, PairwiseRanker().fit(X, grade, group).coef_)
    X, pairs = label_preferences()
    names = np.array(["tea", "milk", "mud", "air"])
    table = frame({"who": pairs[:, 0], "yes": names[pairs[:, 1]], "no": names[pairs[:, 2]]})
    fit = LabelRanker().fit(X, table)
    assert fit.classes_.tolist() == ["air", "milk", "mud", "tea"]
    assert fit.score(X, table) > 0.6


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_the_columns_of_a_frame_of_scores_name_the_classes(frame):
    rng = np.random.default_rng(0)
    X, S = rng.standard_normal((20, 2)), rng.standard_normal((20, 3))
    fit = LabelRanker().fit(X, scores=frame({"tea": S[:, 0], "mud": S[:, 1], "air": S[:, 2]}))
    assert fit.classes_.tolist() == ["tea", "mud", "air"]
    turned = frame({"air": S[:, 2], "tea": S[:, 0], "mud": S[:, 1]})
    assert fit.score(X, scores=turned) == fit.score(X, scores=S)
    with pytest.raises(ValueError, match=r"columns of scores are .*'sea'.*but the classes are"):
        fit.score(X, scores=frame({"sea": S[:, 2], "tea": S[:, 0], "mud": S[:, 1]}))


def test_streams_of_comparisons():
    X, pairs = preferences()
    fit = PairwiseRanker().fit(X, ((int(a), int(b)) for a, b in pairs))
    np.testing.assert_allclose(fit.coef_, PairwiseRanker().fit(X, pairs).coef_)
    weighted = PairwiseRanker().fit(X, ((a, b, 2.0) for a, b in pairs))
    np.testing.assert_allclose(weighted.coef_, PairwiseRanker(2.0).fit(X, pairs).coef_, atol=1e-6)


@pytest.mark.parametrize("storage", [np.float32, lambda X: sparse.csr_matrix(X, dtype=np.float32)])
def test_single_precision_is_not_converted(storage, monkeypatch):
    seen = []
    original = PairwiseRanker._pose

    def pose(self, X, *others):
        seen.append(X.dtype)
        return original(self, X, *others)

    monkeypatch.setattr(PairwiseRanker, "_pose", pose)
    X, pairs = preferences()
    fit = PairwiseRanker().fit(storage(X), pairs)
    assert seen == [np.float32]
    assert fit.coef_.dtype == np.float64
    assert fit.certificate_.holds(1e-6)


# --- budgets ----------------------------------------------------------------------------


def long_fits():
    rng = np.random.default_rng(0)
    X, pairs = preferences(500, 30, 8000)
    yield PairwiseRanker(solver="descent", C=100.0), X, pairs
    yield PairwiseRanker(C=100.0), X, rng.integers(0, 5, 500)
    X, pairs = label_preferences(300, 30, 6, 3000)
    yield LabelRanker(solver="descent", C=100.0), X, pairs
    yield LabelRanker(solver="newton", C=100.0), X, pairs


each_long_fit = pytest.mark.parametrize(
    "case", range(4), ids=["pairs", "grades", "epochs", "newton"]
)


@each_long_fit
@pytest.mark.parametrize("limit", ["max_iter", "max_seconds"])
def test_budgets_leave_a_usable_model_with_a_warning(case, limit):
    model, X, y = list(long_fits())[case]
    model.set_params(**{limit: 2 if limit == "max_iter" else 1e-4})
    with pytest.warns(ConvergenceWarning, match=rf"{limit}.*relative gap.*To get closer"):
        model.fit(X, y)
    assert np.isfinite(model.certificate_.primal)
    assert model.certificate_.relative_gap > 1e-6
    assert len(model.rank(X)) == len(X)
    model.set_params(max_iter=10**5, max_seconds=np.inf, warm_start=True, solver="auto").fit(X, y)
    assert model.certificate_.holds(1e-6)


@each_long_fit
def test_interrupt_leaves_a_usable_model(case, monkeypatch):
    """A real signal, sent at the third iteration."""
    press_ctrl_c(monkeypatch, 3)
    model, X, y = list(long_fits())[case]
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert len(model.rank(X)) == len(X)
    assert verify(model, X, y).primal == pytest.approx(model.certificate_.primal)


# --- scikit-learn's tools ---------------------------------------------------------------


def test_clone_pickle_and_parameters():
    X, pairs = preferences()
    model = PairwiseRanker(C=3, tol=1e-4)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, pairs)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    X, pairs = label_preferences()
    ranker = clone(LabelRanker(classes=[3, 2, 1, 0], C=0.5)).fit(X, pairs)
    assert ranker.classes_.tolist() == [3, 2, 1, 0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).rank(X), ranker.rank(X))


def test_pipelines_and_cross_validation():
    X, grade, group = graded(150, groups=10)
    pipe = make_pipeline(StandardScaler(), PairwiseRanker())
    pipe.fit(X, grade, pairwiseranker__groups=group)
    assert pipe.score(X, grade) > 0.6
    marks = cross_val_score(PairwiseRanker(), X, grade, groups=group, cv=GroupKFold(5))
    assert marks.min() > 0.6
    y = np.argmax(X[:, :3], axis=1)
    assert cross_val_score(LabelRanker(), X, y, cv=3).min() > 0.7


def test_string_labels_and_pairs_objects():
    pairs = label_pairs([(0, "tea", "milk"), (1, "milk", "tea"), (2, "tea", "mud")])
    fit = LabelRanker().fit(ITEMS, pairs)
    assert fit.rank(ITEMS).shape == (5, 3)
    assert set(fit.predict(ITEMS)) <= {"tea", "milk", "mud"}
    weighted = LabelRanker(2.0).fit(ITEMS, pairs).certificate_.primal
    twice = LabelRanker().fit(ITEMS, pairs, sample_weight=np.full(5, 2.0)).certificate_.primal
    assert weighted == pytest.approx(twice, rel=1e-5)
