"""Pairs of labels: which solver, and why; then run it, repair and prove the result.

newton    few weights in all, or large C: Newton's method on all k(d+1) unknowns at once
descent   many weights or small C: coordinate descent over the pairs of one example at a time
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...certify.certificate import Certificate
from ...certify.conclude import first_that_proves, lengthened
from ...certify.label_pairs import certify_label_pairs, repair_label_pairs
from ...problem.label_pairs import LabelPairsProblem
from ...rows.rows import sqnorms
from ..contract import ClassPoint, Ending, Monitor, Step, settled
from ..threads import one_blas_thread
from .label_descent import label_descent
from .label_newton import label_newton
from .label_order import cycles, lift, part_of

LABEL_SOLVERS = {"newton": label_newton, "descent": label_descent}

# Newton systems are cheaper than epochs with so many unknowns once C‖x‖² exceeds so much;
# with more unknowns they are not.
STIFF = ((100, 0.3), (300, 1.0), (1500, 50.0))


@dataclass(frozen=True)
class LabelSolution:
    """A point, why the solver stopped, and what it recorded on the way."""

    point: ClassPoint
    ending: Ending
    solver: str
    why: str
    n_iter: int
    history: list[Step]


def choose_label_solver(problem: LabelPairsProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    unknowns = problem.k * (problem.shape[1] + 1)
    pull = float(problem.c.mean()) * float(sqnorms(problem.rows).mean())
    why = f"{unknowns} unknowns and C‖x‖² of about {pull:.1g}"
    for most, stiff in STIFF:
        if unknowns <= most and pull > stiff:
            return "newton", f"{why}: Newton's method"
    return "descent", f"{why}: coordinate descent"


def solve_label_pairs(
    problem: LabelPairsProblem,
    monitor: Monitor,
    solver: str = "auto",
    start: ClassPoint | None = None,
) -> tuple[LabelSolution, Certificate]:
    """Solve the pairs that lie on cycles, settle the others by the biases, and prove it.

    In ``start`` and in the solution's point, β holds one multiplier per pair.
    """
    group, within = cycles(problem)
    if within.all():
        return _solve_joined(problem, monitor, solver, start)
    if within.any():
        first = None if start is None else start._replace(beta=start.beta[within])
        found, _ = _solve_joined(part_of(problem, within), monitor, solver, first)
    else:
        nothing = ClassPoint(
            np.zeros((problem.k, problem.shape[1])), np.zeros(problem.k), np.empty(0)
        )
        why = "no preference is contradicted, not even through third classes"
        found = LabelSolution(nothing, Ending.REACHED, "biases", why, 1, monitor.history)
    W, b, beta = found.point
    alpha = np.zeros(len(problem.c))
    alpha[within] = beta
    point = ClassPoint(W, lift(problem, W, b, group), alpha)
    certificate = certify_label_pairs(problem, *point)
    ending = settled(found.ending, certificate, monitor.tol)
    return replace(found, point=point, ending=ending), certificate


def _solve_joined(
    problem: LabelPairsProblem, monitor: Monitor, solver: str, start: ClassPoint | None
) -> tuple[LabelSolution, Certificate]:
    """Run the solver, make its multipliers a circulation, and prove how good the result is."""
    name, why = choose_label_solver(problem) if solver == "auto" else (solver, "asked for by name")
    monitor.solver = name
    with one_blas_thread(), np.errstate(all="ignore"):
        point, ending = LABEL_SOLVERS[name](problem, monitor, start)
        point, certificate = _finish(problem, point, monitor.tol)
        if solver == "auto" and not certificate.holds(monitor.tol) and ending is Ending.STALLED:
            why = f"{name} stopped at a relative gap of {certificate.relative_gap:.1e}"
            name = monitor.solver = "newton" if name == "descent" else "descent"
            again, ending = LABEL_SOLVERS[name](problem, monitor, point)
            again, proved = _finish(problem, again, monitor.tol)
            if proved.relative_gap < certificate.relative_gap:
                point, certificate = again, proved
    ending = settled(ending, certificate, monitor.tol)
    count = max(1, monitor.n_iter)
    return LabelSolution(point, ending, name, why, count, monitor.history), certificate


class Finished(NamedTuple):
    """A feasible point and its certificate."""

    point: ClassPoint
    certificate: Certificate


def _finish(problem: LabelPairsProblem, point: ClassPoint, tol: float) -> Finished:
    """Feasible multipliers, and the certificate; the origin where a solver overflowed."""
    W, b, alpha = point
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        W, b = np.zeros_like(W), np.zeros_like(b)
    if not np.isfinite(alpha).all():
        alpha = np.zeros_like(alpha)

    def prove(W, b, alpha) -> Finished:
        return Finished(ClassPoint(W, b, alpha), certify_label_pairs(problem, W, b, alpha))

    found = first_that_proves(
        lambda: prove(W, b, repair_label_pairs(problem, alpha)),
        lambda: prove(W, b, np.zeros_like(alpha)),
    )
    return lengthened(found, tol, lambda t: prove(t * W, t * b, found.point.beta))
