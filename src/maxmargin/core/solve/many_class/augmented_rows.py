"""The coordinates in which Newton's method for k classes works.

V = [W b] and z_i = (x_i − μ, 1), so that the scores are V z_i.  Rows are held as one float64
block, centred when the biases are free: a free b makes the problem blind to the mean of X.
With more columns than rows, X is first rotated into the space of its rows, which leaves ‖W‖
and all scores as they are.  Only sparse rows too many for a dense block stay as they are.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from ...problem.problem import Bias
from ...rows.rows import Rows, SparseRows, as_csr, dense, shape

# Values up to which sparse rows are made dense: 800 MB.
MAX_DENSIFIED_VALUES = 10**8


class Frame:
    """z of the rows named by ``alive``, and E: the weight of every column in the norm."""

    def __init__(self, rows: Rows, alive: np.ndarray, k: int, bias: Bias):
        self.alive, self.k, self.bias = alive, k, bias
        d = shape(rows)[1]
        free = bool(bias)
        self.mu, self.rotation = np.zeros(d), None
        if isinstance(rows, SparseRows) and len(alive) * d > MAX_DENSIFIED_VALUES:
            X = as_csr(rows)[alive].astype(np.float64)
        else:
            X = dense(rows, alive).astype(np.float64, copy=False)
            self.mu = X.mean(axis=0) if free else self.mu
            X = X - self.mu
            if d > len(X):
                self.rotation, R = qr(X.T, mode="economic")
                X = np.ascontiguousarray(R.T)
        self.E = np.ones(X.shape[1])
        if bias:
            one = np.ones((len(alive), 1))
            stack = sparse.hstack if sparse.issparse(X) else np.hstack
            X = stack([X, one])
            self.E = np.append(self.E, 0.0 if free else 1.0)
        self.Z = sparse.csr_array(X) if sparse.issparse(X) else X

    def inside(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """V of a model."""
        V = np.zeros((self.k, len(self.E)))
        turned = W if self.rotation is None else W @ self.rotation
        V[:, : turned.shape[1]] = turned
        if self.bias:
            V[:, -1] = b + W @ self.mu
        return V - V.mean(axis=0)

    def outside(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Back to W and b, with Σ_c W_c = 0 and, where b is free, Σ_c b_c = 0."""
        V = V - V.mean(axis=0)
        W, b = V, np.zeros(len(V))
        if self.bias:
            W, b = V[:, :-1], V[:, -1]
        W = np.array(W) if self.rotation is None else W @ self.rotation.T
        return W, b - W @ self.mu
