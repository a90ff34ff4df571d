"""The certificate of a logistic fit of two classes to many dense rows: each is read twice.

    primal(w, b) = ½‖w‖² + Σ c log(1 + exp(−m)),            m = y (w·x + b)
    dual(α)      = −½‖w_α‖² + Σ c h(α / c),                  α = c σ(−m),  w_α = Σ αy x

with the entropy h(u) = −u log u − (1 − u) log(1 − u), at u = σ(−m) log(1 + s) + |m| s/(1 + s) with
s = exp(−|m|): one exponential and one logarithm tell both sides, in vector registers.  The first
reading gives scores and lengths, the second w_α.  Bounds on rounding are coarser than in
``two_class.py``, which is asked where they are between the gap and what is to be proved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem.problem import Problem
from ..rows.exponential import exponentials, logarithms
from ..rows.one_pass import by_rows
from ..rows.rows import LENGTH_SPARE, UNDERFLOW_LENGTH, DenseRows, combine, terms_of
from .certificate import Certificate
from .conclude import Tally, conclude, norms_of
from .rounding import SPARE, UNIT, Rounding, gamma, score_blur
from .softmax_sums import EXP_ROUNDINGS, SMALL_SCORE_ERROR, SPARED_WRONG

# Rows whose exponentials are taken at once.
BLOCK_ROWS = 1024
# Roundings of a margin and what is made of it, in units of ``UNIT``.
FEW = 4.0 * UNIT
UNEVEN = EXP_ROUNDINGS * UNIT
# Smaller exponentials than e to the minus this are not told apart.
MAX_EXPONENT = 708.0
ANY_ORDER = {"reassoc", "contract", "nsz"}  # what is no number stays none


class Margins(NamedTuple):
    """Of some rows: scores without the bias, labels, costs and lengths."""

    f: np.ndarray
    y: np.ndarray
    c: np.ndarray
    size: np.ndarray


def serves(problem: Problem) -> bool:
    """Whether rows are read one after another, and are so many that readings count."""
    return isinstance(problem.rows, DenseRows) and by_rows(problem.rows)


def scores_and_lengths(problem: Problem, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Xw and ‖x‖, or a little more."""
    n, d = problem.shape
    f, lengths = np.empty(n), np.empty(n)
    _scores_and_squares(problem.rows.X, np.ascontiguousarray(w, dtype=np.float64), f, lengths)
    np.sqrt(lengths, out=lengths)
    lengths *= LENGTH_SPARE
    lengths += UNDERFLOW_LENGTH * np.sqrt(d)
    return f, lengths


def certify_margins(
    problem: Problem, w: np.ndarray, b: float, at: float, f: np.ndarray, lengths: np.ndarray
) -> Certificate:
    """The certificate of (w, b) with multipliers c σ(−y (f + at)); f = Xw."""
    n, _ = problem.shape
    blur, pull, sums = score_blur(w, lengths), np.empty(n), np.zeros(12)
    rows = Margins(f, problem.y, problem.c, lengths)
    _add_up(rows, b, at, (blur.slope, blur.base), pull, sums)
    loss, entropy, mass, r, plus, minus, *bounds = sums.tolist()
    loss_error, entropy_error, pulled, largest, farthest, apart = bounds
    w_alpha, shared = combine(problem.rows, pull), gamma(BLOCK_ROWS + n // BLOCK_ROWS + 4)
    rounding = Rounding(
        SPARE * loss_error + shared * loss,
        SPARE * entropy_error + shared * entropy,
        SPARE * gamma(terms_of(problem.rows) + 2) * pulled,
        shared * mass,
        SPARE * largest,
        SPARE * (farthest + abs(b)),
    )
    found = Tally(
        n, loss, -entropy, mass, r, w_alpha, (0.0, apart + FEW, 0.0), 0.0,
        price=np.array((minus, plus)), rounding=rounding,
    )  # fmt: skip
    norms = norms_of(w, w_alpha, rounding.w)
    return conclude(found, norms, b, problem.bias, problem.summary())


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _scores_and_squares(X, w, f, squares):
    for i in range(X.shape[0]):
        x = X[i]
        total, square = 0.0, 0.0
        for j in range(x.shape[0]):
            value = np.float64(x[j])
            total += value * w[j]
            square += value * value
        f[i] = total
        squares[i] = square


@njit(cache=True, nogil=True)
def _add_up(rows, b, at, blur, pull, sums):
    """αy of every row; Σ c ℓ, Σ c h, Σ α, Σ αy, Σ c by class; by how much the loss may be larger
    and the entropy smaller, Σ α ‖x‖; the largest ‖x‖ and margin, and how far α is from b's."""
    n = rows.f.shape[0]
    small, logs, other = np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS), np.empty(BLOCK_ROWS)
    for start in range(0, n, BLOCK_ROWS):
        part = slice(start, min(n, start + BLOCK_ROWS))
        some = Margins(rows.f[part], rows.y[part], rows.c[part], rows.size[part])
        _fall(some.f, b, small, logs)
        _losses(some, b, blur, small, logs, sums)
        if at != b:
            small, other = other, small
            _fall(some.f, at, small, logs)
            _apart(some, b, at, other, small, sums)
        _entropies(some, at, small, logs, pull[part], sums)


@njit(cache=True, nogil=True)
def _fall(f, b, small, logs):
    """exp(−|f + b|), and log(1 + that)."""
    n = f.shape[0]
    for i in range(n):
        small[i] = -abs(f[i] + b)
    exponentials(small[:n])
    logarithms(small[:n], logs[:n])


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _losses(rows, b, blur, small, logs, sums):
    f, y, c, size = rows
    per_size, base = blur
    loss, error, largest, farthest, unsure = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(f.shape[0]):
        m = y[i] * (f[i] + b)
        here = max(0.0, -m) + logs[i]
        # of 1 ± m, as ``Blur`` has it, and of what is made of it
        off = per_size * size[i] + base + 3.0 * FEW * (1.0 + abs(m))
        wrong = (1.0 if m < 0.0 else small[i]) / (1.0 + small[i])
        # A row that is right for certain hardly feels the rounding of its score.
        felt = SPARED_WRONG * wrong if off < SMALL_SCORE_ERROR else 1.0
        loss += c[i] * here
        error += c[i] * (off * felt + UNEVEN * here)
        largest = max(largest, size[i])
        farthest = max(farthest, abs(m) + off)
        unsure += off
    sums[0] += loss
    sums[6] += error if unsure < np.inf else np.inf
    sums[9] = max(sums[9], largest)
    sums[10] = max(sums[10], farthest)


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _entropies(rows, at, small, logs, pull, sums):
    f, y, c, size = rows
    entropy, mass, r, plus, minus, error, pulled = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(f.shape[0]):
        m = y[i] * (f[i] + at)
        share = small[i] / (1.0 + small[i])
        alpha = c[i] * ((1.0 if m < 0.0 else small[i]) / (1.0 + small[i]))
        steep = min(abs(m), MAX_EXPONENT) * share
        entropy += c[i] * (logs[i] + steep)
        # h changes by |m| for what α is off by: a share of it, or of c where it is nearly c.
        most = share if m >= 0.0 else 1.0
        error += c[i] * UNEVEN * (logs[i] + 2.0 * steep + (1.0 + abs(m)) * most)
        mass += alpha
        r += alpha * y[i]
        pulled += alpha * size[i]
        plus += c[i] if y[i] > 0.0 else 0.0
        minus += 0.0 if y[i] > 0.0 else c[i]
        pull[i] = alpha * y[i]
    sums[1] += entropy
    sums[2] += mass
    sums[3] += r
    sums[4] += plus
    sums[5] += minus
    sums[7] += error
    sums[8] += pulled


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _apart(rows, b, at, here, there, sums):
    """The largest difference of σ(−m) at the two biases, of rows that count."""
    f, y, c, _ = rows
    most = 0.0
    for i in range(f.shape[0]):
        one = (1.0 if y[i] * (f[i] + b) < 0.0 else here[i]) / (1.0 + here[i])
        two = (1.0 if y[i] * (f[i] + at) < 0.0 else there[i]) / (1.0 + there[i])
        most = max(most, abs(one - two) if c[i] > 0.0 else 0.0)
    sums[11] = max(sums[11], most)
