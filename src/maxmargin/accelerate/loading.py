"""When the solvers are loaded: their compiled kernels cost a program time that fits must earn.

Loading is worth it once the fits that maxmargin could solve, this one included, are expected to
cost scikit-learn as long as loading does.  The sum is of sizes, not of a clock, so that a program
gets the same answers in every run.
"""

from __future__ import annotations

import sys

from .settings import SETTINGS

# Seconds until the first answer: numba, and kernels read from numba's cache on disk.
LOADING_SECONDS = 0.5
_expected = 0.0


def is_loaded() -> bool:
    return "maxmargin.core.solve.driver" in sys.modules


def worth_loading(seconds: float) -> bool:
    """Whether the solvers are loaded, or should be for a fit expected to take so long."""
    global _expected
    if SETTINGS.eager or is_loaded():
        return True
    _expected += seconds
    return _expected >= LOADING_SECONDS
