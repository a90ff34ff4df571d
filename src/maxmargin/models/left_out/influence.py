"""influence: what each row does to the weights, and to given predictions.

    w = Σ α_i y_i (x_i − μ)     (with k classes α_i is a vector, and so is its product)

Every row pulls at the weights with its own term of this sum; a row without a multiplier does
nothing.  Rows are taken about their mean where the bias is free, which does not see the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from ...core.types import ArrayLike, MatrixLike
from ..validation import check_rows
from .known_data import data_of_fit


@dataclass(frozen=True)
class Influence:
    """``pull`` (n,): the length of each row's term of the weights.  ``part`` (n, points), with k
    classes (n, points, k): each row's term of the scores at the points asked for, which add up to
    w·(x − μ) there; None where none were."""

    pull: np.ndarray
    part: np.ndarray | None = None

    def most(self, count: int = 10) -> np.ndarray:
        """The rows that pull hardest, hardest first."""
        return np.argsort(-self.pull, kind="stable")[:count]


def influence(
    model: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    at: MatrixLike | None = None,
) -> Influence:
    """What each row of the fit does to a linear machine, and to its scores ``at`` some points.

    X, y and sample_weight are the data of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, influence
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVM().fit(X[50:], y[50:])
    >>> told = influence(model, X[50:], y[50:], at=X[50:51])
    >>> bool((told.pull > 0).sum() == len(model.support_)), told.part.shape
    (True, (100, 1))
    """
    if not hasattr(model, "coef_") or not hasattr(getattr(model, "certificate_", None), "dual"):
        raise TypeError(
            "influence knows LinearSVM, LogisticRegression and their CV forms, whose weights are "
            f"sums over rows, got {type(model).__name__}."
        )
    X, codes, weight, *_ = data_of_fit(model, X, y, sample_weight)
    beta = _signed_multipliers(model, X, codes, weight)
    centre = np.asarray(X.mean(axis=0)).ravel() if model.fit_intercept else np.zeros(X.shape[1])
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else np.einsum("ij,ij->i", X, X)
    q = np.asarray(squares).ravel() - 2.0 * np.asarray(X @ centre).ravel() + centre @ centre
    pull = np.linalg.norm(beta, axis=1) * np.sqrt(np.maximum(q, 0.0))
    if at is None:
        return Influence(pull)
    points = check_rows(model, at, reset=False)
    points = np.asarray(points.todense() if hasattr(points, "todense") else points) - centre
    products = np.asarray(X @ points.T) - centre @ points.T
    part = products[:, :, None] * beta[:, None, :]
    return Influence(pull, part[:, :, 0] if beta.shape[1] == 1 else part)


def _signed_multipliers(model, X, codes, weight) -> np.ndarray:
    """(n, rows of coef_): what each row is multiplied by in the weights."""
    n = len(codes)
    if hasattr(model, "alpha_"):
        out = np.zeros((n, len(model.coef_)))
        out[model.support_] = model.dual_coef_.T
        return out
    c = float(model.C) * (np.ones(n) if weight is None else weight)
    F = np.asarray(X @ model.coef_.T) + model.intercept_
    if F.shape[1] == 1:
        y = np.where(codes == 1, 1.0, -1.0)
        return (c * y * expit(-y * F[:, 0]))[:, None]
    share = -softmax(F, axis=1)
    share[np.arange(n), codes] += 1.0
    return c[:, None] * share
