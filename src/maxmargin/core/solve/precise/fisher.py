"""Fisher's discriminant in decimal numbers, for data so small that it costs nothing.

    max over w   J(w) = wᵀ S_b w / wᵀ Σ w,      S_b = MMᵀ,   M the columns √π_c (m_c − m)

Y = Σ⁻¹H is solved by elimination, and the k × k matrix MᵀΣ⁻¹M is diagonalised by rotations
[Jacobi 1846].  Directions are then rounded to float64, together, in the metric of the eigenvalue
equation's residual (``rows/lattice.py``); their criteria and the bound are those of exact
numbers, but for the hundredth digit.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...certify.fisher import FisherCriterion
from ...certify.rational import DIGITS
from ...rows.decimals import ONE, ZERO, decimals, floats, many_digits
from ...rows.lattice import nearest_floats, none_within
from ..closed_form.discriminant import CRITERION_ROUNDING, Directions
from .system import Factor, Numbers

# Values, and columns, up to which it is done.
MAX_VALUES, MAX_COLUMNS = 2000, 20
# The gap, and the residual, that a fit is to have.
TOL = 1e-6
# Of the residual asked for, what rounding aims at.
ROUNDED_SHARE = Decimal("0.01")
# Said where that is so.
NO_WEIGHTS = f"no float64 weights at all obey Σw = m_c − m to {TOL:g}, which is proved"
# By how much a direction may change, relatively.
LENGTH_SHARE = Decimal("1e-9")
METHOD = f"recomputed from the data in {DIGITS} digits"
TINY = float(np.finfo(float).tiny)
# What divisions leave of a difference of equal means, relative to the data.
LAST_DIGITS = Decimal(10) ** (10 - DIGITS)
# Rotations of all pairs; an entry this small beside the diagonal is zero.
MAX_ROUNDS, OFF_DIAGONAL = 30, Decimal("1e-60")
# A pivot this small beside its column's variance is one that elimination left of zero.
SINGULAR = Decimal("1e-70")


class Scatter(NamedTuple):
    """Σ, class means about their mean in columns, and shares."""

    sigma: Numbers  # (d, d)
    H: Numbers  # (d, k)
    M: Numbers  # (d, k)
    factor: Factor


class FisherData(NamedTuple):
    """Data, and what is to be made of them."""

    X: Any
    codes: np.ndarray
    weight: np.ndarray | None
    priors: np.ndarray
    by_mass: bool  # whether shares of classes are those of their rows, of which priors are rounded
    covariance: str
    shrinkage: Any


def precise_directions(asked: FisherData, most: int, found: Directions) -> Directions:
    """``found``, or the directions in decimal numbers where that proves less than it might."""
    if found.certificate.holds(TOL) or not _small(asked):
        return found
    with many_digits(DIGITS):
        scatter = _scatter(asked)
        if scatter is None:
            return found
        Y = _solved(scatter, scatter.H)
        J, Q = _eigen(scatter.M.T @ _solved(scatter, scatter.M))
        least = max(J) * Decimal(CRITERION_ROUNDING) + Decimal(TINY)
        order = [i for i in np.argsort(-J)[:most] if J[i] > least]
        V = _solved(scatter, scatter.M) @ Q[:, order]
        V = np.array([v / (v @ scatter.sigma @ v).sqrt() for v in V.T], dtype=object).T
        chosen = zip(J[order], V.T, strict=True)
        rounded = [_direction(scatter, j, v if max(v) >= -min(v) else -v) for j, v in chosen]
        kept = np.array(rounded).reshape(len(order), len(scatter.H)).T
        certificate = _criterion(scatter, kept, J, found.certificate)
        if not certificate.relative_gap <= found.certificate.relative_gap:
            return found
        told = _weights(scatter, Y)
        if not _solves(scatter, told):
            return _limited(scatter, Y, found)
        return Directions(kept, np.array([float(J[i]) for i in order]), told, certificate)


def precise_criterion(asked: FisherData, V: np.ndarray, near: FisherCriterion) -> FisherCriterion:
    """The proof of float64 directions V in decimal numbers, where ``near`` proves too little."""
    if near.holds(TOL) or not _small(asked):
        return near
    with many_digits(DIGITS):
        scatter = _scatter(asked)
        if scatter is None:
            return near
        J, _ = _eigen(scatter.M.T @ _solved(scatter, scatter.M))
        return _criterion(scatter, V, J, near)


def _direction(scatter: Scatter, J: Decimal, v: Numbers) -> np.ndarray:
    """Float64 near v, whose residual S_b v − JΣv is small beside JΣv, however small J is beside the
    largest criterion; its length may change a little."""
    residual, Sv = scatter.M @ scatter.M.T - J * scatter.sigma, J * (scatter.sigma @ v)
    metric = residual.T @ residual / ((Sv @ Sv or ONE) * (ROUNDED_SHARE * Decimal(TOL)) ** 2)
    near = nearest_floats(v, metric, LENGTH_SHARE * abs(v) + ONE * (v == 0))
    tried = [decimals(each) for each in (near, _rounded(scatter, v)) if each.any()]
    best = min(tried, key=lambda w: (residual @ w) @ (residual @ w) / (w @ w), default=v)
    return floats(best)


def _weights(scatter: Scatter, Y: Numbers) -> np.ndarray:
    """Y in float64; of two classes so that their difference, which is what counts, is exact."""
    if Y.shape[1] != 2:
        return np.array([_rounded(scatter, y) for y in Y.T]).T
    apart = _rounded(scatter, Y[:, 1] - Y[:, 0])
    unit = np.where(apart == 0.0, 1.0, np.spacing(np.abs(apart)))
    first = np.rint(floats(Y[:, 0] / decimals(unit))) * unit  # between zero and −apart
    return np.column_stack([first, first + apart])


def _limited(scatter: Scatter, Y: Numbers, found: Directions) -> Directions:
    """What was found, with the proof, if there is one, that no float64 weights obey ΣY = H."""
    W = Y if Y.shape[1] != 2 else _apart(Y)
    some = np.zeros(len(W), dtype=bool)
    for w in (each for each in W.T if each.any()):
        if any(none_within(w, each / Decimal(TOL) ** 2, some) for each in _metrics(scatter, w)):
            method = f"{found.certificate.method}; {NO_WEIGHTS}"
            return found._replace(certificate=replace(found.certificate, method=method))
    return found


def _apart(H: Numbers) -> Numbers:
    return H[:, 1:] - H[:, :1]


def _rounded(scatter: Scatter, v: Numbers) -> np.ndarray:
    """Float64 near v, whose Σv is near, too: to a small share of what is asked for."""
    first, second = _metrics(scatter, v)
    metric = first + second
    return nearest_floats(v, metric / (ROUNDED_SHARE * Decimal(TOL)) ** 2, abs(v) + ONE * (v == 0))


def _metrics(scatter: Scatter, v: Numbers) -> tuple[Numbers, Numbers]:
    """Those in which what is left of Σv is measured, relative to it."""
    sigma = scatter.sigma
    Sv = sigma @ v
    return sigma.T @ sigma / (Sv @ Sv or ONE), sigma / (v @ Sv or ONE)


def _solves(scatter: Scatter, Y: np.ndarray) -> bool:
    """Whether the weights of scores, of two classes their difference, obey ΣY = H in float64."""
    W = Y if Y.shape[1] != 2 else Y[:, 1:] - Y[:, :1]
    return bool((_left(scatter, W) <= TOL).all())


def _left(scatter: Scatter, W: np.ndarray) -> np.ndarray:
    """What every column leaves of ΣW = H: its length relative to that of H, or √eᵀΣ⁻¹e relative to
    √hᵀΣ⁻¹h, which is what a criterion loses, if that is more."""
    H = scatter.H if scatter.H.shape[1] != 2 else _apart(scatter.H)
    found = []
    for w, h in zip(decimals(W).T, H.T, strict=True):
        off = w - scatter.factor.solve(h)
        e, y = scatter.sigma @ off, h @ scatter.factor.solve(h)
        length = (e @ e) / (h @ h or ONE)
        found.append(float(max(length, (off @ e) / (y or ONE), ZERO).sqrt()))
    return np.array(found)


def precise_weights(asked: FisherData, W: np.ndarray, left: np.ndarray) -> np.ndarray:
    """By how much weights (d, k), of two classes one, miss ΣW = H, relatively: ``left`` as it was
    found in float64, or in decimal numbers where that is too much."""
    if (left <= TOL).all() or not _small(asked):
        return left
    with many_digits(DIGITS):
        scatter = _scatter(asked)
        return left if scatter is None else np.fmin(left, _left(scatter, W))


def _small(asked: FisherData) -> bool:
    n, d = asked.X.shape
    return n * d <= MAX_VALUES and d <= MAX_COLUMNS and asked.shrinkage != "auto"


def _scatter(asked: FisherData) -> Scatter | None:
    """Σ = (1 − γ) S_w + γ mean variance; None where it is singular."""
    X, codes, weight, priors, by_mass, covariance, shrinkage = asked
    x = decimals((X.toarray() if sparse.issparse(X) else X).astype(np.float64))
    s = decimals(np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64))
    k, d = len(priors), x.shape[1]
    mass = np.array([sum(s[codes == c], ZERO) for c in range(k)], dtype=object)
    share = mass if by_mass else decimals(priors)
    share = share / sum(share, ZERO)
    means = np.array([s[codes == c] @ x[codes == c] / mass[c] for c in range(k)], dtype=object)
    away = x - means[codes]
    each = np.array([share[c] / mass[c] for c in range(k)], dtype=object)[codes] * s
    within = (away * each[:, None]).T @ away
    mean_variance = sum(within.diagonal(), ZERO) / d
    gamma = ONE if covariance == "none" else Decimal(float(shrinkage or 0.0))
    ridge = gamma * mean_variance
    sigma = within * (ONE - gamma) + np.diag([ridge] * d) * ONE
    if gamma == ONE and mean_variance == 0:
        sigma = np.diag([ONE] * d) * ONE
    H = (means - share @ means).T
    H[abs(H) <= abs(x).max() * LAST_DIGITS] = ZERO  # means that are the same
    root = np.array([p.sqrt() for p in share], dtype=object)
    try:
        factor = Factor(sigma)
    except ArithmeticError:
        return None
    if any(p <= SINGULAR * q for p, q in zip(factor.pivots, sigma.diagonal(), strict=True)):
        return None
    return Scatter(sigma, H, H * root, factor)


def _solved(scatter: Scatter, right: Numbers) -> Numbers:
    return np.array([scatter.factor.solve(column) for column in right.T], dtype=object).T


def _eigen(C: Numbers) -> tuple[Numbers, Numbers]:
    """Eigenvalues and eigenvectors, in columns, of a symmetric matrix."""
    C, k = (C + C.T) / 2, len(C)
    Q = np.array([[ONE if i == j else ZERO for j in range(k)] for i in range(k)], dtype=object)
    for _ in range(MAX_ROUNDS):
        largest = max(abs(C.diagonal()))
        off = [(i, j) for i in range(k) for j in range(i) if abs(C[i, j]) > OFF_DIAGONAL * largest]
        for i, j in off:
            if C[i, j] == 0:
                continue
            slant = (C[j, j] - C[i, i]) / (2 * C[i, j])
            t = ONE / (abs(slant) + (slant * slant + ONE).sqrt())
            t = t if slant >= 0 else -t
            c = ONE / (t * t + ONE).sqrt()
            turn = np.array([[c, t * c], [-t * c, c]], dtype=object)
            C[:, [i, j]] = C[:, [i, j]] @ turn
            C[[i, j]] = turn.T @ C[[i, j]]
            Q[:, [i, j]] = Q[:, [i, j]] @ turn
        if not off:
            break
    return C.diagonal().copy(), Q


def _criterion(scatter: Scatter, V: np.ndarray, J: Numbers, near: FisherCriterion):
    """Criteria of float64 directions, the bound of all, and the residual of their equation."""
    criteria, left, inner = [], 0.0, np.zeros((V.shape[1], V.shape[1]))
    v = decimals(V)
    for a in range(V.shape[1]):
        Sv, Bv = scatter.sigma @ v[:, a], scatter.M @ (scatter.M.T @ v[:, a])
        criterion = (v[:, a] @ Bv) / (v[:, a] @ Sv)
        rest, size = Bv - criterion * Sv, criterion * Sv
        left = max(left, float(((rest @ rest) / (size @ size)).sqrt()))
        inner[a] = [float(v[:, b] @ Sv) for b in range(V.shape[1])]
        criteria.append(max(0.0, float(np.nextafter(float(criterion), 0.0))))
    most = float(max(J, default=ZERO))
    bound = np.nextafter(most, np.inf) if most > 0.0 else 0.0
    apart = float(np.abs(inner - np.eye(len(inner))).max(initial=0.0))
    return replace(
        near, criterion=tuple(criteria), bound=float(bound), relative_residual=left,
        orthogonality=apart, method=METHOD, rounding=0.0,
    )  # fmt: skip
