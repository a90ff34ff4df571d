"""One pass gives what three give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVM, LogisticRegression
from maxmargin.core.problem.losses import Logistic, SquaredHinge, slope
from maxmargin.core.rows import one_pass
from maxmargin.core.rows.rows import as_rows, combine, lengths, scores
from maxmargin.core.solve.two_class import changed_smooth

from ...helpers import cloud

rng = np.random.default_rng(3)
X = np.where(rng.random((23, 5)) < 0.7, rng.standard_normal((23, 5)), 0.0)
w, v = rng.standard_normal(5), np.where(rng.random(23) < 0.5, rng.standard_normal(23), 0.0)
STORAGES = {"float64": X, "float32": X.astype(np.float32), "sparse": sparse.csr_matrix(X)}


def _agree(seen, rows):
    np.testing.assert_allclose(seen.f, scores(rows, w), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(seen.w, combine(rows, v), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(seen.lengths, lengths(rows), rtol=1e-6)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES.keys())
def test_what_is_seen_is_scores_sum_and_lengths(storage):
    rows = as_rows(storage)
    seen = one_pass.Seen(np.empty(23), np.zeros(5), np.empty(23))
    one_pass._see.py_func(rows, w, v, *seen)
    _agree(seen, rows)
    _agree(one_pass.see(rows, w, v), rows)  # few rows: pass by pass


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()], ids=lambda loss: type(loss).__name__)
def test_pulls_are_those_of_the_margins(loss):
    rows, y, c = as_rows(X), np.where(v > 0, 1.0, -1.0), rng.random(23)
    f, pull, total = changed_smooth._pulls.py_func(loss, rows, y, c, w, 0.3)
    np.testing.assert_allclose(f, X @ w)
    expected = [-c[i] * slope(loss, y[i] * (X[i] @ w + 0.3)) * y[i] for i in range(23)]
    np.testing.assert_allclose(pull, expected)
    np.testing.assert_allclose(total, X.T @ np.array(expected))


def test_fortran_order_is_not_read_row_by_row():
    big = np.zeros((1 << 19, 2), order="F")
    assert not one_pass.by_rows(as_rows(big))
    assert one_pass.by_rows(as_rows(np.zeros((1 << 19, 2))))
    assert not one_pass.by_rows(as_rows(X))


MODELS = [LinearSVM(), LinearSVM(loss="squared_hinge"), LogisticRegression()]


@pytest.mark.slow  # kernels are compiled
@pytest.mark.parametrize("model", MODELS, ids=["hinge", "squared", "logistic"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_compiled_passes_forget_as_separate_ones_do(monkeypatch, model, kind):
    many, y = cloud(n=3001, d=4, seed=7)
    many = kind(many)
    gone = np.arange(0, 100, 7)
    model.fit(many, y)
    one = model.without(gone, many, y)
    monkeypatch.setattr(one_pass, "MIN_VALUES", 0)
    two = model.without(gone, many, y)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-6, atol=1e-8)
    assert two.certificate_.holds(model.tol)
    assert two.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-9)
    if kind is np.asarray:
        spoiled = many.copy()
        spoiled[5, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            model.without(gone, spoiled, y)
