"""Cross-validation along a path: what is chosen, from what, and what may not leak."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    LogisticRegressionCV,
    load,
    save,
    verify,
)
from maxmargin.models.tune.best import best_index, standard_error
from maxmargin.models.tune.search import CGridSearch

CS = [0.01, 0.1, 1.0, 10.0]


def _data(k=2, n=150, seed=0):
    X, y = make_classification(
        n, 8, n_informative=6, n_redundant=0, n_classes=k, flip_y=0.15, random_state=seed
    )
    return X, np.array(["ant", "bee", "cow"])[y]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "cv", [3, KFold(4, shuffle=True, random_state=1), ShuffleSplit(3)], ids=str
)
@pytest.mark.parametrize(
    ("tuned", "plain", "k"),
    [
        (LinearSVMCV, LinearSVM, 2),
        (LinearSVMCV, LinearSVM, 3),
        (LogisticRegressionCV, LogisticRegression, 2),
        (LogisticRegressionCV, LogisticRegression, 3),
    ],
)
def test_it_equals_a_loop_over_scikit_learns_splits(tuned, plain, k, cv, storage):
    X, y = _data(k)
    X = storage(X)
    splitter = StratifiedKFold(cv) if isinstance(cv, int) else cv
    splits = list(splitter.split(X, y))
    search = tuned(CS, cv=splits, tol_cv=1e-9).fit(X, y)
    if not isinstance(cv, ShuffleSplit):  # without a seed it splits anew every time
        np.testing.assert_array_equal(
            tuned(CS, cv=cv, tol_cv=1e-9).fit(X, y).scores_, search.scores_
        )
    by_hand = [
        [plain(C, tol=1e-9).fit(X[train], y[train]).score(X[test], y[test]) for C in CS]
        for train, test in splits
    ]
    np.testing.assert_allclose(search.scores_, by_hand, atol=1e-12)
    mean = np.mean(by_hand, axis=0)
    assert CS[int(np.flatnonzero(mean >= mean.max() - 1e-12)[0])] == search.C_
    final = plain(search.C_).fit(X, y)
    gap = search.certificate_.gap + final.certificate_.gap
    assert abs(search.certificate_.primal - final.certificate_.primal) <= gap + 1e-9
    assert search.score(X, y) == final.score(X, y)
    assert verify(search, X, y).holds(search.tol)


def test_results_read_like_those_of_grid_search():
    X, y = _data()
    ours = LinearSVMCV(CS, cv=3, tol_cv=1e-9).fit(X, y)
    theirs = GridSearchCV(LinearSVM(tol=1e-9), {"C": CS}, cv=3).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split1_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-12)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert theirs.best_params_["C"] == ours.C_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert (ours.cv_results_["max_relative_gap"] <= 1e-9).all()


class _Spy(CGridSearch):
    """Keeps the weights of every fold and C."""

    seen: ClassVar[dict] = {}

    def _note(self, fold, step, model):
        super()._note(fold, step, model)
        _Spy.seen[fold, step] = model.coef_.copy(), np.copy(model.intercept_)


@pytest.mark.parametrize(
    "tuned", [LinearSVMCV(CS), LogisticRegressionCV(CS), LinearSVMCV(CS, n_jobs=2)]
)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("carried", [False, True], ids=["exact", "carried"])
def test_held_out_rows_leak_into_nothing(tuned, k, carried, monkeypatch):
    """Change a fold's held-out rows and labels: its own models stay the same to the last bit.

    ``carried``: softmax solved as large data are, with a model and pairs carried from C to C.
    """
    if carried:
        monkeypatch.setattr("maxmargin.core.solve.softmax.smooth.MAX_HESSIAN_WORK", 0)
    monkeypatch.setattr("maxmargin.models.tune.search.CGridSearch", _Spy)
    X, y = _data(k)
    splits = list(StratifiedKFold(4).split(X, y))
    clone(tuned).set_params(cv=splits).fit(X, y)
    before, fold = dict(_Spy.seen), 2
    held_out = splits[fold][1]
    X[held_out] = 100.0 * np.random.default_rng(0).standard_normal((len(held_out), X.shape[1]))
    y[held_out] = np.roll(y[held_out], 1)
    clone(tuned).set_params(cv=splits).fit(X, y)
    moved = False
    for (f, step), (coef, intercept) in _Spy.seen.items():
        if f == fold:
            np.testing.assert_array_equal(coef, before[f, step][0])
            np.testing.assert_array_equal(intercept, before[f, step][1])
        else:
            moved |= not np.array_equal(coef, before[f, step][0])
    assert moved  # the others were trained on what was changed


def test_one_standard_error_rule():
    scores = np.array(
        [[0.50, 0.80, 0.84, 0.88], [0.60, 0.82, 0.84, 0.80], [0.55, 0.84, 0.85, 0.87]]
    )
    # means 0.55, 0.82, 0.8433, 0.85; the best has deviations .03, −.05, .02
    assert best_index(scores, "best") == 3
    error = np.sqrt((0.03**2 + 0.05**2 + 0.02**2) / 2) / np.sqrt(3)
    assert standard_error(scores[:, 3]) == pytest.approx(error)
    assert 0.85 - error < 0.8433
    assert 0.85 - error > 0.82
    assert best_index(scores, "one_se") == 2
    scores[:, 1] += 0.01
    assert best_index(scores, "one_se") == 1


def test_ties_go_to_the_smaller_C():
    scores = np.array([[0.1 + 0.2, 0.3], [0.4, 0.4]])  # 0.30000000000000004 is 0.3
    assert best_index(scores, "best") == 0
    assert best_index(scores[:, ::-1], "best") == 0
    X, y = load_iris(return_X_y=True)
    easy = LinearSVMCV([1.0, 10.0, 100.0]).fit(X[:100], y[:100])
    assert easy.best_score_ == 1.0
    assert easy.C_ == 1.0


def test_the_rule_is_obeyed_by_the_estimators():
    X, y = _data(seed=5)
    best, small = (LinearSVMCV(9, rule=rule).fit(X, y) for rule in ("best", "one_se"))
    np.testing.assert_array_equal(best.scores_, small.scores_)
    assert small.C_ < best.C_
    assert small.best_score_ >= best.best_score_ - standard_error(best.scores_[:, best.best_index_])


@pytest.mark.parametrize(
    "scoring", ["accuracy", "roc_auc", "f1_macro", "neg_log_loss", "d2_log_loss_score"]
)
def test_any_scorer(scoring):
    X, y = _data()
    splits = list(StratifiedKFold(3).split(X, y))
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    search = LogisticRegressionCV(CS, cv=splits, scoring=scoring, tol_cv=1e-9)
    search.fit(X, y, sample_weight=weight)
    scorer = get_scorer(scoring)
    for f, (train, test) in enumerate(splits):
        for j, C in enumerate(CS):
            model = LogisticRegression(C, tol=1e-9).fit(X[train], y[train], weight[train])
            expected = scorer(model, X[test], y[test], sample_weight=weight[test])
            assert search.scores_[f, j] == pytest.approx(expected, abs=1e-4)


def test_score_is_that_of_the_search():
    X, y = _data()
    model = LogisticRegressionCV(CS, scoring="neg_log_loss").fit(X, y)
    assert model.score(X, y) == pytest.approx(-log_loss(y, model.predict_proba(X)))
    assert LinearSVMCV(CS).fit(X, y).score(X, list(y)) > 0.6


def test_callables_score_too():
    X, y = _data()
    mine = make_scorer(accuracy_score)
    by_name, by_callable = (LinearSVMCV(CS, scoring=s).fit(X, y) for s in ("accuracy", mine))
    np.testing.assert_array_equal(by_name.scores_, by_callable.scores_)
    lossy = LogisticRegressionCV(CS, scoring=lambda m, X, y: -log_loss(y, m.predict_proba(X)))
    named = LogisticRegressionCV(CS, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(lossy.fit(X, y).scores_, named.scores_)


def test_groups_reach_the_splitter():
    X, y = _data()
    groups = np.arange(len(y)) % 7
    search = LinearSVMCV(CS, cv=GroupKFold(3)).fit(X, y, groups=groups)
    by_hand = LinearSVMCV(CS, cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(search.scores_, by_hand.scores_)
    with pytest.raises(ValueError, match="groups"):
        LinearSVMCV(CS, cv=GroupKFold(3)).fit(X, y)


@pytest.mark.parametrize(
    "tuned", [LinearSVMCV(CS, tol_cv=1e-9), LogisticRegressionCV(CS, tol_cv=1e-9)]
)
def test_weight_two_is_the_row_twice(tuned):
    X, y = _data()
    times = np.random.default_rng(1).integers(1, 3, len(y))
    again = np.repeat(np.arange(len(y)), times)
    splits = list(StratifiedKFold(3).split(X, y))
    repeated = [tuple(np.flatnonzero(np.isin(again, part)) for part in split) for split in splits]
    once = clone(tuned).set_params(cv=splits).fit(X, y, sample_weight=times)
    twice = clone(tuned).set_params(cv=repeated).fit(X[again], y[again])
    np.testing.assert_allclose(once.scores_, twice.scores_, atol=1e-9)
    np.testing.assert_allclose(once.coef_, twice.coef_, atol=2e-3)


def test_threads_change_nothing():
    X, y = _data(3)
    one, two = (LinearSVMCV(CS, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_tol_cv_hardly_moves_a_score():
    X, y = _data(3, n=400)
    loose, sharp = (LinearSVMCV(cv=4, tol_cv=tol).fit(X, y) for tol in (1e-3, 1e-9))
    assert np.abs(loose.scores_ - sharp.scores_).mean() < 0.002
    assert loose.C_ == sharp.C_


def test_it_lives_inside_pipelines_and_searches():
    X, y = _data(3)
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=5), LinearSVMCV(CS, cv=3))
    outer = GridSearchCV(pipeline, {"selectkbest__k": [4, 6]}, cv=2).fit(X, y)
    assert outer.best_estimator_[-1].C_ in CS
    result = cross_validate(pipeline, X, y, cv=2, scoring="f1_macro", error_score="raise")
    assert (result["test_score"] > 0.3).all()
    groups = np.arange(len(y)) % 9
    pipeline.set_params(linearsvmcv__cv=GroupKFold(3)).fit(X, y, linearsvmcv__groups=groups)


def test_a_class_missing_from_a_fold():
    """KFold on sorted labels: every fold is trained on two of three classes."""
    X, y = load_iris(return_X_y=True)
    search = LinearSVMCV(CS, cv=KFold(3)).fit(X, y)
    assert (search.scores_ == 0.0).all()  # the class held out is never predicted
    assert len(search.classes_) == 3
    assert search.certificate_.holds(1e-6)
    with pytest.raises(ValueError, match=r"LinearSVMCV, fold 1, C = 0\.01: .*two classes"):
        LinearSVMCV(CS, cv=KFold(2)).fit(X[:100], y[:100])


def test_the_model_is_the_tuned_estimator():
    X, y = _data(3)
    model = LinearSVMCV(CS, multiclass="sum", class_weight="balanced").fit(X, y)
    assert isinstance(model, LinearSVM)
    plain = LinearSVM(model.C_, multiclass="sum", class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-2)
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=1e-2)
    assert model.signed_distance(X).shape == (len(y), 3)
    assert "C" not in model.get_params()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"rule": "two_se"}, "'best', 'one_se'"),
        ({"Cs": []}, "Cs must be"),
        ({"tol_cv": 0}, "tol_cv"),
        ({"scoring": 3}, "scoring must be"),
        ({"loss": "absolute"}, "loss must be"),
        ({"scoring": lambda m, X, y: np.nan}, "NaN"),
    ],
    ids=lambda value: "".join(value) if isinstance(value, dict) else "",
)
def test_complaints(setting, words):
    X, y = _data()
    model = LinearSVMCV(**setting)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_plain_is_the_estimator_that_was_tuned(tmp_path):
    X, y = load_iris(return_X_y=True)
    search = LinearSVMCV(Cs=[0.1, 10.0], cv=3, multiclass="sum").fit(X, y)
    plain = search.plain()
    assert type(plain) is LinearSVM
    assert plain.get_params()["C"] == search.C_
    assert plain.multiclass == "sum"
    assert not hasattr(plain, "cv_results_")
    np.testing.assert_array_equal(plain.decision_function(X), search.decision_function(X))
    again = load(save(search, tmp_path / "tuned.maxmargin"))
    assert type(again) is LinearSVM
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))
