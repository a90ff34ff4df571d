"""A streamed fit has the optimum of the fit in memory, with a proof over all rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    fit_stream,
    load,
    save,
    verify,
)
from maxmargin.parts.files.sources import open_source
from maxmargin.parts.stream.folder import WorkFolder
from maxmargin.parts.stream.memory_limit import MemoryLimit, parse_memory
from maxmargin.parts.stream.rows import StreamedRows
from maxmargin.parts.stream.split_parts import SplitParts

from .helpers import agree, cut, noisy

SMALL = "16MB"
KINDS = [(np.float64, False), (np.float32, False), (np.float64, True), (np.float32, True)]
NAMES = ["float64", "float32", "sparse", "sparse float32"]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@pytest.mark.parametrize(
    ("model", "k"),
    [
        (LinearSVM(C=0.1), 2),
        (LinearSVM(C=0.1, loss="squared_hinge"), 2),
        (LinearSVM(C=0.1), 3),
        (LinearSVM(C=0.1, multiclass="sum"), 4),
        (LinearSVM(C=0.1, loss="squared_hinge"), 3),
        (LinearSVM(C=0.1, multiclass="rest"), 3),
        (LinearSVM(C=0.1, multiclass="pairs"), 3),
        (LogisticRegression(C=0.5), 2),
        (LogisticRegression(C=0.5), 4),
    ],
    ids=["svm", "squared", "max", "sum", "max squared", "rest", "pairs", "logistic", "softmax"],
)
def test_certified_optimum(model, k, kind):
    dtype, is_sparse = kind
    X, y = noisy(k=k, dtype=dtype, is_sparse=is_sparse)
    streamed = fit_stream(clone(model), cut(X, y), memory=SMALL)
    agree(streamed, clone(model).fit(X, y), model.tol)
    proof = verify(streamed, X, y)  # by the code for data in memory
    assert proof.primal == pytest.approx(streamed.certificate_.primal, rel=1e-9)
    # Multipliers of a squared hinge are not kept, but rebuilt from the slacks: that proves less.
    rebuilt = getattr(model, "loss", "") == "squared_hinge"
    assert proof.holds(1e-4 if rebuilt else model.tol * (1 + 1e-6))
    assert (streamed.predict(X) == y).mean() > 1.2 / k


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "model",
    [
        LeastSquaresClassifier(alpha=2.0),
        LeastSquaresClassifier(fit_intercept=False),
        FisherDiscriminant(),
        FisherDiscriminant(shrinkage=0.3, threshold="midpoint"),
        FisherDiscriminant(covariance="none"),
    ],
    ids=["ridge", "without bias", "fisher", "shrunk", "means only"],
)
def test_closed_forms_are_equal(model, k, kind):
    dtype, is_sparse = kind
    X, y = noisy(k=k, dtype=dtype, is_sparse=is_sparse)
    streamed, whole = fit_stream(clone(model), cut(X, y), memory=SMALL), clone(model).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(streamed.intercept_, whole.intercept_, rtol=1e-9, atol=1e-10)
    assert streamed.certificate_.holds(1e-8)
    assert verify(streamed, X, y).holds(1e-8)


@pytest.mark.parametrize("k", [2, 4])
def test_ridges_and_shrinkage_are_chosen_as_in_memory(k):
    X, y = noisy(n=1500, k=k)
    model = LeastSquaresClassifier(alphas=[0.1, 10.0, 1000.0])
    streamed, whole = fit_stream(clone(model), cut(X, y), memory=SMALL), clone(model).fit(X, y)
    assert streamed.alpha_ == whole.alpha_
    np.testing.assert_allclose(
        streamed.path_.loo.squared_error, whole.path_.loo.squared_error, rtol=1e-9
    )
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-9, atol=1e-10)
    model = FisherDiscriminant(shrinkage="auto")
    streamed, whole = fit_stream(clone(model), cut(X, y), memory=SMALL), clone(model).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert verify(streamed, X, y).holds(1e-8)
    weight = np.where(np.arange(len(y)) % 2, 0.5, 1.5)
    with pytest.raises(ValueError, match="examples of equal weight"):
        fit_stream(clone(model), cut(X, y, weight), memory=SMALL)
    with pytest.raises(ValueError, match="takes no weights"):  # as in memory, never ignored
        fit_stream(Perceptron(), cut(X, y, weight), memory=SMALL)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("average", [False, True])
def test_perceptron_takes_the_same_steps(k, average, is_sparse):
    X, y = noisy(n=1500, k=k, is_sparse=is_sparse)
    model = Perceptron("cycle", max_passes=5, average=average)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        streamed = fit_stream(clone(model), cut(X, y, at=(10, 700)), memory=SMALL)
        whole = clone(model).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-12)
    assert streamed.updates_ == whole.updates_
    assert streamed.certificate_.wrong == whole.certificate_.wrong
    assert streamed.radius_ == pytest.approx(whole.radius_)


def test_shuffled_perceptron_separates():
    X, _ = noisy(n=2000)
    f = X @ np.arange(-6, 6)
    X, y = X[np.abs(f) > 3], (f[np.abs(f) > 3] > 0).astype(int)
    model = fit_stream(Perceptron("shuffle"), cut(X, y, at=(500,)), memory=SMALL)
    assert model.certificate_.separates
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("model", [LinearSVM(C=0.3), LogisticRegression()], ids=["svm", "logistic"])
@pytest.mark.parametrize("balanced", [None, "balanced", {"no": 3.0}])
def test_weights_and_words(model, balanced):
    X, y = noisy()
    y = np.array(["no", "yes"])[y]
    weight = np.random.default_rng(1).random(len(y)) * (np.arange(len(y)) % 5 > 0)
    model = clone(model).set_params(class_weight=balanced)
    streamed = fit_stream(clone(model), cut(X, y, weight), memory=SMALL)
    agree(streamed, clone(model).fit(X, y, sample_weight=weight), model.tol)
    assert streamed.classes_.tolist() == ["no", "yes"]
    assert set(streamed.predict(X)) == {"no", "yes"}
    assert verify(streamed, X, y, sample_weight=weight).holds(model.tol)


def test_weighted_closed_forms():
    X, y = noisy(k=3)
    weight = np.random.default_rng(1).random(len(y))
    for model in (LeastSquaresClassifier(), FisherDiscriminant()):
        streamed = fit_stream(clone(model), cut(X, y, weight), memory=SMALL)
        whole = clone(model).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [LinearSVM(), LogisticRegression(), LeastSquaresClassifier(), FisherDiscriminant()],
    ids=lambda m: type(m).__name__,
)
def test_chunks_that_lack_a_class(model):
    X, y = noisy(n=2000)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    streamed = fit_stream(clone(model), cut(X, y, at=(300, 900, 1900)), memory=SMALL)
    whole = clone(model).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, atol=2e-3)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("C", [1e-4, 1.0, 30.0])
def test_every_bias_and_price(bias, C):
    X, y = noisy(n=3000, d=6)
    X += 3.0
    model = LinearSVM(C, fit_intercept=bias != "none", penalize_bias=bias == "penalized")
    streamed = fit_stream(clone(model), cut(X, y, at=(1000,)), memory=SMALL)
    agree(streamed, clone(model).fit(X, y), model.tol)


def test_more_rows_than_are_kept():
    """Room for one row in twenty, a rare class, features of very different scale."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40_000, 40)) * np.logspace(-2, 2, 40) + 5.0
    y = ((X - 5.0) @ (rng.standard_normal(40) / np.logspace(-2, 2, 40)) > 9).astype(int)
    y ^= rng.random(len(y)) < 0.01
    assert 0.02 < y.mean() < 0.2
    model = LinearSVM(C=0.5, tol=1e-5)
    memory = MemoryLimit(1_500_000)
    assert memory.kept < X.nbytes / 20
    streamed = fit_stream(clone(model), cut(X, y, at=(20_000,)), memory=memory)
    agree(streamed, clone(model).fit(X, y), 1e-5)


def test_more_rows_on_their_margin_than_are_kept():
    """Few different rows, many times each: no shelf holds all that lie on the margin."""
    rng = np.random.default_rng(3)
    few = rng.standard_normal((30, 20))
    X = few[rng.integers(30, size=3000)]
    y = (X @ rng.standard_normal(20) + rng.standard_normal(len(X)) > 0).astype(int)
    model = LinearSVM(C=0.1, tol=1e-4)
    streamed = fit_stream(clone(model), cut(X, y, at=(1000,)), memory=MemoryLimit(250_000))
    agree(streamed, clone(model).fit(X, y), 1e-4)
    assert streamed.solver_ != "rounds"


def test_many_columns():
    from scipy.sparse import random

    rng = np.random.default_rng(0)
    X = random(1000, 2500, 0.008, "csr", random_state=rng)
    y = (X @ rng.standard_normal(2500) + 0.1 * rng.standard_normal(1000) > 0).astype(int)
    for model in (LinearSVM(tol=1e-3), LogisticRegression(tol=1e-4)):
        streamed = fit_stream(clone(model), cut(X, y, at=(400,)), memory=SMALL)
        agree(streamed, clone(model).fit(X, y), model.tol)


def test_multipliers_of_many_classes_are_cut_to_fit_memory():
    X, y = noisy(n=3000, d=2, k=20)
    model = LinearSVM(C=0.01, tol=1e-3)
    source = open_source(cut(X, y, at=()))
    memory = parse_memory(SMALL)
    with WorkFolder(None, False) as folder:
        rows = StreamedRows(source, memory, folder)
        parts = SplitParts(rows, 20)
        sizes = list(parts.ask(lambda block, memory: (memory, len(block.y))))
        rows.close()
    assert rows.n_parts == 1
    assert parts.n_parts == len(sizes) > 1
    assert sum(sizes) == 3000
    assert max(sizes) * 20 * 8 < 0.01 * memory.limit
    streamed = fit_stream(clone(model), cut(X, y, at=()), memory=SMALL)
    agree(streamed, clone(model).fit(X, y), model.tol)


def test_a_streamed_model_is_stored_and_proved_again(tmp_path):
    X, y = noisy()
    model = fit_stream(LinearSVM(), cut(X, y), memory=SMALL)
    save(model, tmp_path / "model.maxmargin")
    again = load(tmp_path / "model.maxmargin")
    assert (again.predict(X) == model.predict(X)).all()
    assert verify(again, X, y).holds(1e-6)
    assert not hasattr(again, "alpha_")
    again.fit(X[:500], y[:500])  # what was known of the stream is forgotten
    assert verify(again, X[:500], y[:500]).holds(1e-6)


def test_history_and_names():
    X, y = noisy()
    model = fit_stream(LinearSVM(), cut(X, y), memory=SMALL)
    assert model.history_[-1].relative_gap <= 1e-6
    assert model.n_features_in_ == X.shape[1]
    assert "stream" in model.solver_reason_
    assert not hasattr(model, "slack_")
