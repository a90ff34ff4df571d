"""Small kernel problems, and an independent convex solver to answer them."""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernels.features import exact_features
from maxmargin.core.kernels.kernels import kernel_for

from .helpers import oracle


def rings(n=80, noise=0.1, seed=0):
    """Two noisy rings around the origin, and a few labels the wrong way round."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) > 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    angle = rng.random(n) * 2 * np.pi
    radius = np.where(y > 0, 2.0, 1.0) + noise * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(rng.random(n) < 0.1, -y, y)


def kernel_optimum(X, y, C, kernel, weight=None, **parameters) -> float:
    """The optimum according to clarabel, on features from a factor of the kernel matrix."""
    K = kernel_for(X, kernel, **parameters)(X)
    return oracle(exact_features(K), y, C, weight=weight)[0]
