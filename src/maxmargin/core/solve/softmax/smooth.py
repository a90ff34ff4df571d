"""The smooth losses of all rows as functions of their scores S, and along a line S + tZ.

    softmax    Σ c_i (log Σ_c exp s_ic − s_iy)           k scores per row
    logistic   Σ c_i log(1 + exp(−y_i s_i))              one score per row

Each offers ``line(t)``, the loss at S + tZ with two derivatives in t, ``errors(part)``, its
gradient in the scores of a slice of rows, and ``model(seed)``, an invertible model of the
Hessian in the weights.  A softmax's exponentials are most of its cost: ``moved(t)`` says that S is
now what the last ``line(t)`` saw, and then they are not taken again for the errors.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy.special import entr

from ...problem.multiclass import MulticlassProblem
from ...problem.problem import Problem
from ...rows.exponential import exponentials
from ...rows.one_pass import by_rows
from ...rows.rows import DenseRows
from ...team import in_shares, in_stretches
from .hessian_models import MIN_MODEL_ROWS, Kronecker, Model, Sampled, Whole
from .logistic_pass import logistic_pass
from .products import Products, near_mean

# Multiplications up to which the Hessian of all weights is formed as it is.
MAX_HESSIAN_WORK = 300_000_000
# Factors between 1 and 2 that share a logarithm; those nearer to 1 than this are left out.
FACTORS_PER_LOGARITHM, MIN_LOGARITHM_TERM = 32, 1e-8
# Scores whose exponentials are taken at once: they stay in the nearest cache.
EXP_BLOCK_VALUES = 2048
# Rows of two classes that are worth a thread: half a millisecond.
MIN_SHARE_ROWS = 1 << 15
# Classes from which on k × k matrices cost more than they tell.
MAX_CURVATURE_CLASSES = 1500


class SoftmaxLoss:
    at_once = False  # a gradient with its scores, from one reading of the rows

    def see(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        raise NotImplementedError

    def go_there(self) -> None:
        raise NotImplementedError

    def __init__(self, problem: MulticlassProblem, mu: np.ndarray | None = None):
        self.problem, self.bias = problem, problem.bias
        self.products = Products(problem.rows, problem.c, problem.k, bool(problem.bias), mu)
        self.make_room()
        self.total = float(problem.c.sum())

    def make_room(self) -> None:
        """For scores, in the precision of the products."""
        self.S, self.Z = self.products.room(), self.products.room()
        # exp of the scores that ``line`` has seen, and at which t; they belong to S at t = 0.
        same = self.products.store == self.products.work
        self.seen = np.empty((len(self.S) if same else 0, self.problem.k), self.S.dtype)
        self.at = np.nan

    def start(self) -> np.ndarray:
        """The best biases without weights."""
        shares = np.bincount(self.problem.y, weights=self.problem.c, minlength=self.problem.k)
        b = np.log(shares)
        return b - b.mean()

    def at_rest(self) -> float:
        """The objective without weights and biases."""
        return self.total * math.log(self.problem.k)

    def unweighted(self) -> float:
        """The objective without weights, with the best biases if they are free."""
        if not self.bias:
            return self.at_rest()
        shares = np.bincount(self.problem.y, weights=self.problem.c, minlength=self.problem.k)
        return float(entr(shares / shares.sum()).sum() * shares.sum())

    def line(self, t: float) -> tuple[float, float, float]:
        y, c, k = self.problem.y, self.problem.c, self.problem.k
        self.at = t if len(self.seen) else np.nan
        return _softmax_line(self.S, self.Z, self.S.dtype.type(t), y, c, k, self.seen)

    def moved(self, t: float) -> None:
        """S has become S + tZ."""
        self.at = 0.0 if t == self.at else np.nan

    def errors(self, part: slice) -> np.ndarray:
        """c (p − e_y)."""
        y, c, k = self.problem.y[part], self.problem.c[part], self.problem.k
        R = np.zeros((len(y), self.S.shape[1]), dtype=self.products.work)
        if self.at == 0.0:
            _errors(self.seen[part].reshape(-1), y, c, k, R)
        else:
            _softmax_errors(self.S[part], y, c, k, R)
        return R

    def model(self, seed: int, known: Model | None = None) -> Kronecker | Whole:
        """A model of the Hessian; what is ``known`` of a part of the rows is used again."""
        products = self.products
        weights = products.k * (products.d + 1)
        if min(products.n, MIN_MODEL_ROWS) * weights**2 + weights**3 <= MAX_HESSIAN_WORK:
            return Whole(products, self.probabilities, seed, self.bias)
        if isinstance(known, Kronecker):
            return known.of(self.spread)
        return Kronecker(products, self.spread, seed)

    def probabilities(self, index) -> np.ndarray:
        """p of the rows named."""
        p = self.S[index, : self.problem.k].astype(np.float64)
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p

    def spread(self, most: int) -> np.ndarray:
        """A = Σ c (diag p − p pᵀ), from at most about ``most`` rows; its diagonal for large k."""
        some = slice(None, None, max(1, len(self.S) // most))
        c, p = self.problem.c[some], self.probabilities(some)
        if self.problem.k > MAX_CURVATURE_CLASSES:
            total = self.problem.c.sum() / max(float(c.sum()), np.finfo(float).tiny)
            return total * np.einsum("i,ij,ij->j", c, p, 1.0 - p)
        rough = (np.sqrt(c)[:, None] * p).astype(np.float32)  # single precision will do for a model
        A = np.diag(c @ p) - rough.T @ rough
        return A * (self.problem.c.sum() / max(float(c.sum()), np.finfo(float).tiny))


class LogisticLoss:
    at_once: bool
    S: np.ndarray
    Z: np.ndarray

    def __init__(self, problem: Problem, mu: np.ndarray | None = None, whole: Loss | None = None):
        """``whole``: the loss of all rows, of which these are a part."""
        self.problem, self.bias, self.part = problem, problem.bias, whole is not None
        # Of few rows a pass costs less than its compilation; a part's comes with that of all.
        dense = problem.rows if isinstance(problem.rows, DenseRows) else None
        many = by_rows(problem.rows) if whole is None else whole.at_once
        self.at_once = dense is not None and many
        if mu is None and problem.bias and dense is not None and many:
            mu = near_mean(dense.X, problem.c)
        self.products = Products(problem.rows, problem.c, 1, bool(problem.bias), mu)
        self.make_room()
        self.total = float(problem.c.sum())

    def see(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss at x = (w, b) and its gradient, and the scores in Z: the rows are read once."""
        w, mu = np.ascontiguousarray(x[:-1, 0]), self.products.mu
        offset, y, c = float(x[-1, 0] - mu @ w), self.problem.y, self.problem.c
        X = self.products.rows.X  # type: ignore[union-attr]
        loss, pull, g = logistic_pass(X, w, offset, y, c, self.Z[:, 0])
        return loss, np.append(g - pull * mu, pull)[:, None]

    def go_there(self) -> None:
        """What ``see`` has filled are the scores from now on."""
        self.S, self.Z = self.Z, self.S

    def make_room(self) -> None:
        """For scores, in the precision of the products."""
        self.S, self.Z = self.products.room(), self.products.room()
        # Far from the origin rows are centred one by one.
        self.at_once = self.at_once and not self.products.sharp

    def shares(self) -> np.ndarray:
        """Σ c of either class."""
        tilt = float(self.problem.c @ self.problem.y)
        return 0.5 * np.array([self.total + tilt, self.total - tilt])

    def start(self) -> np.ndarray:
        plus, minus = self.shares()
        return np.array([math.log(plus / minus)])

    def at_rest(self) -> float:
        return self.total * math.log(2.0)

    def unweighted(self) -> float:
        if not self.bias:
            return self.at_rest()
        shares = self.shares()
        return float(entr(shares / shares.sum()).sum() * shares.sum())

    def line(self, t: float) -> tuple[float, float, float]:
        S, Z, y, c = self.S[:, 0], self.Z[:, 0], self.problem.y, self.problem.c
        shares = in_shares(
            lambda i, j: _logistic_line(S[i:j], Z[i:j], t, y[i:j], c[i:j]), len(y), MIN_SHARE_ROWS
        )
        loss, first, second = map(sum, zip(*shares, strict=True))
        return loss, first, second

    def moved(self, t: float) -> None:
        """S has become S + tZ."""

    def errors(self, part: slice) -> np.ndarray:
        """−c y σ(−ys)."""
        R = np.zeros((part.stop - part.start, self.S.shape[1]), dtype=self.products.work)
        S, y, c = self.S[part, 0], self.problem.y[part], self.problem.c[part]

        def some(i: int, j: int) -> None:
            _logistic_errors(S[i:j], y[i:j], c[i:j], R[i:j])

        in_stretches(some, len(R), EXP_BLOCK_VALUES, MIN_SHARE_ROWS)
        return R

    def model(self, seed: int, known: Model | None = None) -> Sampled:
        """A model of the Hessian; that of a part serves as long as it is good enough."""
        if isinstance(known, Sampled):
            if known.borrowed:
                known.refresh()
            if known.tells_enough(self.part):
                return known.of(self.products, self.bends)
        return Sampled(self.products, self.bends, seed, self.bias)

    def bends(self, index: np.ndarray) -> np.ndarray:
        """c σ(1 − σ) of the rows named."""
        small = np.exp(-np.abs(self.S[index, 0].astype(np.float64)))
        return self.problem.c[index] * small / (1.0 + small) ** 2


Loss = SoftmaxLoss | LogisticLoss


@njit(cache=True, nogil=True)
def _softmax_line(S, Z, t, y, c, k, seen):
    """The loss and two derivatives, a block of rows at a time; exponentials stay in ``seen``,
    if it has room."""
    n, some = S.shape[0], max(1, EXP_BLOCK_VALUES // k)
    block, own, sums = np.empty(some * k, S.dtype), np.empty(some), np.zeros(3)
    keep, flat = seen.shape[0] > 0, seen.reshape(-1)
    for start in range(0, n, some):
        stop = min(n, start + some)
        room = flat[start * k : stop * k] if keep else block
        _lower(S[start:stop], Z[start:stop], t, y[start:stop], k, room, own)
        exponentials(room[: (stop - start) * k])
        _add_line(room, Z[start:stop], y[start:stop], c[start:stop], k, own, sums)
    return sums[0], sums[1], sums[2]


@njit(cache=True, nogil=True)
def _softmax_errors(S, y, c, k, R):
    n, some = S.shape[0], max(1, EXP_BLOCK_VALUES // k)
    room, own = np.empty(some * k, R.dtype), np.empty(some)
    for start in range(0, n, some):
        stop = min(n, start + some)
        _lower(S[start:stop], S[start:stop], S.dtype.type(0), y[start:stop], k, room, own)
        exponentials(room[: (stop - start) * k])
        _errors(room, y[start:stop], c[start:stop], k, R[start:stop])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _lower(S, Z, t, y, k, room, own):
    """S + tZ, less every row's largest, so that exponentials do not overflow."""
    for i in range(S.shape[0]):
        s, z, out = S[i], Z[i], room[i * k : (i + 1) * k]
        for j in range(k):
            out[j] = s[j] + t * z[j]
        top = out[0]
        for j in range(1, k):
            top = max(top, out[j])
        for j in range(k):
            out[j] -= top
        own[i] = out[y[i]]


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _errors(room, y, c, k, R):
    """From exp(s) to c (p − e_y), row by row, with 1 − p_y free of cancellation."""
    for i in range(R.shape[0]):
        e, r = room[i * k : (i + 1) * k], R[i]
        own = e[y[i]]
        e[y[i]] = 0.0
        others = e[0]
        for j in range(1, k):
            others += e[j]
        scale = e.dtype.type(c[i] / (own + others))
        for j in range(k):
            r[j] = e[j] * scale
        r[y[i]] = -scale * others
        e[y[i]] = own


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _add_line(room, Z, y, c, k, own, sums):
    for i in range(Z.shape[0]):
        e, z = room[i * k : (i + 1) * k], Z[i]
        total, first, second = e[0] * 0, e[0] * 0, e[0] * 0
        for j in range(k):
            moved = e[j] * z[j]
            total += e[j]
            first += moved
            second += moved * z[j]
        mean = np.float64(first) / total
        sums[0] += c[i] * (math.log(np.float64(total)) - own[i])
        sums[1] += c[i] * (mean - z[y[i]])
        sums[2] += c[i] * max(0.0, np.float64(second) / total - mean * mean)


@njit(cache=True, nogil=True)
def _logistic_line(S, Z, t, y, c):
    loss, sums, room = 0.0, np.zeros(2), np.empty(EXP_BLOCK_VALUES)
    for start in range(0, S.shape[0], EXP_BLOCK_VALUES):
        stop = min(S.shape[0], start + EXP_BLOCK_VALUES)
        part = slice(start, stop)
        small = room[: stop - start]
        for i in range(start, stop):
            small[i - start] = -abs(S[i] + t * Z[i])
        exponentials(small)
        _logistic_slopes(S[part], Z[part], t, y[part], c[part], small, sums)
        loss += _logistic_loss(S[part], Z[part], t, y[part], c[part], small)
    return loss, sums[0], sums[1]


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _logistic_slopes(S, Z, t, y, c, small, sums):
    first, second = 0.0, 0.0
    for i in range(S.shape[0]):
        m, z = y[i] * (S[i] + t * Z[i]), y[i] * Z[i]
        wrong = (1.0 if m < 0.0 else small[i]) / (1.0 + small[i])
        first -= c[i] * wrong * z
        second += c[i] * small[i] / ((1.0 + small[i]) * (1.0 + small[i])) * z * z
    sums[0] += first
    sums[1] += second


@njit(cache=True, nogil=True)
def _logistic_loss(S, Z, t, y, c, small):
    """Σ c log(1 + exp(−m)); equal costs in a row share a logarithm."""
    loss, i, n = 0.0, 0, S.shape[0]
    while i < n:
        cost, product, beyond, stop = c[i], 1.0, 0.0, min(n, i + FACTORS_PER_LOGARITHM)
        tiny = 0.0
        while i < stop and c[i] == cost:
            beyond += max(0.0, -y[i] * (S[i] + t * Z[i]))
            if small[i] < MIN_LOGARITHM_TERM:
                tiny += small[i]
            else:
                product *= 1.0 + small[i]
            i += 1
        loss += cost * (math.log(product) + tiny + beyond)
    return loss


@njit(cache=True, nogil=True)
def _logistic_errors(S, y, c, R):
    for i in range(S.shape[0]):
        m = y[i] * np.float64(S[i])
        small = math.exp(-abs(m))
        R[i, 0] = -c[i] * y[i] * (1.0 if m < 0.0 else small) / (1.0 + small)
