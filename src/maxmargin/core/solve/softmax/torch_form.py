"""Logistic losses on torch rows: one solver, which proves what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from ...problem.class_losses import Softmax
from ...problem.losses import Logistic
from ...problem.torch_problem import TorchProblem
from ..contract import Ending, Form, Monitor, Proved, Solution, serves
from ..driver import drive
from .torch_newton import TorchNewton, TorchPath


@serves(Softmax, Logistic)
def newton_cg(problem: TorchProblem, monitor: Monitor, start, path: TorchPath):
    return TorchNewton(problem, monitor, path).run(start)


@dataclass(frozen=True)
class TorchSmoothForm(Form):
    """What the driver must know of these problems; ``path``: what a fit with another C left."""

    path: TorchPath
    solvers: Mapping[str, Callable] = field(default_factory=lambda: {"newton": newton_cg})

    def plan(self, problem: TorchProblem) -> tuple[str, str]:
        rows = problem.design.rows
        return "newton", f"{rows.dtype} rows on {rows.device}: Newton steps by conjugate gradients"

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
    return drive(TorchSmoothForm(path or TorchPath()), problem, monitor, "newton", start)
