"""Rounds of dual ascent until the gap seems closed: the same for two classes and for k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.solve.contract import Ending, OutOfBudget


def run_rounds(
    ascent: Any, epochs: int, tol: float, hopeless: Callable[[list[float]], bool]
) -> Ending:
    """``ascent.round()`` until the gap is ``tol``, or ``hopeless(gaps)`` gives it up."""
    gaps = [np.inf]
    try:
        while True:
            ascent.monitor.step(epochs)
            ascent.round()
            ascent.monitor.record(ascent.primal, ascent.dual)
            gaps.append((ascent.primal - ascent.dual) / ascent.primal)
            if gaps[-1] <= tol:
                return Ending.REACHED
            if hopeless(gaps):
                return Ending.STALLED
    except OutOfBudget as stop:
        return stop.ending
    except KeyboardInterrupt:
        return Ending.INTERRUPTED
