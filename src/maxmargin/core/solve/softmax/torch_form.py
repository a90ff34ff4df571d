"""Losses on torch rows: a solver for smooth ones and one for hinges, which prove what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ...problem.class_losses import MaxHinge, Softmax, SumHinge, SumSquaredHinge
from ...problem.losses import Hinge, Logistic, SquaredHinge
from ...problem.torch_problem import TorchProblem
from ..contract import Ending, Form, Monitor, Proved, Solution, can_solve, serves
from ..driver import drive
from .torch_multipliers import TorchMultipliers
from .torch_newton import TorchNewton, TorchPath


@serves(Softmax, Logistic, SquaredHinge, SumSquaredHinge)
def newton_cg(problem: TorchProblem, monitor: Monitor, start, path: TorchPath):
    return TorchNewton(problem, monitor, path).run(start)


@serves(Hinge, MaxHinge, SumHinge)
def multipliers(problem: TorchProblem, monitor: Monitor, start, path: TorchPath):
    return TorchMultipliers(problem, monitor, path).run(start)


@dataclass(frozen=True)
class TorchForm(Form):
    """What the driver must know of these problems; ``path``: what a fit with another C left."""

    path: TorchPath
    solvers: Mapping[str, Callable] = field(
        default_factory=lambda: {"newton": newton_cg, "multipliers": multipliers}
    )

    def plan(self, problem: TorchProblem) -> tuple[str, str]:
        rows = problem.design.rows
        name, how = "newton", "Newton steps by conjugate gradients"
        kind: Any = type(problem.loss)
        if can_solve(multipliers, kind):
            name, how = "multipliers", "the exponential method of multipliers"
        return name, f"{rows.dtype} rows on {rows.device}: {how}"

    def finish(self, problem, point, tol: float) -> Proved:
        raise AssertionError("the solver proves its own point")

    def run(self, name: str, problem, monitor: Monitor, start) -> tuple[Proved, Ending]:
        return self.solvers[name](problem, monitor, start, self.path)

    def threads(self, problem) -> AbstractContextManager:
        return nullcontext()


def solve_torch(
    problem: TorchProblem, monitor: Monitor, start=None, path: TorchPath | None = None
) -> Solution:
    """Solve and prove; ``start``: (W, b) as (d, k) and (k,) in float64 on the device."""
    return drive(TorchForm(path or TorchPath()), problem, monitor, "auto", start)
