"""The certificate of logistic and softmax regression over parts, recomputed in float64.

Multipliers are the model's own, α = c (e_y − p).  A free bias asks for Σ α = 0, which holds at
the best biases only; they are looked for first, by Newton's method, and what is still missing is
mended exactly: with two classes by scaling the heavier one's multipliers, with more by mixing
a little of one fixed distribution into every p.  Then one pass adds up primal and dual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax

from ...core.certify.certificate import Certificate, sums
from ...core.problem.losses import Logistic
from ...core.rows.rows import combine, scores
from ..parts import Block, Parts
from ..solve.smooth import Asked, pose

# Scores of a part held at once.
VALUES = 1 << 18
# Multipliers this near to balance, times the gap asked for, are mended at no cost.
NEAR = 0.02
MOST_PASSES = 12
# No step moves a bias further than this.
LONGEST = 30.0


class Mend(NamedTuple):
    """What makes multipliers feasible: factors for two classes, a mixture for more."""

    scale: np.ndarray  # of the multipliers of each class
    share: float
    mixed: np.ndarray


def certify_smooth(
    parts: Parts, asked: Asked, W: np.ndarray, b: np.ndarray, tol: float, anchor: np.ndarray
) -> tuple[np.ndarray, Certificate, int]:
    """The best biases for W near b, the certificate of both, and how many rows are wrong.

    ``anchor``: a place among the data, which may be far from the origin.
    """
    b = np.array(b, dtype=np.float64)
    mend = Mend(np.ones(2), 0.0, np.zeros(asked.k))
    if asked.bias:
        b, mend = _settle(parts, asked, W, b, tol)
    else:
        anchor = np.zeros_like(anchor)
    if asked.k == 2:
        found = parts.total(_two, W[0], float(b[0]), mend.scale, asked, anchor)
    else:
        found = parts.total(_many, W, b, mend, asked, anchor)
    return b, _certificate(asked, W, b, found), int(found.wrong)


def _settle(parts: Parts, asked: Asked, W, b, tol) -> tuple[np.ndarray, Mend]:
    """Newton steps on the biases until what is missing may be mended."""
    for _ in range(MOST_PASSES):
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
        if off <= NEAR * tol:
            break
        b = b + np.clip(step, -LONGEST, LONGEST)
    return b, mend


def _balance(block: Block, memory, W, b, asked: Asked):
    """What the multipliers add up to, what they should, and how that bends with the biases."""
    problem = pose(block, asked)
    if asked.k == 2:
        p = expit(-problem.y * (scores(problem.rows, W[0]) + b[0]))
        alpha = problem.c * p
        has = np.array([alpha[problem.y < 0].sum(), alpha[problem.y > 0].sum()])
        return memory, (has, has, np.array([[float(alpha @ (1.0 - p))]]))
    has, wants = np.zeros(asked.k), np.zeros(asked.k)
    bends = np.zeros((asked.k, asked.k))
    for X, y, c in _slices(block, problem):
        p = np.exp(log_softmax(X @ W.T + b, axis=1))
        has += c @ p
        wants += np.bincount(y, c, minlength=asked.k)
        bends += np.diag(c @ p) - (p * c[:, None]).T @ p
    return memory, (has, wants, bends)


def _slices(block: Block, problem) -> Iterator[tuple]:
    """Some rows at a time, in float64."""
    size = max(16, VALUES // max(problem.k, 1 if block.X.ndim != 2 else block.X.shape[1] // 8))
    for start in range(0, len(block.y), size):
        part = slice(start, start + size)
        yield block.X[part].astype(np.float64), problem.y[part], problem.c[part]


class SmoothTally(NamedTuple):
    """What the parts add up to."""

    loss: float
    conjugate: float
    W_alpha: np.ndarray
    residual: np.ndarray
    mass: float
    rows: int
    wrong: int
    worst: Worst


@dataclass(frozen=True)
class Worst:
    """Largest violations; parts "add" by taking the larger."""

    free: float
    box: float

    def __add__(self, other: Worst) -> Worst:
        return Worst(max(self.free, other.free), max(self.box, other.box))


def _two(block: Block, memory, w, b, scale, asked: Asked, anchor):
    problem = pose(block, asked)
    margins = problem.y * (scores(problem.rows, w) + b)
    alpha = problem.c * expit(-margins) * np.where(problem.y > 0, scale[1], scale[0])
    loss, conjugate, kkt, box, _ = sums(
        Logistic(), problem.c, problem.c, alpha, 1.0 - margins, False, False, 1.0
    )
    step = alpha * problem.y
    wrong = int(np.count_nonzero((margins < 0) | ((margins == 0) & (problem.y > 0))))
    return memory, SmoothTally(
        float(loss), float(conjugate), combine(problem.rows, step) - step.sum() * anchor,
        np.array([step.sum()]), float(alpha.sum()), len(alpha), wrong,
        Worst(float(kkt[1]), float(box)),
    )  # fmt: skip


def _many(block: Block, memory, W, b, mend: Mend, asked: Asked, anchor):
    problem = pose(block, asked)
    W_alpha, residual = np.zeros_like(W), np.zeros(asked.k)
    loss, conjugate, mass, wrong, free = 0.0, 0.0, 0.0, 0, 0.0
    for X, y, c in _slices(block, problem):
        log_p = log_softmax(X @ W.T + b, axis=1)
        each = np.arange(len(y))
        loss -= float(c @ log_p[each, y])
        wrong += int(np.count_nonzero(log_p.argmax(axis=1) != y))
        p = np.exp(log_p)
        mixed = (1.0 - mend.share) * p + mend.share * mend.mixed
        free = max(free, float(np.abs(mixed - p).max(initial=0.0)))
        conjugate += float(c @ (mixed * np.log(np.maximum(mixed, 1e-300))).sum(axis=1))
        alpha = -mixed
        alpha[each, y] += 1.0
        alpha *= c[:, None]
        mass += float(alpha[each, y].sum())
        sums_here = alpha.sum(axis=0)
        residual += sums_here
        W_alpha += (X.T @ alpha).T - np.outer(sums_here, anchor)
    return memory, SmoothTally(
        loss, conjugate, W_alpha, residual, mass, len(problem.c), wrong, Worst(free, 0.0)
    )


def _certificate(asked: Asked, W, b, found: SmoothTally) -> Certificate:
    worst = found.worst
    W_alpha = np.atleast_2d(found.W_alpha)
    free_bias = bool(asked.bias)
    residual = float(np.abs(found.residual).max()) / max(found.mass, np.finfo(float).tiny)
    dual = -0.5 * float(np.sum(W_alpha * W_alpha)) - found.conjugate
    free, box = worst.free, worst.box
    if not dual >= 0.0 or (free_bias and residual > 1e-9):  # certainty proves more
        W_alpha, dual, free, box, residual = np.zeros_like(W), 0.0, 1.0, 0.0, 0.0
    d, biases = W.shape[1] * len(W), (len(W) if free_bias else 0)
    name = "Logistic" if asked.k == 2 else f"Softmax, {asked.k} classes"
    return Certificate(
        primal=0.5 * float(np.sum(W * W)) + found.loss,
        dual=dual,
        kkt_violation={"zero": 0.0, "free": free, "bound": 0.0},
        stationarity=float(np.linalg.norm(W - W_alpha)) / max(1.0, float(np.linalg.norm(W))),
        bias_residual=residual if free_bias else float(np.abs(b).max()),
        box_violation=box,
        problem=f"{name}, bias {asked.bias.value}: {d + biases} variables ({d} weights, "
        f"{biases} biases)",
    )
