"""What the fits along a path of C leave for one another.

The Hessian is I + Σ c_i (…): the losses' part of it, and of every gradient, is proportional to C.
So a pair (s, y = Hs) of one C is a pair of another, y′ = s + (C′/C)(y − s), and where one fit
ended the gradient for the next C is known without a product with the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..two_class.margin_path import MarginPath
from .hessian_models import Kronecker

# A step s, the gradient's change y along it, and 1/sᵀy.
Pair = tuple[np.ndarray, np.ndarray, float]


class PathPoint(NamedTuple):
    """Where a search ended, with gradient and scores; and how it had come there from the last C."""

    x: np.ndarray
    g: np.ndarray
    S: np.ndarray
    step: tuple[np.ndarray, np.ndarray] | None  # of x and of S


@dataclass(frozen=True)
class Known:
    """What a search knows of its rows, for a search with another C."""

    total: float  # Σ c
    mu: np.ndarray
    model: Kronecker | None
    pairs: list[Pair]
    place: PathPoint | None = None

    def pairs_at(self, total: float) -> list[Pair]:
        """The pairs of the same steps for costs that add up to ``total``."""
        pairs = []
        for s, y, _ in self.pairs:
            y = self._grown(y, s, total)
            if (bend := float(np.vdot(s, y))) > 0.0:
                pairs.append((s, y, 1.0 / bend))
        return pairs

    def gradient_at(self, total: float) -> np.ndarray:
        """At the place where the search ended."""
        assert self.place is not None
        return self._grown(self.place.g, self.place.x, total)

    def _grown(self, g: np.ndarray, x: np.ndarray, total: float) -> np.ndarray:
        """The ridge's share x of a gradient stays, the rest grows with the costs."""
        ratio = total / self.total
        out = ratio * g
        out[:-1] += (1.0 - ratio) * x[:-1]
        return out


@dataclass
class PathState:
    """Of a chain of fits to the same rows and labels, one C after another.

    It belongs to whoever leads the chain, not to a model, and holds no rows.
    ``estimate``: see ``Monitor``; fits of the chain may end without proof.  ``margins``: what two
    classes leave for one another, of the hinge.
    """

    estimate: float = 0.0
    known: Known | None = None
    margins: MarginPath = field(default_factory=MarginPath)
