"""The support vector machine of k classes over parts: two methods, and the proof of the result."""

from __future__ import annotations

import numpy as np

from ....core.certify.conclude import lengthened
from ....core.problem.class_losses import class_value
from ....core.solve.contract import Ending, Monitor, settled
from ....core.solve.threads import one_blas_thread
from ...certify.many_class import (
    better_biases,
    certify_class_parts,
    prove_class_parts,
    repair_class_parts,
)
from ...parts import Parts, need_weight
from ..hard_margin.rounds import solve_hard
from ..tasks import PartsSolution, ProvedWeights, ask_total
from ..two_class.driver import MOST_TURNS, TURN_TOL
from .ascent import ClassAscent, accept
from .near import MAX_HELD_VALUES, NearSearch
from .tasks import ClassCensus, ClassSpec, DualSums, begin, count


def solve_class_hinge(
    parts: Parts, spec: ClassSpec, monitor: Monitor, values: int = MAX_HELD_VALUES
) -> PartsSolution:
    """Solve over all parts to the gap of ``monitor``; starts from the parts' multipliers, if any.

    ``values``: of the rows that may be held in one place.
    """
    if not np.isfinite(spec.C):
        return solve_hard(parts, spec, monitor)
    monitor.solver = "rounds"
    with one_blas_thread(), np.errstate(all="ignore"):
        return _solve(parts, spec, monitor, values)


def _solve(parts: Parts, spec: ClassSpec, monitor: Monitor, values: int) -> PartsSolution:
    """By the rows that matter; where they are too many, ascend until the proof holds."""
    census = ask_total(parts, count, spec)
    # With free biases and one class the optimum is zero, and no gap is a share of that.
    need_weight(census.by_class, 2 if spec.bias else 1)
    mu = census.mean if spec.bias else np.zeros_like(census.mean)
    standing = ask_total(parts, begin, spec, mu)
    near = NearSearch(parts, spec, monitor, census.rows, values)

    def start():
        return *_primal_of(parts, spec, standing, mu, near.b), standing

    ending = near.run(start if standing.mass > 0.0 else None)
    best = finish(parts, spec, census, near.W_best, near.b_best, monitor.tol)
    ending = settled(ending, best.certificate, monitor.tol)
    if ending is not Ending.STALLED:
        why = f"{spec.k} classes at once: rows that matter in memory, all others by their means"
        return PartsSolution(*best, ending, "rounds", why)
    monitor.solver = "ascent"
    return _ascend(parts, spec, monitor, census, mu, best)


def _primal_of(
    parts: Parts, spec: ClassSpec, standing: DualSums, mu, b
) -> tuple[np.ndarray, np.ndarray]:
    """W of the multipliers the parts hold, and good biases for it."""
    W = standing.V - np.outer(standing.r, mu)
    return W, better_biases(parts, spec, W, b) if spec.bias else b


def _ascend(
    parts: Parts, spec: ClassSpec, monitor: Monitor, census: ClassCensus, mu, best: ProvedWeights
) -> PartsSolution:
    """Ascend until the proof holds; where it falls short of the estimate, go on from there."""
    b, tol = best[1], monitor.tol
    for _ in range(MOST_TURNS):
        standing = ask_total(parts, begin, spec, mu)
        if standing.mass > 0.0:
            _, b = _primal_of(parts, spec, standing, mu, b)
        ascent = ClassAscent(parts, spec, monitor, standing, census, (mu, b))
        ascent.W_best, ascent.b_best, ascent.primal = best[0], best[1], best[2].primal
        ending = ascent.run(tol)
        ask_total(parts, accept, spec, ascent.mix)
        W, b = ascent.W_best, ascent.b_best
        found = finish(parts, spec, census, W, b, monitor.tol)
        if not found[2].relative_gap > best[2].relative_gap:
            best = found
        believed = ending is Ending.REACHED
        ending = settled(ending, best.certificate, monitor.tol)
        if ending is Ending.REACHED or not believed:
            break
        tol, b = TURN_TOL * tol, best.b
    why = f"{spec.k} classes at once: parts answer with changes of the weights"
    return PartsSolution(*best, ending, "ascent", why)


def finish(parts: Parts, spec: ClassSpec, census: ClassCensus, W, b, tol: float) -> ProvedWeights:
    """Feasible multipliers, good biases and the proof."""
    mean = census.mean
    repair_class_parts(parts, spec)
    if spec.bias:
        b = better_biases(parts, spec, W, b)
    certificate = prove_class_parts(parts, spec, W, b, mean, tol)
    at_rest = census.cost * class_value(spec.loss, np.zeros(spec.k), 0)
    if not certificate.primal <= at_rest:  # stopped too early: no weights are better
        W, b = np.zeros_like(W), np.zeros_like(b)
        certificate = certify_class_parts(parts, spec, W, b, mean, tol)

    def longer(t: float) -> ProvedWeights:
        certificate = certify_class_parts(parts, spec, t * W, t * b, mean, tol)
        return ProvedWeights(t * W, t * b, certificate)

    return lengthened(ProvedWeights(W, b, certificate), tol, longer)
