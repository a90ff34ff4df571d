"""What fits of the hinge to the same rows leave for one another, along a path of C.

    min over t    P(w + t Δw, b + t Δb),        Δ: from the last solution but one to the last

Weights follow a smooth curve in log C while the margin has many rows inside, and stand still once
it has few; so the next fit starts where the objective at its own C is least on the line through the
last two.  The scores of both are known, and a line of points has a line of scores: no pass over the
data is made for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...problem.problem import Problem
from ...rows.rows import scores
from ..contract import Point
from ..semismooth import exact_step
from .lagrangian import HingeLine

# So steep that clip(σz, 0, c) is the hinge's own slope.
STEEP = 1e12
# What slacks are taken to have moved by where only one solution is known.
UNKNOWN_MOVE = 1.0
# Weights before the last whose scores are kept: the best of a fit are seldom older.
MAX_SEEN = 2


class PathFit(NamedTuple):
    """A solution, its scores w·x, and the sum of its costs."""

    point: Point
    f: np.ndarray
    total: float


@dataclass
class MarginPath:
    """Belongs to whoever leads the chain of fits, to the same rows; ``facts``: what a problem knows
    of them.

    ``rows``: as the present fit reads them; between fits a path holds none.  A fit may solve other
    problems on its way, of parts of the rows or of different ones, which are no affair of a path.
    """

    rows: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    past: list[PathFit] = field(default_factory=list)
    mu: np.ndarray | None = None
    distinct: bool = False  # whether it is known that few rows are there twice
    ahead: tuple[np.ndarray, np.ndarray] | None = None  # weights to start from, and scores
    seen: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # computed afresh
    moved: float = 0.0  # of slacks, from the last solution to the start, in the mean square

    def begin(self, problem: Problem) -> None:
        """Another C for the same rows, of which what was computed is still known."""
        vars(problem).update(self.facts)
        self.rows = problem.rows
        self.ahead, self.seen, self.moved = None, [], 0.0

    def start(self, problem: Problem) -> Point | None:
        """Where the next fit is to begin."""
        if not self.past:
            return None
        (w, b, alpha), f, total = self.past[-1]
        ratio = float(problem.c.sum()) / total if total > 0.0 else np.inf
        if not np.isfinite(ratio):
            return None
        alpha = np.minimum(alpha * ratio, problem.c)
        self.moved = UNKNOWN_MOVE
        if len(self.past) > 1:
            (w0, b0, _), f0, _ = self.past[0]
            z, df = 1.0 - problem.y * (f + b), f - f0
            dw, db = w - w0, b - b0
            dz = -problem.y * (df + db)
            t = _least(problem, w, dw, z, dz)
            w, b, f = w + t * dw, b + t * db, f + t * df
            self.moved = t * float(np.sqrt(dz @ dz / max(1, len(dz))))
        self.ahead = w, f
        return Point(w, b, alpha)

    def means(self, rows: Any, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """Those of the columns, which are the same for every C."""
        if rows is not self.rows:
            return compute()
        if self.mu is None:
            self.mu = compute()
        return self.mu

    def scores(self, rows: Any, w: np.ndarray) -> np.ndarray:
        """w·x of every row, to start with or afresh."""
        if rows is not self.rows:
            return scores(rows, w)
        if self.ahead is not None and self.ahead[0] is w:
            return self.ahead[1]
        f = scores(rows, w)
        self.seen = [*self.seen[-MAX_SEEN:], (w, f)]
        return f

    def known_scores(self, w: np.ndarray) -> np.ndarray | None:
        """The same, of weights for which they were computed from the rows themselves."""
        return next((f for seen, f in self.seen if seen is w), None)

    def end(self, problem: Problem, point: Point, f: np.ndarray | None) -> None:
        """What a fit has found; nothing where it is not one to begin the next with."""
        names = ("sqnorms", "lengths", "shape")
        self.facts = {name: vars(problem)[name] for name in names if name in vars(problem)}
        found = None if f is None else PathFit(point, f, float(problem.c.sum()))
        self.past = [] if found is None else [*self.past[-1:], found]
        self.rows, self.ahead, self.seen = None, None, []


def _least(problem: Problem, w, dw, z, dz) -> float:
    """The t ≥ 0 at which the objective is least."""
    c = problem.c
    slope, curvature = float(w @ dw), float(dw @ dw)
    start = slope + float((c * (z > 0.0)) @ dz)
    line = HingeLine(z, dz, np.zeros_like(c), STEEP * c, c)
    return float(exact_step(line, start, slope, curvature))
