"""One Newton direction for k classes: solve  (E + Σ_i M_i ⊗ z_i z_iᵀ) dV = −g.

M_i = diag(u) − uuᵀ/Σu couples the classes that trade blame for row i, usually two or three
of them.  Every M has 1 in its null space: only differences of classes matter, and as the
columns of g sum to zero, so do those of dV.

The smaller of two equal systems is factored, its diagonal scaled to one: features of any scale
then cost no accuracy.

columns   the matrix itself, from one p × p Gram matrix for every pair of classes, over the rows
          that both compete for.  The last class is held still, U_c = dV_c − dV_k being the
          unknowns; ‖dV‖² is Σ‖U_c‖² − ‖ΣU_c‖²/k.
rows      M_i = Σ f fᵀ with one f fewer than it has classes, so the sum is AAᵀ with a column
          f ⊗ z_i for each, and I + AᵀA, whose entries are (f·f′)(z_i·z_j), is as large as there
          are f: few rows on their margin, or many classes.

Beyond MAX_DIRECT_UNKNOWNS of both, conjugate gradients are preconditioned with the k diagonal
blocks of the first.

Free biases of a group of classes that no row connects with the others have no curvature;
some is lent.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from ...first_use import plain_at_first
from ..two_class.direction import scaled_factor, solve_scaled

MAX_DIRECT_UNKNOWNS = 2500
# Columns up to which the k diagonal blocks are factored; beyond, only their diagonals are used.
MAX_BLOCK_COLUMNS = 1000
# Curvature lent to biases that have none, relative to one row's: the step is then far too
# long, and the exact line search cuts it to size.
BIAS_CURVATURE_SHARE = 1e-2
# Conjugate gradients end when the residual has fallen to this share; then Newton goes on.
CG_TOL = 1e-3
MAX_CG_STEPS = 300


class Trades(NamedTuple):
    """Who trades blame: ``row[t]`` is shared by ``who[start[t]:start[t + 1]]``, with u."""

    row: np.ndarray
    start: np.ndarray
    who: np.ndarray
    u: np.ndarray


def class_direction(Z, E, trades: Trades, lent: float, g) -> tuple[np.ndarray, bool]:
    """dV, (k, p) like g, and whether it is exact but for rounding.

    ``lent`` is the curvature of one row; free biases without any get a share of it.
    """
    k, p = g.shape
    lent, factors = BIAS_CURVATURE_SHARE * lent, len(trades.who) - len(trades.row)
    if 0 < factors < min((k - 1) * p, MAX_DIRECT_UNKNOWNS) and not sparse.issparse(Z):
        return _through_rows(Z, E, trades, lent, g), True
    if (k - 1) * p <= MAX_DIRECT_UNKNOWNS:
        return _through_columns(Z, E, trades, lent, g), True
    return _iterated(Z, E, trades, lent, g), False


def _through_rows(Z, E, trades: Trades, lent: float, g) -> np.ndarray:
    """dW = A s − g_W, with the biases b from  (F K⁻¹Fᵀ + lent) b = F K⁻¹Aᵀg_W − g_b.

    K = I + AᵀA; F has the f as columns, A those f ⊗ z; s = K⁻¹(Aᵀg_W − Fᵀb).  A s and g_W nearly
    cancel where columns differ in scale, so the direction is refined once.
    """
    k, p = g.shape
    free = E[-1] == 0.0
    owner, F = _factors(trades, k)
    X = Z[trades.row[owner]][:, : p - free]
    K = (X @ X.T) * (F @ F.T)
    np.einsum("ii->i", K)[:] += 1.0
    solve = scaled_factor(K)
    adrift = _together(_groups(trades, k), lent) * free
    KF = solve(F)
    solve_biases = scaled_factor(F.T @ KF + adrift) if free else None

    def direction(g):
        s, b = solve(np.einsum("fc,fc->f", F, X @ g[:, : p - free].T)), np.zeros((k, 0))
        if solve_biases is not None:
            b = solve_biases(F.T @ s - g[:, -1])[:, None]
            s = s - KF @ b[:, 0]
        return np.hstack([(F * s[:, None]).T @ X - g[:, : p - free], b])

    dV = direction(g)
    return dV + direction(g + _curve(Z[trades.row], E, trades, adrift, dV))


def _curve(active, E, trades: Trades, adrift, P) -> np.ndarray:
    """The matrix times P; ``active`` are the rows that classes compete for."""
    S = np.ascontiguousarray(active @ P.T)
    _trade(trades, S)
    out = P * E + (active.T @ S).T
    out[:, -1] += adrift @ P[:, -1]
    return out


def _through_columns(Z, E, trades: Trades, lent: float, g) -> np.ndarray:
    k, p = g.shape
    start, index, weight = _pairs(trades, k)
    size = (start[1:] - start[:-1]).reshape(k, k)
    H = np.zeros((k - 1, p, k - 1, p))
    for low, high in np.argwhere(size[:-1, :-1]).tolist():
        part = slice(start[low * k + high], start[low * k + high + 1])
        gram = _gram(Z, index[part], np.abs(weight[part]))
        H[low, :, high, :] = gram if low == high else -gram
    across = np.arange(p)
    H[:, across, :, across] += E[:, None, None] * _apart(k)
    if E[-1] == 0.0:
        group = _groups(trades, k)
        held = group == group[-1]  # by the last class
        if not held.all():
            adrift = _together(group, lent)
            adrift[:, held] = 0.0
            H[:, -1, :, -1] += adrift[:-1, :-1]
    # The upper triangle by rows is the lower one by columns, as LAPACK reads it.
    m = (k - 1) * p
    U = np.zeros((k, p))
    U[:-1] = solve_scaled(H.reshape(m, m).T, -g[:-1].ravel()).reshape(k - 1, p)
    return U - U.sum(axis=0) / k


@cache
def _apart(k: int) -> np.ndarray:
    """Σ‖U_c‖² − ‖ΣU_c‖²/k as a matrix."""
    return np.eye(k - 1) - 1.0 / k


def _iterated(Z, E, trades: Trades, lent: float, g) -> np.ndarray:
    """Conjugate gradients among the dV whose columns sum to zero."""
    k, _ = g.shape
    active = Z[trades.row]
    adrift = _together(_groups(trades, k), lent) * (E[-1] == 0.0)
    solve_blocks = _preconditioner(Z, E, trades, lent, k)

    def precondition(R):
        Q = solve_blocks(R - R.mean(axis=0))
        return Q - Q.mean(axis=0)

    dV, R = np.zeros_like(g), -g
    P = Q = precondition(R)
    rho = goal = float(np.sum(R * Q))
    for _ in range(MAX_CG_STEPS):
        HP = _curve(active, E, trades, adrift, P)
        t = rho / float(np.sum(P * HP))
        dV += t * P
        R = R - t * HP
        Q = precondition(R)
        rho, before = float(np.sum(R * Q)), rho
        if not rho > CG_TOL**2 * goal:
            break
        P = Q + (rho / before) * P
    return dV


def _preconditioner(Z, E, trades: Trades, lent: float, k: int):
    """R ↦ (E + Σ_i M_i,cc z_i z_iᵀ)⁻¹ R_c for every class c; by diagonals where p is large."""
    start, index, weight = _pairs(trades, k)
    p = len(E)
    if p > MAX_BLOCK_COLUMNS:
        square = Z.power(2) if sparse.issparse(Z) else Z * Z
        diagonal = np.empty((k, p))
        for c in range(k):
            part = slice(start[c * k + c], start[c * k + c + 1])
            diagonal[c] = E + square[index[part]].T @ weight[part]
            diagonal[c, -1] += lent * (E[-1] == 0.0)
        return lambda R: R / diagonal
    inverse = np.empty((k, p, p))
    for c in range(k):
        part = slice(start[c * k + c], start[c * k + c + 1])
        H = _gram(Z, index[part], weight[part])
        H[np.diag_indices_from(H)] += E
        H[-1, -1] += lent * (E[-1] == 0.0)
        inverse[c] = solve_scaled(H, np.eye(p))
    return lambda R: np.matmul(inverse, R[:, :, None])[:, :, 0]


def _gram(Z, index, weight) -> np.ndarray:
    """Σ weight_i z_i z_iᵀ over the rows named by ``index``."""
    block = Z[index]
    block *= np.sqrt(weight)[:, None]
    return block.T @ block


def _together(group, lent: float) -> np.ndarray:
    """lent · 11ᵀ/m for every group of m classes."""
    same = group[:, None] == group
    return same * (lent / same.sum(axis=0))


@plain_at_first
@njit(cache=True, nogil=True)
def _groups(trades, k):
    """A number for each class, the same for classes that a chain of rows connects."""
    group = np.arange(k)
    for t in range(trades.row.shape[0]):
        first = group[trades.who[trades.start[t]]]
        for j in range(trades.start[t] + 1, trades.start[t + 1]):
            other = group[trades.who[j]]
            if other != first:
                for c in range(k):
                    if group[c] == other:
                        group[c] = first
    return group


@plain_at_first
@njit(cache=True, nogil=True)
def _total(u, first, stop):
    """Σu, one after the other."""
    total = 0.0
    for a in range(first, stop):
        total += u[a]
    return total


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _factors(trades, k):
    """f of every row's M = Σ f fᵀ, as rows over the classes, and whose they are.

    M = D(I − vvᵀ)D with D = diag(√u) and v = √u/‖√u‖; the reflection that takes the last unit
    vector to −v takes the others to a basis of what is orthogonal to v.
    """
    start, who, u = trades.start, trades.who, trades.u
    total = len(who) - len(trades.row)
    owner, F = np.empty(total, dtype=np.int64), np.zeros((total, k))
    at = 0
    for t in range(trades.row.shape[0]):
        first, last = start[t], start[t + 1] - 1
        norm = np.sqrt(_total(u, first, last + 1))
        end = np.sqrt(u[last]) / norm + 1.0
        for a in range(first, last):
            owner[at] = t
            lean = np.sqrt(u[a]) / (norm * end)
            for b in range(first, last):
                F[at, who[b]] = -lean * u[b] / norm
            F[at, who[a]] += np.sqrt(u[a])
            F[at, who[last]] = -lean * end * np.sqrt(u[last])
            at += 1
    return owner, F


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _pairs(trades, k):
    """For every pair of classes (low ≤ high) the rows that both compete for, and M's entry.

    Pair low · k + high owns the entries from ``first`` of its number to that of the next.
    """
    start, who, u = trades.start, trades.who, trades.u
    first = np.zeros(k * k + 1, dtype=np.int64)
    for t in range(trades.row.shape[0]):
        for a in range(start[t], start[t + 1]):
            for b in range(a, start[t + 1]):
                first[who[a] * k + who[b] + 1] += 1
    for pair in range(k * k):
        first[pair + 1] += first[pair]
    place = first[:-1].copy()
    index, weight = np.empty(first[-1], dtype=np.int64), np.empty(first[-1])
    for t in range(trades.row.shape[0]):
        total = _total(u, start[t], start[t + 1])
        for a in range(start[t], start[t + 1]):
            for b in range(a, start[t + 1]):
                pair = who[a] * k + who[b]
                index[place[pair]] = trades.row[t]
                weight[place[pair]] = (u[a] if a == b else 0.0) - u[a] * u[b] / total
                place[pair] += 1
    return first, index, weight


@plain_at_first
@njit(cache=True, nogil=True, error_model="numpy")
def _trade(trades, S):
    """Replace row t of S, the scores of row ``row[t]``, by M times it."""
    start, who, u = trades.start, trades.who, trades.u
    for t in range(S.shape[0]):
        total, mean = 0.0, 0.0
        for a in range(start[t], start[t + 1]):
            total += u[a]
            mean += u[a] * S[t, who[a]]
        mean /= total
        for a in range(start[t], start[t + 1]):
            S[t, who[a]] = u[a] * (S[t, who[a]] - mean)
        at = start[t]
        for c in range(S.shape[1]):
            if at < start[t + 1] and who[at] == c:
                at += 1
            else:
                S[t, c] = 0.0
