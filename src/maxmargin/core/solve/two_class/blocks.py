"""Rows near their margin, about their mean, and where a minimisation over them stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem.problem import Bias
from ...rows.rows import AnyRows


@dataclass
class NearRows:
    """Rows to minimise over, and the constant pull of the rows frozen outside."""

    rows: AnyRows
    y: np.ndarray
    cap: np.ndarray
    mu: np.ndarray
    bias: Bias
    v0: np.ndarray
    r0: float = 0.0

    def objective(self, state: State) -> float:
        """Of the hinge, but for what frozen rows add whatever (w, b) is."""
        w = state.w
        pull = float(self.v0 @ w) + self.r0 * state.b
        return 0.5 * float(w @ w) - pull + float(self.cap @ np.maximum(state.z, 0.0))


@dataclass
class State:
    """Where the minimisation stands; ``z`` always belongs to (w, b)."""

    w: np.ndarray
    b: float
    a: np.ndarray
    z: np.ndarray
