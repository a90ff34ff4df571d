"""k classes at once: which solver, and why; and how its point is made feasible and proved.

newton    a large C, or small data: Newton's method on all k(d+1) unknowns at once
descent   else: dual block coordinate descent, while it is the quicker (``outlook.py``)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...certify.circulation import repair_classes, ties_all_classes
from ...certify.class_bias import middle_biases
from ...certify.conclude import first_that_proves, lengthened
from ...certify.multiclass import certify_classes
from ...problem.class_losses import boxed_classes, class_value
from ...problem.multiclass import MulticlassProblem
from ...rows.class_products import compressed
from ..contract import ClassPoint, Form, Monitor, Proved, Solution, settled
from ..precise.resort import solved
from .class_descent import class_descent
from .class_newton import class_newton
from .hard_classes import ManyClassMargin, unit_class_margin
from .outlook import is_stiff, newton_epochs, stiffness

CLASS_SOLVERS: dict[str, Callable] = {"newton": class_newton, "descent": class_descent}

# Of the hard margin, whose multipliers have no cap: unknowns up to which, and unknowns times
# themselves times rows (a step of about a second) up to which Newton's method has it; and rows up
# to which a Newton system of their margins is the smaller one.
NEWTON_UNKNOWNS, NEWTON_WORK, NEWTON_ROWS = 700, 3e9, 700
# Rows times unknowns up to which Newton goes on to rounding: a step or two more, and the model
# then depends on nothing but the data.
MAX_EXACT_NEWTON_SIZE, EXACT_NEWTON_TOL = 300_000, 1e-9
# … if that was asked for at all: folds that are to choose C ask for less.  They get some more than
# they ask for, so that hardly a row held out is told otherwise than at the optimum.
MAX_EXACTLY_ASKED_TOL, LOOSE_TOL_SHARE = 1e-4, 1e-2
# Rows times classes up to which a looser fit is Newton's, too: some 20 ms, and without kernels that
# a first fit would have to compile.
MAX_TINY_MULTIPLIERS = 3_000
# Of the iterations allowed, so many at most are descent's patience: some must be left for Newton.
MAX_PATIENCE_SHARE = 0.25
# Classes up to which biases that are not unique are moved to the middle: k³ operations.
MAX_MIDDLE_BIAS_CLASSES = 300
# Values of X as a dense array, up to which Newton is tried when descent falls short, and up to
# which it is allowed at all.
FALLBACK_MAX_VALUES, NEWTON_MAX_VALUES = 3e7, 5e8
# How often descent goes on when the proof falls short of its own estimate.
MAX_CONTINUATIONS = 5


def choose_classes(problem: MulticlassProblem, tol: float = 1e-6) -> tuple[str, str]:
    """The solver to begin with and the reason for it; descent may give way to Newton's method."""
    n, d = problem.shape
    unknowns = problem.k * (d + 1)
    if _is_small(problem) and (tol <= MAX_EXACTLY_ASKED_TOL or _is_tiny(problem)):
        return "newton", f"{n} rows and {unknowns} unknowns: exact to rounding at no cost"
    if problem.hard:
        return _choose_hard(n, unknowns)
    pull = stiffness(problem)
    if _may_fall_back(problem) and is_stiff(problem, pull, _aim(problem, tol)):
        return "newton", f"{unknowns} unknowns and C‖x − mean‖² of about {pull:.1g}: few steps"
    return "descent", f"C‖x − mean‖² of about {pull:.1g}, {n} rows and {unknowns} unknowns: epochs"


def _choose_hard(n: int, unknowns: int) -> tuple[str, str]:
    if unknowns <= NEWTON_UNKNOWNS and n * unknowns**2 <= NEWTON_WORK:
        return "newton", f"{unknowns} unknowns: Newton systems are cheap"
    if n <= NEWTON_ROWS:
        return "newton", f"{n} rows: Newton systems of their margins are cheap"
    return "descent", f"{unknowns} unknowns and {n} rows: block coordinate descent"


def _is_small(problem: MulticlassProblem) -> bool:
    n, d = problem.shape
    return n * problem.k * (d + 1) <= MAX_EXACT_NEWTON_SIZE


def _aim(problem: MulticlassProblem, tol: float) -> float:
    """The gap that is gone for where ``tol`` is asked."""
    less = tol > MAX_EXACTLY_ASKED_TOL and not problem.hard
    return LOOSE_TOL_SHARE * tol if less and _is_small(problem) else tol


def _is_tiny(problem: MulticlassProblem) -> bool:
    return problem.hard or len(problem.y) * problem.k <= MAX_TINY_MULTIPLIERS


def _may_fall_back(problem: MulticlassProblem) -> bool:
    """Whether Newton's method can take over from descent."""
    n, d = problem.shape
    return n * d <= FALLBACK_MAX_VALUES


@dataclass(frozen=True)
class ManyClassForm(Form):
    """k classes at once: one weight vector per class, a multiplier for every wrong class.

    ``tol``: the gap asked for; ``named``: the solver was, and is not to give way to another.
    """

    tol: float
    named: bool = False
    solvers: Mapping[str, Callable] = field(default_factory=lambda: CLASS_SOLVERS)
    encores: int = MAX_CONTINUATIONS

    def plan(self, problem: MulticlassProblem) -> tuple[str, str]:
        return choose_classes(problem, self.tol)

    def finish(self, problem: MulticlassProblem, point: ClassPoint, tol: float) -> Proved:
        return finish_classes(problem, point, tol)

    def check(self, problem: MulticlassProblem, name: str) -> None:
        n, d = problem.shape
        if name == "newton" and n * d > NEWTON_MAX_VALUES:
            raise ValueError(
                f"solver='newton' holds X as a dense array, which for {n} rows and {d} columns "
                f"takes {8e-9 * n * d:.0f} GB. Use solver='descent', or leave the choice to 'auto'."
            )

    def run(self, name: str, problem: MulticlassProblem, monitor: Monitor, start):
        if problem.hard:
            return ManyClassMargin(problem, monitor, CLASS_SOLVERS[name]).solve(start)
        if name == "descent":
            return class_descent(problem, monitor, start, self._patience(problem, monitor))
        tol = monitor.tol
        if _is_small(problem) and self.tol <= MAX_EXACTLY_ASKED_TOL:
            boxed = boxed_classes(problem.loss)
            monitor.tol = min(tol, EXACT_NEWTON_TOL if boxed else 1e-3 * EXACT_NEWTON_TOL)
        try:
            return class_newton(problem, monitor, start)
        finally:
            monitor.tol = tol

    def _patience(self, problem: MulticlassProblem, monitor: Monitor) -> float:
        """Epochs that are worth as much as Newton's method, which would take over."""
        if self.named or not _may_fall_back(problem):
            return np.inf
        return min(newton_epochs(problem, monitor.tol), MAX_PATIENCE_SHARE * monitor.max_iter)

    def fall_backs(self, problem: MulticlassProblem, name: str) -> tuple[str, ...]:
        return ("newton",) if name == "descent" and _may_fall_back(problem) else ()


def solve_classes(
    problem: MulticlassProblem,
    monitor: Monitor,
    solver: str = "auto",
    start: ClassPoint | None = None,
) -> Solution:
    """Solve all classes at once.

    Dense rows that are mostly zeros (images, counts) are read as sparse ones, by the proof, too.
    """
    if not _is_small(problem):
        problem = replace(problem, rows=compressed(problem.rows))
    tol, enough = monitor.tol, monitor.enough
    form = ManyClassForm(tol, solver != "auto")
    if solver != "descent" and (aim := _aim(problem, tol)) < tol:
        monitor.tol, monitor.enough = aim, max(tol, enough)
    try:
        found = solved(form, problem, monitor, solver, start, _prove)
    finally:
        monitor.tol, monitor.enough = tol, enough
    return found._replace(ending=settled(found.ending, found.certificate, tol))


def finish_classes(problem: MulticlassProblem, point: ClassPoint, tol: float) -> Proved:
    """Feasible multipliers, biases in the middle of the optimal ones, and the certificate."""
    W, b, beta = point
    if not (np.isfinite(W).all() and np.isfinite(b).all()):  # overflow: the origin is better
        W, b = np.zeros_like(W), np.zeros_like(b)
    beta = repair_classes(problem, beta if np.isfinite(beta.sum()) else np.zeros_like(beta))
    free = bool(problem.bias)
    if problem.hard:
        b = middle_biases(problem, W, b, beta) if free else b
        W, b, beta = unit_class_margin(problem, ClassPoint(W, b, beta))
    if free:
        b = b - b.mean()
    found = first_that_proves(
        lambda: _prove(problem, W, b, beta, tol),
        lambda: _prove(problem, W, b, np.zeros_like(beta), tol),
    )
    at_rest = float(problem.c.sum()) * class_value(problem.loss, np.zeros(problem.k), 0)
    if not problem.hard and not found.certificate.primal <= at_rest:  # stopped too early
        found = _prove(problem, np.zeros_like(W), np.zeros_like(b), found.point.beta, tol)
    if free and problem.k <= MAX_MIDDLE_BIAS_CLASSES and not ties_all_classes(problem, beta):
        W, b, beta = found.point
        middle = _prove(problem, W, middle_biases(problem, W, b, beta), beta, tol)
        if middle.certificate.primal <= found.certificate.primal * (1.0 + 1e-9):
            found = middle
    W, b, beta = found.point
    return lengthened(found, tol, lambda t: _prove(problem, t * W, t * b, beta, tol))


def _prove(problem: MulticlassProblem, W, b, beta, tol: float) -> Proved:
    slacks = np.empty((len(problem.y), 2))
    certificate = certify_classes(problem, W, b, beta, slacks, tol)
    return Proved(ClassPoint(W, b, beta), certificate, slacks=slacks)
