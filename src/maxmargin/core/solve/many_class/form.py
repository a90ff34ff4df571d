"""k classes at once: which solver, and why; and how its point is made feasible and proved.

newton    few unknowns, k(d+1), or few rows and a large C: Newton's method on all of them at once
descent   many rows or many columns: dual block coordinate descent
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...certify.circulation import repair_classes, ties_all_classes
from ...certify.class_bias import middle_biases
from ...certify.conclude import first_that_proves, lengthened
from ...certify.multiclass import certify_classes
from ...problem.class_losses import boxed_classes, class_value
from ...problem.multiclass import MulticlassProblem
from ...rows.rows import combine, sqnorms
from ..contract import ClassPoint, Form, Monitor, Proved, Solution
from ..precise.resort import solved
from .class_descent import class_descent
from .class_newton import class_newton
from .hard_classes import ManyClassMargin, unit_class_margin

CLASS_SOLVERS: dict[str, Callable] = {"newton": class_newton, "descent": class_descent}

# Unknowns up to which a Newton system is solved directly.
NEWTON_UNKNOWNS = 700
# C‖x − mean‖² up to which descent needs few epochs.
MAX_DESCENT_STIFFNESS = 12.0
# Unknowns times themselves times rows: work of one Newton step, about a second at most.
NEWTON_WORK = 3e9
# Rows up to which a Newton system of their margins is solved instead, once C‖x − mean‖² is so large
# that descent needs thousands of epochs: 288 rows of 90 columns in 15 classes take descent 0.15,
# 0.9 and 1.2 s at 900, 9,000 and 90,000, and Newton 0.15, 0.25 and 0.2 s.
NEWTON_ROWS, MIN_NEWTON_ROW_STIFFNESS = 700, 500.0
# Beyond that work, too, it is quicker where C‖x − mean‖², s, is large: some fifteen steps whatever
# it is, where descent needs about 30 s^⅔ epochs; so rows cancel, and unknowns decide.  16,000 rows
# in 26 classes of 16 columns to 1e-3: 1.5 s at 30 as at 3,000, where descent takes 3.3 s and more.
# Of more unknowns the factor of the system costs most: 5,000 rows, 2,020 unknowns, 300: 5.5 s
# either way; 3,000 rows and 2,440 unknowns 12 s by Newton, 2.7 by descent.
NEWTON_UNKNOWNS_PER_EPOCHS, MANY_UNKNOWNS_PER_EPOCHS = 60.0, 15.0
FEW_STIFF_UNKNOWNS, MAX_STIFF_UNKNOWNS = 1000, 2500
# Rows times unknowns up to which Newton goes on to rounding: a step or two more, and the model
# then depends on nothing but the data.
MAX_EXACT_NEWTON_SIZE, EXACT_NEWTON_TOL = 300_000, 1e-9
# … if that was asked for at all: folds that are to choose C ask for less.  They get some more than
# they ask for, so that hardly a row held out is told otherwise than at the optimum.
MAX_EXACTLY_ASKED_TOL, NEWTON_TOL_SHARE = 1e-4, 1e-2
# Classes up to which biases that are not unique are moved to the middle: k³ operations.
MAX_MIDDLE_BIAS_CLASSES = 300
# Values of X as a dense array, up to which Newton is tried when descent falls short, and up to
# which it is allowed at all.
FALLBACK_MAX_VALUES, NEWTON_MAX_VALUES = 3e7, 5e8
# How often descent goes on when the proof falls short of its own estimate.
MAX_CONTINUATIONS = 5


def choose_classes(problem: MulticlassProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    n, d = problem.shape
    unknowns = problem.k * (d + 1)
    if n * unknowns <= MAX_EXACT_NEWTON_SIZE:
        return "newton", f"{n} rows and {unknowns} unknowns: exact to rounding at no cost"
    if unknowns > NEWTON_UNKNOWNS or n * unknowns**2 > NEWTON_WORK:
        if n <= NEWTON_ROWS and (problem.hard or stiffness(problem) > MIN_NEWTON_ROW_STIFFNESS):
            return "newton", f"{n} rows and a large C: Newton systems of their margins are cheap"
        if not problem.hard and _is_stiff(problem, unknowns):
            return "newton", f"{unknowns} unknowns and a large C: descent needs more epochs"
        return "descent", f"{unknowns} unknowns and {n} rows: block coordinate descent"
    if not problem.hard and (pull := stiffness(problem)) <= MAX_DESCENT_STIFFNESS:
        return "descent", f"C‖x − mean‖² of about {pull:.1g}: few epochs"
    return "newton", f"{unknowns} unknowns: Newton systems are cheap"


def _is_stiff(problem: MulticlassProblem, unknowns: int) -> bool:
    """Whether descent's epochs outnumber what Newton's steps cost."""
    n, d = problem.shape
    if unknowns > MAX_STIFF_UNKNOWNS or n * d > FALLBACK_MAX_VALUES:
        return False
    few = unknowns <= FEW_STIFF_UNKNOWNS
    share = NEWTON_UNKNOWNS_PER_EPOCHS if few else MANY_UNKNOWNS_PER_EPOCHS
    return unknowns <= share * stiffness(problem) ** (2.0 / 3.0)


def stiffness(problem: MulticlassProblem) -> float:
    """The mean of C‖x − mean‖²: how strongly a row's multipliers pull on its own scores."""
    n, _ = problem.shape
    mean = combine(problem.rows, np.full(n, 1.0 / n)) if problem.bias else np.zeros(1)
    q = float(sqnorms(problem.rows).mean()) - float(mean @ mean)
    return float(problem.c.mean()) * q


class ManyClassForm(Form):
    """k classes at once: one weight vector per class, a multiplier for every wrong class."""

    solvers = CLASS_SOLVERS
    encores = MAX_CONTINUATIONS

    def plan(self, problem: MulticlassProblem) -> tuple[str, str]:
        return choose_classes(problem)

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
        n, d = problem.shape
        tol = monitor.tol
        small = n * problem.k * (d + 1) <= MAX_EXACT_NEWTON_SIZE
        if name == "newton" and small and tol > MAX_EXACTLY_ASKED_TOL:
            monitor.tol = NEWTON_TOL_SHARE * tol
        elif name == "newton" and small:
            monitor.tol = min(
                tol, EXACT_NEWTON_TOL if boxed_classes(problem.loss) else 1e-3 * EXACT_NEWTON_TOL
            )
        try:
            return CLASS_SOLVERS[name](problem, monitor, start)
        finally:
            monitor.tol = tol

    def fall_backs(self, problem: MulticlassProblem, name: str) -> tuple[str, ...]:
        n, d = problem.shape
        return ("newton",) if name == "descent" and n * d <= FALLBACK_MAX_VALUES else ()


MANY_CLASS = ManyClassForm()


def solve_classes(
    problem: MulticlassProblem,
    monitor: Monitor,
    solver: str = "auto",
    start: ClassPoint | None = None,
) -> Solution:
    """Solve all classes at once."""
    return solved(MANY_CLASS, problem, monitor, solver, start, _prove)


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
