"""KernelRidge: (K + α S⁻¹) u = y, by a factor that refinement with K in float64 makes exact."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .case import Answer, Case, Quicker, Refusal, attend
from .settings import SETTINGS

# What scikit-learn takes for the cube of a row.
SECONDS_PER_CUBE = 2e-11
# Rows from which a float32 factor is tried; below, scikit-learn's factor is the same.
MIN_ROWS = 400


def wrap(original: Callable) -> Callable:
    """In place of ``_solve_cholesky_kernel`` as ``sklearn.kernel_ridge`` knows it."""

    @wraps(original)
    def solve_cholesky_kernel(K, y, alpha, sample_weight=None, copy=False):
        return attend(KernelRidgeCase(original, K, y, alpha, sample_weight, copy))

    return solve_cholesky_kernel


class KernelRidgeCase(Case):
    """One kernel system; an answer is u (n, outputs)."""

    kind, classes = "KernelRidge", 0

    def __init__(self, original: Callable, K: Any, y: Any, alpha: Any, weight: Any, copy: bool):
        self._original, self.K, self.y, self.copy = original, K, y, copy
        self.alpha, self.weight = np.atleast_1d(alpha), weight
        self.rows = self.columns = K.shape[0]

    def check(self) -> None:
        if not isinstance(self.K, np.ndarray) or self.K.dtype != np.float64:
            raise Refusal("the kernel matrix is not one of float64")
        if not np.all(self.alpha == self.alpha[0]) or not self.alpha[0] > 0:
            raise Refusal("alpha is not one positive number")
        if self.weight is not None and not np.all(np.asarray(self.weight) >= 0):
            raise Refusal("sample weights are negative")
        if self.rows < MIN_ROWS and not self.any_size:
            raise Quicker(f"scikit-learn's closed form is quicker below {MIN_ROWS} rows")

    def seconds(self) -> float:
        return SECONDS_PER_CUBE * self.rows**3

    def original(self) -> Any:
        K = self.K.copy() if SETTINGS.compare else self.K
        return self._original(K, self.y, self.alpha, self.weight, self.copy)

    @property
    def _weight(self) -> np.ndarray | None:
        if self.weight is None or np.ndim(self.weight) == 0:
            return None if self.weight in (None, 1.0) else np.full(self.rows, float(self.weight))
        return np.asarray(self.weight, dtype=np.float64)

    def solve(self) -> Answer:
        from ..core.solve.closed_form.kernel_ridge import KernelSystem
        from ..core.solve.threads import one_blas_thread

        weight = self._weight
        K = self.K if weight is None else self.K.copy()  # weights are multiplied into it
        with one_blas_thread():
            found = KernelSystem(K, self.y, weight).solve(float(self.alpha[0]))
        proof = found.certificate
        gap = proof.excess / max(proof.objective, np.finfo(float).tiny)
        return Answer(found.u, proof.objective, gap, f"{proof.factorisation} and refinement")

    def primal(self, value: np.ndarray) -> float:
        """½ Σ s ‖Ku − y‖² + ½ α uᵀKu."""
        F, weight = self.K @ value, self._weight
        squares = ((F - self.y) ** 2).sum(axis=1)
        loss = squares.sum() if weight is None else weight @ squares
        return 0.5 * float(loss) + 0.5 * float(self.alpha[0]) * float(np.vdot(value, F))

    def predict(self, value: np.ndarray) -> np.ndarray:
        """A regression has no classes: nothing changes them."""
        return np.zeros(self.rows)
