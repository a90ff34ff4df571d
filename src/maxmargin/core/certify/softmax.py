"""The certificate of a softmax fit: recomputed from the data, with bounds on its rounding.

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

import numpy as np

from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias
from ..rows.class_products import class_combine, score_chunks
from ..rows.rows import DenseRows, anchor
from ..rows.twofold import distances, twofold_combine, twofold_scores
from .certificate import SUM_ROUNDING, Certificate
from .conclude import (
    METHOD,
    SHARP_METHOD,
    SHARPEST,
    Tally,
    conclude,
    first_that_proves,
    norms_of,
)
from .multiclass import range_at
from .rounding import SMALLEST, SPARE, UNIT, Rounding, gamma, length_above
from .softmax_sums import (
    EXP_ROUNDINGS,
    SoftmaxScores,
    SoftmaxSums,
    multipliers,
    weigh,
    weigh_rows,
)

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
# Probabilities of which the curvature is summed up at once.
CURVATURE_PANEL_VALUES = 1 << 22
# Numbers from which on the scores are kept in single precision.  That moves p, which may be
# any probabilities, but not the proof: the primal is then summed in a pass of its own.
MAX_DOUBLE_SCORES = 1 << 25
# They are computed in it, too, if that costs no more than this share of the gap asked for; and
# biases are then balanced until what is left of Σ α costs no more, and is this share of α at most.
ROUGH_SHARE, ROUGH_BALANCE = 1e-3, 1e-11
SINGLE = float(np.finfo(np.float32).eps)
# p_y of a row that is surely wrong is off by more than it is; −p log p is then below this times
# what it is off by.
LOG_UNEVEN = 40.0
ROOT_2 = math.sqrt(2.0)
# Classes from which on only the diagonal of the curvature is used.
MAX_CURVATURE_CLASSES = 1500


def balanced(
    problem: MulticlassProblem, W, b, tol: float = SHARPEST
) -> tuple[np.ndarray, Certificate]:
    """The best biases for the weights W, near b, and the certificate of (W, b)."""
    scored = _scored(problem, W, tol)
    if problem.bias:
        start = np.asarray(b, dtype=np.float64) - np.mean(b)
        b, sums = _balance(problem, scored, start)
    else:
        b = np.zeros(problem.k)
        sums = weigh(problem, scored, b)
    found = _certificate(problem, W, b, scored, sums, (b, sums))
    return b, _sharp(problem, W, b) if wants_digits(found, tol) else found


def certify_softmax(
    problem: MulticlassProblem, W: np.ndarray, b: np.ndarray, tol: float = SHARPEST
) -> Certificate:
    """Recompute primal and dual of (W, b) from the data; p comes from b made balanced."""
    found = _certify(problem, W, b, _scored(problem, W, tol), np.asarray(b, dtype=np.float64))
    return _sharp(problem, W, b) if wants_digits(found, tol) else found


def wants_digits(found: Certificate, tol: float) -> bool:
    """Whether more digits may prove what these do not: without a dual, rounding took it all."""
    return found.blurred(tol) or not (found.holds(tol) or found.dual > 0.0)


def _certify(problem, W, b, scored: SoftmaxScores, at) -> Certificate:
    """Primal of (W, b) with scores + ``at``, and dual of p made balanced nearby."""
    here = weigh(problem, scored, at)
    near = at, here
    if problem.bias and not _is_balanced(here):
        near = _balance(problem, scored, at)
    return _certificate(problem, W, b, scored, here, near)


def _sharp(problem: MulticlassProblem, W, b) -> Certificate:
    """The same in twice the digits: differences of scores, b with them, and W_p about a place."""
    place = anchor(problem.rows) if problem.bias else np.zeros(problem.shape[1])
    S, off = twofold_scores(problem.rows, W, b, problem.y, 0.0)
    room = 4.0 * UNIT * np.abs(S).max(axis=1)  # one rounding each, and that of S − top
    scored = SoftmaxScores(S, 2.0 * off + room, 1.0, 0.0, place, range_at(W, b, place))
    return _certify(problem, W, b, scored, np.zeros(problem.k))


def _scored(problem: MulticlassProblem, W, tol: float) -> SoftmaxScores:
    """X Wᵀ, the one array of n × k numbers, in float64 if it is small."""
    n, _ = problem.shape
    many = n * problem.k > MAX_DOUBLE_SCORES
    S = np.empty((n, problem.k), dtype=np.float32 if many else np.float64)
    rows, spare = problem.rows, ROUGH_SHARE * tol if many else 0.0
    longest = float(np.linalg.norm(W, axis=1).max()) * float(problem.lengths.max(initial=0.0))
    X = rows.X if isinstance(rows, DenseRows) and rows.X.dtype == np.float32 else None
    if X is not None and many and (SINGLE * longest) ** 2 <= spare:
        np.matmul(X, W.T.astype(np.float32), out=S)
    else:
        for part, s in score_chunks(rows, W):
            S[part] = s
    # s + b and what is taken off it are rounded, too, and no |s| exceeds ‖W‖‖x‖.
    slope = SPARE * ROOT_2 * (gamma(W.shape[1] + 2) + 4.0 * UNIT) * length_above(W)
    return SoftmaxScores(S, problem.lengths, slope, 2.0 * W.shape[1] * SMALLEST, spare=spare)


def _certificate(
    problem,
    W,
    b,
    scored: SoftmaxScores,
    here: SoftmaxSums,
    near: tuple[np.ndarray, SoftmaxSums],
) -> Certificate:
    """The certificate of W with p = softmax(S + at), which are the model's own.

    ``here``: the sums at b, of which the loss is taken; ``near``: (at, the sums there).
    """
    S, n, k, place = scored.S, len(scored.S), problem.k, scored.place
    at, sums = near

    def steps(part: slice) -> np.ndarray:
        alpha = np.empty((part.stop - part.start, k))
        multipliers(S[part], at, problem.y[part], problem.c[part], alpha)
        return alpha

    if S.dtype != np.float64:  # rounded scores would do for p, but not for the objective
        here = _loss(problem, W, b, scored)
    uneven = (k + EXP_ROUNDINGS) * UNIT  # how far probabilities are from those they stand for
    residual, bent = sums.residual, SPARE * sums.entropy_error
    if place is None:
        W_p, method = class_combine(problem.rows, k, steps), METHOD
        lost = SPARE * ROOT_2 * (gamma(n + 2) + uneven) * sums.pulled
        hidden = 2.0 * (gamma(n + 2) + uneven) * sums.multipliers
        reach = float(problem.lengths.max(initial=0.0))
        swing = 2.0 * length_above(W) * reach
    else:
        alpha, away = steps(slice(0, n)), distances(problem.rows, place)
        summed = twofold_combine(
            problem.rows, np.repeat(np.arange(n), k), np.tile(np.arange(k), n), alpha.ravel(), k,
            place,
        )  # fmt: skip
        # Any p will do, so it is these numbers that prove, not what they were rounded from: only a
        # row's own one, the sum of the others, is off.  The entropy is that of p within ``uneven``.
        own, defect = alpha[np.arange(n), problem.y], SPARE * (k + 4) * UNIT
        reach, W_p, method = float(away.max(initial=0.0)), summed.W, SHARP_METHOD
        lost = summed.lost + defect * float(own @ away)
        residual, hidden = summed.r, summed.hidden + defect * float(own.sum())
        doubtful = float(problem.c[own > 0.5 * problem.c].sum())
        bent = 2.0 * bent + uneven * (abs(sums.entropy) + LOG_UNEVEN * doubtful)
        swing = 2.0 * float(np.abs(S).max(initial=0.0)) + scored.apart
    shared = gamma(n + 2)
    rounding = Rounding(
        SPARE * here.loss_error + shared * here.loss,
        bent + shared * abs(sums.entropy),
        lost, hidden, reach, SPARE * swing,
    )  # fmt: skip
    price = np.bincount(problem.y, weights=problem.c, minlength=k)
    found = Tally(
        n, here.loss, sums.entropy, sums.multipliers, residual, W_p, (0.0, 0.0, 0.0), 0.0,
        price=price, rounding=rounding,
    )  # fmt: skip
    return conclude_smooth(found, W, b, problem.bias, problem.summary(), method)


def conclude_smooth(
    found: Tally, W, b, bias: Bias, problem: str, method: str = METHOD
) -> Certificate:
    """With the multipliers of ``found``, or with none: certainty, p = e_y, may prove more."""
    nothing = np.zeros_like(found.w)
    certain = replace(
        found, conjugate=0.0, mass=0.0, r=np.zeros_like(found.r), w=nothing,
        kkt=(0.0, 1.0, 0.0), box=0.0, rounding=Rounding(found.rounding.loss),
    )  # fmt: skip
    return first_that_proves(
        lambda: conclude(
            found, norms_of(W, found.w, found.rounding.w), b, bias, problem, method=method
        ),
        lambda: conclude(certain, norms_of(W, nothing), b, bias, problem, method=method),
    )


def _loss(problem, W, b, scored: SoftmaxScores) -> SoftmaxSums:
    """Σ c ℓ in float64, chunk by chunk."""
    total, error = 0.0, 0.0
    for part, s in score_chunks(problem.rows, W):
        some = SoftmaxScores(s, scored.size[part], scored.slope, scored.base)
        found = weigh_rows(problem.y[part], problem.c[part], some, b, np.zeros(problem.k))
        total, error = total + found[0], error + found[3]
    return SoftmaxSums(total, 0.0, 0.0, np.zeros(problem.k), error)


def _is_balanced(sums: SoftmaxSums) -> bool:
    return float(np.abs(sums.residual).max()) <= SUM_ROUNDING * sums.multipliers


def _balance(problem, scored: SoftmaxScores, b) -> tuple[np.ndarray, SoftmaxSums]:
    """Newton's method on b ↦ Σ c (log Σ exp(s + b) − b_y), which is convex."""
    sums, A = weigh(problem, scored, b), None
    for _ in range(MAX_BALANCE_STEPS):
        size = float(np.abs(sums.residual).max())
        if size <= BALANCE_ROUNDING * sums.multipliers or _is_spared(problem, scored, sums):
            break
        fresh = A is None
        if A is None:
            A = _curvature(problem, scored.S, b)
        step = _solve(A, sums.residual)
        found = _downhill(problem, scored, b, step, sums, size)
        if found is None and fresh:
            break
        if found is None:
            A = None
            continue
        b, sums = found
        if float(np.abs(sums.residual).max()) > POOR_STEP_SHARE * size:
            A = None
    return b, sums


def _is_spared(problem, scored: SoftmaxScores, sums: SoftmaxSums) -> bool:
    """Whether what is left of Σ α costs too little to go on, by ``imbalance``."""
    size, rho = float(np.abs(sums.residual).max()), 0.5 * float(np.abs(sums.residual).sum())
    if scored.spare == 0.0 or size > ROUGH_BALANCE * sums.multipliers:
        return False
    price = np.bincount(problem.y, weights=problem.c, minlength=problem.k)
    swing = 4.0 * max(float(scored.S.max()), -float(scored.S.min()))
    return rho * (1.0 + sums.loss / price.min(where=price > 0.0, initial=np.inf) + swing) <= (
        scored.spare * sums.loss
    )


def _downhill(
    problem, scored: SoftmaxScores, b, step, sums: SoftmaxSums, size: float
) -> tuple[np.ndarray, SoftmaxSums] | None:
    """The first of ever shorter steps that lowers the loss or, at its floor, the residual."""
    expected, t = float(sums.residual @ step), 1.0
    while t > MIN_STEP:
        trial = weigh(problem, scored, b + t * step)
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
        multipliers(S[part], b, y[part], np.ones(len(alpha)), alpha)
        np.negative(alpha, out=alpha)  # p − e_y, to which e_y is added
        alpha[np.arange(len(alpha)), y[part]] += 1.0
        A[np.diag_indices(k)] += c[part] @ alpha
        rough = (np.sqrt(c[part])[:, None] * alpha).astype(np.float32)  # it only guides steps
        A -= rough.T @ rough
    return A * (problem.c.sum() / max(c.sum(), np.finfo(float).tiny))
