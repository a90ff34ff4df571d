"""What a perceptron is given: parameters, training sets, streams and starts, checked."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from ...core.solve.perceptron.passes import PassPlan
from ...core.solve.perceptron.updates import PerceptronWeights
from ..validation import FLOAT_DTYPES, check_training, count, one_of, positive

PASS_ORDERS = ["cycle", "shuffle", "random"]


def check_plan(model) -> PassPlan:
    """The parameters that Perceptron and KernelPerceptron share, checked."""
    positive("learning_rate", model.learning_rate)
    if not isinstance(model.margin, Real) or not 0.0 <= float(model.margin) < np.inf:
        raise ValueError(f"margin must be a finite number of at least 0, got {model.margin!r}.")
    size = getattr(model, "batch_size", 1)
    whole = isinstance(size, Integral) and not isinstance(size, bool) and int(size) >= 1
    if not whole and not (isinstance(size, str) and size == "all"):
        raise ValueError(
            f'batch_size must be a whole number of at least 1 or "all", got batch_size={size!r}.'
        )
    if model.pocket and model.average:
        raise ValueError(
            "pocket=True keeps the best weights met, average=True the mean of all of them. "
            "Choose one of the two."
        )
    return PassPlan(
        one_of("order", model.order, PASS_ORDERS),
        count("max_passes", model.max_passes),
        None if model.tol is None else positive("tol", model.tol),
        bool(model.pocket),
    )


def training_set(model, X, y):
    """As ``check_training``, with rows that lie together."""
    X, classes, codes = check_training(model, X, y)
    return contiguous(X), classes, codes


def plainly_valid(model, X, y) -> bool:
    """Whether scikit-learn's validation would find nothing to convert or to complain about.

    It costs more than a pass over a few rows of a stream, so what is plain is let through.
    """
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOAT_DTYPES
        and y.ndim == 1
        and y.dtype.kind in "iubUS"
        and 0 < len(X) == len(y)
        and X.shape[1] == model.n_features_in_
        and not hasattr(model, "feature_names_in_")
        and _finite(X)
    )


def _finite(X) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        return math.isfinite(X.sum())


def contiguous(X):
    """Rows that lie together in memory: every visit reads one."""
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


def put_start(weights: PerceptronWeights, coef_init, intercept_init) -> None:
    """Write the caller's start into fresh weights."""
    for name, given, place in (
        ("coef_init", coef_init, weights.W),
        ("intercept_init", intercept_init, weights.b),
    ):
        if given is None:
            continue
        values = np.asarray(given, dtype=np.float64)
        if values.size != place.size or not np.isfinite(values).all():
            raise ValueError(
                f"{name} must hold {place.size} finite numbers in the shape {place.shape}, "
                f"got shape {values.shape}."
            )
        place[...] = values.reshape(place.shape)
