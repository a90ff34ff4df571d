"""Which problems are small enough for a last resort, and which are beyond float64 solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problem.demands import can_demand
from ...rows.rows import PairRows, dense, shape, size_of

# Multiplications of one step, P (D + B)², up to which there is a last resort: about 20 ms each.
MAX_STEP_WORK = 60_000
MAX_VALUES = 4000
# Sizes of rows whose squares leave float64 solvers no room for costs and multipliers.
LEAST, MOST = 1e-20, 1e20


def is_small(problem: Any) -> bool:
    """Whether the problem may be solved in 100 digits, in about a second."""
    if not can_demand(problem) or size_of(problem.rows) > MAX_VALUES:
        return False
    k = getattr(problem, "k", 1)
    unknowns = k * (problem.shape[1] + 1)
    return len(problem.c) * max(1, k - 1) * unknowns**2 <= MAX_STEP_WORK


def is_extreme(problem: Any) -> bool:
    """Whether it is small, and its rows so large or so tiny that other solvers lose their time."""
    if not is_small(problem):
        return False
    rows = problem.rows.items if isinstance(problem.rows, PairRows) else problem.rows
    most = float(np.abs(dense(rows, np.arange(shape(rows)[0]))).max(initial=0.0))
    return 0.0 < most < LEAST or most > MOST
