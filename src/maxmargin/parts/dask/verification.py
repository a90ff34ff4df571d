"""Recompute a certificate where the data are."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ...core.types import ArrayLike, MatrixLike
from ..verify import is_verified_by_parts, names_of_proofs, need_same, verify_parts
from .inputs import spread_out
from .optional_dask import some_client


def verify(
    model: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    tol: float | None = None,
) -> Any:
    """The certificate of a fitted LinearSVM, LogisticRegression or closed form on Dask collections.

    As ``maxmargin.verify`` in memory: where the multipliers stored with the model, or rebuilt from
    the margins, prove less than ``tol``, by default the model's own, others are sought on the
    cluster.
    """
    if not is_verified_by_parts(type(model)):
        known = ", ".join(names_of_proofs())
        raise TypeError(f"spread.verify recomputes {known}, got {type(model).__name__}.")
    check_is_fitted(model)
    with some_client() as (client, _):
        data = spread_out(model, client, X, y, sample_weight)
        with closing(data.parts):
            need_same(model, data, "X")
            return verify_parts(model, data, tol)
