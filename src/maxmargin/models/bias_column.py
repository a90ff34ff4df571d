"""A penalised bias is the weight of one more feature, which is 1 in every row.

    ½‖w‖² + ½b² + Σ c ℓ(y (w·x + b))  =  ½‖w̃‖² + Σ c ℓ(y w̃·x̃),      w̃ = (w, b),  x̃ = (x, 1)

So the column is appended where rows come in, a problem without a bias is solved, and its last
weight is b.  No solver and no certificate knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ..core.certify.certificate import Certificate
from ..core.certify.separability import NotSeparableError, Separation

T = TypeVar("T")


def with_ones(X) -> Any:
    """(x, 1) for every row of X, dense or CSR, in the same precision."""
    n, d = X.shape
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((n, 1), dtype=X.dtype)], format="csr")
    out = np.ones((n, d + 1), dtype=X.dtype)
    out[:, :d] = X
    return out


def joined(model) -> Any:
    """A copy of the model that is about x̃: without a bias, which is its last weight."""
    inner = copy(model)
    inner.fit_intercept = inner.penalize_bias = False
    if hasattr(model, "coef_"):
        inner.coef_ = np.column_stack([model.coef_, model.intercept_])
        inner.intercept_ = np.zeros_like(model.intercept_)
    return inner


def fit_joined(model, fit: Callable[[Any], T], norm: Callable[[np.ndarray], float]) -> T:
    """Fit by ``fit(inner)``, of a model about x̃, and tell of x; the margin is 1/``norm(W)``."""
    inner = joined(model)
    try:
        answer = fit(inner)
    except NotSeparableError as error:
        raise NotSeparableError(by_class(error.proof)) from None
    given = model.get_params(deep=False)
    told = {name: value for name, value in vars(inner).items() if name not in given}
    vars(model).update(told_of_x(told, norm))
    return answer


def told_of_x(told: dict[str, Any], norm: Callable[[np.ndarray], float]) -> dict[str, Any]:
    """What a fit about x̃ tells, by the names of attributes, told of x."""
    W, b = told["coef_"][:, :-1].copy(), told["coef_"][:, -1].copy()
    length = norm(W)
    return told | {
        "coef_": W,
        "intercept_": b,
        "margin_": 1.0 / length if length > 0 else np.inf,
        "certificate_": about_bias(told["certificate_"], W.shape[1]),
    }


def prove_joined(model, prove: Callable[[Any], Certificate]) -> Certificate:
    """The certificate of ``prove(inner)``, of a model about x̃, told of x."""
    return about_bias(prove(joined(model)), model.coef_.shape[1])


def about_bias(certificate: Certificate, d: int) -> Certificate:
    """The same proof; of the weights it counts, those of the ones are called biases.

    ``d``: the columns of x.
    """
    told = re.sub(
        r"bias none(.*)\((\d+) weights, 0 bias",
        lambda found: (
            f"bias penalized{found[1]}({int(found[2]) // (d + 1) * d} weights, "
            f"{int(found[2]) // (d + 1)} bias"
        ),
        certificate.problem,
    )
    return replace(certificate, problem=told)


def by_class(proof: Separation) -> Separation:
    """Weights that cancel in x̃ cancel in 1: of two classes each has half of them, here one."""
    if proof.classes > 2 or proof.weights is None or proof.residual is None:
        return proof
    return replace(
        proof,
        weights=2.0 * proof.weights,
        margin=2.0 * proof.margin,
        residual=2.0 * proof.residual,
    )
