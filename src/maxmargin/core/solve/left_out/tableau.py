"""How rows near their margin answer when one of them changes: the matrix A of ``pivot.py``.

With the free rows F, H = [[Q, y], [yᵀ, 0]] and G the inverse of H on F and the bias,

    rows outside F    Δz = −S Δα + Uᵀ Δz_F,        S = Q − H_NF G H_FN
    rows in F         Δα = −U Δα − G_FF Δz_F,      U = (G H_FN)_F
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...problem.problem import Problem

# A condition of the free rows' system beyond which paths would follow rounding.
MAX_CONDITION = 1e12


@dataclass(frozen=True)
class Optimum:
    """Multipliers, the bias and slacks z = 1 − m of a hinge's optimum; b is about the centre."""

    problem: Problem
    alpha: np.ndarray
    b: float
    z: np.ndarray

    @property
    def free(self) -> np.ndarray:
        return (self.alpha > 0.0) & (self.alpha < self.problem.cap)


class Tableau(NamedTuple):
    """A with a row for every u_j, and what is needed for the answers to more rows."""

    near: np.ndarray
    free: np.ndarray  # which of the near rows are
    A: np.ndarray
    G: np.ndarray
    H: np.ndarray  # H of the free rows and the bias with the near rows

    @property
    def F(self) -> np.ndarray:
        return np.flatnonzero(self.free)


def tableau(gram, near: np.ndarray, free: np.ndarray) -> Tableau | None:
    """For rows ``near``, of which ``free`` are; None where the free rows are dependent."""
    F, y, bias = np.flatnonzero(free), gram.problem.y[near], bool(gram.problem.bias)
    if not len(F):
        return None
    Q, m = gram.block(near, near), len(F)
    H = bordered(Q[F], y, bias)
    M = np.zeros((len(H), len(H)))
    M[:, :m] = H[:, F]
    if bias:
        M[:m, m] = y[F]
    G = _inverse(M)
    if G is None:
        return None
    T = G @ H
    A = Q - H.T @ T  # S, where neither row is free
    A[F] = -T[:m]  # row j of a free row: the answers of the others to Δz_j, turned
    A[:, F] = T[:m].T
    A[np.ix_(F, F)] = G[:m, :m]
    return Tableau(near, free, np.ascontiguousarray(A), G, H)


def bordered(Q: np.ndarray, y: np.ndarray, bias: bool) -> np.ndarray:
    """Q with a row y below it, where there is a bias."""
    return np.vstack([Q, y]) if bias else Q


def _inverse(M: np.ndarray) -> np.ndarray | None:
    try:
        G = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return None
    return G if np.linalg.norm(M) * np.linalg.norm(G) < MAX_CONDITION else None
