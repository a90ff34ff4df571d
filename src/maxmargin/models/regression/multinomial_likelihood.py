"""LogisticRegression(C=inf) with k classes: maximum likelihood, or the proof that there is none.

    min over V      P = Σ s_i (log Σ_c exp(V_c·x̃_i) − V_y·x̃_i),           x̃ = (x, 1)
    max over β      D = Σ s_i H(β_i/s_i),      Σ x̃_i (β_i − s_i e_y)ᵀ = 0,  β_i ≥ 0,  Σ_c β_ic = s_i

with the entropy H.  The minimum is finite exactly if no V has (V_y − V_c)·x̃_i ≥ 0 for all rows and
classes and some of them above zero (Albert and Anderson 1984).  As for two classes, such a V, found
by linear programming, proves that there is no best model, and positive β that cancel prove one.

Newton's method on columns about their means in units of their spread.  A vector added to all V_c
changes nothing: the steps of least norm keep Σ_c V_c = 0.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import entr, logsumexp, softmax

from ...core.certify.certificate import Certificate
from .maximum_likelihood import (
    MAX_DIRECTION,
    MIN_DOUBT,
    ZERO_MARGIN,
    Columns,
    Likelihood,
    Moved,
    SeparatedError,
    SeparatingDirection,
    conclude_likelihood,
    damped_newton,
    pseudo_solve,
)

# Weights and biases of all classes, up to which the Hessian is formed: 128 MB.
MAX_UNKNOWNS = 4000


class ClassColumns(Columns):
    """The columns in their units, and E (n, k): 1 in the place of every row's class."""

    def __init__(self, X, codes: np.ndarray, k: int, weight: np.ndarray | None, bias: bool):
        super().__init__(X, np.ones(len(codes)), weight, bias)
        if k * self.Z.shape[1] > MAX_UNKNOWNS:
            raise ValueError(
                f"C=inf with {k} classes of {self.Z.shape[1]} weights needs a matrix of their "
                f"square, and they are more than {MAX_UNKNOWNS}. Use a large C."
            )
        self.codes = codes[self.kept]
        self.E = np.eye(k)[self.codes]

    def insides(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """V (p, k) of weights and biases."""
        return np.column_stack([self.inside(w, bias) for w, bias in zip(W, b, strict=True)])

    def outsides(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pairs = [self.outside(v) for v in V.T]
        return np.array([w for w, _ in pairs]), np.array([b for _, b in pairs])


def maximise_classes(
    X, codes: np.ndarray, k: int, weight: np.ndarray | None, bias: bool
) -> Likelihood:
    """The maximum-likelihood model; raises ``SeparatedError`` where there is none."""
    columns = ClassColumns(X, codes, k, weight, bias)
    V, steps = _newton(columns)
    certificate = _certify(columns, V)
    sure = certificate.feasible and certificate.relative_gap <= ZERO_MARGIN
    if not sure or softmax(columns.Z @ V, axis=1).min() < MIN_DOUBT:
        _refuse_separated(columns)
    return Likelihood(*columns.outsides(V), certificate, steps)


def certify_classes(X, codes, weight, bias: bool, W: np.ndarray, b: np.ndarray) -> Certificate:
    """The proof of (W, b) on any data."""
    columns = ClassColumns(X, codes, len(W), weight, bias)
    return _certify(columns, columns.insides(W, b))


def _objective(columns: ClassColumns, F: np.ndarray) -> float:
    return float(columns.s @ (logsumexp(F, axis=1) - (F * columns.E).sum(axis=1)))


def _newton(columns: ClassColumns) -> tuple[np.ndarray, int]:
    Z, s = columns.Z, columns.s

    def step_at(F: np.ndarray) -> tuple[np.ndarray, float]:
        P = softmax(F, axis=1)
        slope = Z.T @ (s[:, None] * (columns.E - P))
        step = _newton_step(columns, P, slope)
        return step, float((slope * step).sum())

    start = np.zeros((Z.shape[1], columns.E.shape[1]))
    return damped_newton(Z, start, lambda F: _objective(columns, F), step_at)


def _newton_step(columns: ClassColumns, P: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """H⁻¹ of the slope (p, k), of least norm; H has a block for every pair of classes."""
    Z, s = columns.Z, columns.s
    (p, k), H = slope.shape, np.empty((P.shape[1], Z.shape[1], P.shape[1], Z.shape[1]))
    for c in range(k):
        for e in range(c, k):
            curve = s * P[:, c] * ((c == e) - P[:, e])
            H[c, :, e, :] = Z.T @ (curve[:, None] * Z)
            H[e, :, c, :] = H[c, :, e, :]
    return pseudo_solve(H.reshape(k * p, k * p), slope.T.ravel()).reshape(k, p).T


def _certify(columns: ClassColumns, V: np.ndarray) -> Certificate:
    """P at V, and D at the multipliers s p, moved to where they cancel."""
    Z, s = columns.Z, columns.s[:, None]
    F = Z @ V
    P = softmax(F, axis=1)
    slope = Z.T @ (s * (columns.E - P))
    ahead = Z @ _newton_step(columns, P, slope)
    # The nearest multipliers that cancel, in the metric in which they are free to move.
    shift = P * (ahead - (P * ahead).sum(axis=1, keepdims=True))
    share = np.maximum(P + shift, 0.0)
    outside = float(-(P + shift).min(initial=0.0))
    share /= share.sum(axis=1, keepdims=True)
    left, dual = Z.T @ (s * (share - columns.E)), float((s * entr(share)).sum())
    residual = float(np.abs(left[-1]).max()) / float(s.sum()) if columns.bias else 0.0
    size = float(np.linalg.norm(slope))
    found = Moved(_objective(columns, F), dual, left, shift, outside, size, residual)
    return conclude_likelihood(found, V, Z.shape[0], "Softmax")


def _refuse_separated(columns: ClassColumns) -> None:
    """Raise the proof that there is no maximum, where the linear programme finds one.

    max Σ t   with   (V_y − V_c)·x̃_i ≥ t_ic  for c ≠ y,   0 ≤ t ≤ 1
    """
    from scipy.optimize import linprog  # slow to import, seldom needed

    Z, (n, k) = sparse.csr_array(columns.Z), columns.E.shape
    p = Z.shape[1]
    row, other = np.nonzero(columns.E == 0.0)
    signs = sparse.csr_array(columns.E[row] - np.eye(k)[other])  # of V_y and V_c, pair by pair
    A = sparse.hstack([Z[row].multiply(signs[:, [c]]) for c in range(k)], format="csr")
    found = linprog(
        np.concatenate([np.zeros(k * p), -np.ones(len(row))]),
        A_ub=sparse.hstack([-A, sparse.eye_array(len(row))], format="csr"),
        b_ub=np.zeros(len(row)),
        bounds=[(-MAX_DIRECTION, MAX_DIRECTION)] * (k * p) + [(0.0, 1.0)] * len(row),
        method="highs",
    )
    if found.x is None:
        return
    m = A @ found.x[: k * p]
    top = float(m.max(initial=0.0))
    if top <= ZERO_MARGIN or m.min() < -ZERO_MARGIN * top:
        return
    W, b = columns.outsides(found.x[: k * p].reshape(k, p).T / top)
    strict = np.ones((n, k), dtype=bool)
    strict[row, other] = m > ZERO_MARGIN * top
    raise SeparatedError(SeparatingDirection(W, b, strict, float(m.min() / top)))
