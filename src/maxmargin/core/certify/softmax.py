"""The certificate of a softmax fit: recomputed from the data in float64.

    primal(W, b) = ½‖W‖² + Σ c_i (log Σ_c exp s_ic − s_iy),          s_i = W x_i + b
    dual(p)      = −½‖W_p‖² − Σ c_i Σ_c p_ic log p_ic,               W_p = Σ c_i (e_y − p_i) x_iᵀ

For any probabilities p with Σ c_i p_i = Σ c_i e_y (a free bias asks for that) weak duality
says dual(p) ≤ optimum ≤ primal(W, b), and

    primal(W, b) − dual(p) = ½‖W − W_p‖² + Σ c_i KL(p_i ‖ softmax(s_i)).

The probabilities used are the model's own, with b moved until the constraint holds to
rounding; they leave half the squared gradient.  Both sides are nevertheless summed
independently.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem.exponential import exponentials
from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import anchor
from .certificate import SUM_ROUNDING, Certificate
from .conclude import Tally, conclude, first_that_proves, norms_of

# Σ c p is wanted this near to Σ c e_y, relative to the multipliers' sum: rounding.
BALANCE_ROUNDING = 1e-14
MAX_BALANCE_STEPS = 50
# A step of the biases must leave less than this share of the residual, or the curvature is
# computed afresh.
POOR_STEP_SHARE = 0.3
# A step counts as downhill with this share of the decrease expected; the shortest one tried.
ARMIJO_SHARE, MIN_STEP = 1e-4, 1e-6
# No step moves a bias further than this: its exponential would overflow.
MAX_BIAS_STEP = 700.0
# A class whose probabilities are all 0 or 1 has no curvature: it is lent this share of the most.
MIN_CURVATURE_SHARE = 1e-60
# Multiplications for which the curvature in the biases is taken from all rows; where it would
# cost more, from as many as that, or from this many per class.
MAX_CURVATURE_WORK, CURVATURE_ROWS_PER_CLASS = 100_000_000_000, 4
# Probabilities of which it is summed up at once; exponentials that are taken at once.
CURVATURE_PANEL_VALUES, EXP_BLOCK_VALUES = 1 << 22, 2048
# Numbers from which on the scores are kept in single precision.  That moves p, which may be
# any probabilities, but not the proof: the primal is then summed in a pass of its own.
MAX_DOUBLE_SCORES = 1 << 25


# Classes from which on only the diagonal of the curvature is used.
MAX_CURVATURE_CLASSES = 1500


class SoftmaxSums(NamedTuple):
    """What a pass over the scores adds up."""

    loss: float
    entropy: float
    multipliers: float
    residual: np.ndarray


def balanced(problem: MulticlassProblem, W, b) -> tuple[np.ndarray, Certificate]:
    """The best biases for the weights W, near b, and the certificate of (W, b)."""
    S = _scores(problem, W)
    if problem.bias:
        b, sums = _balance(problem, S, np.asarray(b, dtype=np.float64) - np.mean(b))
    else:
        b = np.zeros(problem.k)
        sums = _weigh(problem, S, b)
    return b, _certificate(problem, W, _loss_of(problem, W, b, S, sums), b, S, sums)


def certify_softmax(problem: MulticlassProblem, W: np.ndarray, b: np.ndarray) -> Certificate:
    """Recompute primal and dual of (W, b) from the data; p comes from b made balanced."""
    S = _scores(problem, W)
    at_b = _weigh(problem, S, b)
    loss = _loss_of(problem, W, b, S, at_b)
    if not problem.bias or _is_balanced(at_b):
        return _certificate(problem, W, loss, b, S, at_b)
    near, sums = _balance(problem, S, np.asarray(b, dtype=np.float64))
    return _certificate(problem, W, loss, near, S, sums)


def _loss_of(problem, W, b, S, sums: SoftmaxSums) -> float:
    """Rounded scores would do for p, but not for the objective."""
    return sums.loss if S.dtype == np.float64 else _loss(problem, W, b)


def _scores(problem: MulticlassProblem, W) -> np.ndarray:
    """X Wᵀ, the one array of n × k numbers."""
    n, _ = problem.shape
    S = np.empty(
        (n, problem.k), dtype=np.float64 if n * problem.k <= MAX_DOUBLE_SCORES else np.float32
    )
    for part, s in score_chunks(problem.rows, W):
        S[part] = s
    return S


def _certificate(problem, W, loss: float, b, S, sums: SoftmaxSums) -> Certificate:
    """The certificate of W with p = softmax(S + b), which are the model's own."""

    def steps(part: slice) -> np.ndarray:
        alpha = np.empty((part.stop - part.start, problem.k))
        _multipliers(S[part], b, problem.y[part], problem.c[part], alpha)
        return alpha

    W_p, r = class_combine(problem.rows, problem.k, steps), sums.residual
    if problem.bias:
        # What rounding left of it belongs to some rows; far from the origin it would count.
        W_p -= np.outer(r, anchor(problem.rows))
    exact = (0.0, 0.0, 0.0)
    found = Tally(len(S), loss, sums.entropy, sums.multipliers, r, W_p, exact, 0.0)
    return conclude_smooth(found, W, b, problem.bias, problem.summary())


def conclude_smooth(found: Tally, W, b, bias: Bias, problem: str) -> Certificate:
    """With the multipliers of ``found``, or with none: certainty, p = e_y, may prove more."""
    nothing = np.zeros_like(found.w)
    certain = replace(
        found, conjugate=0.0, mass=0.0, r=np.zeros_like(found.r), w=nothing,
        kkt=(0.0, 1.0, 0.0), box=0.0,
    )  # fmt: skip
    return first_that_proves(
        lambda: conclude(found, norms_of(W, found.w), b, bias, problem),
        lambda: conclude(certain, norms_of(W, nothing), b, bias, problem),
    )


def _loss(problem, W, b) -> float:
    """Σ c ℓ in float64, chunk by chunk."""
    total = 0.0
    for part, s in score_chunks(problem.rows, W):
        total += _add_up(s, b, problem.y[part], problem.c[part], np.zeros(problem.k))[0]
    return total


def _is_balanced(sums: SoftmaxSums) -> bool:
    return float(np.abs(sums.residual).max()) <= SUM_ROUNDING * sums.multipliers


def _balance(problem, S, b) -> tuple[np.ndarray, SoftmaxSums]:
    """Newton's method on b ↦ Σ c (log Σ exp(s + b) − b_y), which is convex."""
    sums, A = _weigh(problem, S, b), None
    for _ in range(MAX_BALANCE_STEPS):
        size = float(np.abs(sums.residual).max())
        if size <= BALANCE_ROUNDING * sums.multipliers:
            break
        fresh = A is None
        if A is None:
            A = _curvature(problem, S, b)
        step = _solve(A, sums.residual)
        found = _downhill(problem, S, b, step, sums, size)
        if found is None and fresh:
            break
        if found is None:
            A = None
            continue
        b, sums = found
        if float(np.abs(sums.residual).max()) > POOR_STEP_SHARE * size:
            A = None
    return b, sums


def _downhill(
    problem, S, b, step, sums: SoftmaxSums, size: float
) -> tuple[np.ndarray, SoftmaxSums] | None:
    """The first of ever shorter steps that lowers the loss or, at its floor, the residual."""
    expected, t = float(sums.residual @ step), 1.0
    while t > MIN_STEP:
        trial = _weigh(problem, S, b + t * step)
        lower = trial.loss < sums.loss - ARMIJO_SHARE * t * expected
        if lower or float(np.abs(trial.residual).max()) < (1.0 - 0.1 * t) * size:
            return b + t * step, trial
        t *= 0.25
    return None


def _solve(A, residual) -> np.ndarray:
    """A⁻¹ r with the diagonal scaled to one; equal shifts of all biases count as curved."""
    if A.ndim == 1:  # the diagonal, for large k
        return np.clip(
            residual / np.maximum(A, MIN_CURVATURE_SHARE * A.max()), -MAX_BIAS_STEP, MAX_BIAS_STEP
        )
    floor = MIN_CURVATURE_SHARE * float(A.diagonal().max()) + np.finfo(float).tiny
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), floor))
    H = (A + np.trace(A) / len(A) ** 2) * scale[:, None] * scale
    H[np.diag_indices_from(H)] += SUM_ROUNDING
    with np.errstate(over="ignore"):  # a step that long is shortened or refused
        try:
            step = scale * np.linalg.solve(H, scale * residual)
        except np.linalg.LinAlgError:  # curvatures so far apart that rounding ties two classes
            step = scale * np.linalg.lstsq(H, scale * residual, rcond=SUM_ROUNDING)[0]
    return np.clip(step, -MAX_BIAS_STEP, MAX_BIAS_STEP)


def _curvature(problem, S, b) -> np.ndarray:
    """A = Σ c (diag p − p pᵀ), over so many rows as make it good enough."""
    n, k = S.shape
    if k > MAX_CURVATURE_CLASSES:
        return np.bincount(problem.y, weights=problem.c, minlength=k).astype(np.float64)
    stride = max(1, n // max(MAX_CURVATURE_WORK // k**2, CURVATURE_ROWS_PER_CLASS * k))
    some = slice(None, None, stride)
    S, y, c = S[some], problem.y[some], problem.c[some]
    A, size = np.zeros((k, k)), max(1, CURVATURE_PANEL_VALUES // k)
    for start in range(0, len(c), size):
        part = slice(start, start + size)
        alpha = np.empty((len(c[part]), k))
        _multipliers(S[part], b, y[part], np.ones(len(alpha)), alpha)
        np.negative(alpha, out=alpha)  # p − e_y, to which e_y is added
        alpha[np.arange(len(alpha)), y[part]] += 1.0
        A[np.diag_indices(k)] += c[part] @ alpha
        rough = (np.sqrt(c[part])[:, None] * alpha).astype(np.float32)  # it only guides steps
        A -= rough.T @ rough
    return A * (problem.c.sum() / max(c.sum(), np.finfo(float).tiny))


def _weigh(problem, S, b) -> SoftmaxSums:
    residual = np.zeros(problem.k)
    loss, entropy, multipliers = _add_up(S, b, problem.y, problem.c, residual)
    return SoftmaxSums(loss, entropy, multipliers, residual)


@njit(cache=True, nogil=True)
def _add_up(S, b, y, c, residual):
    """Σ c ℓ, Σ c Σ p log p, Σ c (1 − p_y); adds Σ α to ``residual``, without cancellation."""
    n, k = S.shape
    some = max(1, EXP_BLOCK_VALUES // k)
    room, e, sums = np.empty(some * k), np.empty(some * k), np.zeros(3)
    for start in range(0, n, some):
        stop = min(n, start + some)
        _lower(S[start:stop], b, room)
        e[:] = room
        exponentials(e[: (stop - start) * k])
        _add_block(room, e, y[start:stop], c[start:stop], residual, sums)
    return sums[0], sums[1], sums[2]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lower(S, b, room):
    """S + b, less every row's largest, rounded alike wherever it is computed.

    Far from the origin S and b are large and cancel; Σα and W_p must mean the same p.
    """
    k = S.shape[1]
    for i in range(S.shape[0]):
        s, out = S[i], room[i * k : (i + 1) * k]
        for j in range(k):
            out[j] = s[j] + b[j]
        top = out[0]
        for j in range(1, k):
            top = max(top, out[j])
        for j in range(k):
            out[j] -= top


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _add_block(room, exps, y, c, residual, sums):
    k = len(residual)
    for i in range(y.shape[0]):
        if c[i] <= 0.0:
            continue
        s, e = room[i * k : (i + 1) * k], exps[i * k : (i + 1) * k]
        own, mean, others = e[y[i]], 0.0, 0.0
        for j in range(k):
            mean += e[j] * s[j]
        e[y[i]] = 0.0
        for j in range(k):
            others += e[j]
        total = own + others
        scale, log_total = c[i] / total, math.log(total)
        sums[0] += c[i] * (math.log1p(others) if s[y[i]] == 0.0 else log_total - s[y[i]])
        sums[1] += c[i] * (mean / total - log_total)
        sums[2] += scale * others
        for j in range(k):
            residual[j] -= scale * e[j]
        residual[y[i]] += scale * others


@njit(cache=True, nogil=True)
def _multipliers(S, b, y, c, alpha):
    """α = c (e_y − softmax(s + b)) of every row."""
    n, k = S.shape
    flat, some = alpha.reshape(n * k), max(1, EXP_BLOCK_VALUES // k)
    for start in range(0, n, some):
        stop = min(n, start + some)
        room = flat[start * k : stop * k]
        _lower(S[start:stop], b, room)
        exponentials(room)
        _scale(room, y[start:stop], c[start:stop], k)


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _scale(room, y, c, k):
    for i in range(y.shape[0]):
        e = room[i * k : (i + 1) * k]
        own, others = e[y[i]], 0.0
        e[y[i]] = 0.0
        for j in range(k):
            others += e[j]
        scale = c[i] / (own + others)
        for j in range(k):
            e[j] *= -scale
        e[y[i]] = scale * others
