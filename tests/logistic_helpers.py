"""Small problems of several classes for the logistic losses."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maxmargin.core.problem.class_losses import Softmax
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.problem.problem import Bias, costs
from maxmargin.core.rows.rows import as_rows


def blobs(n=60, d=3, k=3, spread=1.0, seed=0):
    """Gaussian points around k centres, every class present; labels 0, …, k − 1."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(min(k, n))
    centres = rng.standard_normal((k, d))
    return centres[y] + spread * rng.standard_normal((n, d)), y


def softmax_problem(X, y, C=1.0, bias=Bias.FREE, weight=None) -> MulticlassProblem:
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    y = np.asarray(y, dtype=np.int64)
    k = int(y.max()) + 1
    return MulticlassProblem(as_rows(X), y, costs(C, weight, len(y)), Softmax(), k, bias)
