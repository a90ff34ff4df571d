"""Dual ascent on parts: epochs of coordinate ascent side by side, joined by an exact line search.

    max over α    Σ −c_i ℓ*(−α_i/c_i) − ½‖w‖² − b r − ½ρ r²,     w = Σ α_i y_i x_i,  r = Σ α_i y_i

A round tells every part (w, b).  The part runs some epochs on its own rows as if its moves
counted σ times, which leaves room for what the others do at the same time, and answers with
the change of w it proposes.  The dual along the sum of the proposals is a quadratic known to the
one who asked, so the step taken is the best there is, whatever σ was; σ follows it: between 1
and the number of parts.  As in memory, every second round begins with a leap along the
path of the last two, and b += ρ r makes r vanish.  [Jaggi et al. 2014, Ma et al. 2015: CoCoA and
CoCoA+, here with a free bias, an exact step and leaps]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ....core.problem.losses import value
from ....core.problem.problem import Bias, Problem
from ....core.rows.rows import combine, scores
from ....core.solve.contract import Ending, Monitor
from ....core.solve.two_class.descent import BALANCE_STIFFNESS, EMPTY_ROW_NORM, HINGE_SOFTNESS
from ....core.solve.two_class.epochs import OVER_RELAXATION
from ....core.solve.two_class.sweep import POINT_DTYPE, awake, settle, sweep
from ...parts import Parts
from ..rounds import run_rounds
from ..tasks import ask_total
from .tasks import BinarySpec, BinaryState, Census, bends

# Epochs over the rows a part makes between two questions.
EPOCHS_PER_ROUND = 3
# When less than this of what was proposed is accepted the box has spoilt the leap: a round
# without one follows.
MIN_ACCEPTED_SHARE = 0.5
# Older points that a leap may be made of.
POINTS_KEPT = 2
# How fast σ follows the step that would have been best, and how far in one round.
SIGMA_EXPONENT, MOST_FOLLOWED = 0.5, 2.0
# Σαy above this share of Σα: the multipliers are not nearly feasible.
INFEASIBLE_SHARE = 0.01
# Biases and lengths of w at which the primal is looked at, in units that grow and shrink.
BIAS_TRIALS = np.array([-1.0, -0.3, -0.1, -0.03, 0.0, 0.03, 0.1, 0.3, 1.0])
SCALE_TRIALS = np.array([-1.0, 0.0, 1.0])
# Rounds over which the speed is measured, once as many again are made, for the first ones tell
# little; and how many to come are too many.
SPEED_WINDOW, MAX_ROUNDS_LEFT = 25, 120


class Round(NamedTuple):
    """What all parts are told."""

    w: np.ndarray  # Σ α y x of the multipliers accepted
    mix: np.ndarray  # which these are: weights of the points of the last round, at least 0 …
    aim: np.ndarray  # … and where to leap: any weights
    away: np.ndarray | None  # the leap of w, as long as no multiplier meets its box
    b: float
    r: float  # Σαy after the leap
    rho: float
    sigma: float
    crowd: float  # how many parts push the bias at the same time
    unit: float  # mean ‖x‖²
    epochs: int
    seed: int
    scales: np.ndarray
    biases: np.ndarray


class Proposal(NamedTuple):
    """What a part answers: the dual's terms at the points it proposes, and the primal at w."""

    losses: np.ndarray  # Σ c ℓ at every scale and bias looked at
    stopped: np.ndarray | float  # Σ y x over what the box took from the leap
    swept: np.ndarray  # Σ y x over what the epochs did after it
    gains: np.ndarray  # Σα at all points
    r: np.ndarray  # Σαy likewise
    bent: np.ndarray  # Σ bend α α′ likewise


def propose(problem: Problem, state: BinaryState, told: Round) -> tuple[BinaryState, Proposal]:
    """Accept what was agreed on, look at the primal, leap, and run some epochs."""
    alpha = np.clip(told.mix @ state.points, 0.0, problem.cap)
    f = scores(problem.rows, told.w)
    losses = _losses(problem.loss, problem.y, problem.c, f, told.scales, told.biases)
    leapt, w = alpha, told.w.copy()
    stopped: np.ndarray | float = 0.0
    if told.away is not None:
        aim = told.aim @ state.points
        leapt = np.clip(aim, 0.0, problem.cap)
        stopped = combine(problem.rows, (leapt - aim) * problem.y)
        w += told.away
    start = w.copy()
    swept = _epochs(problem, state, told, leapt, f if told.away is None else None, w)
    w -= start
    w /= told.sigma
    # What was accepted before takes the place of the oldest point.
    points = np.stack([alpha, leapt, swept, state.alpha, *state.points[3 : 2 + POINTS_KEPT]])
    bend = bends(problem)
    bent = np.zeros((len(points),) * 2) if bend is None else (points * bend) @ points.T
    state = BinaryState(state.q, alpha, points, state.epochs + told.epochs)
    return state, Proposal(losses, stopped, w, points.sum(axis=1), points @ problem.y, bent)


def accept(problem: Problem, state: BinaryState, mix: np.ndarray) -> tuple[BinaryState, int]:
    """Accept what was agreed on, and propose nothing more."""
    alpha = np.clip(mix @ state.points, 0.0, problem.cap)
    return BinaryState(state.q, alpha, alpha[None, :], state.epochs), 0


def _epochs(problem: Problem, state: BinaryState, told: Round, alpha, f, w) -> np.ndarray:
    """Coordinate ascent with multipliers and costs counted σ times; moves w as they move."""
    n, sigma = len(problem.y), told.sigma
    # All parts push the bias the same way, whatever columns they share.
    rho = told.rho * told.crowd / sigma
    b = told.b + (told.rho - rho) * told.r
    points = np.zeros(n, dtype=POINT_DTYPE)
    points["y"], points["alpha"] = problem.y, sigma * alpha
    points["c"], points["cap"] = sigma * problem.c, sigma * problem.cap
    points["q"] = np.maximum(state.q + rho, EMPTY_ROW_NORM * told.unit)
    points["G"] = -1.0
    points["wake"] = np.where(problem.c > 0, 0.0, np.inf)
    if f is not None:
        settle(problem.loss, points, f, told.b + told.rho * told.r, 0.0)
    # A part's own dice, thrown anew in every round, and alike when a task is run again.
    dice = np.array([hash((told.seed, n, state.epochs)) & 0xFFFFFFFF], dtype=np.uint64)
    every, (order, trail) = np.arange(n, dtype=np.uint32), np.empty((2, n), dtype=np.uint32)
    clock, r, gone = 0.0, told.r, 0
    for t in range(told.epochs):
        count = awake(points, every, clock, dice, order)
        omega = OVER_RELAXATION if state.epochs + t else 1.0
        r, moved, gone = sweep(
            problem.loss, problem.rows, order[:count], b, rho, omega, clock, r, points, w,
            trail, gone,
        )  # fmt: skip
        clock += float(np.sqrt(moved / max(1, count)))
    return np.clip(points["alpha"] / sigma, 0.0, problem.cap)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _losses(loss, y, c, f, scales, biases):
    """Σ c ℓ(y (s f + b)) for every scale s and bias b."""
    out = np.zeros((scales.shape[0], biases.shape[0]))
    for i in range(y.shape[0]):
        if c[i] > 0.0:
            for j in range(scales.shape[0]):
                for k in range(biases.shape[0]):
                    out[j, k] += c[i] * value(loss, y[i] * (scales[j] * f[i] + biases[k]))
    return out


class Ascent:
    """Where the ascent stands: w, r and the dual's terms of the accepted multipliers."""

    def __init__(self, parts: Parts, spec: BinarySpec, monitor: Monitor, census: Census):
        self.parts, self.spec, self.monitor = parts, spec, monitor
        self.unit = census.sqnorm / max(1, census.alive) or 1.0
        soft = census.softness / max(1, census.alive)
        stiff = BALANCE_STIFFNESS * (self.unit + (soft if spec.squared else HINGE_SOFTNESS * soft))
        self.rho = stiff if spec.bias else 0.0
        self.b, self.sigma = 0.0, float(max(1, parts.n_parts))
        self.w_best, self.b_best, self.primal = census.w, 0.0, np.inf
        self.looks = _Looks(spec.bias)
        self.restart(-np.inf, census)

    def restart(self, dual: float, census: Census) -> None:
        """Begin at the multipliers the parts hold, whose dual is known."""
        self.w, self.r, self.dual = census.w, census.r, dual
        self.mix = self.aim = np.ones(1)
        self.away: np.ndarray | None = None
        self.r_leapt = self.r
        self.past = [self.w]  # Σ α y x at the points accepted before

    def run(self, tol: float) -> Ending:
        """Rounds until the gap ``tol`` seems reached, or seems too far away."""

        def hopeless(gaps: list[float]) -> bool:
            return (
                len(gaps) > 2 * SPEED_WINDOW
                and rounds_left(gaps[-1 - SPEED_WINDOW], gaps[-1], tol) > MAX_ROUNDS_LEFT
            )

        return run_rounds(self, EPOCHS_PER_ROUND, tol, hopeless)

    def round(self) -> None:
        """One question to all parts, and the best use of their answers."""
        if self.spec.bias:
            self.b += self.rho * self.r
        scales, biases = self.looks.at(self.b, self.r)
        told = Round(
            self.w, self.mix, self.aim, self.away, self.b, self.r_leapt, self.rho, self.sigma,
            float(self.parts.n_parts), self.unit, EPOCHS_PER_ROUND, self.spec.seed, scales, biases,
        )  # fmt: skip
        answer = ask_total(self.parts, propose, self.spec, told)
        self._note_bounds(answer, scales, biases)
        self._accept(answer)

    def _note_bounds(self, answer: Proposal, scales, biases) -> None:
        """Primal at w, dual at the accepted multipliers, charged for what r lacks of zero."""
        sq = float(self.w @ self.w)
        primal = answer.losses + 0.5 * sq * scales[:, None] ** 2
        dual = float(answer.gains[0] - 0.5 * answer.bent[0, 0]) - 0.5 * sq
        j, k = np.unravel_index(int(primal.argmin()), primal.shape)
        self.looks.follow(int(j), float(biases[k]))
        if primal[j, k] < self.primal:
            self.primal, self.w_best = float(primal[j, k]), scales[j] * self.w
            self.b_best = float(biases[k])
        if self.spec.bias:
            if abs(self.r) > INFEASIBLE_SHARE * float(answer.gains[0]):
                dual = -np.inf  # so far from feasible that it says nothing
            dual -= 2.0 * abs(self.r) * (abs(self.b_best) + 1.0)
        self.dual = max(self.dual, dual)

    def _accept(self, answer: Proposal) -> None:
        """Accept the best point of a triangle; leap to the best on the plane of all points."""
        leapt = np.zeros_like(self.w) if self.away is None else self.away + answer.stopped
        old = [past - self.w for past in self.past]
        V = np.stack([leapt, leapt + answer.swept, *old])
        g, H = _quadratic(answer, self.w, self.b, self.rho, V)
        t = best_in_triangle(g[:2], H[:2, :2])
        self.sigma = followed(self.sigma, g, H, self.parts.n_parts)
        s = best_anywhere(g, H)
        self.past = [self.w, *self.past][:POINTS_KEPT]
        away = (s[:2] - t) @ V[:2] + s[2:] @ V[2:]
        self.w = self.w + t @ V[:2]
        self.mix = np.zeros(len(answer.r))
        self.mix[:3] = 1.0 - t.sum(), *t
        self.aim = np.concatenate([[1.0 - s.sum()], s])
        self.r, self.r_leapt = float(self.mix @ answer.r), float(self.aim @ answer.r)
        self.away = away if t.sum() > MIN_ACCEPTED_SHARE else None
        if self.away is None:
            self.aim, self.r_leapt = self.mix, self.r


def followed(sigma: float, g: np.ndarray, H: np.ndarray, n_parts: int) -> float:
    """σ so that the epochs' own step would have been the best one."""
    slope = g[1] - g[0] - (H[1, 0] - H[0, 0])  # from the leapt point towards the swept one
    curvature = H[1, 1] - 2.0 * H[0, 1] + H[0, 0]
    if not curvature > 0.0:
        return sigma
    step = min(max(slope / curvature, 1.0 / MOST_FOLLOWED), MOST_FOLLOWED)
    return min(max(sigma * step**-SIGMA_EXPONENT, 1.0), float(n_parts))


def rounds_left(before: float, now: float, tol: float) -> float:
    """Rounds until the gap is ``tol`` if it goes on falling as in the last ``SPEED_WINDOW``."""
    if not np.isfinite(before):
        return 0.0 if np.isfinite(now) else np.inf
    speed = np.log(before / now) / SPEED_WINDOW
    return float(np.log(now / tol) / speed) if speed > 0.0 else np.inf


def _quadratic(answer: Proposal, w, b, rho, V) -> tuple[np.ndarray, np.ndarray]:
    """Slope and curvature of the dual from the accepted point towards all others."""
    gains, r, bent = answer.gains, answer.r, answer.bent
    dr = r[1:] - r[0]
    g = gains[1:] - gains[0] - (bent[0, 1:] - bent[0, 0]) - V @ w - (b + rho * r[0]) * dr
    H = V @ V.T + rho * np.outer(dr, dr)
    return g, H + bent[1:, 1:] - bent[0, 1:] - bent[1:, 0][:, None] + bent[0, 0]


def best_anywhere(g, H) -> np.ndarray:
    """The maximiser of g·t − ½ t·Ht, of least length where it is not unique."""
    size = np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
    return np.linalg.lstsq(H / np.outer(size, size), g / size, rcond=1e-10)[0] / size


def best_in_triangle(g, H) -> np.ndarray:
    """The maximiser of g·t − ½ t·Ht over t ≥ 0, t₁ + t₂ ≤ 1."""
    best, where, inside = 0.0, np.zeros(2), best_anywhere(g, H)
    if inside.min() >= 0.0 and inside.sum() <= 1.0:
        # Where H is zero but g is not, a corner may still be better.
        best, where = float(g @ inside - 0.5 * inside @ H @ inside), inside
    for start, end in (((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (0, 1))):
        origin, edge = np.array(start, float), np.subtract(end, start, dtype=float)
        curvature, slope = float(edge @ H @ edge), float(edge @ (g - H @ origin))
        s = min(max(slope / curvature if curvature > 0.0 else float(slope > 0), 0.0), 1.0)
        t = origin + s * edge
        gain = float(g @ t - 0.5 * t @ H @ t)
        if gain > best:
            best, where = gain, t
    return where


class _Looks:
    """Where the primal is looked at: lengths near 1 and biases near b, ever more closely."""

    def __init__(self, bias: Bias):
        self.bias, self.length, self.wide = bias, 1.0, 0.02
        self.middle, self.deep = 0.0, 1.0

    def at(self, b: float, r: float) -> tuple[np.ndarray, np.ndarray]:
        scales = self.length + self.wide * SCALE_TRIALS
        if self.bias:
            return scales, np.append(self.middle + self.deep * BIAS_TRIALS, b)
        return scales, np.zeros(1)

    def follow(self, j: int, b: float) -> None:
        """Go to the best place; wider if it was the outermost, else narrower."""
        self.length += self.wide * float(SCALE_TRIALS[j])
        self.length = min(max(self.length, 0.5), 1.5)
        self.wide *= 0.5 if SCALE_TRIALS[j] == 0.0 else 1.5
        if self.bias:
            step = abs(b - self.middle) / self.deep
            self.middle = b
            self.deep *= 2.0 if step >= 1.0 else max(3.0 * step, 0.2)
