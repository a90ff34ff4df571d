"""The column whose weight is LIBLINEAR's bias."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.accelerate.liblinear import column_appended


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_with_one_more_value(kind, dtype):
    X = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], dtype=dtype)
    wide = column_appended(kind(X), 0.5)
    dense = wide.toarray() if sparse.issparse(wide) else wide
    np.testing.assert_array_equal(dense, np.column_stack([X, np.full(3, 0.5)]))
    assert wide.dtype == dtype


def test_entries_stored_in_pieces_are_added_up_and_the_given_rows_are_left_alone():
    pieces = (np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3]))
    X = sparse.csr_matrix(pieces, shape=(2, 2))
    wide = column_appended(X, 1.0)
    assert X.nnz == 3
    assert wide.has_canonical_format
    np.testing.assert_array_equal(wide.toarray(), [[0, 3, 1], [5, 0, 1]])
