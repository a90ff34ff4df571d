"""Fits along a path of C on the same torch rows, each from where the last two point to.

The weights of a smooth loss follow a smooth curve in log C; a little less than the straight line
through the last two solutions is the better start, for the curve bends back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import torch

from ...problem.torch_problem import TorchProblem
from ..contract import ClassWeights, Solution
from .torch_form import solve_torch
from .torch_newton import TorchPath

# The share of the straight line's step in log C that is taken.
EXTRAPOLATED_SHARE = 0.8


@dataclass
class Ahead:
    """The last two solutions, and the start they point to."""

    past: list[tuple[float, torch.Tensor, torch.Tensor]] = field(default_factory=list)

    def start(self, C: float) -> tuple[torch.Tensor, torch.Tensor] | None:
        if not self.past:
            return None
        (C0, W0, b0), (C1, W1, b1) = self.past[0], self.past[-1]
        t = EXTRAPOLATED_SHARE * math.log(C / C1) / math.log(C1 / C0) if C1 != C0 else 0.0
        return W1 + t * (W1 - W0), b1 + t * (b1 - b0)

    def remember(self, C: float, point: ClassWeights) -> None:
        self.past = [*self.past[-1:], (C, point.W.T, point.b)]


def solve_path(problem: TorchProblem, Cs, monitors) -> Iterator[Solution]:
    """A solution for every C in turn; ``monitors()`` gives each its budget."""
    ahead, path = Ahead(), TorchPath()
    for C in Cs:
        posed = replace(problem, price=float(C) * problem.price)
        solution = solve_torch(posed, monitors(), ahead.start(float(C)), path)
        ahead.remember(float(C), solution.point)
        yield solution
