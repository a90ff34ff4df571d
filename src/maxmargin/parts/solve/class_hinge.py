"""The support vector machine of k classes over parts: two methods, and the proof of the result."""

from __future__ import annotations

import numpy as np

from ...core.certify.conclude import lengthened
from ...core.problem.class_losses import class_value
from ...core.solve.contract import Ending, Monitor, settled
from ...core.solve.threads import one_blas_thread
from ..certify.many_class import (
    better_biases,
    certify_class_parts,
    prove_class_parts,
    repair_class_parts,
)
from ..parts import Parts, need_weight
from .class_ascent import ClassAscent, accept
from .class_near import VALUES, NearSearch
from .class_tasks import ClassCensus, ClassSpec, DualSums, begin, count
from .hard_margin import solve_hard
from .hinge import SHARPER, TRIES
from .tasks import PartsSolution, Proved, ask_total


def solve_class_hinge(
    parts: Parts, machine: ClassSpec, monitor: Monitor, values: int = VALUES
) -> PartsSolution:
    """Solve over all parts to the gap of ``monitor``; starts from the parts' multipliers, if any.

    ``values``: of the rows that may be held in one place.
    """
    if not np.isfinite(machine.C):
        return solve_hard(parts, machine, monitor)
    monitor.solver = "rounds"
    with one_blas_thread(), np.errstate(all="ignore"):
        return _solve(parts, machine, monitor, values)


def _solve(parts: Parts, machine: ClassSpec, monitor: Monitor, values: int) -> PartsSolution:
    """By the rows that matter; where they are too many, ascend until the proof holds."""
    census = ask_total(parts, count, machine)
    # With free biases and one class the optimum is zero, and no gap is a share of that.
    need_weight(census.by_class, 2 if machine.bias else 1)
    mean = census.sum_x / max(1, census.alive)
    mu = mean if machine.bias else np.zeros_like(mean)
    standing = ask_total(parts, begin, machine, mu)
    near = NearSearch(parts, machine, monitor, census.rows, values)

    def start():
        return *_primal_of(parts, machine, standing, mu, near.b), standing

    ending = near.run(start if standing.mass > 0.0 else None)
    best = finish(parts, machine, census.cost, mean, near.W_best, near.b_best, monitor.tol)
    ending = settled(ending, best.certificate, monitor.tol)
    if ending is not Ending.STALLED:
        why = f"{machine.k} classes at once: rows that matter in memory, all others by their means"
        return PartsSolution(*best, ending, "rounds", why)
    monitor.solver = "ascent"
    return _ascend(parts, machine, monitor, census, mean, mu, best)


def _primal_of(
    parts: Parts, machine: ClassSpec, standing: DualSums, mu, b
) -> tuple[np.ndarray, np.ndarray]:
    """W of the multipliers the parts hold, and good biases for it."""
    W = standing.V - np.outer(standing.r, mu)
    return W, better_biases(parts, machine, W, b) if machine.bias else b


def _ascend(
    parts: Parts, machine: ClassSpec, monitor: Monitor, census: ClassCensus, mean, mu, best: Proved
) -> PartsSolution:
    """Ascend until the proof holds; where it falls short of the estimate, go on from there."""
    b, tol = best[1], monitor.tol
    for _ in range(TRIES):
        standing = ask_total(parts, begin, machine, mu)
        if standing.mass > 0.0:
            _, b = _primal_of(parts, machine, standing, mu, b)
        ascent = ClassAscent(parts, machine, monitor, standing, census.alive, census.cost, mu, b)
        ascent.W_best, ascent.b_best, ascent.primal = best[0], best[1], best[2].primal
        ending = ascent.run(tol)
        ask_total(parts, accept, machine, ascent.mix)
        W, b = ascent.W_best, ascent.b_best
        found = finish(parts, machine, census.cost, mean, W, b, monitor.tol)
        if not found[2].relative_gap > best[2].relative_gap:
            best = found
        believed = ending is Ending.REACHED
        ending = settled(ending, best.certificate, monitor.tol)
        if ending is Ending.REACHED or not believed:
            break
        tol, b = SHARPER * tol, best.b
    why = f"{machine.k} classes at once: parts answer with changes of the weights"
    return PartsSolution(*best, ending, "ascent", why)


def finish(parts: Parts, machine: ClassSpec, cost: float, mean, W, b, tol: float) -> Proved:
    """Feasible multipliers, good biases and the proof."""
    repair_class_parts(parts, machine)
    if machine.bias:
        b = better_biases(parts, machine, W, b)
    certificate = prove_class_parts(parts, machine, W, b, mean)
    at_rest = cost * class_value(machine.loss, np.zeros(machine.k), 0)
    if not certificate.primal <= at_rest:  # stopped too early: no weights are better
        W, b = np.zeros_like(W), np.zeros_like(b)
        certificate = certify_class_parts(parts, machine, W, b, mean)

    def longer(t: float) -> Proved:
        return Proved(t * W, t * b, certify_class_parts(parts, machine, t * W, t * b, mean))

    return lengthened(Proved(W, b, certificate), tol, longer)
