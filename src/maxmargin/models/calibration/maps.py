"""From scores to probabilities: a sigmoid for two classes, a softmax for k.

    two classes   p = σ(a s + b)                     [Platt]
    k classes     p = softmax(a s + b),  b ∈ ℝᵏ      [temperature and a bias for every class]

fitted by maximum likelihood to scores of rows that their model had not seen, with targets that
stop short of 0 and 1 as if every class had one more row and as many doubts (Platt), and a prior
worth a row on b.  Of two classes probabilities lie between the sigmoid and the best non-decreasing
function for the same targets (``core/solve/closed_form/non_decreasing.py``).  Then classes that are
more probable than the one predicted share with it alike: the most probable label is always the
label of ``predict``.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import log_expit, log_softmax, softmax

from .sigmoid import BIAS_PRIOR, MAX_NEWTON_STEPS, NEWTON_TOL, SLOPE_PRIOR, fit_sigmoid

# By how much the label predicted is ahead where it would only be level.
PREDICTED_LABEL_LEAD = 1e-9


def class_scores(F: np.ndarray, k: int, pairs: bool) -> np.ndarray:
    """(n, k) scores to calibrate: of two classes (0, f).

    Of duels, log of the chance of winning all of them if each were logistic: how many were won,
    which decides, is too coarse to tell how clear it was.
    """
    F = F.reshape(len(F), -1)
    if k == 2:
        return np.column_stack([np.zeros(len(F)), F[:, 0]])
    if not pairs:
        return F
    S = np.zeros((len(F), k))
    for q, (a, c) in enumerate(combinations(range(k), 2)):
        S[:, a] += log_expit(2.0 * F[:, q])  # margins of ±1 are odds of e² to 1
        S[:, c] += log_expit(-2.0 * F[:, q])
    return S


def fit_map(S: np.ndarray, codes: np.ndarray, weight=None) -> tuple[float, np.ndarray]:
    """The slope a and the biases b (k,) of softmax(a s + b); b sums to zero."""
    n, k = S.shape
    if not n:
        return 1.0, np.zeros(k)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    size = float(weight @ _spread(S)) / float(weight.sum()) or 1.0
    T = targets(codes, k, weight)
    found = _fitted(S / size, T, weight)
    if found[0] < 0.0:  # the scores tell nothing: then shares of the classes
        found = _fitted(np.zeros_like(S), T, weight)
        found[0] = 0.0
    return float(found[0] / size), found[1:] - found[1:].mean()


def _fitted(S: np.ndarray, T: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(a, b), b (k,)."""
    if S.shape[1] > 2:
        return _newton(_Classes(S, T, weight))
    a, b = fit_sigmoid(S[:, 1] - S[:, 0], T[:, 1].copy(), weight)
    return np.array([a, -0.5 * b, 0.5 * b])


def _spread(S: np.ndarray) -> np.ndarray:
    """How far the scores of a row are from their mean, on average."""
    if S.shape[1] == 2:
        return 0.5 * np.abs(S[:, 1] - S[:, 0])
    return np.abs(S - S.mean(axis=1, keepdims=True)).mean(axis=1)


def targets(codes: np.ndarray, k: int, weight: np.ndarray) -> np.ndarray:
    """(n, k): nearly 1 for the class of the row, the rest shared by the others."""
    counts = np.bincount(codes, weight, k)
    sure = (counts + 1.0) / (counts + 2.0)
    T = np.repeat(((1.0 - sure[codes]) / (k - 1))[:, None], k, axis=1)
    T[np.arange(len(codes)), codes] = sure[codes]
    return T


def _newton(likelihood: _Classes) -> np.ndarray:
    """Minimise over (a, b), step by step downhill."""
    theta = likelihood.start()
    value, gradient, H = likelihood(theta)
    for _ in range(MAX_NEWTON_STEPS):
        step = np.linalg.solve(H, gradient)
        decrease = float(gradient @ step)
        if decrease <= NEWTON_TOL * max(1.0, value):
            break
        length = 1.0
        while length > 1e-6:
            tried = likelihood(theta - length * step)
            if tried[0] <= value - 1e-4 * length * decrease:
                break
            length *= 0.5
        theta = theta - length * step
        value, gradient, H = tried
    return theta


class _Classes:
    """−Σ w t·log softmax(a s + b) + ½ λ‖b‖² + ½ μ a²  of (a, b), with its gradient and Hessian."""

    def __init__(self, S, T, weight):
        self.S, self.T, self.weight = S, T, weight
        self.prior = np.full(1 + S.shape[1], BIAS_PRIOR)
        self.prior[0] = SLOPE_PRIOR

    def start(self) -> np.ndarray:
        theta = np.zeros(len(self.prior))
        theta[0] = 1.0
        return theta

    def __call__(self, theta):
        S, T, weight, prior = self.S, self.T, self.weight, self.prior
        L = log_softmax(theta[0] * S + theta[1:], axis=1)
        P = np.exp(L)
        value = 0.5 * float(prior @ theta**2) - float(weight @ np.sum(T * L, axis=1))
        R, wP = weight[:, None] * (P - T), weight[:, None] * P
        gradient = prior * theta + np.concatenate([[np.sum(R * S)], R.sum(axis=0)])
        about = S - np.sum(P * S, axis=1, keepdims=True)
        H = np.diag(prior)
        H[0, 0] += np.sum(wP * about**2)
        H[0, 1:] = H[1:, 0] = np.sum(wP * about, axis=0)
        H[1:, 1:] += np.diag(wP.sum(axis=0)) - wP.T @ P
        return value, gradient, H


def apply_map(S: np.ndarray, slope: float, offset: np.ndarray) -> np.ndarray:
    """(n, k) probabilities, before they agree with ``predict``."""
    return softmax(slope * S + offset, axis=1)


def agree(P: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """P where no class is ahead of the one predicted: those that were share with it alike."""
    rows = np.arange(len(P))
    own = P[rows, predicted]
    ahead = own[:, None] <= P
    ahead[rows, predicted] = False
    level = (own + np.sum(P * ahead, axis=1)) / (1 + ahead.sum(axis=1))
    P = np.where(ahead, (1.0 - PREDICTED_LABEL_LEAD) * level[:, None], P)
    P[rows, predicted] = 0.0
    P[rows, predicted] = 1.0 - P.sum(axis=1)
    return P
