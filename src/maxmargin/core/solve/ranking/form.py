"""Pairs of labels: which solver, and why; then run it, repair and prove the result.

newton    few weights in all, or large C: Newton's method on all k(d+1) unknowns at once
descent   many weights or small C: coordinate descent over the pairs of one example at a time
"""

from __future__ import annotations

import numpy as np

from ...certify.conclude import first_that_proves, lengthened
from ...certify.label_pairs import certify_label_pairs, repair_label_pairs
from ...problem.label_pairs import LabelPairsProblem
from ...rows.rows import sqnorms
from ..contract import ClassPoint, Ending, Form, Monitor, Proved, Solution
from ..driver import conclude
from ..precise.limits import is_extreme
from ..precise.resort import precisely, solved
from .label_descent import label_descent
from .label_newton import label_newton
from .label_order import cycles, lift, part_of

LABEL_SOLVERS = {"newton": label_newton, "descent": label_descent}

# Newton systems are cheaper than epochs with so many unknowns once C‖x‖² exceeds so much;
# with more unknowns they are not.
MIN_NEWTON_STIFFNESS = ((100, 0.3), (300, 1.0), (1500, 50.0))


def choose_label_solver(problem: LabelPairsProblem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    unknowns = problem.k * (problem.shape[1] + 1)
    pull = float(problem.c.mean()) * float(sqnorms(problem.rows).mean())
    why = f"{unknowns} unknowns and C‖x‖² of about {pull:.1g}"
    for most, stiff in MIN_NEWTON_STIFFNESS:
        if unknowns <= most and pull > stiff:
            return "newton", f"{why}: Newton's method"
    return "descent", f"{why}: coordinate descent"


class LabelPairsForm(Form):
    """Pairs of labels, all of which lie on cycles."""

    solvers = LABEL_SOLVERS

    def plan(self, problem: LabelPairsProblem) -> tuple[str, str]:
        return choose_label_solver(problem)

    def finish(self, problem: LabelPairsProblem, point: ClassPoint, tol: float) -> Proved:
        return finish_label_pairs(problem, point, tol)

    def fall_backs(self, problem: LabelPairsProblem, name: str) -> tuple[str, ...]:
        if is_extreme(problem):
            return ()
        return ("newton",) if name == "descent" else ("descent",)


LABEL_PAIRS = LabelPairsForm()


def solve_label_pairs(
    problem: LabelPairsProblem,
    monitor: Monitor,
    solver: str = "auto",
    start: ClassPoint | None = None,
) -> Solution:
    """Solve the pairs that lie on cycles, settle the others by the biases, and prove it.

    In ``start`` and in the solution's point, β holds one multiplier per pair.
    """
    group, within = cycles(problem)
    if within.all():
        return solved(LABEL_PAIRS, problem, monitor, solver, start, _prove)
    if within.any():
        first = None if start is None else start._replace(beta=start.beta[within])
        found = solved(LABEL_PAIRS, part_of(problem, within), monitor, solver, first, _prove)
        (W, b, beta), ending, name, why = found.point, found.ending, found.solver, found.why
    else:
        W, b, beta = np.zeros((problem.k, problem.shape[1])), np.zeros(problem.k), np.empty(0)
        ending, name = Ending.REACHED, "biases"
        why = "no preference is contradicted, not even through third classes"
    alpha = np.zeros(len(problem.c))
    alpha[within] = beta
    point = ClassPoint(W, lift(problem, W, b, group), alpha)
    best = Proved(point, certify_label_pairs(problem, *point, monitor.tol))
    found = conclude(best, ending, name, why, monitor)
    return precisely(problem, monitor, found, _prove)


def _prove(problem: LabelPairsProblem, W, b, alpha, tol: float) -> Proved:
    """The proof of a point as it is."""
    point = ClassPoint(W, b, alpha)
    return Proved(point, certify_label_pairs(problem, W, b, alpha, tol))


def finish_label_pairs(problem: LabelPairsProblem, point: ClassPoint, tol: float) -> Proved:
    """Feasible multipliers, and the certificate; the origin where a solver overflowed."""
    W, b, alpha = point
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        W, b = np.zeros_like(W), np.zeros_like(b)
    if not np.isfinite(alpha).all():
        alpha = np.zeros_like(alpha)

    def prove(W, b, alpha) -> Proved:
        return Proved(ClassPoint(W, b, alpha), certify_label_pairs(problem, W, b, alpha, tol))

    found = first_that_proves(
        lambda: prove(W, b, repair_label_pairs(problem, alpha)),
        lambda: prove(W, b, np.zeros_like(alpha)),
    )
    return lengthened(found, tol, lambda t: prove(t * W, t * b, found.point.beta))
