"""Fisher's discriminant without each row: means and the spread within classes, downdated.

With masses N of all rows and N_c of row i's class, u = x_i − m_c and s its weight, or what of it
is left out,

    m_c′ = m_c − s u/(N_c − s),      S′ = N/(N − s) S − s N_c/((N_c − s)(N − s)) u uᵀ

so that in the eigenvectors of S the covariance Σ′ = (1 − γ) S′ + γ tr(S′)/d is diagonal but for one
product, and its inverse follows by Sherman and Morrison's formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Rows at a time.
CHUNK_VALUES = 1 << 20
# An eigenvalue of Σ below this share of the largest, or what is left of 1 in the formula's
# denominator, asks for a fit of its own.
MIN_SHARE = 1e-9


def leave_out_discriminant(
    X: np.ndarray, codes, s, gamma: float, with_priors: bool, units=1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, k) of every row without itself, and which rows have no stable downdate.

    A row of weight two is two rows, of which one is left out: ``units`` says how many.
    """
    n, d = X.shape
    k, gone = int(codes.max()) + 1, s / units
    masses = np.bincount(codes, s, k)
    means = np.array([np.average(X[codes == c], axis=0, weights=s[codes == c]) for c in range(k)])
    U = X - means[codes]
    S = (U * s[:, None]).T @ U / s.sum()
    values, V = np.linalg.eigh(S)
    values = np.maximum(values, 0.0)
    out, unstable = np.empty((n, k)), np.zeros(n, dtype=bool)
    known = _Whole(means @ V, masses, values, gamma, with_priors)
    size = max(1, CHUNK_VALUES // (d * k))
    for start in range(0, n, size):
        part = slice(start, start + size)
        out[part], unstable[part] = _scores(U[part] @ V, codes[part], gone[part], known)
    return out, unstable


class _Whole(NamedTuple):
    """Of all rows: means of the classes in the eigenvectors of S, masses, eigenvalues."""

    M: np.ndarray
    masses: np.ndarray
    values: np.ndarray
    gamma: float
    with_priors: bool


def _scores(u, codes, s, known: _Whole):
    """The same for some rows, in the eigenvectors of S; u are they about their means."""
    M, masses, values, gamma, with_priors = known
    d, N, mine = len(values), masses.sum(), masses[codes]
    rows = np.arange(len(u))
    means = np.repeat(M[None], len(u), axis=0)
    means[rows, codes] -= u * (s / (mine - s))[:, None]
    left = np.repeat(masses[None], len(u), axis=0)
    left[rows, codes] -= s
    shares = left / left.sum(axis=1)[:, None]
    grown, lost = N / (N - s), s * mine / ((mine - s) * (N - s))
    trace = grown * values.sum() - lost * np.einsum("ij,ij->i", u, u)
    ridge = gamma * np.where(trace > 0.0, trace, d) / d
    diagonal = (1.0 - gamma) * grown[:, None] * values + ridge[:, None]
    poor = diagonal.min(axis=1) <= MIN_SHARE * diagonal.max(axis=1)
    D = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    Du = D * u
    lost = (1.0 - gamma) * lost
    rest = 1.0 - lost * np.einsum("ij,ij->i", u, Du)
    poor |= rest <= MIN_SHARE
    pull = lost / np.where(rest > MIN_SHARE, rest, 1.0)
    H = means - np.einsum("ik,ikj->ij", shares, means)[:, None]
    p = u + M[codes] - np.einsum("ik,ikj->ij", shares, means)
    Hu, pu = np.einsum("ikj,ij->ik", H, Du), np.einsum("ij,ij->i", p, Du)
    near = np.einsum("ikj,ij,ij->ik", H, D, p) + pull[:, None] * Hu * pu[:, None]
    own = np.einsum("ikj,ikj,ij->ik", H, H, D) + pull[:, None] * Hu * Hu
    return near - 0.5 * own + (np.log(shares) if with_priors else 0.0), poor
