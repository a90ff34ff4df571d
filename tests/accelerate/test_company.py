"""The patch in company: clones, subclasses, nested searches, threads, processes, old models."""

import copy
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from maxmargin import accelerate

pytestmark = pytest.mark.usefixtures("fresh_patch")
X, Y = load_iris(return_X_y=True)


def _solvers():
    return {fit.solver for fit in accelerate.fits()}


def test_a_clone_of_a_fitted_model_is_fitted_anew():
    accelerate.install(load="now")
    model = LinearSVC(C=0.3).fit(X, Y)
    again = clone(model)
    assert not hasattr(again, "coef_")
    np.testing.assert_array_equal(again.fit(X, Y).coef_, model.coef_)
    np.testing.assert_array_equal(copy.deepcopy(model).coef_, model.coef_)


class Halved(LogisticRegression):
    """A subclass with a fit, a parameter and a prediction of its own."""

    def __init__(self, share=0.5, C=1.0):
        super().__init__(C=C)
        self.share = share

    def fit(self, X, y, sample_weight=None):
        self.rows_ = int(self.share * len(X)) or 1
        return super().fit(X[:: len(X) // self.rows_], y[:: len(y) // self.rows_])

    def predict(self, X):
        return super().predict(X)[::-1][::-1]


def test_a_subclass_keeps_what_is_its_own():
    accelerate.install(load="now")
    model = Halved(C=10.0).fit(X, Y)
    assert _solvers() == {"maxmargin"}
    assert (model.rows_, accelerate.fits()[0].rows) == (75, 75)
    assert model.score(X, Y) > 0.9
    assert repr(model) == "Halved(C=10.0)"


@pytest.mark.parametrize(
    "model", [LinearSVC(), SVC(kernel="linear"), LogisticRegression(max_iter=1000)]
)
def test_models_fitted_before_the_patch_predict_and_are_fitted_again(model):
    data = pickle.dumps(model.fit(X, Y))
    accelerate.install(load="now")
    old = pickle.loads(data)
    np.testing.assert_array_equal(old.predict(X), model.predict(X))
    assert accelerate.fits() == []
    assert old.fit(X, Y).score(X, Y) > 0.9
    assert _solvers() == {"maxmargin"}


def test_a_warm_start_goes_on_from_a_model_of_scikit_learns():
    model = LogisticRegression(warm_start=True, C=3.0, max_iter=10_000).fit(X, Y)
    accelerate.install(load="now")
    model.fit(X, Y)
    assert _solvers() == {"maxmargin"}
    assert model.n_iter_[0] <= 5


def test_searches_in_searches_in_processes():
    accelerate.install(load="now")
    inner = GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2)
    scores = cross_val_score(inner, X, Y, cv=3, n_jobs=2)
    assert scores.min() > 0.85
    assert len(accelerate.fits()) == 3 * 5
    assert _solvers() == {"maxmargin"}


def test_ensembles_and_wrappers_in_threads():
    import joblib

    accelerate.install(load="now")
    with joblib.parallel_backend("threading", n_jobs=2):
        bag = BaggingClassifier(LinearSVC(), n_estimators=4, random_state=0, n_jobs=2).fit(X, Y)
        rest = OneVsRestClassifier(LogisticRegression(C=10.0), n_jobs=2).fit(X, Y)
    assert bag.score(X, Y) > 0.85
    assert rest.score(X, Y) > 0.9
    assert len(accelerate.fits()) == 4 + 3


def test_uninstalled_while_other_threads_fit():
    """Every fit ends, whoever solves it, and nothing of the patch is left."""
    from sklearn.svm import _classes

    before = _classes._fit_liblinear
    scores, failures = [], []

    def work():
        try:
            scores.extend(LinearSVC().fit(X, Y).score(X, Y) for _ in range(10))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        accelerate.install(load="now")
        accelerate.uninstall()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(scores) == 30
    assert min(scores) > 0.9
    assert _classes._fit_liblinear is before


def test_compare_reaches_worker_processes():
    accelerate.install(load="now", compare=True)
    cross_val_score(LinearSVC(), X, Y, cv=2, n_jobs=2)
    assert all(fit.their_excess is not None for fit in accelerate.fits())
    assert len(accelerate.fits()) == 2
