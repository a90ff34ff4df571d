"""The support vector machine of k classes over parts: dual ascent, and the proof of its result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..certify.certificate import Certificate
from ..problem.class_losses import class_value
from ..problem.problem import Bias
from ..solve.contract import Ending, Watch
from ..solve.threads import one_blas_thread
from .class_ascent import ClassAscent, accept
from .class_proof import better_biases, certify_class_parts, repair_class_parts, set_none
from .class_tasks import ClassMachine, begin, count, total_classes
from .hard_margin import solve_hard
from .hinge import SHARPER, TRIES
from .parts import Parts


class ClassFit(NamedTuple):
    """A certified machine of k classes; its multipliers stay with the parts."""

    W: np.ndarray
    b: np.ndarray
    certificate: Certificate
    ending: Ending
    solver: str
    why: str
    rows: np.ndarray | None = None  # of a hard margin: the rows with multipliers, and these
    alpha: np.ndarray | None = None


def solve_class_hinge(parts: Parts, machine: ClassMachine, watch: Watch) -> ClassFit:
    """Solve over all parts to the gap of ``watch``; starts from the parts' multipliers, if any."""
    if not np.isfinite(machine.C):
        return ClassFit(*solve_hard(parts, machine, watch))
    watch.solver = "ascent"
    with one_blas_thread(), np.errstate(all="ignore"):
        return _solve(parts, machine, watch)


def _solve(parts: Parts, machine: ClassMachine, watch: Watch) -> ClassFit:
    """Ascend until the proof holds; where it falls short of the estimate, go on from there."""
    census = total_classes(parts, count, machine)
    mean = census.sum_x / max(1, census.alive)
    mu = mean if machine.bias is Bias.FREE else np.zeros_like(mean)
    b, tol = np.zeros(machine.k), watch.tol
    best: tuple[np.ndarray, np.ndarray, Certificate] | None = None
    for _ in range(TRIES):
        standing = total_classes(parts, begin, machine, mu)
        if standing.mass > 0.0 and machine.bias is Bias.FREE:  # multipliers to start from
            W = standing.V - np.outer(standing.r, mu)
            b = better_biases(parts, machine, W, b)
        ascent = ClassAscent(parts, machine, watch, standing, census.alive, census.cost, mu, b)
        ending = ascent.run(tol)
        total_classes(parts, accept, machine, ascent.mix)
        found = finish(parts, machine, census.cost, mean, ascent.W_best, ascent.b_best)
        if best is None or not found[2].relative_gap > best[2].relative_gap:
            best = found
        if best[2].holds(watch.tol):
            ending = Ending.REACHED
        if best[2].holds(watch.tol) or ending is not Ending.REACHED:
            break
        ending, tol = Ending.STALLED, SHARPER * tol
        b = best[1]
    assert best is not None
    why = f"{machine.k} classes at once: parts answer with changes of the weights"
    return ClassFit(*best, ending, "ascent", why)


def finish(parts: Parts, machine: ClassMachine, cost: float, mean, W, b):
    """Feasible multipliers, good biases and the proof: (W, b, certificate)."""
    repair_class_parts(parts, machine)
    if machine.bias is Bias.FREE:
        b = better_biases(parts, machine, W, b)
    certificate = certify_class_parts(parts, machine, W, b, mean)
    if not certificate.dual >= 0.0:
        total_classes(parts, set_none, machine)
        certificate = certify_class_parts(parts, machine, W, b, mean)
    at_rest = cost * class_value(machine.loss, np.zeros(machine.k), 0)
    if not certificate.primal <= at_rest:  # stopped too early: no weights are better
        W, b = np.zeros_like(W), np.zeros_like(b)
        certificate = certify_class_parts(parts, machine, W, b, mean)
    return W, b, certificate
