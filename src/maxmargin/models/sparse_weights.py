"""``sparsify`` and ``densify``: weights that are mostly zero, kept as scikit-learn keeps them."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted


class SparseWeights:
    """A linear model whose ``coef_`` may be sparse between fits.

    Scores are the same to the bit: they are computed from the same numbers.
    """

    coef_: Any

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix: smaller, in memory and in a pickle, where it is mostly
        zero.  A fit, a model file and a proof have it dense again."""
        check_is_fitted(self)
        if not isinstance(self.coef_, np.ndarray) and not sparse.issparse(self.coef_):
            raise ValueError("sparsify() is for weights in arrays; these are on a device.")
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array, as after ``fit``."""
        check_is_fitted(self)
        self.coef_ = dense_weights(self.coef_)
        return self


def begin_dense(model: Any) -> None:
    """Before a fit, which may begin where the last one ended."""
    if sparse.issparse(vars(model).get("coef_")):
        model.densify()


def dense_weights(coef: Any) -> Any:
    """The array of weights that may be sparse."""
    return coef.toarray() if sparse.issparse(coef) else coef


def with_dense_weights(model: Any) -> Any:
    """The model, or where its weights are sparse a copy with an array."""
    if not sparse.issparse(vars(model).get("coef_")):
        return model
    return copy(model).densify()
