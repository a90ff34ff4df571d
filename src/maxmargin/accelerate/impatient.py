"""A monitor that ends a fit which does not come near in a few steps; loaded with the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.solve.contract import Monitor


@dataclass
class ImpatientMonitor(Monitor):
    """``watch`` is told the number of steps so far and the relative gap, and may raise."""

    watch: Callable[[int, float], None] = lambda step, gap: None

    def record(self, primal: float, dual: float) -> bool:
        reached = super().record(primal, dual)
        if not reached:
            self.watch(len(self.history) - 1, self.history[-1].relative_gap)
        return reached
