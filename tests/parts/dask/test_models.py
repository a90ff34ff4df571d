"""A model fitted on Dask is a model: it is saved, exported, reported, drawn and looked at."""

from __future__ import annotations

import pickle

import dask.array as da
import numpy as np
import pytest

import maxmargin
from maxmargin import spread as on_dask
from maxmargin.models.verify import verify
from tests.parts.dask.helpers import clouds, nothing_held, spread

MODELS = [
    ("LinearSVM", {"tol": 1e-2, "C": 0.1}),
    ("LogisticRegression", {"tol": 1e-3}),
    ("LeastSquaresClassifier", {"alphas": [0.1, 1.0]}),
    ("FisherDiscriminant", {"shrinkage": "auto"}),
    ("Perceptron", {"order": "cycle", "max_passes": 3}),
    ("LinearSVMCV", {"tol": 1e-2, "Cs": [0.1, 1.0], "cv": 2}),
    ("LogisticRegressionCV", {"tol": 1e-2, "Cs": [0.1, 1.0], "cv": 2}),
]


@pytest.mark.filterwarnings("ignore:Perceptron stopped early")
@pytest.mark.parametrize(("name", "parameters"), MODELS)
def test_it_is_the_model_of_memory(near, tmp_path, name, parameters):
    X, y = clouds(60, 2)
    model = getattr(on_dask, name)(**parameters).fit(*spread(X, y, [25]))
    plain = model.plain()
    home = getattr(maxmargin, name.removesuffix("CV"))
    assert type(plain) is home
    assert set(vars(plain)) & {"alpha_", "slack_", "support_", "where_", "traffic_"} == (
        {"alpha_"} if name == "LeastSquaresClassifier" else set()  # of which it is the ridge
    )
    loaded = maxmargin.load(maxmargin.save(model, tmp_path / "model"))
    copied = pickle.loads(pickle.dumps(model))
    for other in (plain, loaded, copied):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert np.array_equal(other.decision_function(X), model.decision_function(X))
        assert other.certificate_ == model.certificate_
    assert type(loaded) is home
    page = maxmargin.write_report(model, tmp_path / "page.html", X, y).read_text(encoding="utf-8")
    assert "<svg" in page
    assert nothing_held(near)


def test_pictures_and_verification(near):
    X, y = clouds(80, 2)
    model = on_dask.LinearSVM(tol=1e-3).fit(*spread(X, y, [25]))
    for given in (model, model.plain()):
        maxmargin.BoundaryDisplay.from_estimator(given, X, y)
        maxmargin.DistancesDisplay.from_estimator(given, X, y)
        maxmargin.CoefficientsDisplay.from_estimator(given)
        maxmargin.GapDisplay.from_estimator(given)
    assert verify(model.plain(), X, y).primal == pytest.approx(model.certificate_.primal)


def test_what_is_not_here_is_told_in_words(near, tmp_path):
    X, y = clouds(60, 2)
    DX, Dy = spread(X, y, [25])
    model = on_dask.LinearSVM(tol=1e-2)
    assert not hasattr(model, "alpha_")
    model.fit(DX, Dy)
    with pytest.raises(AttributeError, match=r"alpha_ is known of every row.*maxmargin\.LinearSVM"):
        _ = model.alpha_
    for given in (model, model.plain()):
        with pytest.raises(AttributeError, match="dual_coef_"):
            _ = given.dual_coef_
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = model.nonsense
    with pytest.raises(TypeError, match="Give some of them"):
        maxmargin.write_report(model, tmp_path / "page.html", DX, Dy)


def test_an_unfitted_model_has_no_plain_one():
    from sklearn.exceptions import NotFittedError

    for name in ("LinearSVM", "LinearSVMCV"):
        with pytest.raises(NotFittedError):
            getattr(on_dask, name)().plain()


def test_the_command_reads_what_was_fitted_on_dask(near, tmp_path):
    from typer.testing import CliRunner

    from maxmargin.app.cli.app import app

    X, y = clouds(60, 2)
    model = on_dask.LinearSVM(tol=1e-2).fit(*spread(X, y, [25]))
    path = maxmargin.save(model, tmp_path / "svm.maxmargin")
    told = CliRunner().invoke(app, ["inspect", str(path)])
    assert told.exit_code == 0, told.output
    assert "LinearSVM" in told.output


@pytest.mark.parametrize("k", [2, 3])
def test_transform_and_probabilities_are_lazy(near, k):
    X, y = clouds(90, 4, k=k)
    DX, Dy = spread(X, y, [40, 40, 70])
    model = on_dask.FisherDiscriminant(shrinkage="auto").fit(DX, Dy)
    here = maxmargin.FisherDiscriminant(shrinkage="auto").fit(X, y)
    assert model.criterion_ == pytest.approx(here.criterion_)
    for method in ("transform", "predict_proba", "predict_log_proba", "decision_function"):
        lazy = getattr(model, method)(DX)
        assert isinstance(lazy, da.Array)
        now = lazy.compute()
        assert lazy.shape == now.shape
        assert now == pytest.approx(getattr(here, method)(X), rel=1e-5, abs=1e-7)
    with pytest.raises(ValueError, match="examples of equal weight"):
        model.fit(DX, Dy, sample_weight=np.arange(1.0, 91.0))


def test_ridges_are_chosen_where_the_rows_are(near):
    X, y = clouds(90, 4, k=3)
    DX, Dy = spread(X, y, [40])
    alphas = np.logspace(-3, 3, 7)
    model = on_dask.LeastSquaresClassifier(alphas=alphas).fit(DX, Dy)
    here = maxmargin.LeastSquaresClassifier(alphas=alphas).fit(X, y)
    assert model.alpha_ == here.alpha_
    assert model.path_.loo.squared_error == pytest.approx(here.path_.loo.squared_error)
    told, known = model.leave_one_out(DX, Dy), here.leave_one_out(X, y)
    assert told.squared_error == pytest.approx(known.squared_error)
    with pytest.raises(ValueError, match="about the training rows"):
        model.leave_one_out(DX, da.where(Dy == "ash", "elm", Dy))
    model.set_params(alphas=None).fit(DX, Dy)
    assert not hasattr(model, "path_")


def test_a_score_asks_for_counts_not_for_rows(near):
    X, y = clouds(90, 4, k=3)
    DX, Dy = spread(X, y, [40, 40, 70], unknown=True)
    model = on_dask.LeastSquaresClassifier().fit(DX, Dy)
    assert model.score(DX, Dy) == pytest.approx(model.score(X, y))
    weight = np.random.default_rng(0).uniform(size=90)
    _, lazy = spread(X, weight, [40, 40, 70], unknown=True)
    assert model.score(DX, Dy, lazy) == pytest.approx(model.score(X, y, weight))


def test_probabilities_are_lazy_and_those_of_the_plain_model(near, tmp_path):
    X, y = clouds(300, 3, k=3)
    many, labels = spread(X, y, [90, 200])
    model = on_dask.LeastSquaresClassifier(probability=True, alpha=1.0).fit(many, labels)
    P, inside = model.predict_proba(many), model.predict_set(many, alpha=0.2)
    assert isinstance(P, da.Array)
    assert isinstance(inside, da.Array)
    np.testing.assert_array_equal(P.compute(), model.plain().predict_proba(X))
    np.testing.assert_array_equal(inside.compute(), model.plain().predict_set(X, 0.2))
    home = maxmargin.LeastSquaresClassifier(probability=True, alpha=1.0).fit(X, y)
    assert np.abs(home.predict_proba(X) - model.predict_proba(X)).mean() < 0.02
    loaded = maxmargin.load(maxmargin.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert not hasattr(on_dask.LeastSquaresClassifier(), "predict_proba")
    assert hasattr(on_dask.FisherDiscriminant(), "predict_proba")
    assert not hasattr(on_dask.FisherDiscriminant(), "predict_set")
    assert nothing_held(near)
