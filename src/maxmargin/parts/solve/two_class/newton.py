"""Semismooth Newton over parts: the augmented Lagrangian of ``lagrangian.py`` by sums.

    min over w, b    ½‖w‖² + Σ max over a in [0, cap_i] of  a z_i − (a − aᵏ_i)²/(2σ_i)
                     z_i = 1 − y_i ((x_i − μ)·w + b)

A step asks the parts once: for the slope at some places along the direction (a few numbers), and
for the gradient where the whole step would end.  Where the whole step is too long or too short they
are asked again, for slopes in between and then for the gradient there.  The curvature is formed
only where a d × d matrix is no more than a few vectors; conjugate gradients ask for its products,
one vector each, with rows that are free only, and are led by a model of it from a sample of
the rows (``sample.py``).  Multipliers, slacks and their changes stay with the parts.
"""

from __future__ import annotations

import numpy as np

from ....core.solve.contract import Ending, Monitor, OutOfBudget
from ....core.solve.semismooth import Terms
from ....core.solve.two_class.direction import BIAS_CURVATURE_SHARE, solve_scaled
from ....core.solve.two_class.lagrangian import (
    KAPPA_GROWTH,
    MAX_INNER_STEPS,
    MAX_OUTER_STEPS,
    CentredPoint,
)
from ...parts import Parts
from ..tasks import ask_total
from .near import solve_near
from .newton_tasks import (
    LagrangianSums,
    SmoothedHinge,
    advance,
    evaluate,
    keep,
    probe,
    product,
    stand,
    start,
)
from .sample import HeldSample
from .tasks import BinarySpec, Census

# Columns up to which a part answers with a d × d matrix: where answers travel no more than sixteen
# vectors; where rows are read anew for every question, two megabytes.
MAX_REMOTE_GRAM_COLUMNS, MAX_LOCAL_GRAM_COLUMNS = 16, 512
# The first σ, as a share of the costs.
FIRST_KAPPA = 0.5
# Rounds over the rows near their margin alone, between two values of κ.
MAX_NEAR_ROUNDS = 5
# … once the gap is this small, or so many steps are made.
NEAR_ROUNDS_GAP, NEAR_ROUNDS_STEPS = 2.0, 5
# A row moves about this much less from one of them to the next.
ROUND_MOVE_DECAY = 0.4
# It grows at least so much; the price of a rounded corner falls with its square.
MIN_KAPPA_GROWTH = 2.0
# Steps at which parts tell the slope, relative to the Newton step; it is told again in between.
TRIAL_STEPS = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 16.0])
WHOLE_STEP_INDEX = int(np.flatnonzero(TRIAL_STEPS == 1.0)[0])
MAX_LINE_STEPS = 12
# A line search ends when the slope has fallen to this share of what it was.
LINE_SLOPE_SHARE = 0.3
# A whole step that leaves no more of it has met no kink.
EXACT_STEP_SLOPE_SHARE = 1e-6
# Conjugate gradients end at this share of the gradient, or after so many products.
CG_TOL = 0.1
MOST_PRODUCTS = 200
# The corner of the hinge is first rounded so that it costs this share of the gap asked for.
CORNER_TOL_SHARE = 0.3


class Newton:
    """Where Newton's method stands; the bias is in centred coordinates, b + μ·w."""

    def __init__(
        self, parts: Parts, spec: BinarySpec, monitor: Monitor, census: Census,
        gram_columns: int | None = None,
    ):  # fmt: skip
        self.parts, self.spec, self.monitor = parts, spec, monitor
        d = len(census.w)
        free = bool(spec.bias)
        self.mu = census.sum_x / max(1, census.alive) if free else np.zeros(d)
        if gram_columns is None:
            gram_columns = MAX_REMOTE_GRAM_COLUMNS if parts.far else MAX_LOCAL_GRAM_COLUMNS
        self.gram = d <= gram_columns
        self.kappa = 0.0 if spec.squared else FIRST_KAPPA
        self.census = census
        self.sample: HeldSample | None = None
        self.cost = census.cost / max(1, census.alive)
        self.w, self.b = np.zeros(d), 0.0
        self.w_best, self.b_best = self.w, 0.0
        self.primal, self.dual = np.inf, -np.inf
        self.left = np.inf  # the slope at the end of the last whole step, relative to its start
        self.last = 0  # the step after which the rows near their margin are tried
        self.pending = False  # whether the parts have not yet made the last step

    def run(self, tol: float, w=None, b: float = 0.0, warm: bool = False) -> Ending:
        """Minimise from (w, b); ``warm``: with the multipliers the parts hold."""
        took = False
        try:
            level = None if warm else 0.0
            if not self.gram:
                self.sample = HeldSample(self.parts, self.spec, self.census)
                if not warm and self.sample.telling:
                    w, b = self.sample.start(tol, self.monitor.max_seconds - self.monitor.seconds)
                    level = 0.5  # the corner is rounded on both sides alike
                    if not self.spec.squared:
                        self.kappa = self.sample.rounding(w, b, CORNER_TOL_SHARE * tol)
            if w is not None:
                self.w, self.b = w, b + float(self.mu @ w)
            self._tell(start, self.mu, self.w, self.b, level)
            if self.spec.squared:
                took = self._minimise(lambda terms: terms.gap <= 0.1 * tol * terms.primal, took)[1]
                ending = Ending.REACHED if took else Ending.STALLED
            else:
                ending, took = self._augment(tol)
        except OutOfBudget as stop:
            ending = stop.ending
        except KeyboardInterrupt:
            ending = Ending.INTERRUPTED
        ask_total(self.parts, keep, self.spec, took, self.pending)
        self.pending = False
        return ending

    def _augment(self, tol: float) -> tuple[Ending, bool]:
        """Outer steps with σ = κ c, κ growing, until the gap is closed."""
        small, took = 0.01 * tol, False

        def closed(t: Terms) -> bool:
            return t.gap <= 0.5 * tol * t.primal

        def enough(t: Terms) -> bool:
            solved = t.stationarity <= max(0.05 * t.complementarity, small * abs(t.primal))
            return solved or closed(t)

        for _ in range(MAX_OUTER_STEPS):
            if self.sample is not None:
                # A rough minimum tells which rows are near their margin, and these the rest.
                self.last = self.monitor.n_iter + NEAR_ROUNDS_STEPS
                terms, took = self._minimise(lambda t: closed(t) or self._nearly(t), took)
                if took and (closed(terms) or self._near(tol, 1.0 / self.kappa)):
                    return Ending.REACHED, True
            terms, took = self._minimise(enough, took)
            if took and closed(terms):
                return Ending.REACHED, True
            missing = terms.gap / max(0.5 * tol * terms.primal, np.finfo(float).tiny)
            growth = min(
                KAPPA_GROWTH, max(MIN_KAPPA_GROWTH, MIN_KAPPA_GROWTH * float(np.sqrt(missing)))
            )
            self.kappa = self.kappa * growth if took else self.kappa / KAPPA_GROWTH**1.5
        return Ending.STALLED, took

    def _nearly(self, terms: Terms) -> bool:
        """Whether the rows near their margin are worth a try."""
        return terms.gap <= NEAR_ROUNDS_GAP * terms.primal or self.monitor.n_iter >= self.last

    def _near(self, tol: float, corner: float) -> bool:
        """Close the gap with the rows near their margin alone, where a sample is at hand.

        ``corner``: how far a row's slack may still move, about.
        """
        for _ in range(MAX_NEAR_ROUNDS if self.sample is not None else 0):
            ask_total(self.parts, stand, self.spec, self.pending)
            self.pending = False
            at = CentredPoint(self.mu, self.w, self.b)
            left = self.monitor.max_seconds - self.monitor.seconds
            own = Monitor(tol=tol, max_iter=self.monitor.max_iter, max_seconds=left)
            found = solve_near(self.parts, self.spec, self.census, at, corner, own)
            # The best point may be known already, but for rounding: what is new then is its proof.
            if found is None or not found.primal <= self.primal * (1.0 + 0.1 * tol):
                return False
            self.pending = True
            self.w, self.b = self.w + found.dw, self.b + found.db
            self._note(found.primal, found.dual)
            if found.primal - found.dual <= 0.5 * tol * found.primal:
                return True
            corner *= ROUND_MOVE_DECAY
        return False

    def _note(self, primal: float, dual: float) -> None:
        """Keep the best bounds, and the point of the best primal."""
        if primal < self.primal:
            self.primal, self.w_best = primal, self.w
            self.b_best = self.b - float(self.mu @ self.w)
        self.dual = max(self.dual, dual)
        self.monitor.record(self.primal, self.dual)

    def _minimise(self, enough, took: bool) -> tuple[Terms, bool]:
        """Newton steps until ``enough(terms)``, and whether it was, as ``took`` tells of before."""
        diagonal = self.sample is not None and self.sample.wants_diagonal
        told = SmoothedHinge(self.mu, self.kappa, self.gram, diagonal)
        exact, last, before = False, -1, np.inf
        sums = self._ask(evaluate, told, 0.0, took)
        for _ in range(MAX_INNER_STEPS):
            terms, g_w, g_b = self._terms(sums)
            if enough(terms) or (exact and sums.free == last and terms.gap <= before):
                return terms, True
            if not np.isfinite(terms.gap):
                break
            before, last = terms.gap, sums.free
            self.monitor.step()
            dw, db = self._direction(told, sums, g_w, g_b)
            begin = float(g_w @ dw) + g_b * db
            if not begin < 0.0:
                break
            slopes, sums = self._ask(advance, told, (dw, db), TRIAL_STEPS)
            t = self._step(told, dw, db, begin, slopes)
            self.pending = t == 1.0
            # A step that stays on its quadratic piece leaves only rounding, if solved exactly.
            exact = self.gram and self.pending and self.left <= EXACT_STEP_SLOPE_SHARE
            self.w, self.b = self.w + t * dw, self.b + t * db
            if not self.pending:
                sums = self._ask(evaluate, told, t, False)
        return terms, False

    def _ask(self, task, told: SmoothedHinge, *args):
        """Ask about the present point, which the parts may still have to go to."""
        answer = self._tell(task, told, *args, self.pending)
        self.pending = False
        return answer

    def _tell(self, task, *told):
        """Ask all parts; the sample hears it, too."""
        if self.sample is not None:
            self.sample.hear(task, *told)
        return ask_total(self.parts, task, self.spec, *told)

    def _terms(self, sums: LagrangianSums) -> tuple[Terms, np.ndarray, float]:
        """The pieces of the gap, and the gradient."""
        g_w = self.w - sums.v
        g_b = -sums.r if self.spec.bias else 0.0
        norm = 0.5 * float(self.w @ self.w)
        primal = norm + sums.loss
        stationarity = 0.5 * float(g_w @ g_w) + abs(g_b) * (abs(self.b) + 1.0)
        terms = Terms(sums.complementarity, stationarity, primal, norm)
        self._note(primal, primal - terms.gap)
        return terms, g_w, g_b

    def _direction(
        self, told: SmoothedHinge, sums: LagrangianSums, g_w, g_b
    ) -> tuple[np.ndarray, float]:
        """Solve (D + Σ s x̃ x̃ᵀ)(dw, db) = −(g_w, g_b), by Cholesky or by products."""
        if sums.free == 0:
            lent = BIAS_CURVATURE_SHARE * max(self.kappa, 2.0) * self.cost
            return -g_w, -g_b / lent if self.spec.bias else 0.0
        if self.sample is not None:
            return self._conjugate(told, sums, g_w, g_b)
        H, h, rhs = sums.curvature, sums.pull, -g_w
        H[np.diag_indices_from(H)] += 1.0
        if not self.spec.bias:
            return solve_scaled(H, rhs), 0.0
        S = sums.stiffness
        H -= np.outer(h, h / S)
        dw = solve_scaled(H, rhs + h * (g_b / S))
        return dw, -(g_b + float(h @ dw)) / S

    def _conjugate(
        self, told: SmoothedHinge, sums: LagrangianSums, g_w, g_b
    ) -> tuple[np.ndarray, float]:
        """Conjugate gradients, preconditioned by the sample; the bias is one more column."""
        assert self.sample is not None
        sample, pending = self.sample, self.pending
        sample.hear(stand, pending)
        if sample.fewer(sums.free):
            ask_total(self.parts, stand, self.spec, self.pending)
            self.pending = False
            sample.renew(sums.free, self.kappa)
            sample.hear(evaluate, told, 0.0, False, False)
        model = sample.model(sums.free, sums.curvature, sums.stiffness, self.mu)
        x, xb = np.zeros(len(g_w)), 0.0
        res, rb = -g_w, -g_b if self.spec.bias else 0.0
        p, pb = model(res, rb)
        size = float(res @ p) + rb * pb
        goal = CG_TOL**2 * size
        for _ in range(MOST_PRODUCTS):
            Hp, Hb = ask_total(self.parts, product, self.spec, told, p, pb, self.pending)
            self.pending = False
            Hp = Hp + p
            curvature = float(p @ Hp) + pb * Hb
            if not curvature > 0.0:
                break
            step = size / curvature
            x, xb, res, rb = x + step * p, xb + step * pb, res - step * Hp, rb - step * Hb
            if not self.spec.bias:
                rb = 0.0
            y, yb = model(res, rb)
            new = float(res @ y) + rb * yb
            if not new > goal:
                break
            p, pb, size = y + (new / size) * p, yb + (new / size) * pb, new
        return x, xb

    def _step(self, told: SmoothedHinge, dw, db: float, begin: float, answer) -> float:
        """The root of the increasing, piecewise linear slope, which is ``begin`` at 0."""
        slope, curvature = float(self.w @ dw), float(dw @ dw)
        steps, lo, hi = TRIAL_STEPS, (0.0, begin), (np.inf, np.inf)
        for look in range(MAX_LINE_STEPS):
            slopes = answer + slope + steps * curvature
            if look == 0:
                self.left = abs(float(slopes[WHOLE_STEP_INDEX] / begin))
                if self.left <= LINE_SLOPE_SHARE:
                    return 1.0
            best = int(np.abs(slopes).argmin())
            if abs(slopes[best]) <= LINE_SLOPE_SHARE * -begin:
                return float(steps[best])
            below, above = np.flatnonzero(slopes < 0.0), np.flatnonzero(slopes >= 0.0)
            if len(below) and steps[below[-1]] > lo[0]:
                lo = float(steps[below[-1]]), float(slopes[below[-1]])
            if len(above) and steps[above[0]] < hi[0]:
                hi = float(steps[above[0]]), float(slopes[above[0]])
            if np.isfinite(hi[0]):
                # Places between, one of them where a straight line would pass zero.
                guess = lo[0] - lo[1] * (hi[0] - lo[0]) / (hi[1] - lo[1])
                between = lo[0] + (hi[0] - lo[0]) * np.linspace(0.0, 1.0, 14)[1:-1]
                steps = np.sort(np.append(between, guess))
            else:
                steps = steps[-1] * np.array([4.0, 16.0, 64.0, 256.0])
            answer = self._tell(probe, told, steps)
        return lo[0] if lo[0] > 0.0 else hi[0]
