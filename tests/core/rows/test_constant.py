"""Columns that do not vary are centred to exactly nothing; least squares gives them no weight."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LeastSquaresClassifier
from maxmargin.core.rows.design import Design

LABELS = [0, 1, 0, 1, 1, 0, 0]
WEIGHT = np.array([1.0, 2.0, 0.5, 7.3, 1.0, 0.0, 0.3])
BIG = 1e6 / 3.0


def varied(value: float, d: int = 3) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((7, d))
    X[:, 1] = value
    return X


@pytest.mark.parametrize("value", [0.1, BIG, -7e-9])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("make", [np.array, np.float32, sparse.csr_array])
def test_a_constant_column_is_centred_to_zero(value, weight, make):
    X = make(varied(value))
    design = Design(X, weight)
    exact = float(np.float32(value)) if make is np.float32 else value
    assert design.mean[1] == exact
    assert not design.rows(slice(0, 7))[:, 1].any()
    assert not design.adjoint(np.random.default_rng(1).standard_normal((7, 2)))[1].any()


def test_a_column_constant_in_every_class_is_centred_to_zero():
    X = varied(0.1)
    X[:, 2] = np.where(np.array(LABELS) == 1, 0.3, 0.1)
    design = Design(X, WEIGHT, codes=np.array(LABELS), groups=2)
    assert design.centres[:, 2].tolist() == [0.1, 0.3]
    assert not design.rows(slice(0, 7))[:, 1:].any()


def test_a_column_that_varies_in_one_row_is_not_constant():
    X = np.full((1000, 2), 0.1)
    X[501, 1] = 0.2
    design = Design(X)
    assert design.mean[0] == 0.1
    assert design.mean[1] > 0.1


@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("value", [0.1, BIG])
@pytest.mark.parametrize("d", [3, 9])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix])
def test_rows_that_are_all_equal_have_no_weights_and_a_tight_proof(alpha, value, d, weight, make):
    model = LeastSquaresClassifier(alpha).fit(make(np.full((7, d), value)), LABELS, weight)
    proof = model.certificate_
    assert not model.coef_.any()
    assert proof.relative_residual < 2e-14
    assert proof.relative_gap < 1e-27
    assert "inf" not in str(proof)
    if alpha == 0.0:
        assert proof.rank == 0


def test_a_constant_column_gets_no_weight():
    for alpha in (0.0, 1e-3):
        model = LeastSquaresClassifier(alpha).fit(varied(0.1), LABELS)
        assert not model.coef_[:, 1].any()
        assert model.coef_[:, 0].any()
        assert model.certificate_.relative_gap < 1e-15
