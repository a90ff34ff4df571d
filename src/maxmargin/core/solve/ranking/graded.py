"""Ranking by grades: Newton's method on a hinge whose corner is rounded ever less.

    min over w    ½‖w‖² + C Σ s_u s_v h(1 − w·(x_u − x_v)),     grade_u > grade_v

with h(z) = max(0, z) outside [−δ, δ] and a parabola inside.  Objective, gradient and dual
bound are sums over up to n²/4 implied pairs, each found in O(n log n) without listing them
(``core/rows/graded.py``).  Only the curvature needs pairs by name, those within δ of their
margin: all of them where they are few, and else a sample, for a Newton direction need not be
exact.  When the gradient costs less than the rounding does, δ is lowered to what the gap asked
for allows; the gap falls with δ² while pairs are plenty.  Memory is O(n + d²).
"""

from __future__ import annotations

import numpy as np

from ...certify.graded import GradedProof, centred, certify_grades
from ...problem.graded import GradedProblem
from ...problem.problem import Bias
from ...rows.graded import between, by_score, count, ramp, sample_between
from ...rows.pairs import PairRows
from ...rows.rows import combine, scores
from ..contract import Ending, Monitor, Point, Proved, Solution, ended
from ..driver import conclude
from ..threads import one_blas_thread
from ..two_class.direction import newton_system

# The corner's first half-width, in units of the margin.
MAX_CORNER_WIDTH = 1.0
# Pairs that make up the curvature: at most so many for every column, and for every item.
PAIRS_PER_COLUMN, PAIRS_PER_ITEM, MIN_SAMPLED_PAIRS = 64, 16, 4000
# The gradient may cost this share of what the rounded corner costs before δ is lowered,
GRADIENT_CORNER_SHARE = 0.2
# to where the corner costs this share of the gap asked for, but by no more than that factor.
CORNER_TOL_SHARE, MIN_WIDTH_FACTOR = 0.5, 0.1
# Line search: steps, and the slope at which it ends, relatively.
MAX_LINE_STEPS, LINE_SLOPE_SHARE = 40, 0.1
# A step shorter than this widens the corner that the curvature is taken from, a longer one
# than that narrows it, by this factor.
SHORT_STEP, LONG_STEP, CORNER_WIDEN_FACTOR = 0.1, 0.5, 4.0
# Columns up to which Newton systems are factored; beyond, conjugate gradients.
MAX_FACTORED_COLUMNS, MAX_CG_STEPS, CG_TOL = 2000, 60, 0.1
# So many steps without progress, or a corner as narrow as this: float64 has no more to give.
MAX_IDLE_STEPS, MIN_CORNER_WIDTH = 20, 1e-14


def solve_grades(
    problem: GradedProblem, monitor: Monitor, start: np.ndarray | None = None
) -> tuple[Solution, float]:
    """The best w found with its proof, and the width δ that the proof needs."""
    monitor.solver = "rounded corner"
    run = _Run(problem, monitor, start)
    with one_blas_thread(), np.errstate(all="ignore"):
        ending = ended(run.loop)
        found = run.best or certify_grades(problem, run.best_w, run.best_width, monitor.tol)
    why = f"{problem.grades.pairs} pairs implied by grades: they are counted, not listed"
    point = Point(run.best_w, 0.0, np.empty(0))
    best = Proved(point, found.certificate, found.scores)
    return conclude(best, ending, monitor.solver, why, monitor), run.best_width


class _Run:
    """Where the minimisation stands, and the best (w, δ) so far."""

    def __init__(self, problem: GradedProblem, monitor: Monitor, start: np.ndarray | None):
        self.problem, self.monitor = problem, monitor
        n, d = problem.shape
        self.most = max(MIN_SAMPLED_PAIRS, min(PAIRS_PER_COLUMN * d, PAIRS_PER_ITEM * n))
        self.w = np.zeros(d) if start is None else start
        self.rng = np.random.default_rng(monitor.seed)
        self.reach = 0.0  # the half-width of the corner that the curvature is taken from
        self.best_w, self.best_width, self.gap = self.w, MAX_CORNER_WIDTH, np.inf
        self.best: GradedProof | None = None

    def loop(self) -> Ending:
        """Newton steps, and a sharper corner whenever the present one is minimised."""
        width, idle, lowest = MAX_CORNER_WIDTH, 0, np.inf
        while idle < MAX_IDLE_STEPS and width > MIN_CORNER_WIDTH:
            here = certify_grades(self.problem, self.w, width, self.monitor.tol)
            certificate = here.certificate
            self._offer(here, width)
            idle = 0 if certificate.gap < 0.99 * lowest else idle + 1
            lowest = min(lowest, certificate.gap)
            reached = self.monitor.record(certificate.primal, certificate.primal - certificate.gap)
            gradient = 0.5 * float(here.gradient @ here.gradient)
            # Where features are tiny w = 0 may be near enough, but puts nothing in order.
            moved = self.w.any() or gradient == 0.0
            if reached and moved:
                return Ending.REACHED
            corner = max(certificate.gap - gradient, 1e-300)
            goal = CORNER_TOL_SHARE * self.monitor.tol * certificate.primal
            if moved and gradient <= max(GRADIENT_CORNER_SHARE * corner, 0.1 * goal):
                width *= min(0.5, max(MIN_WIDTH_FACTOR, np.sqrt(goal / corner)))
                lowest = np.inf
                continue
            self.monitor.step()
            self._newton_step(here, width)
        return Ending.STALLED

    def _offer(self, here: GradedProof, width: float) -> None:
        """Keep the smallest gap that is proved."""
        certificate = here.certificate
        first = certificate.holds(self.monitor.tol) and not self.best_w.any()
        if first or certificate.relative_gap < self.gap:
            self.best_w, self.best_width, self.best = self.w, width, here
            self.gap = certificate.relative_gap

    def _newton_step(self, here: GradedProof, width: float) -> None:
        dw = self._direction(here, width)
        df = centred(scores(self.problem.rows, dw))
        t = self._step(here, dw, df, width)
        self.w = self.w + t * dw
        if t < SHORT_STEP:  # pairs outside the corner stopped it: let the curvature know of them
            self.reach = min(MAX_CORNER_WIDTH, CORNER_WIDEN_FACTOR * max(self.reach, width))
        elif t > LONG_STEP:
            self.reach = self.reach / CORNER_WIDEN_FACTOR

    def _direction(self, here: GradedProof, width: float) -> np.ndarray:
        """−H⁻¹g, with H = I + Σ c/(2δ) (x_u − x_v)(x_u − x_v)ᵀ over the pairs in the corner.

        A wider corner lends its fainter curvature where the present one has none.
        """
        corners = [width] if self.reach <= width else [width, self.reach]
        parts = [self._corner(here, each) for each in corners]
        winner, loser, sigma = (np.concatenate(column) for column in zip(*parts, strict=True))
        if len(winner) == 0:  # flat here: the gradient is the whole Newton step
            return -here.gradient
        rows = PairRows(self.problem.rows, winner, loser)
        _, d = self.problem.shape
        if d > MAX_FACTORED_COLUMNS:
            return _iterated(rows, sigma, here.gradient)
        every = np.arange(len(winner))
        dw, _ = newton_system(rows, every, sigma, np.zeros(d), Bias.NONE)(here.gradient, 0.0)
        return dw

    def _corner(self, here: GradedProof, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs within ``width`` of their margin, all or a sample, and their curvature."""
        grades, ends = self.problem.grades, (1.0 - width, 1.0 + width)
        number = count(grades, here.order, here.scores, ends[1])
        number -= count(grades, here.order, here.scores, ends[0])
        if number <= self.most:
            winner, loser = between(grades, here.order, here.scores, *ends)
            weight = grades.weight[winner] * grades.weight[loser]
        else:
            winner, loser, each = sample_between(
                grades, here.order, here.scores, ends, self.most, self.rng
            )
            weight = np.full(len(winner), each)
        return winner, loser, self.problem.C / (2.0 * width) * weight

    def _step(self, here: GradedProof, dw, df, width: float) -> float:
        """The minimiser along dw, roughly, by false position (Illinois)."""
        problem = self.problem
        slope0, curvature0 = float(self.w @ dw), float(dw @ dw)

        def slope(t: float) -> float:
            f = here.scores + t * df
            pull, _, _ = ramp(problem.grades, by_score(problem.grades, f), f, width)
            return slope0 + t * curvature0 - problem.C * float(pull @ df)

        first = float(here.gradient @ dw)
        flat = LINE_SLOPE_SHARE * abs(first)
        low, below, t = 0.0, first, 1.0
        value = slope(t)
        while value < -flat and t < 1e6:  # a sample may overrate the curvature
            low, below, t = t, value, 2.0 * t
            value = slope(t)
        high, above = t, value
        for _ in range(MAX_LINE_STEPS):
            if abs(value) <= flat or not below < 0.0 < above:
                return t
            t = low - below * (high - low) / (above - below)
            last, value = value, slope(t)
            if value < 0.0:
                low, below = t, value
                above *= 0.5 if last < 0.0 else 1.0
            else:
                high, above = t, value
                below *= 0.5 if last > 0.0 else 1.0
        return low  # downhill for sure


def _iterated(rows: PairRows, sigma: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """A few conjugate-gradient steps on H dw = −g: products with the items, no matrix."""
    dw, residual = np.zeros_like(gradient), -gradient
    p, rho = residual, float(residual @ residual)
    goal = CG_TOL**2 * rho
    for _ in range(MAX_CG_STEPS):
        Hp = p + combine(rows, sigma * scores(rows, p))
        t = rho / float(p @ Hp)
        dw, residual = dw + t * p, residual - t * Hp
        new = float(residual @ residual)
        if new <= goal:
            break
        p, rho = residual + (new / rho) * p, new
    return dw
