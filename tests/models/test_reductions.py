"""OneVsRest and OneVsOne around many kinds of base: labels, data, threads, complaints."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import KernelPerceptron, LinearSVM, OneVsOne, OneVsRest
from maxmargin.models.reduction.coupling import coupled
from maxmargin.models.reduction.reduction import Guess, label

from .bases import BOTH, Centroid, blobs

THEIRS = {OneVsRest: OneVsRestClassifier, OneVsOne: OneVsOneClassifier}


@parametrize_with_checks(
    [
        OneVsRest(LinearSVM()),
        OneVsRest(LogisticRegression()),
        OneVsOne(LinearSVM(), n_jobs=2),
        OneVsOne(LogisticRegression()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- agreement ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("base", [LinearSVM(), LogisticRegression(), SVC()], ids=repr)
@pytest.mark.parametrize("k", [2, 4])
def test_predicts_as_scikit_learn_does(kind, base, k):
    X, y = blobs(k)
    ours, theirs = kind(base).fit(X, y), THEIRS[kind](base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == theirs.score(X, y)
    if k > 2:
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
        assert ours.decision_function(X).shape == (len(X), k)
    else:
        assert ours.decision_function(X).shape == (len(X),)
        assert len(ours.estimators_) == 1


@pytest.mark.parametrize("k", [2, 4])
def test_probabilities_are_scikit_learns(k):
    X, y = blobs(k)
    ours = OneVsRest(LogisticRegression()).fit(X, y).predict_proba(X)
    theirs = OneVsRestClassifier(LogisticRegression()).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, theirs)


def test_duels_of_consistent_odds_give_the_classes_their_own():
    """r_ij = p_i / (p_i + p_j) of given p: coupling finds p."""
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=7)
    duels = np.array(list(combinations(range(5), 2)))
    low, high = p[:, duels[:, 0]], p[:, duels[:, 1]]
    np.testing.assert_allclose(coupled(high / (low + high), duels, 5), p, atol=1e-9)


def test_duels_in_a_circle_leave_all_classes_alike():
    duels = np.array([[0, 1], [0, 2], [1, 2]])
    circle = np.array([[0.0, 1.0, 0.0], [0.2, 0.8, 0.2]])  # 0 beats 1, 1 beats 2, 2 beats 0
    np.testing.assert_allclose(coupled(circle, duels, 3), 1.0 / 3.0, atol=1e-6)
    assert coupled(np.empty((0, 3)), duels, 3).shape == (0, 3)


@pytest.mark.parametrize("k", [2, 4])
def test_probabilities_of_duels_agree_with_predict(k):
    X, y = blobs(k)
    model = OneVsOne(GaussianNB()).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P >= 0.0).all()
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


def test_probabilities_exist_where_the_base_has_them():
    X, y = blobs(3)
    assert not hasattr(OneVsRest(LinearSVM()), "predict_proba")
    assert not hasattr(OneVsOne(LinearSVM()), "predict_proba")
    assert hasattr(OneVsOne(LinearSVM(probability=True)), "predict_proba")
    sure = OneVsRest(DecisionTreeClassifier(), rest=1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(sure.sum(axis=1), 1.0)
    np.testing.assert_array_equal(sure.argmax(axis=1), y)
    nobody = OneVsRest(KNeighborsClassifier(1)).fit([[0.0], [0.0], [0.0], [1.0]], [0, 1, 2, 0])
    P = nobody.predict_proba([[0.0]])
    assert np.isfinite(P).all()
    assert P.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("base", [GaussianNB(), Centroid(), KNeighborsClassifier()], ids=repr)
def test_bases_without_a_decision_function(kind, base):
    X, y = blobs(3, spread=0.5)
    fit = kind(base, unknown=-1).fit(X, y)
    assert fit.score(X, y) > 0.9
    assert np.isin(fit.predict(X), [-1, 0, 1, 2]).all()
    assert fit.decision_function(X).shape == (len(X), 3)


@pytest.mark.parametrize("kind", BOTH)
def test_names_of_classes_do_not_matter(kind):
    X, y = blobs(4)
    order = np.array([2, 0, 3, 1])
    fit, renamed = kind(LinearSVM()).fit(X, y), kind(LinearSVM()).fit(X, order[y])
    np.testing.assert_array_equal(fit.claims(X), renamed.claims(X)[:, order])
    F, G = fit.decision_function(X), renamed.decision_function(X)
    np.testing.assert_allclose(F, G[:, order], atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_threads_give_the_same_model(kind):
    X, y = blobs(6, 300)
    serial, threads = kind(LinearSVM()).fit(X, y), kind(LinearSVM(), n_jobs=4).fit(X, y)
    np.testing.assert_array_equal(serial.coef_, threads.coef_)
    np.testing.assert_array_equal(serial.intercept_, threads.intercept_)


@pytest.mark.parametrize("kind", BOTH)
def test_attributes(kind):
    X, y = blobs(4)
    fit = kind(LinearSVM()).fit(X, y)
    m = {OneVsRest: 4, OneVsOne: 6}[kind]
    assert len(fit.estimators_) == len(fit.certificates_) == m
    assert all(certificate.holds(1e-6) for certificate in fit.certificates_)
    assert fit.coef_.shape == (m, 2)
    assert fit.intercept_.shape == (m,)
    assert fit.n_features_in_ == 2
    tree = kind(DecisionTreeClassifier()).fit(X, y)
    assert not any(hasattr(tree, name) for name in ("coef_", "intercept_", "certificates_"))
    with pytest.raises(NotFittedError):
        kind(LinearSVM()).claims(X)


# --- unknown labels -------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_a_claim_is_what_is_predicted(kind):
    X, y = blobs(5, 300)
    usual, honest = kind(LinearSVM()).fit(X, y), kind(LinearSVM(), unknown=-1).fit(X, y)
    wide = np.random.default_rng(0).uniform(-15, 15, (10_000, 2))
    claims, guess = usual.claims(wide), usual.predict(wide)
    decided = claims.sum(axis=1) == 1
    assert 0 < decided.sum() < len(wide)
    np.testing.assert_array_equal(guess[decided], claims[decided].argmax(axis=1))
    np.testing.assert_array_equal(guess, usual.decision_function(wide).argmax(axis=1))
    np.testing.assert_array_equal(honest.predict(wide), np.where(decided, guess, -1))
    assert honest.score(X, y) == np.mean(honest.predict(X) == y) <= usual.score(X, y)
    assert honest.score(X, y, sample_weight=y == honest.predict(X)) == 1.0


@pytest.mark.parametrize(
    ("classes", "unknown", "dtype"),
    [
        ([0, 1], -1, np.int64),
        (np.array([0, 1], dtype=np.uint8), -1, np.int16),
        (np.array([0, 2**63], dtype=np.uint64), -1, object),
        ([0, 1], "unknown", object),
        ([0, 1], np.nan, object),
        ([0, 1], None, object),
        ([0.5, 1.5], np.nan, np.float64),
        (np.array([0.5, 1.5], dtype=np.float32), -1, np.float32),
        (["a", "b"], "unknown", "<U7"),
        (["a", "b"], None, object),
        (["a", "b"], -1, object),
        ([False, True], "?", object),
    ],
)
def test_type_of_the_predictions(classes, unknown, dtype):
    classes = np.asarray(classes)
    got = label(classes, np.array([1, -1, 0]), unknown)
    assert got.dtype == dtype
    assert got[0] == classes[1]
    assert got[2] == classes[0]
    assert got[1] is unknown or got[1] == unknown or np.isnan(got[1])
    assert label(classes, np.array([1, 0]), unknown).dtype == dtype


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("unknown", ["unknown", None, np.nan, -1, Guess])
def test_parameters_survive_copies(kind, unknown):
    X, y = blobs(3)
    model = kind(LinearSVM(C=3.0), unknown=unknown, n_jobs=1)
    for copy in (
        clone(model),
        pickle.loads(pickle.dumps(model)),
        pickle.loads(pickle.dumps(model.fit(X, y))),
    ):
        same = copy.unknown
        assert same is unknown or same == unknown or np.isnan(same)
        assert copy.estimator.C == 3.0
    assert "Guess" not in repr(kind(LinearSVM()))
    assert repr(copy.predict(X)) == repr(model.predict(X))


# --- data -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_words(kind, frame):
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    table = frame({name: X[:, j] for j, name in enumerate("abcd")})
    series = pd.Series if frame is pd.DataFrame else pl.Series
    fit = kind(LinearSVM(), unknown="?").fit(table, series(words))
    assert list(fit.feature_names_in_) == list("abcd")
    assert fit.score(table, series(words)) > 0.6
    assert set(fit.predict(table)) <= {*words, "?"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.claims(table)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_as_dense(kind, layout):
    X, y = blobs(4)
    dense, thin = kind(LinearSVM()).fit(X, y), kind(LinearSVM()).fit(layout(X), y)
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-5)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(layout(X)))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        kind(GaussianNB()).fit(layout(X), y)


def test_one_vs_rest_copies_no_data():
    seen = []

    class Spy(Centroid):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    X, y = blobs(5)
    OneVsRest(Spy()).fit(X, y)
    assert len(seen) == 5
    assert all(part is X for part in seen)


@pytest.mark.parametrize("kind", BOTH)
def test_a_class_with_one_example(kind):
    X, y = blobs(3, spread=0.5)
    X, y = np.vstack([X, [[30.0, 30.0]]]), np.append(y, 7)
    fit = kind(LinearSVM()).fit(X, y)
    assert len(fit.classes_) == 4
    assert fit.score(X, y) > 0.9


@pytest.mark.parametrize("kind", BOTH)
def test_weights_reach_the_base(kind):
    X, y = blobs(3)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = kind(LinearSVM()).fit(X, y, sample_weight=weight)
    repeated = kind(LinearSVM()).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    with pytest.raises(TypeError, match=r"Centroid.fit does not take"):
        kind(Centroid()).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="class 1 has weight 0"):
        kind(LinearSVM()).fit(X, y, sample_weight=(y != 1).astype(float))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "base", [SVC(kernel="precomputed"), KernelPerceptron(kernel="precomputed")], ids=repr
)
def test_gram_matrices(kind, base):
    X, y = blobs(3, spread=0.5)
    gram = X @ X.T + 1.0
    fit = kind(base).fit(gram, y)
    assert fit.score(gram, y) > 0.9


@pytest.mark.parametrize("kind", BOTH)
def test_missing_values_where_the_base_allows_them(kind):
    X, y = blobs(3, spread=0.5)
    X[::10, 0] = np.nan
    assert kind(DecisionTreeClassifier()).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="NaN"):
        kind(LinearSVM()).fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_works_with_scikit_learn(kind):
    X, y = load_iris(return_X_y=True)
    model = kind(make_pipeline(StandardScaler(), LinearSVM()))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85
    grid = {"estimator__linearsvm__C": [0.1, 1.0]}
    assert GridSearchCV(model, grid, cv=3, n_jobs=1).fit(X, y).best_score_ > 0.85


@pytest.mark.parametrize("kind", BOTH)
def test_what_is_gathered_from_the_classifiers_cannot_be_written(kind):
    """It would be written into a copy, and predictions would stay as they were."""
    model = kind(LinearSVM()).fit(*blobs(3))
    for derived in (model.coef_, model.intercept_):
        with pytest.raises(ValueError, match="read-only"):
            derived[...] = 0.0
