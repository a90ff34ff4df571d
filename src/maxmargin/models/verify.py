"""Check a fitted model's claim against data."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..core.certify.certificate import Certificate
from ..core.types import ArrayLike, MatrixLike
from .sparse_weights import with_dense_weights
from .validation import check_known


def verify(
    model: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Certificate:
    """Recompute the certificate of ``model`` on (X, y) from nothing but its numbers.

    ``y`` is what the model's ``fit`` takes: labels, or preferences for a ranker.

    Given the training data (and weights) it proves what ``model.certificate_`` does.  Given
    other data it tells, honestly, how far the model is from the optimum there.  The primal is
    always that of the model's own weights.  Multipliers are those stored with the model, and
    otherwise rebuilt from the margins; where they prove less than the model's ``tol``, those of a
    ``LinearSVM`` are sought by solving from there.  Of a closed form (least squares, Fisher,
    kernel ridge, Gaussians) and of the linear unit it recomputes the residual of the equations, on
    the training rows only for a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import LinearSVM, verify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> verify(LinearSVM().fit(X, y), X, y).holds(1e-6)
    True
    """
    if hasattr(model, "_verify"):  # whose y are no labels
        check_is_fitted(model)
        return model._verify(X, y, sample_weight, groups)
    if not hasattr(model, "_recertify"):
        raise TypeError(
            "verify recomputes the duality gap of a support vector machine, a LogisticRegression "
            f"or a ranker, or the equations of a closed form, got {type(model).__name__}. What a "
            "perceptron can prove is in its certificate_; the machines inside OneVsRest and "
            "OneVsOne are in estimators_, their proofs in certificates_."
        )
    check_is_fitted(model)
    model = with_dense_weights(model)
    return model._recertify(*check_known(model, X, y, sample_weight))
