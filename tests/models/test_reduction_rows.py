"""Rows that the base of a reduction prepares itself: missing values, texts, columns by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maxmargin import LinearSVM, OneVsOne, OneVsRest

from .bases import BOTH

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("kind", BOTH)
def test_a_pipeline_fills_in_what_is_missing(kind):
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = kind(make_pipeline(SimpleImputer(), LinearSVM())).fit(holes, Y)
    assert model.score(holes, Y) > 0.9
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="3 features"):
        model.predict(holes[:, :3])


@pytest.mark.parametrize("kind", BOTH)
def test_what_nobody_fills_in_is_refused(kind):
    holes = np.where(np.arange(4) == 1, np.nan, X)
    for base in (LinearSVM(), make_pipeline(StandardScaler(), LinearSVM())):
        with pytest.raises(ValueError, match="NaN"):
            kind(base).fit(holes, Y)


@pytest.mark.parametrize("kind", BOTH)
def test_texts(kind):
    texts = ["red wine", "white wine", "black tea", "green tea", "cold milk", "hot milk"]
    drinks = ["wine", "wine", "tea", "tea", "milk", "milk"]
    model = kind(make_pipeline(CountVectorizer(), LinearSVM())).fit(texts, drinks)
    assert model.predict(["old wine", "mint tea"]).tolist() == ["wine", "tea"]


@pytest.mark.parametrize("kind", BOTH)
def test_columns_by_name(kind):
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(e=np.array(["x", "y", "z"])[Y])
    words = OneHotEncoder(handle_unknown="ignore")
    chosen = make_column_transformer((words, ["e"]), ("passthrough", ["a"]))
    model = kind(make_pipeline(chosen, LinearSVM())).fit(table, Y)
    assert model.score(table, Y) == 1.0
    assert list(model.feature_names_in_) == ["a", "b", "c", "d", "e"]


def test_a_table_of_labels_with_one_that_is_constant():
    texts = ["red wine", "white wine", "black tea", "green tea"]
    labels = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]])
    model = OneVsRest(make_pipeline(CountVectorizer(), LinearSVM())).fit(texts, labels)
    assert model.predict(["old wine"])[0].tolist()[::2] == [1, 0]


@pytest.mark.parametrize("kind", [OneVsRest, OneVsOne])
def test_weights_and_labels_are_still_checked(kind):
    base = make_pipeline(SimpleImputer(), LinearSVM())
    with pytest.raises(ValueError, match="only one class"):
        kind(base).fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kind(base).fit(X, Y[:100])
    with pytest.raises(TypeError, match=r"Pipeline\.fit does not take"):
        kind(base).fit(X, Y, sample_weight=np.ones(150))
