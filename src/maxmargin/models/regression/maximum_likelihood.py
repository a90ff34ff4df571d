"""LogisticRegression(C=inf) with two classes: maximum likelihood, or the proof that there is none.

    min over w, b   P = Σ s_i log(1 + exp(−m_i)),      m_i = y_i (w·x_i + b)
    max over λ      D = Σ s_i h(λ_i/s_i),              Σ λ_i y_i x_i = 0,  Σ λ_i y_i = 0,  0 < λ < s

with h(t) = −t log t − (1 − t) log(1 − t).  Without the norm the minimum may lie at infinity: it is
finite exactly if no (w, b) has all m_i ≥ 0 and some m_i > 0 (Albert and Anderson 1984).  Such a
direction, found by linear programming, proves that there is no best model; multipliers that are all
positive and cancel prove that there is one, and with D how far it can be from the optimum.

Newton's method on columns about their means in units of their spread; where columns repeat one
another, the weights of least norm in these units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.special import entr, expit

from ...core.certify.certificate import Certificate

# Values of X up to which it is held densely, as Newton's method and the linear programme need it.
MAX_VALUES = 5e7
MAX_NEWTON_STEPS, MAX_HALVINGS = 60, 40
# Newton's decrement, relative to the objective, at which rounding is all that is left.
DECREMENT_TOL = 1e-15
# Eigenvalues of the Hessian below this share of the largest belong to columns that repeat others.
EIGENVALUE_ROUNDING = 1e-13
# Margins this small against the largest are zero: the linear programme's own tolerance.
ZERO_MARGIN = 1e-7
# A row whose class is doubted less than this may lie beyond a plane without any of the other class.
MIN_DOUBT = 1e-8
# Roundings that a term of a sum of losses goes through.
SUM_ROUNDINGS = 8.0
# Bound on the direction's weights, in units of the columns' spread.
MAX_DIRECTION = 1e4


class Likelihood(NamedTuple):
    """The maximum, its proof, and how many Newton steps it took."""

    w: np.ndarray
    b: float | np.ndarray
    certificate: Certificate
    steps: int


@dataclass(frozen=True)
class SeparatingDirection:
    """y(w·x + b) ≥ 0 for all rows and > 0 for ``strict`` ones: along it the likelihood only grows.

    ``complete``: strict for all rows.  ``worst`` is the smallest y(w·x + b), zero but for the
    rounding of the linear programme; the largest is about one.

    Of k classes w (k, d) and b (k,) with (w_y − w_c)·x + b_y − b_c ≥ 0 for all rows and classes,
    and > 0 where ``strict`` (n, k) says so; there a row's own class is True.
    """

    w: np.ndarray
    b: float | np.ndarray
    strict: np.ndarray
    worst: float

    @property
    def complete(self) -> bool:
        return bool(self.strict.all())

    @property
    def strict_rows(self) -> int:
        """Rows that lie strictly on their side, of at least one other class."""
        several = self.strict.ndim == 2
        return int((self.strict.sum(axis=1) > 1).sum() if several else self.strict.sum())


class SeparatedError(ValueError):
    """No maximum-likelihood model exists; ``proof`` is the direction along which it runs away."""

    def __init__(self, proof: SeparatingDirection):
        self.proof = proof
        kind = "separated" if proof.complete else "quasi-separated"
        super().__init__(
            "C=inf asks for maximum likelihood, but there is no best model: the classes are "
            f"{kind} ({proof.strict_rows} of {len(proof.strict)} rows lie strictly on their "
            "side of a plane, the others on it), so that larger weights always fit better. The "
            "error's proof is the direction. Use a finite C, or LinearSVM(C=inf) for the widest "
            "margin."
        )


class Columns:
    """[X, 1] about the columns' means in units of their spread; row i is y_i x̃_i."""

    def __init__(self, X, y: np.ndarray, weight: np.ndarray | None, bias: bool):
        if X.shape[0] * X.shape[1] > MAX_VALUES:
            raise ValueError(
                f"C=inf needs X as a dense array, and {X.shape[0]} × {X.shape[1]} values are more "
                f"than {MAX_VALUES:g}. Use a large C."
            )
        self.s = np.ones(len(y)) if weight is None else weight
        self.kept, self.bias = self.s > 0, bias
        Z = (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(np.float64)[self.kept]
        self.y, self.s = y[self.kept], self.s[self.kept]
        self.mean = Z.mean(axis=0) if bias else np.zeros(Z.shape[1])
        Z = Z - self.mean
        self.spread = np.sqrt((Z**2).mean(axis=0))
        self.spread[self.spread == 0.0] = 1.0
        ones = np.ones((len(Z), 1)) if bias else np.empty((len(Z), 0))
        self.Z = np.column_stack([Z / self.spread, ones]) * self.y[:, None]

    def inside(self, w: np.ndarray, b: float) -> np.ndarray:
        """(w, b) in these units."""
        own = w * self.spread
        return np.append(own, b + w @ self.mean) if self.bias else own

    def outside(self, v: np.ndarray) -> tuple[np.ndarray, float]:
        w = v[: len(self.spread)] / self.spread
        return w, float(v[-1] - w @ self.mean) if self.bias else 0.0


def maximise(X, y: np.ndarray, weight: np.ndarray | None, bias: bool) -> Likelihood:
    """The maximum-likelihood model; raises ``SeparatedError`` where there is none."""
    columns = Columns(X, y, weight, bias)
    v, steps = _newton(columns)
    w, b = columns.outside(v)
    certificate = _certify(columns, v)
    sure = certificate.feasible and certificate.relative_gap <= ZERO_MARGIN
    if not sure or expit(-(columns.Z @ v)).min() < MIN_DOUBT:
        _refuse_separated(columns)
    return Likelihood(w, b, certificate, steps)


def certify(X, y, weight, bias: bool, w: np.ndarray, b: float) -> Certificate:
    """The proof of (w, b) on any data."""
    columns = Columns(X, y, weight, bias)
    return _certify(columns, columns.inside(w, b))


def _objective(columns: Columns, m: np.ndarray) -> float:
    return float(columns.s @ np.logaddexp(0.0, -m))


def _newton(columns: Columns) -> tuple[np.ndarray, int]:
    Z, s = columns.Z, columns.s

    def step_at(m: np.ndarray) -> tuple[np.ndarray, float]:
        p = expit(-m)
        slope = Z.T @ (s * p)
        step = pseudo_solve(Z.T @ ((s * p * (1.0 - p))[:, None] * Z), slope)
        return step, float(slope @ step)

    return damped_newton(Z, np.zeros(Z.shape[1]), lambda m: _objective(columns, m), step_at)


def damped_newton(
    Z: np.ndarray, v: np.ndarray, objective: Callable, step_at: Callable
) -> tuple[np.ndarray, int]:
    """Newton steps until nothing but rounding is left, or the scores Zv run away.

    ``step_at(Zv)`` is the step and its decrement, what it promises to gain twice.
    """
    m = Z @ v
    value = objective(m)
    for count in range(1, MAX_NEWTON_STEPS + 1):
        step, decrement = step_at(m)
        if not decrement > DECREMENT_TOL * max(value, np.finfo(float).tiny):
            return v + step, count  # the last step is all rounding, and squares what is left
        ahead, length = Z @ step, 1.0
        for _ in range(MAX_HALVINGS):
            trial = objective(m + length * ahead)
            if trial < value - 1e-4 * length * decrement:
                break
            length *= 0.5
        else:
            return v, count
        v, m, value = v + length * step, m + length * ahead, trial
    return v, MAX_NEWTON_STEPS


def pseudo_solve(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹ g of least norm; directions that columns repeat are left out."""
    size, V = eigh(H)
    kept = size > EIGENVALUE_ROUNDING * max(size[-1], np.finfo(float).tiny)
    return V[:, kept] @ ((V[:, kept].T @ g) / size[kept])


class Moved(NamedTuple):
    """P at some weights; D at their multipliers, moved to where they cancel but for ``left``."""

    primal: float
    dual: float
    left: np.ndarray
    shift: np.ndarray  # of the multipliers, as shares of the rows' weights
    outside: float  # the share by which some left their bounds, to which they were taken back
    stationarity: float
    bias_residual: float


def conclude_likelihood(moved: Moved, v: np.ndarray, rows: int, loss: str) -> Certificate:
    """The proof: what is left of the sums is charged with the largest weight."""
    rounding = SUM_ROUNDINGS * (rows + v.size) * np.finfo(float).eps * moved.primal
    charge = float(np.abs(moved.left).sum()) * float(np.abs(v).max(initial=0.0))
    return Certificate(
        primal=moved.primal + rounding,
        dual=moved.dual - charge - rounding,
        kkt_violation={"free": float(np.abs(moved.shift).max(initial=0.0))},
        stationarity=moved.stationarity / max(1.0, float(np.linalg.norm(v))),
        bias_residual=moved.bias_residual,
        box_violation=float(max(0.0, moved.outside)),
        problem=f"{loss}, no penalty, {rows} rows: {v.size} variables",
        rounding=2.0 * rounding,
        about="the optimum among weights that are no larger, which is the optimum of all if its "
        "multipliers, all positive, cancel",
    )


def _certify(columns: Columns, v: np.ndarray) -> Certificate:
    """P at v, and D at the multipliers s σ(−m), moved to where they cancel."""
    Z, s = columns.Z, columns.s
    m = Z @ v
    alpha = s * expit(-m)
    curve = np.maximum(alpha * (1.0 - alpha / s), np.finfo(float).tiny)
    # The nearest multipliers that cancel, in the metric in which they are free to move.
    shift = curve * (Z @ pseudo_solve(Z.T @ (curve[:, None] * Z), Z.T @ alpha))
    moved = alpha - shift
    outside = float((np.maximum(-moved, moved - s) / s).max(initial=0.0))
    held = np.clip(moved, 0.0, s)
    share, total = held / s, float(held.sum())
    dual = float(s @ (entr(share) + entr(1.0 - share)))
    residual = abs(float(held @ columns.y)) / total if columns.bias and total > 0 else 0.0
    slope = float(np.linalg.norm(Z.T @ alpha))
    found = Moved(_objective(columns, m), dual, Z.T @ held, shift / s, outside, slope, residual)
    return conclude_likelihood(found, v, Z.shape[0], "Logistic")


def _refuse_separated(columns: Columns) -> None:
    """Raise the proof that there is no maximum, where the linear programme finds one.

    max Σ t   with   y_i (w·x_i + b) ≥ t_i,   0 ≤ t ≤ 1
    """
    from scipy.optimize import linprog  # slow to import, seldom needed

    Z = columns.Z
    n, p = Z.shape
    found = linprog(
        np.concatenate([np.zeros(p), -np.ones(n)]),
        A_ub=sparse.hstack([sparse.csr_array(-Z), sparse.eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(-MAX_DIRECTION, MAX_DIRECTION)] * p + [(0.0, 1.0)] * n,
        method="highs",
    )
    if found.x is None:
        return
    v = found.x[:p]
    m = Z @ v
    top = float(m.max(initial=0.0))
    if top <= ZERO_MARGIN or m.min() < -ZERO_MARGIN * top:
        return
    v, m = v / top, m / top
    w, b = columns.outside(v)
    raise SeparatedError(SeparatingDirection(w, b, m > ZERO_MARGIN, float(m.min())))
