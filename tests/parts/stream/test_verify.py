"""A streamed model's whole claim, recomputed from its source in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    fit_stream,
    verify,
)
from maxmargin.models.svm import two_class as svm_two
from maxmargin.parts.stream.verify import verify_stream

from .helpers import cut, noisy

SMALL = "16MB"
MODELS = {
    "two": (2, LinearSVM(C=0.1, tol=1e-5)),
    "max": (3, LinearSVM(C=0.1, tol=1e-5)),
    "rest": (3, LinearSVM(C=0.1, tol=1e-5, multiclass="rest", class_weight="balanced")),
    "pairs": (3, LinearSVM(C=0.1, tol=1e-5, multiclass="pairs")),
    "squared": (2, LinearSVM(C=10, tol=1e-7, loss="squared_hinge")),
    "squared sum": (3, LinearSVM(C=0.1, tol=1e-5, loss="squared_hinge", multiclass="sum")),
    "squared pairs": (3, LinearSVM(tol=1e-6, loss="squared_hinge", multiclass="pairs")),
    "logistic": (2, LogisticRegression(tol=1e-5)),
    "softmax": (3, LogisticRegression(tol=1e-5)),
    "squares": (3, LeastSquaresClassifier(alpha=2.0)),
    "fisher": (3, FisherDiscriminant(shrinkage=0.1)),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_proves_what_the_fit_proved_and_no_false_claim(name):
    k, model = MODELS[name]
    X, y = noisy(n=600, d=5, k=k)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 600)
    chunks = cut(X, y, weight, at=(200, 201))
    fit_stream(model, chunks, memory=SMALL)
    found = verify_stream(model, chunks, memory=SMALL)
    tol = getattr(model, "tol", 1e-8)
    assert found.holds(tol), found
    known = verify(model, X, y, weight)  # all rows at once, by other code
    if name in ("squares", "fisher"):
        assert found.rank == known.rank
        assert found.holds(tol) == known.holds(tol)
        wrong = "coef_" if name == "squares" else "scalings_"
        setattr(model, wrong, getattr(model, wrong) + 0.05)
        assert not verify_stream(model, chunks, memory=SMALL).holds(tol)
        return
    assert found.primal == pytest.approx(known.primal, rel=1e-9)
    assert found.dual <= known.primal * (1 + 1e-12)  # all but equal, each rounded its own way
    if "squared" not in name:
        assert found.dual == pytest.approx(known.dual, rel=1e-6)
    model.coef_ = model.coef_ * 1.05
    assert not verify_stream(model, chunks, memory=SMALL).holds(tol)
    model.coef_ = model.coef_ / 1.05
    model.intercept_ = model.intercept_ + 0.05 * np.arange(1, 1 + len(model.intercept_))
    assert not verify_stream(model, chunks, memory=SMALL).holds(tol)


def test_a_squared_hinge_that_slacks_alone_do_not_prove():
    """Weights within the gap of the optimum, but not on it: other multipliers must be found."""
    X, y = noisy(n=600, d=5)
    model = fit_stream(LinearSVM(loss="squared_hinge", tol=1e-4), cut(X, y, at=(200,)))
    optimum = LinearSVM(loss="squared_hinge", tol=1e-10).fit(X, y)
    way, signs = (
        np.random.default_rng(1).standard_normal(5),
        np.where(y == model.classes_[1], 1, -1),
    )

    def objective(w, b):
        return w @ w / 2 + (np.maximum(0.0, 1.0 - signs * (X @ w + b)) ** 2).sum()

    assert objective(optimum.coef_[0], optimum.intercept_[0]) == pytest.approx(
        optimum.certificate_.primal
    )
    for size in np.geomspace(1e-1, 1e-5, 30):  # the largest step that the claim allows
        model.coef_ = optimum.coef_ + size * way
        model.intercept_ = optimum.intercept_
        primal = objective(model.coef_[0], model.intercept_[0])
        if primal - optimum.certificate_.primal < 0.9e-4 * primal:
            break
    pose, w, b = svm_two.pose(model, X, y, None), model.coef_[0], float(model.intercept_[0])
    by_slacks = svm_two.best_proof(pose, w, b, None)  # whose rule falls short
    assert not by_slacks.holds(1e-4)
    assert verify(model, X, y).holds(1e-4)
    assert verify_stream(model, cut(X, y, at=(200,)), memory=SMALL).holds(1e-4)


@pytest.mark.parametrize("k", [2, 3])
def test_models_fitted_in_memory(k):
    X, y = noisy(n=400, d=4, k=k)
    for rule in ("max", "pairs"):
        model = LinearSVM(C=0.1, multiclass=rule).fit(X, y)
        assert verify_stream(model, cut(X, y, at=(150,)), memory=SMALL).holds(1e-6)


def test_other_data():
    X, y = noisy(n=400, d=4)
    model = fit_stream(LinearSVM(), [(X, y)])
    with pytest.raises(ValueError, match="3 features, the model 4"):
        verify_stream(model, [(X[:, :3], y)])
    with pytest.raises(ValueError, match="knows 0, 1"):
        verify_stream(model, [(X, y + 1)])
    with pytest.raises(TypeError, match="KernelSVM"):
        verify_stream(KernelSVM().fit(X, y), [(X, y)])
    with pytest.raises(NotFittedError):
        verify_stream(LinearSVM(), [(X, y)])
    assert not verify_stream(model, [(X[:350], y[:350])]).holds(1e-6)
