"""Where the next fit of a path should start.

The weights of a smooth loss follow a smooth curve in log C, and those of the hinge nearly so.
The straight line through the last two solutions is a better start than the last one: it halves
the steps of softmax and saves Newton's method for the hinge a few.  (A parabola is no better.)
Multipliers are foreseen by lines in log α over log C, and grow no faster than C: so those at C stay
there, those that grow with C do, and those of a margin that C no longer changes stay what they are.
Coordinate descent starts from its multipliers alone, for which neither lines nor scaling to the
new C helped: they bend at every C where a row changes its kind.
"""

from __future__ import annotations

import numpy as np

from ...core.solve.softmax.path_state import PathState

EXTRAPOLATED_ATTRIBUTES = ("coef_", "intercept_", "alpha_")


class PathExtrapolation:
    """Remembers the last two solutions of one warm-started model, and what its solver learnt."""

    def __init__(self, estimate: float = 0.0):
        self.memory = PathState(estimate)
        self.past: list[tuple[float, dict[str, np.ndarray]]] = []

    def prepare(self, model, C: float) -> None:
        """Set C, and the solution from which the next fit starts."""
        model.C = C
        if not self.past or model.solver_ == "descent" or self.memory.margins.past:
            return
        (C0, old), (C1, new) = self.past[0], self.past[-1]
        if any(old[name].shape != new[name].shape for name in new):
            return
        t = np.log(C / C1) / np.log(C1 / C0) if C1 > C0 else 0.0
        for name, value in new.items():
            if name == "alpha_":
                ahead = value * _growth(value, old[name], t, C / C1)
            else:
                ahead = value + t * (value - old[name])
            setattr(model, name, ahead)

    def remember(self, model) -> None:
        """To be called after every fit."""
        found = {
            name: getattr(model, name) for name in EXTRAPOLATED_ATTRIBUTES if hasattr(model, name)
        }
        self.past = [*self.past[-1:], (float(model.C), found)]


def _growth(value: np.ndarray, before: np.ndarray, t: float, most: float) -> np.ndarray | float:
    """By how much each multiplier grows, t times as far as from ``before`` to ``value``; by
    ``most``, as C does, where nothing is known of it."""
    if t == 0.0:
        return most
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(np.where(before > 0.0, value / before, np.inf) ** t, most)
