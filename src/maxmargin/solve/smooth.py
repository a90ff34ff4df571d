"""The smooth losses of all rows as functions of their scores S, and along a line S + tZ.

    softmax    Σ c_i (log Σ_c exp s_ic − s_iy)           k scores per row
    logistic   Σ c_i log(1 + exp(−y_i s_i))              one score per row

Each offers ``line(t)``, the loss at S + tZ with two derivatives in t, ``errors(part)``, its
gradient in the scores of a slice of rows, and ``model(seed)``, an invertible model of the
Hessian in the weights.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..problem.multiclass import MulticlassProblem
from ..problem.problem import Bias, Problem
from .hessian_models import FEW_ROWS, Kronecker, Sampled, Whole
from .products import Products

# Multiplications up to which the Hessian of all weights is formed as it is.
CHEAP = 300_000_000
# Classes from which on k × k matrices cost more than they tell.
MANY_CLASSES = 1500


class SoftmaxLoss:
    def __init__(self, problem: MulticlassProblem):
        self.problem, self.bias = problem, problem.bias
        self.products = Products(problem.rows, problem.c, problem.k, problem.bias is Bias.FREE)
        self.S, self.Z = self.products.room(), self.products.room()

    def start(self) -> np.ndarray:
        """The best biases without weights."""
        shares = np.bincount(self.problem.y, weights=self.problem.c, minlength=self.problem.k)
        b = np.log(shares)
        return b - b.mean()

    def at_rest(self) -> float:
        """The objective without weights and biases."""
        return float(self.problem.c.sum()) * math.log(self.problem.k)

    def line(self, t: float) -> tuple[float, float, float]:
        y, c, sums = self.problem.y, self.problem.c, np.zeros(3)
        for part in self.products.chunks():
            Z = self.Z[part]
            T = np.multiply(Z, Z.dtype.type(t))
            T += self.S[part]
            own = np.empty(len(T))
            _lower(T, y[part], self.problem.k, own)
            np.exp(T, out=T)
            _add_line(T, Z, y[part], c[part], self.problem.k, own, sums)
        return float(sums[0]), float(sums[1]), float(sums[2])

    def errors(self, part: slice) -> np.ndarray:
        """c (p − e_y)."""
        y = self.problem.y[part]
        R = self.S[part].astype(self.products.work)
        _lower(R, y, self.problem.k, np.empty(len(R)))
        np.exp(R, out=R)
        _errors(R, y, self.problem.c[part], self.problem.k)
        return R

    def model(self, seed: int) -> Kronecker | Whole:
        products = self.products
        weights = products.k * (products.d + 1)
        if min(products.n, FEW_ROWS) * weights**2 + weights**3 <= CHEAP:
            return Whole(products, self.probabilities, seed, self.bias)
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
        if self.problem.k > MANY_CLASSES:
            total = self.problem.c.sum() / max(float(c.sum()), np.finfo(float).tiny)
            return total * np.einsum("i,ij,ij->j", c, p, 1.0 - p)
        rough = (np.sqrt(c)[:, None] * p).astype(np.float32)  # single precision will do for a model
        A = np.diag(c @ p) - rough.T @ rough
        return A * (self.problem.c.sum() / max(float(c.sum()), np.finfo(float).tiny))


class LogisticLoss:
    def __init__(self, problem: Problem):
        self.problem, self.bias = problem, problem.bias
        self.products = Products(problem.rows, problem.c, 1, problem.bias is Bias.FREE)
        self.S, self.Z = self.products.room(), self.products.room()

    def start(self) -> np.ndarray:
        y, c = self.problem.y, self.problem.c
        return np.array([math.log(c[y > 0].sum() / c[y < 0].sum())])

    def at_rest(self) -> float:
        return float(self.problem.c.sum()) * math.log(2.0)

    def line(self, t: float) -> tuple[float, float, float]:
        S, Z = self.S[:, 0], self.Z[:, 0]
        return _logistic_line(S, Z, t, self.problem.y, self.problem.c)

    def errors(self, part: slice) -> np.ndarray:
        """−c y σ(−ys)."""
        R = np.zeros((part.stop - part.start, self.S.shape[1]), dtype=self.products.work)
        _logistic_errors(self.S[part, 0], self.problem.y[part], self.problem.c[part], R)
        return R

    def model(self, seed: int) -> Sampled:
        return Sampled(self.products, self.bends, seed, self.bias)

    def bends(self, index: np.ndarray) -> np.ndarray:
        """c σ(1 − σ) of the rows named."""
        small = np.exp(-np.abs(self.S[index, 0].astype(np.float64)))
        return self.problem.c[index] * small / (1.0 + small) ** 2


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _lower(S, y, k, own):
    """Subtract every row's largest score, so that exponentials do not overflow."""
    for i in range(S.shape[0]):
        s = S[i]
        top = s[0]
        for j in range(1, k):
            top = max(top, s[j])
        for j in range(k):
            s[j] -= top
        own[i] = s[y[i]]


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _errors(E, y, c, k):
    """From exp(s) to c (p − e_y), row by row, with 1 − p_y free of cancellation."""
    for i in range(E.shape[0]):
        e = E[i]
        own = e[y[i]]
        e[y[i]] = 0.0
        others = e[0]
        for j in range(1, k):
            others += e[j]
        scale = c[i] / (own + others)
        for j in range(k):
            e[j] *= scale
        e[y[i]] = -scale * others
        for j in range(k, E.shape[1]):
            e[j] = 0.0


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc", "contract"})
def _add_line(E, Z, y, c, k, own, sums):
    for i in range(E.shape[0]):
        e, z = E[i], Z[i]
        total, first, second = e[0] * 0, e[0] * 0, e[0] * 0
        for j in range(k):
            total += e[j]
            first += e[j] * z[j]
            second += e[j] * z[j] * z[j]
        mean = np.float64(first) / total
        sums[0] += c[i] * (math.log(np.float64(total)) - own[i])
        sums[1] += c[i] * (mean - z[y[i]])
        sums[2] += c[i] * max(0.0, np.float64(second) / total - mean * mean)


@njit(cache=True, nogil=True)
def _logistic_line(S, Z, t, y, c):
    loss, first, second = 0.0, 0.0, 0.0
    for i in range(S.shape[0]):
        m, z = y[i] * (S[i] + t * Z[i]), y[i] * Z[i]
        small = math.exp(-abs(m))
        wrong = (1.0 if m < 0.0 else small) / (1.0 + small)
        loss += c[i] * (math.log1p(small) + max(0.0, -m))
        first -= c[i] * wrong * z
        second += c[i] * small / ((1.0 + small) * (1.0 + small)) * z * z
    return loss, first, second


@njit(cache=True, nogil=True)
def _logistic_errors(S, y, c, R):
    for i in range(S.shape[0]):
        m = y[i] * np.float64(S[i])
        small = math.exp(-abs(m))
        R[i, 0] = -c[i] * y[i] * (1.0 if m < 0.0 else small) / (1.0 + small)
