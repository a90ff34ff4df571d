"""The certificate of logistic and softmax regression over parts, recomputed in float64.

Multipliers are the model's own, α = c (e_y − p).  A free bias asks for Σ α = 0, which holds at
the best biases only; they are looked for first, by Newton's method, and what is still missing is
mended exactly: with two classes by scaling the heavier one's multipliers, with more by mixing
a little of one fixed distribution into every p.  Then one pass adds up primal and dual.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import Tally
from ...core.certify.multiclass import range_at
from ...core.certify.rounding import SPARE, UNIT, Rounding, gamma, length_above
from ...core.certify.softmax import ROOT_2, conclude_smooth, wants_digits
from ...core.certify.softmax_sums import EXP_ROUNDINGS
from ...core.certify.two_class import tally
from ...core.problem.class_losses import Softmax
from ...core.problem.losses import Logistic
from ...core.problem.multiclass import MulticlassProblem, summary
from ...core.problem.problem import Problem, two_class_summary
from ...core.rows.rows import as_rows, scores
from ...core.rows.twofold import distances, twofold_combine, twofold_scores
from ..parts import Block, Parts
from ..solve.smooth import Asked, pose
from .two_class import method_of

# Scores of a part held at once.
SCORE_BLOCK_VALUES = 1 << 18
# Multipliers this near to balance, times the gap asked for, are mended at no cost.
NEAR_BALANCE_SHARE = 0.02
MAX_BALANCE_PASSES = 12
# No step moves a bias further than this.
MAX_BIAS_STEP = 30.0


class Mend(NamedTuple):
    """What makes multipliers feasible: factors for two classes, a mixture for more."""

    scale: np.ndarray  # of the multipliers of each class
    share: float
    mixed: np.ndarray


class SmoothClaim(NamedTuple):
    """Weights and biases, the biases ``at`` which multipliers are taken, how they are mended, and a
    place among the data, which may be far from the origin."""

    W: np.ndarray
    b: np.ndarray
    at: np.ndarray
    mend: Mend
    place: np.ndarray


def certify_smooth(
    parts: Parts, asked: Asked, W: np.ndarray, b: np.ndarray, tol: float, place: np.ndarray
) -> tuple[np.ndarray, Certificate]:
    """The best biases for W near b, and the certificate of both."""
    b, mend = _settle(parts, asked, W, np.array(b, dtype=np.float64), tol)
    return b, _certify(parts, asked, SmoothClaim(W, b, b, mend, place), tol)


def recertify_smooth(
    parts: Parts, asked: Asked, W: np.ndarray, b: np.ndarray, tol: float, place: np.ndarray
) -> Certificate:
    """The certificate of W and b themselves, with the multipliers of the best biases near b."""
    b = np.array(b, dtype=np.float64)
    return _certify(parts, asked, SmoothClaim(W, b, *_settle(parts, asked, W, b, tol), place), tol)


def _certify(parts: Parts, asked: Asked, claim: SmoothClaim, tol: float) -> Certificate:
    """Primal of (W, b), dual of the multipliers of (W, at), mended."""
    W, b = claim.W, claim.b
    if not asked.bias:
        claim = claim._replace(place=np.zeros_like(claim.place))

    def prove(sharp: bool) -> Certificate:
        method = method_of(parts, sharp)
        if asked.k == 2:
            found = parts.total(_two, asked, claim, sharp)
            about = two_class_summary(Logistic(), asked.bias, found.rows, W.shape[1], False)
            return conclude_smooth(found, W[0], b, asked.bias, about, method)
        found = parts.total(_many, asked, claim, sharp)
        about = summary(Softmax(), asked.k, asked.bias, found.rows, W.shape[1])
        return conclude_smooth(found, W, b, asked.bias, about, method)

    found = prove(False)
    return prove(True) if wants_digits(found, tol) else found


def _settle(parts: Parts, asked: Asked, W, b, tol) -> tuple[np.ndarray, Mend]:
    """Newton steps on the biases until what is missing may be mended."""
    mend = Mend(np.ones(2), 0.0, np.zeros(asked.k))
    if not asked.bias:
        return b, mend
    for _ in range(MAX_BALANCE_PASSES):
        has, wants, bends = parts.total(_balance, W, b, asked)
        if asked.k == 2:  # multipliers of the negative and of the positive class
            mend = Mend(has.min() / np.maximum(has, np.finfo(float).tiny), 0.0, has)
            off = 1.0 - float(mend.scale.min())
            step = np.array([(has[1] - has[0]) / max(float(bends[0, 0]), np.finfo(float).tiny)])
        else:
            lacks = wants - has
            # Probabilities (1 − ε) p + ε q have Σ c p = ``wants`` for this q, which is one if ε
            # is large enough.
            off = float(np.max(-lacks / np.maximum(has, np.finfo(float).tiny), initial=0.0))
            off = min(1.0, off * (1.0 + 1e-9) + 1e-300)
            mend = Mend(np.ones(2), off, np.maximum(has + lacks / off, 0.0) / wants.sum())
            bends = bends + np.trace(bends) / asked.k**2
            step = np.linalg.lstsq(bends, lacks, rcond=1e-12)[0]
        if off <= NEAR_BALANCE_SHARE * tol:
            break
        b = b + np.clip(step, -MAX_BIAS_STEP, MAX_BIAS_STEP)
    return b, mend


def _balance(block: Block, state, W, b, asked: Asked):
    """What the multipliers add up to, what they should, and how that bends with the biases."""
    problem = pose(block, asked)
    if asked.k == 2:
        p = expit(-problem.y * (scores(problem.rows, W[0]) + b[0]))
        alpha = problem.c * p
        has = np.array([alpha[problem.y < 0].sum(), alpha[problem.y > 0].sum()])
        return state, (has, has, np.array([[float(alpha @ (1.0 - p))]]))
    has, wants = np.zeros(asked.k), np.zeros(asked.k)
    bends = np.zeros((asked.k, asked.k))
    for X, y, c in _slices(block, problem):
        p = np.exp(log_softmax(X @ W.T + b, axis=1))
        has += c @ p
        wants += np.bincount(y, c, minlength=asked.k)
        bends += np.diag(c @ p) - (p * c[:, None]).T @ p
    return state, (has, wants, bends)


def _slices(block: Block, problem) -> Iterator[tuple]:
    """Some rows at a time, in float64."""
    size = max(
        16, SCORE_BLOCK_VALUES // max(problem.k, 1 if block.X.ndim != 2 else block.X.shape[1] // 8)
    )
    for start in range(0, len(block.y), size):
        part = slice(start, start + size)
        yield block.X[part].astype(np.float64), problem.y[part], problem.c[part]


def _two(block: Block, state, asked: Asked, claim: SmoothClaim, sharp: bool):
    problem = pose(block, asked)
    assert isinstance(problem, Problem)
    w, scale = claim.W[0], claim.mend.scale
    f = scores(problem.rows, w)
    p = expit(-problem.y * (f + float(claim.at[0])))
    alpha = problem.c * p * np.where(problem.y > 0, scale[1], scale[0])
    return state, tally(problem, w, float(claim.b[0]), alpha, f, claim.place, sharp)


def _many(block: Block, state, asked: Asked, claim: SmoothClaim, sharp: bool):
    """The tally of k classes; ``sharp``: scores and W_α in twice the digits, about ``place``."""
    problem = pose(block, asked)
    assert isinstance(problem, MulticlassProblem)
    total, place, first = _SoftmaxTally(problem, claim), claim.place, 0
    for X, y, c in _slices(block, problem):
        part = slice(first, first + len(y))
        first += len(y)
        total.add(X, y, c, problem.lengths[part], place, sharp)
    return state, total.tally(float(problem.lengths.max(initial=0.0)), place, sharp)


class _SoftmaxTally:
    """Sums over the rows of a part, some at a time."""

    def __init__(self, problem: MulticlassProblem, claim: SmoothClaim):
        self.problem = problem
        self.W, self.b, self.at, self.mend, _ = claim
        self.W_alpha, self.r = np.zeros_like(claim.W), np.zeros(problem.k)
        self.loss, self.conjugate, self.mass, self.free = 0.0, 0.0, 0.0, 0.0
        self.loss_error, self.conjugate_error, self.pulled, self.lost = 0.0, 0.0, 0.0, 0.0
        self.swing, self.reach = 0.0, 0.0

    def add(self, X, y, c, lengths: np.ndarray, place, sharp: bool) -> None:
        rows, each, k = as_rows(X), np.arange(len(y)), self.problem.k
        if sharp:  # s_c − s_y, biases and all
            f, off = twofold_scores(rows, self.W, self.b, y, 0.0)
            off = 2.0 * off + 8.0 * UNIT * np.abs(f).max(axis=1, initial=0.0)
            here, there = f, f + (self.at - self.b)
        else:
            f = X @ self.W.T
            here, there = f + self.b, f + self.at
            size = lengths * length_above(self.W) + float(np.abs(self.b).max())
            off = SPARE * ROOT_2 * (gamma(X.shape[1] + 2) + 8.0 * UNIT) * size
        self.swing = max(self.swing, 2.0 * float(np.abs(f).max(initial=0.0)))
        log_p = log_softmax(there, axis=1)
        own = log_softmax(here, axis=1)[each, y]
        self.loss -= float(c @ own)
        self.loss_error += float(c @ (off + _uneven(k) * (1.0 - own)))
        mixed, p = self._mixed(log_p)
        self.free = max(self.free, float(np.abs(mixed - p).max(initial=0.0)))
        entropy = mixed * np.log(np.maximum(mixed, 1e-300))
        self.conjugate += float(c @ entropy.sum(axis=1))
        self.conjugate_error += _uneven(k) * float(c @ (1.0 - entropy.sum(axis=1) - own))
        alpha = -mixed
        alpha[each, y] += 1.0
        alpha *= c[:, None]
        mass = np.abs(alpha).sum(axis=1)
        self.mass += float(alpha[each, y].sum())
        self.pulled += float(mass @ lengths)
        self._combine(rows, X, alpha, place, sharp)

    def _mixed(self, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(log_p)
        return (1.0 - self.mend.share) * p + self.mend.share * self.mend.mixed, p

    def _combine(self, rows, X, alpha: np.ndarray, place, sharp: bool) -> None:
        n, k = alpha.shape
        if not sharp:
            self.r += alpha.sum(axis=0)
            self.W_alpha += (X.T @ alpha).T
            return
        example, column = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
        found = twofold_combine(rows, example, column, alpha.ravel(), k, place)
        self.W_alpha += found.W
        self.r += found.r
        away = distances(rows, place)
        self.lost += found.lost + SPARE * _uneven(k) * float(np.abs(alpha).sum(axis=1) @ away)
        self.reach = max(self.reach, float(away.max(initial=0.0)))

    def tally(self, farthest: float, place, sharp: bool) -> Tally:
        problem, n, k = self.problem, len(self.problem.c), self.problem.k
        shared, mass = gamma(n + 2) + _uneven(k), 2.0 * self.mass
        lost = SPARE * shared * self.pulled
        swing, reach = 2.0 * float(np.abs(self.b).max()), farthest
        if sharp:
            swing, reach = range_at(self.W, self.b, place), self.reach
            lost = self.lost + gamma(n) * float(np.linalg.norm(self.W_alpha))
        rounding = Rounding(
            SPARE * self.loss_error + shared * self.loss,
            SPARE * self.conjugate_error + shared * abs(self.conjugate),
            lost, shared * mass, reach, SPARE * (self.swing + swing),
        )  # fmt: skip
        price = np.bincount(problem.y, weights=problem.c, minlength=k)
        return Tally(
            n, self.loss, self.conjugate, self.mass, self.r, self.W_alpha, (0.0, self.free, 0.0),
            0.0, price=price, rounding=rounding,
        )  # fmt: skip


def _uneven(k: int) -> float:
    """How far probabilities, and what is made of them, are from those they stand for."""
    return (k + EXP_ROUNDINGS) * UNIT
