"""Dual ascent on parts for k classes: epochs side by side, joined by an exact line search.

    max over β    −Σ c_i ℓ*(β_i/c_i) − ½‖W‖² − b·r − ½ρ‖r‖²,    W = Σ α_i (x_i − μ)ᵀ,  r = Σ α_i

As for two classes (``two_class/ascent.py``): a round tells every part W and b; the part runs some
epochs of block coordinate ascent (``solve/many_class/class_sweep.py``) on its own rows as if its
moves counted σ times and answers with the change of W it proposes.  The dual along the sum of the
proposals, a leap along the last rounds among them, is a quadratic known to the one who asked. b +=
ρ r makes r vanish; better biases of the primal are sought by Newton's steps in k unknowns
(``solve/many_class/class_shift.py``), a step a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ....core.certify.circulation import confine
from ....core.certify.multiclass import residual, signed
from ....core.problem.class_losses import hinge_rates
from ....core.problem.multiclass import MulticlassProblem
from ....core.rows.class_products import class_combine, padded, score_chunks
from ....core.solve.contract import Ending, Monitor
from ....core.solve.many_class.class_descent import BALANCE_STIFFNESS, EMPTY_ROW_NORM
from ....core.solve.many_class.class_shift import answers, newton_step
from ....core.solve.many_class.class_sweep import sweep
from ....core.solve.many_class.row_subproblem import cost
from ....core.solve.two_class.sweep import awake
from ...parts import Parts
from ..rounds import run_rounds
from ..tasks import ask_total
from ..two_class.ascent import (
    EPOCHS_PER_ROUND,
    INFEASIBLE_SHARE,
    MIN_ACCEPTED_SHARE,
    best_anywhere,
    best_in_triangle,
    followed,
)
from .tasks import ClassCensus, ClassSpec, ClassState, DualSums, bends, points_of

# Older points that a leap may be made of: each is as large as all multipliers.
POINTS_KEPT = 2
# Where the primal is looked at between the best weights so far (0) and the new ones (1).
LINE_SEARCH_POINTS = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.0, 1.0])
# … which are made longer by so many times a length that grows and shrinks.
LINE_SEARCH_STRETCHES = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0])
WHOLE_STEP = 5  # the new weights themselves are the sixth
# How far along Newton's step for the biases the primal is looked at.
BIAS_STEP_LENGTHS = np.array([0.0, 0.25, 0.5, 1.0])
# What a unit of imbalance is taken to cost once it is removed, in margins.
IMBALANCE_COST = 0.25
# Rounds in which the gap must fall to this share of what it was: there is no other method to try.
GAP_WINDOW, WINDOW_GAP_RATIO = 100, 0.8
# A change below this share of a multiplier is rounding.
MULTIPLIER_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


class ClassRound(NamedTuple):
    """What all parts are told."""

    V: np.ndarray  # Σ α xᵀ of the multipliers accepted, (k, d)
    r: np.ndarray  # Σ α of them
    level: np.ndarray  # W μ
    mix: np.ndarray  # which these are: weights of the points of the last round, at least 0 …
    aim: np.ndarray  # … and where to leap: any weights
    away: np.ndarray | None  # the leap of V, as long as no multiplier meets its domain's edge
    r_leapt: np.ndarray
    h: np.ndarray  # b + ρr − Wμ after the leap
    rho: float
    mm: float  # ‖μ‖²
    sigma: float
    crowd: float  # how many parts push the biases at the same time
    unit: float  # mean ‖x − μ‖²
    epochs: int
    seed: int
    W_best: np.ndarray  # the best weights so far and their biases: the primal is looked at …
    b_best: np.ndarray
    ways: np.ndarray  # … some of the way to W, and W somewhat longer or shorter: (share, length)
    biases: np.ndarray  # … with each of these; the first also gets Newton's terms


class ClassProposal(NamedTuple):
    """What a part answers: the dual's terms at the points it proposes, and the primal at W."""

    losses: np.ndarray  # Σ c ℓ wherever it is looked at, (ways, biases)
    slope: np.ndarray  # Newton's terms for the first bias: (k,) and (k, k)
    curvature: np.ndarray
    stopped: np.ndarray | float  # Σ α xᵀ over what its domain took from the leap
    swept: np.ndarray  # Σ α xᵀ over what the epochs did after it
    gains: np.ndarray  # Σβ at all points
    r: np.ndarray  # Σα likewise, (points, k)
    bent: np.ndarray  # the conjugate's quadratic part likewise


def propose(problem: MulticlassProblem, state: ClassState, told: ClassRound):
    """Accept what was agreed on, look at the primal, leap, and run some epochs."""
    beta = _mixed(problem, state, told.mix)
    losses, slope, curvature = _look(problem, state, told, beta)
    leapt, V = beta, told.V
    stopped: np.ndarray | float = 0.0
    if told.away is not None:
        aim = np.tensordot(told.aim, state.points, 1)
        leapt = aim.copy()
        confine(problem, leapt)
        stopped = class_combine(problem.rows, problem.k, signed(problem, leapt - aim))
        V = V + told.away
    swept, change = _epochs(problem, state, told, leapt, V)
    # What was accepted before takes the place of the oldest point.
    points = np.stack([beta, leapt, swept, state.beta, *state.points[3 : 2 + POINTS_KEPT]])
    state = state._replace(beta=beta, points=points, epochs=state.epochs + told.epochs)
    return state, ClassProposal(
        losses, slope, curvature, stopped, change, points.sum(axis=(1, 2)),
        np.stack([residual(problem, each) for each in points]), bends(problem, points),
    )  # fmt: skip


def accept(problem: MulticlassProblem, state: ClassState, mix: np.ndarray):
    """Accept what was agreed on, and propose nothing more."""
    beta = _mixed(problem, state, mix)
    return state._replace(beta=beta, points=beta[None]), 0


def _mixed(problem: MulticlassProblem, state: ClassState, mix: np.ndarray) -> np.ndarray:
    beta = np.tensordot(mix, state.points, 1)
    confine(problem, beta)
    return beta


def _look(problem: MulticlassProblem, state: ClassState, told: ClassRound, beta):
    """The losses wherever they are looked at, and Newton's terms for the first of the biases."""
    rates = hinge_rates(problem.loss)
    losses = np.zeros((len(told.ways), len(told.biases)))
    slope, curvature = np.zeros(problem.k), np.zeros((problem.k, problem.k))
    points = points_of(problem, state, told.rho)
    best = score_chunks(problem.rows, told.W_best)
    for (part, f), (_, g) in zip(score_chunks(problem.rows, told.V), best, strict=True):
        f = np.ascontiguousarray(f - state.centre[part, None] * told.r - told.level)
        y, c = problem.y[part], problem.c[part]
        add_losses(rates, y, c, g + told.b_best, f, told.ways, told.biases, losses)
        if problem.bias:
            some = answers(rates, points[part], problem.k, beta[part], f, told.biases[0])
            slope += some[0]
            curvature += some[1]
    return losses, slope, curvature


def _epochs(problem: MulticlassProblem, state: ClassState, told: ClassRound, beta, V):
    """Epochs with multipliers and costs counted σ times: where they end, and the change of V."""
    n, k, sigma = len(problem.y), problem.k, told.sigma
    width = padded(k)
    # All parts push the biases the same way, whatever columns they share.
    rho = told.rho * told.crowd / sigma
    points = points_of(problem, state, rho)
    points["c"] *= sigma
    points["q"] = np.maximum(points["q"], EMPTY_ROW_NORM * told.unit)
    work = np.zeros((n, width))
    work[:, :k] = sigma * beta
    U, r, h = np.zeros((V.shape[1], width)), np.zeros(width), np.zeros(width)
    U[:, :k], r[:k], h[:k] = V.T, told.r_leapt, told.h
    room = np.zeros(width), np.zeros(width), np.full(width, -np.inf), np.zeros(width)
    # A part's own dice, thrown anew in every round, and alike when a task is run again.
    dice = np.array([hash((told.seed, n, state.epochs)) & 0xFFFFFFFF], dtype=np.uint64)
    every, order, clock = np.arange(n, dtype=np.uint32), np.empty(n, dtype=np.uint32), 0.0
    for _ in range(told.epochs):
        some = awake(points, every, clock, dice, order)
        moved = sweep(
            hinge_rates(problem.loss), problem.rows, order[:some], k, rho + told.mm,
            MULTIPLIER_ROUNDING,
            clock, points, work, U, r, h, room,
        )  # fmt: skip
        clock += float(np.sqrt(moved / max(1, some)))
    swept = work[:, :k] / sigma
    confine(problem, swept)
    return swept, (U[:, :k].T - V) / sigma


@njit(cache=True, nogil=True)
def add_losses(rates, y, c, g, f, ways, biases, out):
    """out += Σ c ℓ(g + t (l f + b − g)) for every share t and length l, and all biases b."""
    k = f.shape[1]
    s = np.empty(k)
    for i in range(y.shape[0]):
        if c[i] > 0.0:
            for a in range(ways.shape[0]):
                share, length = ways[a]
                for b in range(biases.shape[0]):
                    for j in range(k):
                        s[j] = g[i, j] + share * (length * f[i, j] + biases[b, j] - g[i, j])
                    out[a, b] += c[i] * cost(rates, s, k, y[i])


class ClassAscent:
    """Where the ascent stands: V, r and the dual's terms of the accepted multipliers."""

    def __init__(
        self, parts: Parts, spec: ClassSpec, monitor: Monitor, standing: DualSums,
        census: ClassCensus, start: tuple[np.ndarray, np.ndarray],
    ):  # fmt: skip
        mu, b = start
        self.parts, self.spec, self.monitor = parts, spec, monitor
        self.mu, self.mm = mu, float(mu @ mu)
        self.unit = standing.sqnorm / max(1, census.alive) or 1.0
        # When C is so small that the weights hardly matter, biases must still move by a margin.
        soft = max(BALANCE_STIFFNESS * self.unit, 1.0 / max(census.cost, np.finfo(float).tiny))
        self.rho = soft if spec.bias else 0.0
        self.V, self.r = standing.V, standing.r
        self.b = b + self._centred(self.V, self.r) @ mu
        self.sigma = float(max(1, parts.n_parts))
        self.primal, self.dual = np.inf, -np.inf
        self.W_best, self.b_best = np.zeros_like(self.V), np.zeros(spec.k)
        self.place, self.target = self.b, self.b
        self.length, self.wide = 1.0, 0.02
        self.mix = self.aim = np.ones(1)
        self.away: np.ndarray | None = None
        self.r_leapt = self.r
        self.past = [self.V]  # V at the points accepted before

    def run(self, tol: float) -> Ending:
        """Rounds until the gap ``tol`` seems reached, or seems too far away."""

        def hopeless(gaps: list[float]) -> bool:
            return (
                len(gaps) > GAP_WINDOW and not gaps[-1] < WINDOW_GAP_RATIO * gaps[-1 - GAP_WINDOW]
            )

        return run_rounds(self, EPOCHS_PER_ROUND, tol, hopeless)

    def _centred(self, V: np.ndarray, r: np.ndarray) -> np.ndarray:
        """W = Σ α (x − μ)ᵀ."""
        return V - np.outer(r, self.mu)

    def round(self) -> None:
        """One question to all parts, and the best use of their answers."""
        if self.spec.bias:
            self.b = self.b + self.rho * self.r
        W = self._centred(self.V, self.r)
        leapt = self.V if self.away is None else self.V + self.away
        biases = self._biases()
        ways = np.stack(
            [LINE_SEARCH_POINTS, self.length + self.wide * LINE_SEARCH_STRETCHES], axis=1
        )
        told = ClassRound(
            self.V, self.r, W @ self.mu, self.mix, self.aim, self.away, self.r_leapt,
            self.b + self.rho * self.r_leapt - self._centred(leapt, self.r_leapt) @ self.mu,
            self.rho, self.mm, self.sigma, float(self.parts.n_parts), self.unit, EPOCHS_PER_ROUND,
            self.spec.seed, self.W_best, self.b_best, ways, biases,
        )  # fmt: skip
        answer = ask_total(self.parts, propose, self.spec, told)
        self._note_bounds(answer, W, ways, biases)
        self._accept(answer, W)

    def _biases(self) -> np.ndarray:
        """Where the primal is looked at: on the way to Newton's target, and at the multiplier."""
        if not self.spec.bias:
            return np.zeros_like(self.r)[None]
        way = self.place + BIAS_STEP_LENGTHS[:, None] * (self.target - self.place)
        return np.concatenate([way, [self.b]])

    def _note_bounds(self, answer: ClassProposal, W, ways, biases) -> None:
        """Primal on the way to W, dual at the accepted multipliers, charged for their r."""
        half = 0.5 * float(np.sum(W * W))
        dual = float(answer.gains[0] - 0.5 * answer.bent[0, 0]) - half
        self._note_primal(answer.losses, W, ways, biases)
        if self.spec.bias:
            self.target = biases[0] + newton_step(answer.slope, answer.curvature)
            self.place = biases[int(answer.losses[WHOLE_STEP].argmin())]
            off = float(np.abs(self.r).sum())
            if off > INFEASIBLE_SHARE * float(answer.gains[0]):
                dual = -np.inf  # so far from feasible that it says nothing
            dual -= float(self.b @ self.r) + IMBALANCE_COST * off
        self.dual = max(self.dual, dual)

    def _note_primal(self, losses: np.ndarray, W, ways, biases) -> None:
        """Keep the best weights seen; look at lengths ever more closely."""
        share, length = ways.T
        best, new = float(np.sum(self.W_best**2)), float(np.sum(W**2))
        cross = float(np.sum(self.W_best * W))
        kept = 1.0 - share
        t = share * length
        primal = losses + 0.5 * (kept**2 * best + 2.0 * kept * t * cross + t**2 * new)[:, None]
        i, j = np.unravel_index(int(primal.argmin()), primal.shape)
        if primal[i, j] < self.primal:
            self.primal = float(primal[i, j])
            b = biases[j] - length[i] * (W @ self.mu)
            self.b_best = kept[i] * self.b_best + share[i] * b
            self.W_best = kept[i] * self.W_best + t[i] * W
        place = WHOLE_STEP + int(primal[WHOLE_STEP:].min(axis=1).argmin())
        self.length = min(max(float(length[place]), 0.5), 1.5)
        self.wide *= 0.5 if place == WHOLE_STEP else 1.5

    def _accept(self, answer: ClassProposal, W) -> None:
        """Accept the best point of a triangle; leap to the best on the plane of all points."""
        leapt = np.zeros_like(self.V) if self.away is None else self.away + answer.stopped
        D = np.stack([leapt, leapt + answer.swept, *(past - self.V for past in self.past)])
        g, H = self._quadratic(answer, W, D)
        t = best_in_triangle(g[:2], H[:2, :2])
        self.sigma = followed(self.sigma, g, H, self.parts.n_parts)
        s = best_anywhere(g, H)
        self.past = [self.V, *self.past][:POINTS_KEPT]
        away = np.tensordot(s, D, 1) - np.tensordot(t, D[:2], 1)
        self.V = self.V + np.tensordot(t, D[:2], 1)
        self.mix = np.zeros(len(answer.r))
        self.mix[:3] = 1.0 - t.sum(), *t
        self.aim = np.concatenate([[1.0 - s.sum()], s])
        self.r, self.r_leapt = self.mix @ answer.r, self.aim @ answer.r
        self.away = away if t.sum() > MIN_ACCEPTED_SHARE else None
        if self.away is None:
            self.aim, self.r_leapt = self.mix, self.r

    def _quadratic(self, answer: ClassProposal, W, D) -> tuple[np.ndarray, np.ndarray]:
        """Slope and curvature of the dual from the accepted point towards all others."""
        gains, r, bent = answer.gains, answer.r, answer.bent
        dr = r[1:] - r[0]
        flat = (D - dr[:, :, None] * self.mu).reshape(len(D), -1)
        g = gains[1:] - gains[0] - (bent[0, 1:] - bent[0, 0])
        g = g - flat @ W.ravel() - dr @ (self.b + self.rho * r[0])
        H = flat @ flat.T + self.rho * dr @ dr.T
        return g, H + bent[1:, 1:] - bent[0, 1:] - bent[1:, 0][:, None] + bent[0, 0]
