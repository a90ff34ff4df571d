"""What is counted over all rows of a stream is what a fit in memory would read off them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from maxmargin import LinearSVM, LogisticRegression, Perceptron, fit_stream
from maxmargin.app.workflow.judge import confusion
from maxmargin.core.rows.rows import take
from maxmargin.models.svm import joint as svm_joint
from maxmargin.models.svm import reduced as svm_reduced
from maxmargin.models.svm import two_class as svm_two
from maxmargin.parts.stream.memory_limit import MemoryLimit
from maxmargin.parts.stream.reservoir import ReservoirSample, drawn
from maxmargin.parts.stream.sample import StreamSample

from .helpers import cut, noisy, summary_of

SMALL = "16MB"


def kinds_in_memory(model, X, y):
    """Support vectors by kind, all rows at once, from the multipliers that were kept."""
    k, codes = len(model.classes_), np.searchsorted(model.classes_, y)
    if k > 2 and model.multiclass in ("max", "sum"):
        problem = svm_joint.pose(model, X, codes, None)
        beta = svm_joint.known_multipliers(model, problem)
        f = X @ model.coef_.T + model.intercept_
        z = 1 + f - f[np.arange(len(y)), codes][:, None]
        z[np.arange(len(y)), codes] = -np.inf
        found = svm_joint.support_kinds(problem, beta, z.max(axis=1))[beta.any(axis=1)]
    else:
        whole = svm_two.pose(model, X, codes, None)
        asked = [(whole, slice(None))]
        if k > 2:
            asked = list(svm_reduced.questions(model, codes, whole, take))
        held, worst = np.zeros(len(y), dtype=bool), np.full(len(y), -np.inf)
        below = np.zeros(len(y), dtype=bool)
        for q, (problem, some) in enumerate(asked):
            w, b = model.coef_[q], float(model.intercept_[q])
            alpha = svm_two.known_multipliers(model, problem, w, b, q, some)
            z = 1 - problem.y * (X[some] @ w + b)
            held[some] |= z > 0 if alpha is None else alpha > 0  # a squared hinge keeps none
            worst[some] = np.maximum(worst[some], z)
            if k == 2 and model.loss == "hinge":
                below = alpha < problem.c
        found = svm_two.kinds_of(worst[held], below[held])
    kinds, counts = np.unique(found, return_counts=True)
    return dict(zip(kinds.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("k", "given"),
    [(2, {}), (2, {"loss": "squared_hinge"}), (3, {"multiclass": "max"}),
     (3, {"multiclass": "sum"}), (3, {"multiclass": "rest"}), (4, {"multiclass": "pairs"})],
)  # fmt: skip
def test_support_vectors_by_kind(k, given):
    X, y = noisy(n=900, d=4, k=k)
    chunks = cut(X, y, at=(300, 301))
    model = fit_stream(LinearSVM(C=0.1, tol=1e-4, **given), chunks, memory=SMALL)
    kinds = summary_of(model, chunks, SMALL).support
    assert kinds == kinds_in_memory(model, X, y)
    assert kinds["misclassified"] > 0
    if k == 2:  # what is on the wrong side supports, and nothing else is misclassified
        assert kinds["misclassified"] == (model.predict(X) != y).sum()


@pytest.mark.parametrize(
    "model", [LogisticRegression(tol=1e-4), Perceptron("cycle", max_passes=2)], ids=["smooth", "p"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_errors_by_class(model):
    X, y = noisy(n=900, d=4, k=3)
    weight = np.linspace(0.5, 2.0, 900)
    chunks = cut(X, y, at=(300,)) if "Perc" in repr(model) else cut(X, y, weight, at=(300,))
    model = fit_stream(model, chunks, memory=SMALL)
    seen = summary_of(model, chunks, SMALL)
    np.testing.assert_array_equal(seen.table, confusion(model.predict(X), y, model.classes_))
    assert seen.wrong == (model.predict(X) != y).sum()
    assert seen.weights == (None if len(chunks[0]) == 2 else (0.5, 2.0))


def batches(n, size):
    for first in range(0, n, size):
        numbers = np.arange(first, min(n, first + size))
        yield pa.record_batch({"x": pa.array(numbers * 2)}), numbers


def test_a_uniform_sample_has_its_size_its_rows_and_its_order():
    sample = ReservoirSample(MemoryLimit(16_000_000), 1, seed=0)
    for batch, numbers in batches(30_000, 700):
        sample(batch, numbers)
    table, numbers = sample.rows()
    assert len(numbers) == table.num_rows == 2000
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(table.column("x").to_numpy(), 2 * numbers)
    # The mean of 2,000 of 30,000 numbers: five standard deviations are 940.
    assert abs(numbers.mean() - 15_000) < 940
    few = ReservoirSample(MemoryLimit(16_000_000), 1, seed=0)
    for batch, numbers in batches(40, 7):
        few(batch, numbers)
    assert few.rows()[1].tolist() == list(range(40))


def test_a_uniform_sample_of_a_sample_by_class():
    """A rare class is kept whole by the one, but must not be too frequent in the other."""
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((40_000, 8)), (np.arange(40_000) % 40 == 0).astype(int)
    sample = StreamSample(2_000_000, 0)
    for start in range(0, 40_000, 1000):
        sample(X[start : start + 1000], codes[start : start + 1000], None)
    shelf = sample.finish(np.arange(2), 0, 8)
    assert np.mean(shelf.y[: shelf.count]) > 0.1
    some = drawn(shelf)
    assert len(some) == 2000
    np.testing.assert_array_equal(shelf.X[some], X[shelf.ids[some]])
    # One row in forty: 50 of 2,000, and five standard deviations are 35.
    assert 15 <= shelf.y[some].sum() <= 85
