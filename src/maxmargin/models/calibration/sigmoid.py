"""The sigmoid of two classes, by maximum likelihood.

    min over a, b    Σ w (log(1 + eᵘ) − t u) + ½ μ a² + ¼ λ b²,     u = a s + b

‖b‖² of both classes is least, b²/2, where their biases are opposite: what ``maps.py`` minimises for
k classes.  Newton's steps, compiled: of a hundred rows NumPy's calls take ten times as long.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MAX_NEWTON_STEPS = 50
NEWTON_TOL = 1e-8
# Weight of the prior of the biases, and of the slope, in rows.
BIAS_PRIOR, SLOPE_PRIOR = 1.0, 1e-3
# A step is taken that brings this share of what its length promises, and halved down to the least.
SUFFICIENT_SHARE, LEAST_LENGTH = 1e-4, 1e-6


@njit(cache=True, nogil=True, error_model="numpy")
def fit_sigmoid(s, t, weight):
    """The slope a and the bias b for scores s and targets t."""
    a, b = 1.0, 0.0
    value, slope, bend = _look(s, t, weight, a, b)
    for _ in range(MAX_NEWTON_STEPS):
        volume = bend[0] * bend[2] - bend[1] * bend[1]
        da = (bend[2] * slope[0] - bend[1] * slope[1]) / volume
        db = (bend[0] * slope[1] - bend[1] * slope[0]) / volume
        decrease = slope[0] * da + slope[1] * db
        if not decrease > NEWTON_TOL * max(1.0, value):
            break
        length, before = 1.0, value
        value, slope, bend = _look(s, t, weight, a - da, b - db)
        while not value <= before - SUFFICIENT_SHARE * length * decrease and length > LEAST_LENGTH:
            length *= 0.5
            value, slope, bend = _look(s, t, weight, a - length * da, b - length * db)
        a, b = a - length * da, b - length * db
    return a, b


@njit(cache=True, nogil=True, error_model="numpy")
def _look(s, t, weight, a, b):
    """The objective, its gradient and its Hessian (aa, ab, bb)."""
    value = 0.5 * SLOPE_PRIOR * a * a + 0.25 * BIAS_PRIOR * b * b
    ga, gb = SLOPE_PRIOR * a, 0.5 * BIAS_PRIOR * b
    haa, hab, hbb = SLOPE_PRIOR, 0.0, 0.5 * BIAS_PRIOR
    for i in range(len(s)):
        u = a * s[i] + b
        small = np.exp(-abs(u))
        p = 1.0 / (1.0 + small) if u > 0.0 else small / (1.0 + small)
        value += weight[i] * (max(u, 0.0) + np.log1p(small) - t[i] * u)
        r, q = weight[i] * (p - t[i]), weight[i] * p * (1.0 - p)
        ga += r * s[i]
        gb += r
        haa += q * s[i] * s[i]
        hab += q * s[i]
        hbb += q
    return value, (ga, gb), (haa, hab, hbb)
