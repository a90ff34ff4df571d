"""A polynomial basis that would not fit is refused before it is made."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import PolynomialBasis, QuadraticBasis
from maxmargin.models import bases


def test_the_number_of_columns_and_the_kernel_are_told(monkeypatch):
    monkeypatch.setattr(bases, "_physical_memory", lambda: 1e9)
    basis = PolynomialBasis(5).fit(np.zeros((1, 100)))
    with pytest.raises(MemoryError, match=r"96,560,645 columns of 100.*kernel='poly', degree=5"):
        basis.transform(np.zeros((10, 100)))
    assert QuadraticBasis().fit_transform(np.ones((10, 3))).shape == (10, 9)


def test_sparse_rows_are_let_pass(monkeypatch):
    monkeypatch.setattr(bases, "_physical_memory", lambda: 1.0)
    assert QuadraticBasis().fit_transform(sparse.csr_matrix(np.eye(3))).shape == (3, 9)
    with pytest.raises(MemoryError):
        QuadraticBasis().fit_transform(np.eye(3))
