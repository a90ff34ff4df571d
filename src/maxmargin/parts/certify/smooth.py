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
from ...core.certify.softmax import conclude_smooth
from ...core.certify.two_class import tally
from ...core.problem.class_losses import Softmax
from ...core.problem.losses import Logistic
from ...core.problem.multiclass import summary
from ...core.problem.problem import Problem, two_class_summary
from ...core.rows.rows import scores
from ..parts import Block, Parts
from ..solve.smooth import Asked, pose

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


def certify_smooth(
    parts: Parts, asked: Asked, W: np.ndarray, b: np.ndarray, tol: float, place: np.ndarray
) -> tuple[np.ndarray, Certificate]:
    """The best biases for W near b, and the certificate of both.

    ``place``: one among the data, which may be far from the origin.
    """
    b, mend = _settle(parts, asked, W, np.array(b, dtype=np.float64), tol)
    return b, _certify(parts, asked, W, b, b, mend, place)


def recertify_smooth(
    parts: Parts, asked: Asked, W: np.ndarray, b: np.ndarray, tol: float, place: np.ndarray
) -> Certificate:
    """The certificate of W and b themselves, with the multipliers of the best biases near b."""
    b = np.array(b, dtype=np.float64)
    return _certify(parts, asked, W, b, *_settle(parts, asked, W, b, tol), place)


def _certify(parts: Parts, asked: Asked, W, b, at, mend: Mend, place) -> Certificate:
    """Primal of (W, b), dual of the multipliers of (W, at), mended."""
    if asked.k == 2:
        found = parts.total(_two, W[0], float(b[0]), float(at[0]), mend.scale, asked, place)
        about = two_class_summary(Logistic(), asked.bias, found.rows, W.shape[1], False)
        return conclude_smooth(found, W[0], b, asked.bias, about)
    place = place if asked.bias else np.zeros_like(place)
    found = parts.total(_many, W, b, at, mend, asked, place)
    about = summary(Softmax(), asked.k, asked.bias, found.rows, W.shape[1])
    return conclude_smooth(found, W, b, asked.bias, about)


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


def _two(block: Block, state, w, b, at, scale, asked: Asked, place):
    problem = pose(block, asked)
    assert isinstance(problem, Problem)
    f = scores(problem.rows, w)
    alpha = problem.c * expit(-problem.y * (f + at)) * np.where(problem.y > 0, scale[1], scale[0])
    return state, tally(problem, w, b, alpha, f, place)


def _many(block: Block, state, W, b, at, mend: Mend, asked: Asked, place):
    problem, moved = pose(block, asked), not np.array_equal(b, at)
    W_alpha, r = np.zeros_like(W), np.zeros(asked.k)
    loss, conjugate, mass, free = 0.0, 0.0, 0.0, 0.0
    for X, y, c in _slices(block, problem):
        f, each = X @ W.T, np.arange(len(y))
        log_p = log_softmax(f + at, axis=1)
        loss -= float(c @ (log_softmax(f + b, axis=1) if moved else log_p)[each, y])
        p = np.exp(log_p)
        mixed = (1.0 - mend.share) * p + mend.share * mend.mixed
        free = max(free, float(np.abs(mixed - p).max(initial=0.0)))
        conjugate += float(c @ (mixed * np.log(np.maximum(mixed, 1e-300))).sum(axis=1))
        alpha = -mixed
        alpha[each, y] += 1.0
        alpha *= c[:, None]
        mass += float(alpha[each, y].sum())
        sums_here = alpha.sum(axis=0)
        r += sums_here
        W_alpha += (X.T @ alpha).T - np.outer(sums_here, place)
    kkt = (0.0, free, 0.0)
    return state, Tally(len(problem.c), loss, conjugate, mass, r, W_alpha, kkt, 0.0)
