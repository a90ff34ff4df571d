"""RidgeClassifier: least squares with a ridge, through whichever normal equations are smaller.

    min over W, b   Σ s_i ‖t_i − W x_i − b‖² + α‖W‖²

scikit-learn's direct solvers are exact but for rounding and slower; its iterative ones, which it
takes for sparse rows, stop at ``tol``.  The proof is the gradient of a strongly convex function.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, wraps
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from .case import Answer, Case, Quicker, Refusal, attend

# What scikit-learn takes for a value of X and a column, of d × d normal equations.
SECONDS_PER_PRODUCT = 1e-10
# Rows times columns from which ours are quicker, and columns up to which they are dense.
MIN_VALUES, MAX_SPARSE_SIDE = 200_000, 600
RIDGE_ATTRIBUTES = ("coef_", "intercept_", "n_iter_", "solver_")


def wrap(original: Callable) -> Callable:
    """In place of ``_BaseRidge.fit``, which ``RidgeClassifier.fit`` calls."""

    @wraps(original)
    def fit(self, X, y, sample_weight=None):
        if not any(kind.__name__ == "RidgeClassifier" for kind in type(self).__mro__):
            return original(self, X, y, sample_weight=sample_weight)
        return attend(RidgeCase(original, self, X, y, sample_weight))

    return fit


class RidgeCase(Case):
    """One fit of RidgeClassifier to targets −1 and 1; an answer is what it leaves, by name."""

    kind = "RidgeClassifier"

    def __init__(self, original: Callable, ridge: Any, X: Any, Y: Any, weight: Any):
        self._original, self.ridge, self.X, self.Y, self.given_weight = (
            original,
            ridge,
            X,
            Y,
            weight,
        )
        self.rows, self.columns = X.shape
        self.classes = 2 if np.ndim(Y) == 1 or Y.shape[1] == 1 else Y.shape[1]

    def check(self) -> None:
        ridge = self.ridge
        if not (isinstance(self.X, np.ndarray) or sparse.issparse(self.X)):
            raise Refusal("X is no numpy array")
        if ridge.positive:
            raise Refusal("positive=True is not solved by maxmargin")
        if not (isinstance(ridge.alpha, Real) and 0 < float(ridge.alpha) < np.inf):
            raise Refusal("alpha is not one positive number")
        if ridge.max_iter is not None:
            raise Refusal(f"max_iter={ridge.max_iter} may ask for an early stop")
        if ridge.solver in ("sag", "saga") and not self._plain_sag():
            raise Refusal(f"solver={ridge.solver!r} has random numbers or a bias of its own")
        if sparse.issparse(self.X) and min(self.X.shape) > MAX_SPARSE_SIDE:
            raise Refusal("conjugate gradients are quicker on large sparse rows")
        self._refuse_size()

    def _plain_sag(self) -> bool:
        own_bias = sparse.issparse(self.X) and self.ridge.fit_intercept
        return isinstance(self.ridge.random_state, Integral) and not own_bias

    def _refuse_size(self) -> None:
        if self.X.dtype == np.float32 and not self.any_size:
            raise Quicker("scikit-learn's closed form stays in float32, and takes half the time")
        if self.rows * self.columns < MIN_VALUES and not self.any_size:
            raise Quicker(f"scikit-learn's closed form is quicker below {MIN_VALUES} values")

    def seconds(self) -> float:
        return SECONDS_PER_PRODUCT * self.rows * self.columns * min(self.rows, self.columns)

    def original(self) -> dict[str, Any]:
        ridge = copy(self.ridge)
        self._original(ridge, self.X, self.Y, sample_weight=self.given_weight)
        return {name: vars(ridge)[name] for name in RIDGE_ATTRIBUTES if name in vars(ridge)}

    def settle(self, value: dict[str, Any]) -> Any:
        vars(self.ridge).update(value)
        return self.ridge

    @cached_property
    def weight(self) -> np.ndarray | None:
        if self.given_weight is None:
            return None
        return np.broadcast_to(np.asarray(self.given_weight, dtype=np.float64), self.rows).copy()

    @cached_property
    def targets(self) -> np.ndarray:
        return np.asarray(self.Y, dtype=np.float64).reshape(self.rows, -1)

    def solve(self) -> Answer:
        from ..core.certify.normal_equations import certify_least_squares
        from ..core.problem.targets import Values
        from ..core.rows.design import Design
        from ..core.solve.closed_form.least_squares import least_squares
        from ..core.solve.threads import one_blas_thread

        free, alpha = bool(self.ridge.fit_intercept), float(self.ridge.alpha)
        with one_blas_thread():
            design = Design(self.X, self.weight, centred=free)
            targets = Values(self.targets)
            offset = targets.mean(self.weight) if free else None
            length = targets.length(self.weight, 0.0 if offset is None else offset) or 1.0
            found = least_squares(design, targets, offset, alpha, length)
            b = np.zeros(targets.width) if offset is None else offset - design.mean @ found.W
            proof = certify_least_squares(
                design, targets, found.W, offset, alpha, found.system, length, found.slopes
            )
        gap = proof.excess / max(proof.objective, np.finfo(float).tiny)
        why = f"{found.system.factorisation} of the {found.system.system}' normal equations"
        return Answer(self._fitted(found.W, b), 2.0 * proof.objective, gap, why)

    def _fitted(self, W: np.ndarray, b: np.ndarray) -> dict[str, Any]:
        ridge, targets = self.ridge, W.shape[1]
        dtype = np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)
        many = np.ndim(self.Y) == 2
        intercept: Any = b.astype(dtype) if many else dtype.type(b[0])
        iterative = ridge.solver in ("lsqr", "sag", "saga")
        direct = "sparse_cg" if sparse.issparse(self.X) else "cholesky"
        return {
            "coef_": np.ascontiguousarray(W.T, dtype=dtype)
            if targets > 1
            else W[:, 0].astype(dtype),
            "intercept_": intercept if ridge.fit_intercept else 0.0,
            "n_iter_": np.ones(targets, dtype=np.int32) if iterative else None,
            "solver_": direct if ridge.solver == "auto" else ridge.solver,
        }

    def _scores(self, value: dict[str, Any]) -> np.ndarray:
        W = np.atleast_2d(value["coef_"]).astype(np.float64)
        return self.X @ W.T + value["intercept_"]

    def primal(self, value: dict[str, Any]) -> float:
        squares = ((self.targets - self._scores(value)) ** 2).sum(axis=1)
        loss = squares.sum() if self.weight is None else self.weight @ squares
        norm = float((np.asarray(value["coef_"], dtype=np.float64) ** 2).sum())
        return float(loss) + float(self.ridge.alpha) * norm

    def predict(self, value: dict[str, Any]) -> np.ndarray:
        S = self._scores(value)
        return S[:, 0] > 0 if S.shape[1] == 1 else S.argmax(axis=1)
