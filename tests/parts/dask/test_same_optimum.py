"""On a cluster every estimator finds what it finds in memory."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

import maxmargin
from maxmargin import spread as on_dask
from tests.class_helpers import corners
from tests.parts.dask.helpers import clouds, spread

TWO = [
    ("LinearSVM", {"tol": 1e-5}),
    ("LinearSVM", {"loss": "squared_hinge", "tol": 1e-5}),
    ("LogisticRegression", {"tol": 1e-6}),
    ("LeastSquaresClassifier", {"alpha": 0.1}),
    ("FisherDiscriminant", {}),
    ("Perceptron", {"order": "cycle", "max_passes": 5}),
]
MORE = [  # how near the optimum k classes can be brought is tried in tests/parts, without a cluster
    ("LinearSVM", {"tol": 1e-2, "C": 0.1}),
    ("LinearSVM", {"multiclass": "sum", "loss": "squared_hinge", "tol": 1e-2, "C": 0.1}),
    ("LinearSVM", {"multiclass": "rest", "tol": 1e-2}),
    ("LinearSVM", {"multiclass": "pairs", "tol": 1e-2}),
    ("LogisticRegression", {"tol": 1e-6}),
    ("LeastSquaresClassifier", {}),
    ("FisherDiscriminant", {}),
    ("Perceptron", {"order": "cycle", "max_passes": 5}),
]


def both(name, parameters, X, y, DX, Dy, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a perceptron that ran out of passes
        ours = getattr(on_dask, name)(**parameters).fit(DX, Dy, **fit)
        known = {key: np.asarray(value) for key, value in fit.items()}
        return ours, getattr(maxmargin, name)(**parameters).fit(X, y, **known)


def agree(name, parameters, ours, theirs, X):
    if name in ("LinearSVM", "LogisticRegression"):
        tol = parameters["tol"]
        assert ours.certificate_.holds(tol)
        assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=2 * tol)
        assert ours.certificate_.dual <= theirs.certificate_.primal * (1 + 1e-12)
    else:
        # The perceptron makes the same updates in the same order; closed forms have one answer,
        # which Fisher's eigenproblem squares: J is proved to 1e-12, the direction to its root.
        near = 1e-5 if name == "FisherDiscriminant" else 1e-8
        assert ours.coef_ == pytest.approx(theirs.coef_, rel=near, abs=near)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=near, abs=near)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    near = 0.98 if parameters.get("tol", 0.0) < 1e-2 else 0.9
    assert np.mean(ours.predict(X) == theirs.predict(X)) > near


@pytest.mark.parametrize(("name", "parameters"), TWO)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_two_classes_in_uneven_partitions_of_unknown_sizes(client, name, parameters, kind):
    X, y = clouds()
    if kind == "sparse":
        X = sparse.csr_matrix(X * (np.abs(X) > 0.3))
    # The second partition is empty, the first has one class only.
    order = np.argsort(y == y[0], kind="stable")
    X, y = X[order], y[order]
    DX, Dy = spread(X, y, [20, 20, 150], unknown=True)
    ours, theirs = both(name, parameters, X, y, DX, Dy)
    agree(name, parameters, ours, theirs, X)


@pytest.mark.parametrize(("name", "parameters"), MORE)
def test_three_classes(near, name, parameters):
    X, y = clouds(k=3)
    ours, theirs = both(name, parameters, X, y, *spread(X, y, [100]))
    agree(name, parameters, ours, theirs, X)


def test_all_classes_at_once_in_partitions_that_lack_some(near):
    X, y = clouds(120, 3, k=4)
    order = np.argsort(y, kind="stable")
    X, y = sparse.csr_matrix(X * (np.abs(X) > 0.3))[order], y[order]
    DX, Dy = spread(X, y, [20, 20, 75], unknown=True)
    parameters = {"C": 0.1, "tol": 1e-2, "class_weight": "balanced"}
    ours, theirs = both("LinearSVM", parameters, X, y, DX, Dy)
    agree("LinearSVM", parameters, ours, theirs, X)
    path = on_dask.c_path(on_dask.LinearSVM(tol=1e-2), DX, Dy, Cs=[1e-3, 1e-2])
    assert all(model.certificate_.holds(1e-2) for model in path.models)
    assert path.models[0].certificate_.primal < path.models[1].certificate_.dual
    search = on_dask.LinearSVMCV(Cs=[1e-4, 1e-2], cv=2, tol=1e-2, tol_cv=1e-2).fit(DX, Dy)
    assert search.scores_.shape == (2, 2)
    assert search.certificate_.holds(1e-2)


def test_weights_classes_and_float32(near):
    X, y = clouds()
    X = X.astype(np.float32)
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    DX, Dy = spread(X, y, [100])
    parameters = {"tol": 1e-4, "class_weight": "balanced"}
    ours, theirs = both(
        "LinearSVM", parameters, X, y, DX, Dy, sample_weight=da.from_array(weight, chunks=60)
    )
    agree("LinearSVM", parameters, ours, theirs, X)


def test_dataframes_keep_their_names(near):
    pandas = pytest.importorskip("pandas")
    import dask.dataframe as dd

    X, y = clouds()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(label=y)
    table = dd.from_pandas(frame, npartitions=3)
    model = on_dask.LogisticRegression(tol=1e-4).fit(table[["a", "b", "c", "d"]], table["label"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    theirs = maxmargin.LogisticRegression(tol=1e-4).fit(X, y).certificate_
    assert model.certificate_.primal == pytest.approx(theirs.primal, rel=2e-4)


def test_predictions_are_lazy_for_dask_and_at_once_for_numpy(near):
    X, y = clouds(k=3)
    DX, Dy = spread(X, y, [100])
    model = on_dask.LogisticRegression(tol=1e-3).fit(DX, Dy)
    for method in ("predict", "decision_function", "predict_proba"):
        lazy, now = getattr(model, method)(DX), getattr(model, method)(X)
        assert isinstance(lazy, da.Array)
        assert isinstance(now, np.ndarray)
        assert lazy.shape == now.shape
        assert np.array_equal(lazy.compute(), now)


def test_verify_on_the_cluster_and_on_one_machine_say_the_same(near):
    for model, k in (
        (on_dask.LinearSVM(tol=1e-4), 2),
        (on_dask.LinearSVM(0.1, tol=1e-2), 3),
        (on_dask.LogisticRegression(tol=1e-6), 2),
    ):
        X, y = clouds(k=k)
        DX, Dy = spread(X, y, [100])
        model.fit(DX, Dy)
        there = on_dask.verify(model, DX, Dy)
        base = getattr(maxmargin, type(model).__name__)(**model.get_params())
        here = base.fit(X, y)
        here.coef_, here.intercept_ = model.coef_, model.intercept_
        here.__dict__["alpha_"] = np.empty(0)  # so that they are rebuilt from the margins
        here = maxmargin.verify(here, X, y)
        assert there.primal == pytest.approx(here.primal, rel=1e-9)
        assert there.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert there.dual <= there.primal


def test_paths_and_cross_validation(near):
    X, y = clouds()
    DX, Dy = spread(X, y, [100])
    path = on_dask.c_path(on_dask.LinearSVM(tol=1e-3), DX, Dy, Cs=[0.01, 0.1])
    for C, model in zip(path.Cs, path.models, strict=True):
        exact = maxmargin.LinearSVM(C=C, tol=1e-3).fit(X, y).certificate_
        assert model.certificate_.primal == pytest.approx(exact.primal, rel=2e-3)
    search = on_dask.LogisticRegressionCV(Cs=[1e-4, 1.0], cv=2, tol=1e-3).fit(DX, Dy)
    assert search.scores_.shape == (2, 2)
    assert search.C_ == 1.0
    assert search.certificate_.holds(1e-3)
    assert abs(search.best_score_ - search.score(X, y)) < 0.1
    again = on_dask.LogisticRegressionCV(Cs=[1e-4, 1.0], cv=2, tol=1e-3).fit(DX, Dy)
    assert np.array_equal(search.scores_, again.scores_)


# --- the hard margin --------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["two", "max", "rest"])
def test_hard_margin_or_proof(client, rule):
    X, codes = corners(600, 4, k=2 if rule == "two" else 3, gap=5.0)
    y = np.array(["ash", "elm", "fir"])[codes]
    asked = {"C": np.inf, "multiclass": "max" if rule == "two" else rule}
    DX, Dy = spread(X, y, [10, 200, 430])
    ours, theirs = both("LinearSVM", asked, X, y, DX, Dy)
    agree("LinearSVM", {"tol": 1e-6}, ours, theirs, X)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-4, abs=1e-4)
    assert ours.margin_ == pytest.approx(theirs.margin_, rel=1e-5)
    assert on_dask.verify(ours, DX, Dy).holds(1e-6)
    assert maxmargin.verify(ours, X, y).holds(1e-6)  # the multipliers are kept by row
    if rule == "two":  # those of a finite C stay with their parts
        ours.set_params(C=0.1, tol=1e-2).fit(DX, Dy)
        assert not hasattr(ours, "_alpha_rows")
    X[500] = X[codes == (codes[500] + 1) % len(ours.classes_)].mean(axis=0)
    DX, Dy = spread(X, y, [10, 200, 430])
    with pytest.raises(maxmargin.NotSeparableError) as error:
        on_dask.LinearSVM(**asked).fit(DX, Dy)
    assert 500 in error.value.proof.rows
