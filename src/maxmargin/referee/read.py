"""What a model and its data say, as rationals: every floating-point number is one.

rows and weights    taken as they are
c_i = C s_i         rounded once, as in any program
k(x_i, x_j)         linear x·z and poly (γ x·z + coef0)^degree are rational;
                    rbf exp(−γ‖x − z‖²), laplacian exp(−γ‖x − z‖₁) and cosine are enclosed
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .hinge import ZERO, dot
from .intervals import Interval, Number, exp, high, sqrt


class Unknown(ValueError):
    """What the referee cannot judge."""


def number(x: Number) -> float:
    """For the eye."""
    try:
        return float(high(x))
    except OverflowError:
        return math.inf if high(x) > 0 else -math.inf


def rationals(values) -> list[Fraction]:
    return [Fraction(each) for each in np.asarray(values).tolist()]


def matrix(X) -> list[list[Fraction]]:
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return [[Fraction(each) for each in row] for row in X.tolist()]


def gram(X, model) -> list[list[Number]]:
    """Kernel values of all pairs of rows; γ and the rest as the model has them."""
    if model.kernel == "precomputed":
        return matrix(X)
    rows, name = matrix(X), model.kernel
    gamma = Fraction(float(getattr(model, "gamma_", None) or model._kernel.gamma))
    shift = Fraction(float(model.coef0))

    def value(x, z) -> Number:
        if name in ("linear", "poly"):
            product = dot(x, z)
            return product if name == "linear" else (gamma * product + shift) ** int(model.degree)
        if name == "cosine":
            size = sqrt(dot(x, x) * dot(z, z))
            product = dot(x, z)
            return Interval(*sorted((product / size.lo, product / size.hi))) if size.lo else ZERO
        gaps = [abs(a - b) for a, b in zip(x, z, strict=True)]
        if name not in ("rbf", "laplacian"):
            raise Unknown(f"the referee does not know the kernel {name!r}")
        far = dot(gaps, gaps) if name == "rbf" else sum(gaps, ZERO)
        return exp(-gamma * far) if far else Fraction(1)

    K: list[list[Number]] = [[ZERO] * len(rows) for _ in rows]
    for i, x in enumerate(rows):
        for j in range(i + 1):
            K[i][j] = K[j][i] = value(x, rows[j])
    return K


def codes_of(model, y) -> list[int]:
    place = {label: i for i, label in enumerate(model.classes_.tolist())}
    return [place[label] for label in np.asarray(y).tolist()]


def row_weights(model, codes, sample_weight) -> np.ndarray:
    """s_i as floats: sample weights times class weights."""
    n, k = len(codes), len(model.classes_)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    given = getattr(model, "class_weight", None)
    if given is None:
        return weight
    if given == "balanced":
        each = n / (k * np.bincount(codes, minlength=k))
    else:
        each = np.array([given.get(label, 1.0) for label in model.classes_.tolist()])
    return weight * each[np.asarray(codes)]


def costs(C: float, weight: np.ndarray) -> list[Any]:
    """c_i = C s_i, rounded once as in any program; None for ∞."""
    if math.isinf(C):
        return [None if w > 0 else ZERO for w in weight.tolist()]
    return rationals(float(C) * weight)
