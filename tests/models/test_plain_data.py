"""Plain arrays skip scikit-learn's validation: nothing else may come of it."""

import numpy as np
import pytest
from sklearn import config_context

from maxmargin import LinearSVM
from maxmargin.models.validation import _plain, _plain_labels

X = np.random.default_rng(0).standard_normal((30, 3))
y = np.where(X[:, 0] > 0, "up", "down")


def test_as_through_validation():
    plain, through = LinearSVM().fit(X, y), LinearSVM().fit(X.tolist(), y.tolist())
    assert (plain.coef_ == through.coef_).all()
    assert (plain.classes_ == through.classes_).all()
    assert plain.n_features_in_ == through.n_features_in_ == 3
    assert (plain.predict(X) == through.predict(X.tolist())).all()


def test_names_of_an_earlier_fit_are_forgotten():
    pd = pytest.importorskip("pandas")
    model = LinearSVM().fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("bad", "word"),
    [(np.where(X > 2, np.nan, X), "NaN"), (X[:, :0], "0 feature"), (X[0], "1D array")],
)
def test_what_is_wrong_is_said_by_validation(bad, word):
    with pytest.raises(ValueError, match=word):
        LinearSVM().fit(bad, y)
    with pytest.raises(ValueError, match="features"):
        LinearSVM().fit(X, y).predict(X[:, :2])
    with pytest.raises(ValueError, match="inconsistent"):
        LinearSVM().fit(X, y[:-1])


def test_what_is_plain():
    huge = np.full((2, 2), 1.7e308)
    assert _plain(X)
    assert _plain(X.astype(np.float32))
    assert not _plain(huge)  # its sum is none: validation looks at every value
    assert not any(map(_plain, [X.tolist(), X.astype(int), X.astype(">f8"), np.ma.array(X), X[:0]]))
    with config_context(assume_finite=True):
        assert _plain(X * np.nan)
    assert _plain_labels(y, 30)
    assert not any(_plain_labels(each, 30) for each in (y[1:], y.tolist(), X[:, 0], y[:, None]))
