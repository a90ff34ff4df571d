"""The smallest eigenvalue that a factor in float32 proves, and what is proved with it."""

import numpy as np
import pytest

from maxmargin import FisherDiscriminant, LeastSquaresClassifier, verify
from maxmargin.core.rows.design import Design
from maxmargin.core.solve.closed_form.least_squares import MIN_SINGLE_SIZE, column_factors
from maxmargin.core.solve.closed_form.within import spread_within

D = MIN_SINGLE_SIZE


def _data(n, mean=1.0, narrow=0.0, dtype=np.float32):
    """Classes off the origin; ``narrow``: the deviation of the sum of two columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D)) + mean
    y = rng.integers(0, 3, n)
    X[np.arange(n), y] += 1.5
    if narrow:
        X[:, 1] = 2.0 * mean - X[:, 0] + narrow * rng.standard_normal(n)
    return X.astype(dtype), y


@pytest.mark.parametrize(("mean", "narrow"), [(1.0, 0.0), (50.0, 0.0), (1.0, 0.05), (3e4, 0.0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_eigenvalue_is_smaller_than_was_proved(mean, narrow, dtype):
    X, _ = _data(1200, mean, narrow, dtype)
    design = Design(X, np.linspace(0.5, 1.5, len(X)))
    factor = next(column_factors(design, 0.0))
    assert factor.name == "Cholesky in float32"
    A = design.rows(slice(0, len(X))) / design.column_norms()
    true = float(np.linalg.eigvalsh(A.T @ A)[0])
    assert factor.least <= true
    if (mean, narrow) == (1.0, 0.0):
        assert factor.least > 0.0  # well-conditioned: it is found
    if narrow:
        assert true < 0.01
        assert factor.least == 0.0


@pytest.mark.parametrize("unit", [1e-16, 1e18])
def test_nothing_is_proved_where_squares_leave_float32(unit):
    X, _ = _data(600)
    factor = next(column_factors(Design(unit * X.astype(np.float64)), 0.0))
    assert factor.least == 0.0 or factor.name == "Cholesky"


def test_a_large_fit_in_float32_is_proved():
    X, y = _data(1500)
    fitted = LeastSquaresClassifier().fit(X, y)
    assert fitted.certificate_.factorisation == "Cholesky in float32"
    assert fitted.certificate_.relative_gap < 1e-12
    assert verify(fitted, X, y).relative_gap < 1e-12
    fisher = FisherDiscriminant().fit(X, y).certificate_
    assert fisher.factorisation == "Cholesky in float32"
    assert fisher.holds(1e-7)


def test_fisher_looks_at_the_rows_no_more_often_than_it_must(monkeypatch):
    """Norms of columns come with the Gram matrix, which is formed once."""
    X, y = _data(1500)
    formed = []
    column_gram = Design.column_gram

    def counted(self, dtype=np.float64):
        formed.append(self._gram is None)
        return column_gram(self, dtype)

    monkeypatch.setattr(Design, "column_gram", counted)
    monkeypatch.setattr(Design, "points", None)  # a pass over centred rows
    FisherDiscriminant().fit(X, y)
    assert formed == [True, False]


def test_a_gram_matrix_formed_ahead_is_the_one_asked_for():
    X, y = _data(450, dtype=np.float64)
    spread, _ = spread_within(X, y, None, np.bincount(y) / len(y), "within", None)
    plain = Design(X, spread.design.root**2, codes=y, groups=3)
    ahead = spread.design.column_gram(np.float32)
    assert (ahead == plain.column_gram(np.float32)).all()
    assert spread.design.column_gram(np.float64).dtype == np.float64  # given away once
