"""The sigmoid of two classes, by maximum likelihood.

    min over a, b    Σ w (log(1 + eᵘ) − t u) + ½ μ a² + ¼ λ b²,     u = a s + b

‖b‖² of both classes is least, b²/2, where their biases are opposite: what ``maps.py`` minimises for
k classes.  Newton's steps.  A look at the rows is compiled, as of a hundred NumPy's calls take ten
times as long; of a thousand they take as long, and a first fit need not wait for a compiler.
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
# Rows that NumPy looks at: 18 µs instead of 8 at 500 rows, 30 instead of 32 at 2,000, and twice as
# long as a compiled look from 20,000 on.
MIN_ARRAY_ROWS, MAX_ARRAY_ROWS = 500, 10_000


def fit_sigmoid(s, t, weight):
    """The slope a and the bias b for scores s and targets t."""
    look = _look_at_once if MIN_ARRAY_ROWS <= len(s) <= MAX_ARRAY_ROWS else _look
    a, b = 1.0, 0.0
    value, slope, bend = look(s, t, weight, a, b)
    for _ in range(MAX_NEWTON_STEPS):
        volume = bend[0] * bend[2] - bend[1] * bend[1]
        if not volume > 0.0:  # scores that are no numbers
            break
        da = (bend[2] * slope[0] - bend[1] * slope[1]) / volume
        db = (bend[0] * slope[1] - bend[1] * slope[0]) / volume
        decrease = slope[0] * da + slope[1] * db
        if not decrease > NEWTON_TOL * max(1.0, value):
            break
        length, before = 1.0, value
        value, slope, bend = look(s, t, weight, a - da, b - db)
        while not value <= before - SUFFICIENT_SHARE * length * decrease and length > LEAST_LENGTH:
            length *= 0.5
            value, slope, bend = look(s, t, weight, a - length * da, b - length * db)
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


def _look_at_once(s, t, weight, a, b):
    """The same on whole arrays."""
    u = a * s + b
    small = np.exp(-np.abs(u))
    p = np.where(u > 0.0, 1.0, small) / (1.0 + small)
    value = 0.5 * SLOPE_PRIOR * a * a + 0.25 * BIAS_PRIOR * b * b
    value += float(weight @ (np.maximum(u, 0.0) + np.log1p(small) - t * u))
    r, q = weight * (p - t), weight * p * (1.0 - p)
    qs = q * s
    slope = SLOPE_PRIOR * a + float(r @ s), 0.5 * BIAS_PRIOR * b + float(r.sum())
    bend = SLOPE_PRIOR + float(qs @ s), float(qs.sum()), 0.5 * BIAS_PRIOR + float(q.sum())
    return value, slope, bend
