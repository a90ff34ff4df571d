"""Semismooth Newton over parts: the augmented Lagrangian of ``solve/lagrangian.py`` by sums.

    min over w, b    ½‖w‖² + Σ max over a in [0, cap_i] of  a z_i − (a − aᵏ_i)²/(2σ_i)
                     z_i = 1 − y_i ((x_i − μ)·w + b)

A step asks the parts once: for the slope at some places along the direction (a few numbers), and
for gradient and curvature where the whole step would end (one vector and, where there are few
columns, one d × d matrix).  Where the whole step is too long or too short they are asked again,
for slopes in between and then for gradient and curvature there.  With many columns the curvature is
never formed; conjugate gradients ask for its products, one vector each, with rows that are free
only.  Multipliers, slacks and their changes stay with the parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..problem.problem import Bias, Problem
from ..represent.gram import column_gram
from ..represent.rows import combine, scores, take
from ..solve.contract import Ending, OutOfBudget, Watch
from ..solve.direction import FAINT, solve_scaled
from ..solve.lagrangian import GROWTH, INNER_STEPS, OUTER_STEPS, Terms, _slope, activity
from .hinge_tasks import Census, Machine, Share, ask_total
from .parts import Block, Parts, total

# Columns up to which a part answers with a d × d matrix: two megabytes.
GRAM_COLUMNS = 512
# The first σ, as a share of the costs.
KAPPA = 0.5
# Steps at which parts tell the slope, relative to the Newton step; it is told again in between.
STEPS = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 16.0])
WHOLE = int(np.flatnonzero(STEPS == 1.0)[0])
LOOKS = 12
# A line search ends when the slope has fallen to this share of what it was.
STEEP = 0.3
# A whole step that leaves no more of it has met no kink.
EXACT = 1e-6
# Conjugate gradients end at this share of the gradient, or after so many products.
ROUGH = 0.1
PRODUCTS = 200


class Smooth(NamedTuple):
    """What all parts are told of the smooth function: its centre, its κ, what to answer."""

    mu: np.ndarray
    kappa: float
    gram: bool


class Sums(NamedTuple):
    """A part's answer at one point."""

    v: np.ndarray  # Σ â y (x − μ)
    r: float
    complementarity: float
    loss: float
    free: int
    curvature: Any  # G and h, or the diagonal of G
    pull: np.ndarray  # h = Σ s (x − μ)
    stiffness: float  # Σ s


def start(problem: Problem, share: Share, mu, w, b, warm: bool) -> tuple[Share, int]:
    """Slacks at (w, b), from the rows; keep the multipliers only if told so."""
    z = 1.0 - problem.y * (scores(problem.rows, w) + (b - float(mu @ w)))
    alpha = share.alpha if warm else np.zeros(len(z))
    return share._replace(alpha=alpha, points=alpha[None, :], z=z, dz=None, trial=None), 0


def evaluate(problem: Problem, share: Share, told: Smooth, t: float, took: bool, pending: bool):
    """Go t along the direction; answer with gradient and curvature there."""
    share = settled(share, pending)
    assert share.z is not None
    z = share.z if share.dz is None or t == 0.0 else share.z + t * share.dz
    alpha = share.trial if took and share.trial is not None else share.alpha
    trial, free, sums = _sums(problem, told, z, alpha)
    share = share._replace(
        alpha=alpha, points=alpha[None, :], z=z, dz=None, trial=trial, free=free, ahead=None
    )
    return share, sums


def advance(problem: Problem, share: Share, told: Smooth, dw, db, steps, pending: bool):
    """Slopes at some steps along (dw, db), and gradient and curvature at its end."""
    share = settled(share, pending)
    assert share.z is not None
    dz = -problem.y * (scores(problem.rows, dw) + (db - float(told.mu @ dw)))
    *ahead, sums = _sums(problem, told, share.z + dz, share.alpha)
    share = share._replace(dz=dz, ahead=tuple(ahead))
    return share, (_slopes(problem, share, told, steps), sums)


def probe(problem: Problem, share: Share, told: Smooth, steps):
    """Slopes at some more steps along the direction last told; no row is read."""
    return share, _slopes(problem, share, told, steps)


def product(block: Block, memory: Any, machine: Machine, told: Smooth, p, pb: float, pending: bool):
    """Σ over free rows of s (x − μ) ((x − μ)·p + pb), and Σ s ((x − μ)·p + pb)."""
    share = settled(memory[machine.key], pending)
    rows, s = share.free
    m = s * (scores(rows, p) + (pb - float(told.mu @ p)))
    moment = float(m.sum())
    return {**memory, machine.key: share}, (combine(rows, m) - moment * told.mu, moment)


def keep(problem: Problem, share: Share, took: bool, pending: bool) -> tuple[Share, int]:
    """The multipliers on trial become the part's own."""
    share = settled(share, pending)
    alpha = share.trial if took and share.trial is not None else share.alpha
    alpha = np.clip(alpha, 0.0, problem.cap)
    return Share(share.q, alpha, alpha[None, :], share.epochs), 0


def settled(share: Share, pending: bool) -> Share:
    """Where the part stands: one whole step ahead, if that was agreed on and not yet done."""
    if not pending:
        return share
    assert share.z is not None
    trial, free = share.ahead
    return share._replace(z=share.z + share.dz, dz=None, trial=trial, free=free, ahead=None)


def _sums(problem: Problem, told: Smooth, z, alpha) -> tuple[np.ndarray, Any, Sums]:
    """Multipliers on trial at slacks z, the free rows if they are needed again, and the sums."""
    sigma, base = _sigma(problem, told.kappa, alpha)
    trial, free = np.empty(len(z)), np.empty(len(z), dtype=np.int64)
    count, r, complementarity, loss = activity(z, base, sigma, problem.cap, problem.y, trial, free)
    v = combine(problem.rows, trial * problem.y) - r * told.mu
    J, kept = free[:count], None
    s = sigma[J]
    if told.gram:
        curvature, pull = column_gram(problem.rows, J, s, told.mu)
    else:
        kept = take(problem.rows, J), s
        curvature, pull = _diagonal(*kept, told.mu)
    stiffness = float(s.sum())
    return trial, kept, Sums(v, r, complementarity, loss, count, curvature, pull, stiffness)


def _slopes(problem: Problem, share: Share, told: Smooth, steps) -> np.ndarray:
    """The slope along the direction, without the quadratic's share."""
    sigma, base = _sigma(problem, told.kappa, share.alpha)
    return np.array([_slope(share.z, share.dz, base, sigma, problem.cap, t)[0] for t in steps])


def _sigma(problem: Problem, kappa: float, alpha) -> tuple[np.ndarray, np.ndarray]:
    """σ and the multipliers the Lagrangian is about; the squared hinge is smooth by itself."""
    if np.isinf(problem.cap).any() or kappa == 0.0:
        return 2.0 * problem.c, np.zeros(len(alpha))
    return kappa * problem.c, alpha


def _diagonal(free, s, mu) -> tuple[np.ndarray, np.ndarray]:
    """Σ s (x − μ)² by column, and Σ s (x − μ)."""
    if len(free) > 1:
        squared = free._replace(data=free.data.astype(np.float64) ** 2)
    else:
        squared = free._replace(X=free.X.astype(np.float64) ** 2)
    sum_x = combine(free, s)
    total = float(s.sum())
    return combine(squared, s) - 2.0 * mu * sum_x + total * mu**2, sum_x - total * mu


class Newton:
    """Where Newton's method stands; the bias is in centred coordinates, b + μ·w."""

    def __init__(
        self, parts: Parts, machine: Machine, watch: Watch, census: Census,
        gram_columns: int = GRAM_COLUMNS,
    ):  # fmt: skip
        self.parts, self.machine, self.watch = parts, machine, watch
        d = len(census.w)
        free = machine.bias is Bias.FREE
        self.mu = census.sum_x / max(1, census.alive) if free else np.zeros(d)
        self.gram = d <= gram_columns
        self.kappa = 0.0 if machine.squared else KAPPA
        self.cost = census.cost / max(1, census.alive)
        self.w, self.b = np.zeros(d), 0.0
        self.w_best, self.b_best = self.w, 0.0
        self.primal, self.dual = np.inf, -np.inf
        self.left = np.inf  # the slope at the end of the last whole step, relative to its start
        self.pending = False  # whether the parts have not yet made the last step

    def run(self, tol: float, w=None, b: float = 0.0, warm: bool = False) -> Ending:
        """Minimise from (w, b); ``warm``: with the multipliers the parts hold."""
        if w is not None:
            self.w, self.b = w, b + float(self.mu @ w)
        ask_total(self.parts, start, self.machine, self.mu, self.w, self.b, warm)
        took = False
        try:
            if self.machine.squared:
                took = self._minimise(lambda terms: terms.gap <= 0.1 * tol * terms.primal, took)[1]
                ending = Ending.REACHED if took else Ending.STALLED
            else:
                ending, took = self._augment(tol)
        except OutOfBudget as stop:
            ending = stop.ending
        except KeyboardInterrupt:
            ending = Ending.INTERRUPTED
        ask_total(self.parts, keep, self.machine, took, self.pending)
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

        for _ in range(OUTER_STEPS):
            terms, took = self._minimise(enough, took)
            if took and closed(terms):
                return Ending.REACHED, True
            self.kappa = self.kappa * GROWTH if took else self.kappa / GROWTH**1.5
        return Ending.STALLED, took

    def _minimise(self, enough, took: bool) -> tuple[Terms, bool]:
        """Newton steps until ``enough(terms)``, and whether it was, as ``took`` tells of before."""
        told, exact, last, before = Smooth(self.mu, self.kappa, self.gram), False, -1, np.inf
        sums = self._ask(evaluate, told, 0.0, took)
        for _ in range(INNER_STEPS):
            terms, g_w, g_b = self._terms(sums)
            if enough(terms) or (exact and sums.free == last and terms.gap <= before):
                return terms, True
            if not np.isfinite(terms.gap):
                break
            before, last = terms.gap, sums.free
            self.watch.step()
            dw, db = self._direction(told, sums, g_w, g_b)
            begin = float(g_w @ dw) + g_b * db
            if not begin < 0.0:
                break
            slopes, sums = self._ask(advance, told, dw, db, STEPS)
            t = self._step(told, dw, db, begin, slopes)
            self.pending = t == 1.0
            # A step that stays on its quadratic piece leaves only rounding, if solved exactly.
            exact = self.gram and self.pending and self.left <= EXACT
            self.w, self.b = self.w + t * dw, self.b + t * db
            if not self.pending:
                sums = self._ask(evaluate, told, t, False)
        return terms, False

    def _ask(self, task, told: Smooth, *args):
        """Ask about the present point, which the parts may still have to go to."""
        answer = ask_total(self.parts, task, self.machine, told, *args, self.pending)
        self.pending = False
        return answer

    def _terms(self, sums: Sums) -> tuple[Terms, np.ndarray, float]:
        """The pieces of the gap, and the gradient."""
        bias = self.machine.bias
        g_w = self.w - sums.v
        g_b = {Bias.FREE: -sums.r, Bias.PENALIZED: self.b - sums.r, Bias.NONE: 0.0}[bias]
        primal = 0.5 * float(self.w @ self.w) + sums.loss
        if bias is Bias.PENALIZED:
            primal += 0.5 * self.b**2
        stationarity = 0.5 * float(g_w @ g_w) + abs(g_b) * (abs(self.b) + 1.0)
        terms = Terms(sums.complementarity, stationarity, primal)
        if primal < self.primal:
            self.primal, self.w_best = primal, self.w
            self.b_best = self.b - float(self.mu @ self.w)
        self.dual = max(self.dual, primal - terms.gap)
        self.watch.record(self.primal, self.dual)
        return terms, g_w, g_b

    def _direction(self, told: Smooth, sums: Sums, g_w, g_b) -> tuple[np.ndarray, float]:
        """Solve (D + Σ s x̃ x̃ᵀ)(dw, db) = −(g_w, g_b), by Cholesky or by products."""
        bias = self.machine.bias
        delta = 1.0 if bias is Bias.PENALIZED else 0.0
        if sums.free == 0:
            lent = delta + FAINT * max(self.kappa, 2.0) * self.cost
            return -g_w, 0.0 if bias is Bias.NONE else -g_b / lent
        if not self.gram:
            return self._conjugate(told, sums, g_w, g_b, delta)
        H, h, rhs = sums.curvature, sums.pull, -g_w
        H[np.diag_indices_from(H)] += 1.0
        if bias is Bias.NONE:
            return solve_scaled(H, rhs), 0.0
        S = sums.stiffness + delta
        H -= np.outer(h, h / S)
        dw = solve_scaled(H, rhs + h * (g_b / S))
        return dw, -(g_b + float(h @ dw)) / S

    def _conjugate(self, told: Smooth, sums: Sums, g_w, g_b, delta) -> tuple[np.ndarray, float]:
        """Conjugate gradients with the diagonal as preconditioner; the bias is one more column."""
        no_bias = self.machine.bias is Bias.NONE
        scale = 1.0 / np.append(1.0 + sums.curvature, max(sums.stiffness + delta, 1e-300))
        if no_bias:
            scale[-1] = 0.0
        x = np.zeros(len(g_w) + 1)
        res = -np.append(g_w, 0.0 if no_bias else g_b)
        y = scale * res
        p, size = y, float(res @ y)
        goal = ROUGH**2 * size
        for _ in range(PRODUCTS):
            asked = self.machine, told, p[:-1], float(p[-1]), self.pending
            Hp, Hb = total(self.parts, product, *asked)
            self.pending = False
            Ap = np.append(Hp + p[:-1], Hb + delta * p[-1])
            curvature = float(p @ Ap)
            if not curvature > 0.0:
                break
            alpha = size / curvature
            x, res = x + alpha * p, res - alpha * Ap
            y = scale * res
            new = float(res @ y)
            if new <= goal:
                break
            p, size = y + (new / size) * p, new
        return x[:-1], float(x[-1])

    def _step(self, told: Smooth, dw, db: float, begin: float, answer) -> float:
        """The root of the increasing, piecewise linear slope, which is ``begin`` at 0."""
        slope, curvature = float(self.w @ dw), float(dw @ dw)
        if self.machine.bias is Bias.PENALIZED:
            slope, curvature = slope + self.b * db, curvature + db * db
        steps, lo, hi = STEPS, (0.0, begin), (np.inf, np.inf)
        for look in range(LOOKS):
            slopes = answer + slope + steps * curvature
            if look == 0:
                self.left = abs(float(slopes[WHOLE] / begin))
                if self.left <= STEEP:
                    return 1.0
            best = int(np.abs(slopes).argmin())
            if abs(slopes[best]) <= STEEP * -begin:
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
            answer = ask_total(self.parts, probe, self.machine, told, steps)
        return lo[0] if lo[0] > 0.0 else hi[0]
