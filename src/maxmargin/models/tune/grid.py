"""Grids of C: the one users give, the default one, and the one a path finds for itself."""

from __future__ import annotations

from numbers import Integral

import numpy as np

# The default grid: 13 values from 1e-3 to 1e3, two per power of ten.
MIN_LOG10_C, MAX_LOG10_C = -3.0, 3.0
DEFAULT_GRID_SIZE = 13
STEPS_PER_DECADE = 2


def check_cs(Cs) -> np.ndarray:
    """Increasing positive values; a whole number asks for as many from 1e-3 to 1e3."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(f"Cs must be at least 1 when it is a number of values, got {Cs}.")
        return np.logspace(MIN_LOG10_C, MAX_LOG10_C, int(Cs))
    try:
        values = np.unique(np.asarray(Cs, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"Cs must be a number of values or a list of positive, finite ones, got {Cs!r}. "
            "The hard margin, C = inf, is a fit of its own: LinearSVM(C=inf)."
        )
    return values


def steps_from(C: float, count: int) -> np.ndarray:
    """Half powers of ten, the first of them at most C."""
    first = np.floor(np.log10(C) * STEPS_PER_DECADE)
    return 10.0 ** ((first + np.arange(count)) / STEPS_PER_DECADE)
