"""Where scikit-learn's logistic solvers are quicker at their usual tolerance.

The number of lbfgs's steps grows with the spread of the Hessian's eigenvalues, and it never takes
more than ``max_iter`` of them.  Measured against certified fits here, in turns:

- dense rows of unit variance take it a dozen steps, 0.5 to 1.1 times the time of a fit here; two
  classes with a spread of up to 4000 take it 0.5 to 0.9 times; from 1e6 on 2 to 4 times;
- several classes on 54 made-up problems (columns of one to seven decades, 3 to 12 classes, C of 1
  and 100): on the 49 where four steps here bring the relative gap below 1e5 (``NEAR_GAPS``) it
  takes 0.6 to 5.6 times as long, 1.6 in the geometric mean; on the others from an eighth on, and
  ends at ``max_iter``, far from the optimum;
- sparse rows with few columns and few values, 0.2 to 0.8 times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .case import Quicker

# Rows looked at, and how far the size of columns, with their offset, may exceed the variance of
# the steadiest for lbfgs to be quicker: with two classes; with more; with more on little data.
SAMPLED_ROWS = 256
_ONES = np.ones(2 * SAMPLED_ROWS)
MAX_SPREAD_TWO, MAX_SPREAD_MORE, MAX_SPREAD_LITTLE = 1e4, 10.0, 100.0
# Values of X times classes that are little.
LITTLE_VALUES = 500_000
# A variance below this share of the mean square is the rounding of a constant column.
CONSTANT_COLUMN_ROUNDING = 1e-12
# A smaller tolerance than scikit-learn's default, or a C of more than this, asks for more steps.
USUAL_TOL, MAX_C = 1e-4, 1000.0
# Sparse rows: columns up to which Hessians are dense, and values that are worth one.
MAX_HESSIAN_COLUMNS, MIN_SPARSE_VALUES = 2000, 300_000
# Sparse rows of more columns: where C is large, the values that are worth the many steps it takes.
LARGE_C, MIN_LARGE_C_VALUES = 10.0, 100_000
# LIBLINEAR's logistic regression is quicker on fewer values than these, dense.
MIN_LIBLINEAR_VALUES = 60_000
# Steps after which a fit of several classes must have come so near (a relative gap) to go on, and
# dense columns up to which its first step is cheap.  With gaps of 5 after four steps and ½ after
# six, 22 of the 54 problems took more than 1.1 times lbfgs's time, with this 8 do.
NEAR_GAPS = {4: 1e5}
MAX_DENSE_COLUMNS = 400
# A step here costs about as much as one of lbfgs's, which takes no more than these.
MAX_LBFGS_STEPS = 100


def few_steps_suffice(X: Any, given: Any, classes: int) -> bool:
    """Whether scikit-learn's solver is expected to stop after few steps."""
    if given.solver in ("sag", "saga") or given.tol < USUAL_TOL or max(given.Cs) > MAX_C:
        return False
    if sparse.issparse(X):
        if X.shape[1] > MAX_HESSIAN_COLUMNS:
            return classes == 2 and max(given.Cs) > LARGE_C and X.nnz < MIN_LARGE_C_VALUES
        return X.nnz < MIN_SPARSE_VALUES
    if classes > 2 and X.shape[1] > MAX_DENSE_COLUMNS:
        return True
    return _spread(X) <= _max_spread(X.size, classes)


def _max_spread(values: int, classes: int) -> float:
    if classes == 2:
        return MAX_SPREAD_TWO
    return MAX_SPREAD_LITTLE if values * classes < LITTLE_VALUES else MAX_SPREAD_MORE


def _spread(X: np.ndarray) -> float:
    """The largest mean square of a column over the smallest variance of one."""
    some = X[:: max(1, len(X) // SAMPLED_ROWS)]
    # In the middle of a small fit a call of numpy's costs 5 µs, ten times the sum itself; dot costs
    # least: 19 µs in all, where einsum and add.reduce took 31.
    if some.dtype != np.float64:
        some = some.astype(np.float64)
    ones = _ONES[: len(some)]
    squares, sums = ones.dot(some * some).tolist(), ones.dot(some).tolist()
    varied = [q - t * t / len(some) for q, t in zip(squares, sums, strict=True)]
    kept = [v for v, q in zip(varied, squares, strict=True) if v > CONSTANT_COLUMN_ROUNDING * q]
    return max(squares) / min(kept) if kept else 1.0


class Patience:
    """Remembers on which kinds of problems steps here were too many, and from which C on.

    A search over C comes back to the same columns and classes; a larger C is harder.
    """

    def __init__(self) -> None:
        self._hopeless: dict[tuple, float] = {}

    def refuse(self, kind: tuple, C: float) -> None:
        if self._hopeless.get(kind, np.inf) <= C:
            raise Quicker(_WHY)

    def watch(self, kind: tuple, C: float, step: int, gap: float) -> None:
        """After ``step`` steps the relative gap is ``gap``; what took long is not begun again."""
        far = step in NEAR_GAPS and not gap <= NEAR_GAPS[step]
        if far or step > MAX_LBFGS_STEPS:
            self._hopeless[kind] = min(C, self._hopeless.get(kind, np.inf))
        if far:
            raise Quicker(_WHY)

    def forget(self) -> None:
        self._hopeless.clear()


_WHY = "lbfgs reaches max_iter sooner than ours the optimum, by the steps taken so far"
PATIENCE = Patience()
