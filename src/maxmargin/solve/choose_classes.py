"""Which solver for k classes, and why; then run it, prove the result, and fall back if needed.

newton    few unknowns, k(d+1): Newton's method on all of them at once
descent   many rows or many columns: dual block coordinate descent
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..certify.certificate import Certificate
from ..certify.circulation import repair_classes
from ..certify.class_bias import middle_biases
from ..certify.multiclass import certify_classes
from ..problem.class_losses import MaxHinge, SumHinge
from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias
from .blocks import blocks
from .class_newton import class_newton
from .contract import ClassPoint, Ending, Step, Watch
from .hard_classes import hard_margin_classes, unit_class_margin
from .threads import one_blas_thread

CLASS_SOLVERS: dict[str, Callable] = {"newton": class_newton, "descent": blocks}

# Unknowns up to which a Newton system is solved directly.
NEWTON_UNKNOWNS = 700
# Unknowns times themselves times rows: work of one Newton step, about a second at most.
NEWTON_WORK = 3e9
# Rows times unknowns up to which Newton goes on to rounding: a step or two more, and the model
# then depends on nothing but the data.
TINY, EXACT = 300_000, 1e-11
# Biases are moved to the middle of the optimal ones where they may well not be unique.
MIDDLE_SCORES = 1_000_000
MIDDLE_CLASSES = 300
# How often descent goes on when the proof falls short of its own estimate.
ENCORES = 2


@dataclass(frozen=True)
class ClassSolution:
    """A point, why the solver stopped, and what it recorded on the way."""

    point: ClassPoint
    ending: Ending
    solver: str
    why: str
    n_iter: int
    history: list[Step]


def choose_classes(problem: MulticlassProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    n, d = problem.shape
    unknowns = problem.k * (d + 1)
    if unknowns <= NEWTON_UNKNOWNS and n * unknowns**2 <= NEWTON_WORK:
        return "newton", f"{unknowns} unknowns: Newton systems are cheap"
    return "descent", f"{unknowns} unknowns and {n} rows: block coordinate descent"


def solve_classes(
    problem: MulticlassProblem, watch: Watch, solver: str = "auto", start: ClassPoint | None = None
) -> tuple[ClassSolution, Certificate]:
    """Run the solver, return its point made feasible, and the proof of how good it is."""
    name, why = (solver, "asked for by name") if solver != "auto" else choose_classes(problem)
    watch.solver = name
    with one_blas_thread(), np.errstate(all="ignore"):
        point, ending = _run(name, problem, watch, start)
        point, certificate = finish_classes(problem, point)
        tol = watch.tol
        for encore in range(ENCORES):
            if certificate.holds(tol) or ending is not Ending.REACHED:
                break
            watch.tol = tol * 0.3 ** (encore + 1)
            found, ending = _run(name, problem, watch, point)
            watch.tol = tol
            point, certificate = _better(point, certificate, *finish_classes(problem, found))
        if solver == "auto" and name == "descent" and not certificate.holds(tol) and _may(ending):
            watch.solver = "newton"
            found, ended = _run("newton", problem, watch, point)
            gap = certificate.relative_gap
            point, certificate = _better(point, certificate, *finish_classes(problem, found))
            if certificate.relative_gap < gap:
                why = f"descent stopped at a relative gap of {gap:.1e}"
                name, ending = "newton", ended
    if certificate.holds(watch.tol):
        ending = Ending.REACHED
    elif ending is Ending.REACHED:
        ending = Ending.STALLED
    count = max(1, watch.n_iter)
    return ClassSolution(point, ending, name, why, count, watch.history), certificate


def _may(ending: Ending) -> bool:
    return ending in (Ending.REACHED, Ending.STALLED)


def _better(point, certificate, other, proof):
    return (other, proof) if proof.relative_gap < certificate.relative_gap else (point, certificate)


def _run(name, problem, watch, start) -> tuple[ClassPoint, Ending]:
    if problem.hard:
        return hard_margin_classes(problem, watch, start, CLASS_SOLVERS[name])
    n, d = problem.shape
    tol = watch.tol
    if name == "newton" and n * problem.k * (d + 1) <= TINY:
        hinge = isinstance(problem.loss, MaxHinge | SumHinge)
        watch.tol = min(tol, EXACT if hinge else 0.1 * EXACT)
    try:
        return CLASS_SOLVERS[name](problem, watch, start)
    finally:
        watch.tol = tol


def finish_classes(
    problem: MulticlassProblem, point: ClassPoint
) -> tuple[ClassPoint, Certificate]:
    """Feasible multipliers, biases in the middle of the optimal ones, and the certificate."""
    W, b, beta = point
    if not (np.isfinite(W).all() and np.isfinite(b).all()):  # overflow: the origin is better
        W, b = np.zeros_like(W), np.zeros_like(b)
    beta = repair_classes(problem, np.where(np.isfinite(beta), beta, 0.0))
    if problem.hard:
        if problem.bias is Bias.FREE:
            b = middle_biases(problem, W, b, beta)
        W, b, beta = unit_class_margin(problem, ClassPoint(W, b, beta))
    if problem.bias is Bias.FREE:
        b = b - b.mean()
    certificate = certify_classes(problem, W, b, beta)
    if not certificate.dual >= 0.0:  # no multipliers at all prove more
        beta = np.zeros_like(beta)
        certificate = certify_classes(problem, W, b, beta)
    n = problem.shape[0]
    small = n * problem.k <= MIDDLE_SCORES and problem.k <= MIDDLE_CLASSES
    if problem.bias is Bias.FREE and small:
        middle = middle_biases(problem, W, b, beta)
        proof = certify_classes(problem, W, middle, beta)
        if proof.primal <= certificate.primal * (1.0 + 1e-9):
            b, certificate = middle, proof
    return ClassPoint(W, b, beta), certificate
