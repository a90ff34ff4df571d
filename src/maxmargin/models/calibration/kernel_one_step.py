"""``one_step`` where the model is a sum of kernel values: the leverage of a row from a Gram matrix.

    Aⱼ = k(xⱼ, xⱼ) − vᵀ M⁻¹ v,     v = (k(x_N, xⱼ), 1),     M = ( K_NN + D_N⁻¹   1 )
                                                                (      1ᵀ        0 )

N are the rows with curvature D; the border is the free bias.  It is what H⁻¹ becomes in the space
of the kernel, and of wide linear models the cheaper way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...core.solve.threads import one_blas_thread
from .one_step import cut
from .slopes import Slopes

# Rows with curvature beyond which a factorisation costs more than fits to folds.
MAX_CURVED_ROWS = 2_000
# Kernel values held at once.
MAX_BLOCK_VALUES = 5e6


def kernel_one_step(
    kernel: Callable, norms: np.ndarray, parts: Slopes, bias: bool, some: np.ndarray
) -> np.ndarray:
    """The scores (n, 1) of the rows ``some``, each as if it had not been there.

    ``kernel(a, b)`` are the values between the rows a and b, ``norms`` those of a row with itself.
    """
    out = parts.scores[some].copy()
    D = parts.curvature[:, 0, 0]
    curved = np.flatnonzero(D > 0)
    M = np.ones((len(curved) + bias, len(curved) + bias))
    if bias:
        M[-1, -1] = 0.0
    M[: len(curved), : len(curved)] = kernel(curved, curved) + np.diag(1.0 / D[curved])
    with one_blas_thread():
        factors = linalg.lu_factor(M, check_finite=False)
        size = max(1, int(MAX_BLOCK_VALUES // max(1, len(M))))
        moving = np.flatnonzero(parts.slope[some, 0])
        for at in range(0, len(moving), size):
            block = moving[at : at + size]
            rows = some[block]
            V = np.ones((len(M), len(rows)))
            V[: len(curved)] = kernel(curved, rows)
            A = norms[rows] - np.einsum("ij,ij->j", V, linalg.lu_solve(factors, V))
            A = np.maximum(A, 0.0)  # but for rounding
            slope, curvature = parts.of_one(rows)
            rest = np.maximum(1.0 - curvature[:, 0, 0] * A, np.finfo(float).eps)
            step = (A / rest * slope[:, 0])[:, None]
            cut(step, slope, parts, KernelDirections(kernel, norms, curved, factors), rows)
            out[block] += step
    return out


class KernelDirections(NamedTuple):
    """Where H⁻¹ of some rows leads: the scores of all rows, and the norm of the weights."""

    kernel: Callable
    norms: np.ndarray
    curved: np.ndarray
    factors: tuple

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """k(x, xⱼ) less what M⁻¹v takes from it."""
        kernel, curved = self.kernel, self.curved
        everything, bordered = np.arange(len(self.norms)), len(self.factors[0]) > len(curved)
        V = np.ones((len(self.factors[0]), len(rows)))
        V[: len(curved)] = kernel(curved, rows)
        T = linalg.lu_solve(self.factors, V)
        a, offset = T[: len(curved)], T[-1] if bordered else 0.0
        moved = kernel(everything, rows) - kernel(everything, curved) @ a - offset
        among = kernel(curved, curved) @ a
        norms = self.norms[rows] + np.sum(a * (among - 2.0 * V[: len(curved)]), axis=0)
        return moved.T, np.maximum(norms, 0.0)
