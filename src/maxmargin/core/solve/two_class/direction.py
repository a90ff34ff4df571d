"""One Newton direction: solve  (D + Σ s_i x̃_i x̃_iᵀ) (dw, db) = −(g_w, g_b).

x̃ = (x − μ, 1), D = diag(1, …, 1, 0).  The smaller of the two equal systems is factored, d × d
or m × m for m chosen rows, with b eliminated first and the diagonal scaled to one: features of
any scale then cost no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, spotrf, spotrs

from ...problem.problem import Bias
from ...rows.gram import column_gram, weighted_rows
from ...rows.rows import AnyRows, shape

# Curvature lent to a free bias while no row has any, relative to one row's: the step is
# then far too long, and the exact line search cuts it to size.
BIAS_CURVATURE_SHARE = 1e-2
# The first shift tried where rounding defeats a factorisation, of a diagonal of ones.
FIRST_SHIFT = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}


def newton_system(rows: AnyRows, index, s, mu, bias: Bias) -> Callable:
    """(g_w, g_b) ↦ (dw, db), with ``s`` the curvatures of the rows named; factored once."""
    _, d = shape(rows)
    if len(index) < d:
        return _through_points(weighted_rows(rows, index, s, mu), s, bias)
    return through_columns(*column_gram(rows, index, s, mu), s, bias)


def through_columns(G, h, s, bias: Bias) -> Callable:
    """Factor I + G − h hᵀ/S, where S is the bias's own curvature; several g are columns."""
    H, S = G, float(s.sum())
    np.einsum("ii->i", H)[:] += 1.0  # a view of the diagonal
    if bias:
        H -= np.outer(h, h / S)
    solve = scaled_factor(H)

    def direction(g_w, g_b):
        if not bias:
            return solve(-g_w), 0.0 * g_b
        dw = solve(-g_w + np.multiply.outer(h, g_b / S))
        return dw, -(g_b + h @ dw) / S

    return direction


def _through_points(A, s, bias: Bias) -> Callable:
    """Factor K = I + AAᵀ;  (I + AᵀA)⁻¹ g = g − Aᵀ K⁻¹ A g  (the "other" normal equations)."""
    K = A @ A.T
    np.einsum("ii->i", K)[:] += 1.0
    e = np.sqrt(s)
    solve = scaled_factor(K)

    def direction(g_w, g_b):
        Ag, Ke = solve(np.column_stack([A @ g_w, e])).T
        if not bias:
            return A.T @ Ag - g_w, 0.0
        # e·Ke is the Schur complement of b, without the cancellation of forming it.
        db = (float(e @ Ag) - g_b) / float(e @ Ke)
        return A.T @ (Ag - db * Ke) - g_w, db

    return direction


def solve_scaled(H, rhs):
    """Cholesky after scaling the diagonal to one; a growing shift if rounding defeats it."""
    return scaled_factor(H)(rhs)


def scaled_factor(H) -> Callable:
    """rhs ↦ H⁻¹ rhs in float64, by the Cholesky factor of H, which is overwritten."""
    potrf, potrs = (spotrf, spotrs) if H.dtype == np.float32 else (dpotrf, dpotrs)
    scale = 1.0 / np.sqrt(np.maximum(H.diagonal().astype(np.float64), 1e-300))
    H *= scale[:, None]
    H *= scale
    shift, failed = 0.0, 1
    for _ in range(8):
        lifted = H if shift == 0.0 else H + shift * np.eye(len(H), dtype=H.dtype)
        factor, failed = potrf(lifted, lower=1)
        if failed == 0:
            break
        shift = max(FIRST_SHIFT[H.dtype], 100.0 * shift)

    def solve(rhs):
        across = scale if rhs.ndim == 1 else scale[:, None]
        if failed:
            return rhs * across**2  # still downhill
        return potrs(factor, rhs * across, lower=1)[0] * across

    return solve
