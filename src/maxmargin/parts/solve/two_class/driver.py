"""The two-class support vector machine over parts: choose a method, run it, prove the result."""

from __future__ import annotations

import numpy as np

from ....core.certify.conclude import lengthened
from ....core.solve.contract import Ending, Monitor, settled
from ....core.solve.threads import one_blas_thread
from ....core.solve.two_class.form import MAX_DESCENT_STIFFNESS, NEWTON_COLUMNS
from ...certify.two_class import best_bias_parts, certify_parts, prove_parts, repair_parts
from ...parts import Parts, need_weight
from ..hard_margin.rounds import solve_hard
from ..tasks import PartsSolution, ProvedWeights, ask_total
from .ascent import Ascent, accept
from .newton import Newton
from .tasks import BinarySpec, Census, begin

# Methods take turns where the proof fails; each time the gap asked for is smaller.
MOST_TURNS = 5
TURN_TOL = 0.3
# Rows with more than this share of their values stored count as dense.
DENSE_SHARE = 0.5


def solve_hinge(parts: Parts, spec: BinarySpec, monitor: Monitor) -> PartsSolution:
    """Solve over all parts to the gap of ``monitor``; starts from the parts' multipliers."""
    if not np.isfinite(spec.C):
        return solve_hard(parts, spec, monitor)
    with one_blas_thread(), np.errstate(all="ignore"):
        return _Solver(parts, spec, monitor).solve()


class _Solver:
    """Runs one method after the other until the proof holds."""

    def __init__(self, parts: Parts, spec: BinarySpec, monitor: Monitor):
        self.parts, self.spec, self.monitor = parts, spec, monitor
        self.census = ask_total(parts, begin, spec)
        # With a free bias and one class the optimum is zero, and no gap is a share of that.
        need_weight(self.census.by_side, 2 if spec.bias else 1)
        b = 0.0
        if self.census.alpha > 0.0 and spec.bias:  # multipliers to start from
            b = best_bias_parts(parts, spec, self.census.w, b)
        self.best: tuple = (self.census.w, b, None)
        self.tol = monitor.tol

    def solve(self) -> PartsSolution:
        first, why = self._choose()
        ending, name = Ending.STALLED, first
        for attempt in range(MOST_TURNS):
            name = ("newton", "ascent")[(attempt + (first == "ascent")) % 2]
            self.monitor.solver = name
            ending = self._newton(attempt) if name == "newton" else self._ascent()
            ending = settled(ending, self.best[2], self.monitor.tol)
            if ending is not Ending.STALLED:
                break
            why = f"{name} stopped at a relative gap of {self.best[2].relative_gap:.1e}"
            self.tol *= TURN_TOL
        w, b, certificate = self.best
        return PartsSolution(w, b, certificate, ending, name, why)

    def _choose(self) -> tuple[str, str]:
        census, d = self.census, len(self.census.w)
        count = max(1, census.alive)
        pull = (census.cost / count) * (census.sqnorm / count)
        dense = census.values > DENSE_SHARE * census.rows * d
        if dense:
            return "newton", f"{d} dense columns: products with rows near their margin"
        if d <= NEWTON_COLUMNS and pull > MAX_DESCENT_STIFFNESS:
            return "newton", f"{d} columns and C‖x‖² of about {pull:.1g}"
        return "ascent", f"{d} sparse columns: epochs of coordinate ascent on every part"

    def _ascent(self) -> Ending:
        ascent = Ascent(self.parts, self.spec, self.monitor, self._begin())
        ascent.b = self.best[1]
        ending = ascent.run(self.tol)
        ask_total(self.parts, accept, self.spec, ascent.mix)
        self._offer(ascent.w_best, ascent.b_best)
        return ending

    def _newton(self, attempt: int) -> Ending:
        newton = Newton(self.parts, self.spec, self.monitor, self.census)
        w, b, _ = self.best
        warm = attempt > 0 or self.census.alpha > 0.0
        ending = newton.run(self.tol, w, b, warm)
        self._offer(newton.w_best, newton.b_best)
        return ending

    def _begin(self) -> Census:
        return ask_total(self.parts, begin, self.spec)

    def _offer(self, w, b) -> None:
        """Prove the point found; the best so far is kept, with the bound proved by the latest."""
        found = finish(self.parts, self.spec, self.census, w, b, self.monitor.tol)
        known = self.best[2]
        if known is None or not found[2].relative_gap > known.relative_gap:
            self.best = found


def finish(
    parts: Parts, spec: BinarySpec, census: Census, w, b: float, tol: float
) -> ProvedWeights:
    """Feasible multipliers, the best bias and the proof."""
    mean = census.sum_x / max(1, census.alive)
    repair_parts(parts, spec)
    if spec.bias:
        b = best_bias_parts(parts, spec, w, b)

    def longer(t: float) -> ProvedWeights:
        return ProvedWeights(t * w, t * b, certify_parts(parts, spec, t * w, t * b, mean, tol))

    return lengthened(ProvedWeights(w, b, prove_parts(parts, spec, w, b, mean, tol)), tol, longer)
