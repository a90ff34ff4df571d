"""C = ∞ on a stream: the margin of all rows with its proof, or the proof that there is none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maxmargin import (
    LinearSVM,
    NotSeparableError,
    fit_stream,
    load,
    open_source,
    save,
    verify,
    verify_stream,
)
from tests.class_helpers import corners
from tests.helpers import separable_cloud

from .helpers import cut, summary_of

SMALL = "16MB"


@pytest.mark.parametrize("rule", ["two", "max", "sum", "rest", "pairs"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_margin_of_memory_and_its_proof(rule, loss, tmp_path):
    X, y = corners(4000, 4, k=2 if rule == "two" else 3, gap=5.0)
    model = LinearSVM(C=np.inf, loss=loss, multiclass="max" if rule == "two" else rule)
    streamed = fit_stream(model, cut(X, y), memory=SMALL)
    whole = LinearSVM(**model.get_params()).fit(X, y)
    assert streamed.certificate_.holds(1e-6)
    assert streamed.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=2e-6)
    assert streamed.margin_ == pytest.approx(whole.margin_, rel=1e-5)
    assert streamed.intercept_ == pytest.approx(whole.intercept_, rel=1e-4, abs=1e-4)
    assert streamed.certificate_.problem == whole.certificate_.problem
    assert summary_of(streamed, cut(X, y), SMALL).wrong == 0
    # The multipliers are kept, so that the proof is whole in memory, and in a file.
    save(streamed, tmp_path / "m.maxmargin")
    for kept in (streamed, load(tmp_path / "m.maxmargin")):
        proof = verify(kept, X, y)
        assert proof.holds(1e-6)
        assert proof.dual == pytest.approx(streamed.certificate_.dual, rel=1e-9)
        assert verify_stream(kept, cut(X, y), memory=SMALL).holds(1e-6)
    streamed.coef_ = 1.1 * streamed.coef_
    assert not verify_stream(streamed, cut(X, y), memory=SMALL).holds(1e-6)


def test_a_file_larger_than_the_rows_in_hand(tmp_path):
    X, y = separable_cloud(60_000, 6, gap=0.01)
    columns = {f"x{j}": X[:, j] for j in range(6)} | {"y": np.where(y > 0, "up", "down")}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=7000)
    passes = []
    svm = fit_stream(
        LinearSVM(C=np.inf), open_source(tmp_path / "t.parquet", target="y"), memory=SMALL,
        told=lambda done, *_: passes.append(done),
    )  # fmt: skip
    whole = LinearSVM(C=np.inf).fit(X, y)
    assert svm.certificate_.holds(1e-6)
    assert svm.margin_ == pytest.approx(whole.margin_, rel=1e-6)
    assert max(passes) < 12


def test_weights_and_refits():
    X, y = separable_cloud(4000, 3, gap=0.2)
    weight = np.ones(len(y))
    y[::500], weight[::500] = -y[::500], 0.0
    svm = fit_stream(LinearSVM(C=np.inf), cut(X, y, weight), memory=SMALL)
    assert svm.margin_ == pytest.approx(LinearSVM(C=np.inf).fit(X, y, weight).margin_, rel=1e-5)
    assert verify(svm, X, y, weight).holds(1e-6)
    svm.set_params(C=1.0)  # the next fit knows nothing of this one
    fit_stream(svm, cut(X, y), memory=SMALL)
    assert verify(svm, X, y).holds(2e-6)


@pytest.mark.parametrize("multiclass", ["max", "rest"])
def test_no_margin_is_proved_by_rows_of_the_stream(multiclass):
    X, y = corners(4000, 4, k=3, gap=5.0)
    X[3500] = X[y == (y[3500] + 1) % 3].mean(axis=0)
    svm = LinearSVM(C=np.inf, multiclass=multiclass)
    with pytest.raises(NotSeparableError, match=r"proof\.rows") as error:
        fit_stream(svm, cut(X, y), memory=SMALL)
    proof = error.value.proof
    assert 3500 in proof.rows
    if multiclass == "max":
        alpha = -proof.weights
        alpha[np.arange(len(alpha)), y[proof.rows]] = proof.weights.sum(axis=1)
        left = np.column_stack([X[proof.rows], np.ones(len(alpha))]).T @ alpha
        assert np.abs(left).max() < 1e-12
    assert not hasattr(svm, "coef_")
