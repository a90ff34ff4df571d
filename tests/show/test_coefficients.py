"""Coefficients are drawn strongest first, under the names and units they have."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import CoefficientsDisplay, KernelSVM, LinearSVM, PairwiseRanker
from maxmargin.parts.files.model import with_columns
from maxmargin.show.scene import Bars
from maxmargin.show.views.coefficients import coefficients_view

from .drawn import drawn, marks, scenes_of

WINE, KIND = load_wine(return_X_y=True, as_frame=True)


def test_bars_are_the_strongest_weights_with_their_names():
    model = make_pipeline(StandardScaler(), LinearSVM()).fit(WINE, KIND)
    scenes = scenes_of(coefficients_view(model, n=4))
    assert len(scenes) == 3
    for w, scene, title in zip(model[-1].coef_, scenes, "012", strict=True):
        order = np.argsort(-np.abs(w))[:4]
        ticks = dict(scene.y.ticks)
        found = {
            ticks[at]: v for m in marks(scene, Bars) for at, v in zip(m.at, m.length, strict=True)
        }
        assert found == {WINE.columns[j]: w[j] for j in order}
        assert [word for _, word in scene.y.ticks] == [WINE.columns[j] for j in order]
        assert scene.title.endswith(title)
        assert f"{WINE.columns[order[0]]} {w[order[0]]:+.4g}" in scene.words
        for bar in marks(scene, Bars):
            assert (bar.length > 0).all() == (bar.label == f"for {title}")
    drawn(CoefficientsDisplay.from_estimator(model, n=4))


def test_two_classes_have_one_picture_with_both_sides():
    X, y = load_breast_cancer(return_X_y=True)
    view = coefficients_view(LinearSVM().fit(X, y))
    (scene,) = scenes_of(view)
    assert {m.label for m in scene.marks} == {"for 1", "for 0"}
    assert "per unit" in scene.x.label
    assert sum(len(m.at) for m in scene.marks) == 10


def test_with_rows_coefficients_are_told_per_deviation():
    model = LinearSVM().fit(WINE, KIND)
    view = coefficients_view(model, WINE)
    np.testing.assert_allclose(view.weights, model.coef_ * WINE.to_numpy().std(axis=0))
    assert view.unit == "standard deviation"


def test_models_of_tables_speak_per_deviation():
    model = with_columns(LinearSVM().fit(WINE, KIND))
    view = coefficients_view(model)
    assert view.features == tuple(WINE.columns)
    title, rows = next(iter(model.coefficients()))
    order = view.order(0)
    assert [view.features[j] for j in order] == [row["feature"] for row in rows[:10]]
    np.testing.assert_allclose(view.weights[0, order], [r["per_deviation"] for r in rows[:10]])
    assert view.titles[0] == title


def test_words_are_the_features_of_text():
    model = make_pipeline(TfidfVectorizer(), LinearSVM())
    model.fit(["good tea", "good milk", "bad mud", "bad dirt"], [1, 1, 0, 0])
    view = coefficients_view(model, n=2)
    assert {view.features[j] for j in view.order(0)} == {"good", "bad"}
    drawn(CoefficientsDisplay.from_estimator(model))


def test_rows_can_be_chosen_and_many_are_not_drawn_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 3)), np.repeat(np.arange(12), 10)
    model = LinearSVM(C=0.1).fit(X, y)
    view = coefficients_view(model)
    assert len(view.titles) == 9
    assert "3 more rows" in view.words(0)
    assert coefficients_view(model, rows=[11]).titles == ("11",)


def test_rankers_have_coefficients_and_kernels_have_none():
    X = np.random.default_rng(0).standard_normal((20, 3))
    ranker = PairwiseRanker().fit(X, X[:, 0])
    drawn(CoefficientsDisplay.from_estimator(ranker))
    with pytest.raises(ValueError, match="KernelSVM has no coefficients"):
        coefficients_view(KernelSVM().fit(X, X[:, 0] > 0))


def test_hostile_names_are_shown_as_they_are():
    names = ["<script>alert(1)</script>", "$x^2$", "a" * 80]
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = LinearSVM().fit(X, np.where(X.sum(axis=1) > 0, "$\\frac$", "<b>"))
    display = CoefficientsDisplay.from_estimator(model, feature_names=names)
    drawn(display)
    shown = {word for _, word in display.view.scene().y.ticks}
    assert {"$x^2$", "<script>alert(1)</script>"} <= shown
    assert max(map(len, shown)) == 28
    with pytest.raises(ValueError, match="3 features but 2 names"):
        coefficients_view(model, feature_names=["a", "b"])
