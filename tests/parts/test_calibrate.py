"""Probabilities of rows that were never all in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import maxmargin as mm
from maxmargin import LeastSquaresClassifier, LinearSVM, LogisticRegression, Perceptron
from maxmargin.parts import calibrate
from maxmargin.parts.parts import Block

from .stream.helpers import cut, noisy

X, Y = noisy(n=4000, d=5, k=3)
MODELS = [
    LinearSVM(probability=True, multiclass="rest"),
    LeastSquaresClassifier(probability=True),
    LogisticRegression(probability=True),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_streams_have_the_probabilities_of_memory(model):
    streamed = mm.fit_stream(type(model)(**model.get_params()), cut(X, Y))
    P, whole = streamed.predict_proba(X), model.fit(X, Y).predict_proba(X)
    assert np.abs(P - whole).max() < 0.05
    assert np.array_equal(streamed.classes_[P.argmax(axis=1)], streamed.predict(X))
    assert streamed.calibration_.way == "cross-validation"
    inside = streamed.predict_set(X, 0.2)[np.arange(len(Y)), Y].mean()
    assert 0.75 < inside < 0.85
    low, high = streamed.predict_proba_interval(X[:50])
    assert (low <= high).all()


def test_a_sample_calibrates_where_rows_are_many(monkeypatch):
    monkeypatch.setattr(calibrate, "MAX_SAMPLE_VALUES", 800 * 5)
    few = LinearSVM(probability=True, C=0.01, class_weight={0: 1.0, 1: 2.0, 2: 1.0})
    mm.fit_stream(few, cut(X, Y))
    assert 700 < few.calibration_.rows < 900
    whole = LinearSVM(**few.get_params()).fit(X, Y)
    assert np.abs(few.predict_proba(X) - whole.predict_proba(X)).mean() < 0.03
    again = mm.fit_stream(LinearSVM(**few.get_params()), cut(X, Y))
    np.testing.assert_array_equal(again.predict_proba(X), few.predict_proba(X))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_rows_are_drawn_alike_and_weightless_ones_never(kind):
    rows, y = kind(np.arange(3000.0)[:, None] + 1.0), np.zeros(3000, dtype=np.int64)
    y[7] = 1
    weight = np.where(np.arange(3000) % 3 == 0, 0.0, 1.0)
    state, (part, chosen) = calibrate._drawn(Block(rows, y, weight), "kept", 0.25, 0)
    drawn = (part.X.toarray() if sparse.issparse(part.X) else part.X)[:, 0].astype(int) - 1
    assert state == "kept"
    assert 7 in drawn  # the only row of its class
    assert not (drawn % 3 == 0).any()
    assert abs(chosen.sum() - 500) < 4 * np.sqrt(2000 * 0.25 * 0.75)
    assert abs(drawn[chosen].mean() - 1500) < 150
    _, (_, others) = calibrate._drawn(Block(rows[::-1], y, weight), None, 0.25, 0)
    assert len(others) != len(chosen) or (others != chosen).any()  # parts have lots of their own


@pytest.mark.filterwarnings("ignore:Perceptron stopped early")
def test_a_rare_class_is_known_to_every_fit(monkeypatch):
    monkeypatch.setattr(calibrate, "MAX_SAMPLE_VALUES", 300 * 5)
    y = np.where(np.arange(4000) < 3, 2, np.minimum(Y, 1))
    model = mm.fit_stream(LinearSVM(probability=True, multiclass="rest", tol=1e-3), cut(X, y))
    assert np.bincount(model.calibration_.codes, minlength=3)[2] == 3
    assert model.predict_proba(X[:3]).shape == (3, 3)
    rule = mm.fit_stream(Perceptron(probability=True, max_passes=2, order="cycle"), cut(X, y))
    assert np.isfinite(rule.predict_proba(X[:9])).all()
