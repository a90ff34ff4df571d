"""scikit-learn's callbacks are told of a fit's steps, and may end it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import LogisticRegression, LogisticRegressionCV

pytest.importorskip("sklearn.callback")
X, Y = load_digits(n_class=3, return_X_y=True)


class Notes:
    """Writes down what it is told; asks for a stop after so many steps."""

    def __init__(self, steps=np.inf):
        self.said, self.steps = [], steps

    def setup(self, estimator, context):
        self.said.append("setup")

    def teardown(self, estimator, context):
        self.said.append("teardown")

    def on_fit_task_begin(self, estimator, context, **given):
        self.said.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context, **given):
        self.said.append(f"{context.task_name} ends")
        return self.said.count("step ends") >= self.steps


def test_a_fit_tells_of_its_steps_and_stays_the_same():
    notes = Notes()
    model = LogisticRegression().set_callbacks(notes).fit(X, Y)
    assert notes.said[:2] == ["setup", "fit begins"]
    assert notes.said[-2:] == ["fit ends", "teardown"]
    assert notes.said.count("step ends") == len(model.history_) > 1
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, Y).coef_)


def test_a_stop_keeps_the_best_model_and_says_how_good_it_is():
    model = LogisticRegression(tol=1e-9).set_callbacks(Notes(steps=2))
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model.fit(X, Y)
    assert len(model.history_) < 10
    assert model.score(X, Y) > 0.9


def test_clones_keep_callbacks_and_nothing_of_a_fit_stays():
    notes = Notes()
    model = clone(LogisticRegression().set_callbacks(notes))
    assert set(vars(pickle.loads(pickle.dumps(LogisticRegression().fit(X, Y))))) == set(
        vars(model.fit(X, Y))
    ) - {"_skl_callbacks"}
    model.set_callbacks()
    before = len(notes.said)
    model.fit(X, Y)
    assert len(notes.said) == before


def test_an_error_tears_down():
    notes = Notes()
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().set_callbacks(notes).fit(X, np.zeros(len(X)))
    assert notes.said[-1] == "teardown"


def test_in_a_pipeline_and_not_in_a_search():
    notes = Notes()
    model = make_pipeline(StandardScaler(), LogisticRegression()).set_callbacks(notes).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert notes.said[-1] == "teardown"
    assert not hasattr(LogisticRegressionCV(), "set_callbacks")
