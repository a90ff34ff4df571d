"""Models of a Hessian that can be inverted, estimated from a sample of rows.

Softmax:   H = I + Σ c_i (diag p_i − p_i p_iᵀ) ⊗ x̃_i x̃_iᵀ  ≈  I + A ⊗ G
with A = Σ c_i (diag p_i − p_i p_iᵀ) and G = Σ c_i x̃_i x̃_iᵀ / Σ c_i, as if a row's uncertainty
had nothing to do with where it lies.  G is diagonalised once, A whenever the probabilities
have moved.

Softmax with few weights:   H itself, for weights and biases together, factored afresh.

Two classes:   H = I + Σ c_i σ_i (1 − σ_i) x̃_i x̃_iᵀ, factored afresh; with fewer rows than
columns, in the space of the rows.

A factored model of all rows is ``exact``: it makes Newton's method of the search.

Features of any scale are equally easy for both.  With too many columns for d × d matrices the
variances of the columns take G's place.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ...problem.problem import Bias
from ...rows.rows import spread
from .products import Products

# Columns up to which d × d matrices are used.
MAX_MATRIX_COLUMNS = 2000
# Rows per column that a d × d matrix is estimated from, and the most and the fewest of them.
MODEL_ROWS_PER_COLUMN, MAX_MODEL_ROWS, MIN_MODEL_ROWS = 10, 8000, 4096
# Multiplications that cost no more than a pass over the data.
CHEAP_MULTIPLICATIONS = 40_000_000
# Values of a matrix with fewer rows than columns that may be copied.
MAX_COPIED_VALUES = 1 << 24
# Sparse rows are copied only if their inner products take no more multiplications than this: on
# more of them, steps by the variances of columns are through before the first matrix is factored.
MAX_SPARSE_MULTIPLICATIONS = 200_000_000
# A part's model serves all rows if it has this share of the rows that all would give it.
# A larger part's steps need so many per weight: each leaves some d/m of the gap.
BORROWED_ROWS_SHARE, PART_ROWS_PER_WEIGHT = 0.5, 32
# Rows per class that A is estimated from.
CURVATURE_ROWS_PER_CLASS = 4
# Directions of A below this share of its largest are not seen: equal shifts of all classes.
UNSEEN_DIRECTION_SHARE = 1e-12


def enough_rows(d: int) -> int:
    """How many rows tell a d × d matrix well enough."""
    return max(
        MIN_MODEL_ROWS,
        min(MODEL_ROWS_PER_COLUMN * d, MAX_MODEL_ROWS),
        2 * d,
        CHEAP_MULTIPLICATIONS // d**2,
    )


class Kronecker:
    """(I + A ⊗ G)⁻¹ for weights, A⁺ for biases."""

    exact = costly = False

    def __init__(self, products: Products, A: Callable[[int], np.ndarray], seed: int):
        self.A, self.most = A, max(MIN_MODEL_ROWS, CURVATURE_ROWS_PER_CLASS * products.k)
        self.U: np.ndarray | None = None
        self.Q: np.ndarray | None = None
        index = products.sample(enough_rows(products.d), seed)
        if min(products.d, len(index)) <= MAX_MATRIX_COLUMNS:
            weight = products.c[index] / products.c[index].sum()
            e, self.U = _principal(products, index, weight)
        else:
            e = spread(products.rows) ** 2
        self.e = np.maximum(e, 0.0)
        self.refresh()

    def of(self, A: Callable[[int], np.ndarray]) -> Kronecker:
        """The same for other rows, with A from their scores."""
        self.A = A
        self.refresh()
        return self

    def detached(self) -> Kronecker:
        """The same without the rows that A was taken from, to be used with ``of``."""
        model = copy(self)
        del model.A
        return model

    def refresh(self) -> None:
        """Take A from the present scores."""
        A = self.A(self.most)
        if A.ndim == 1:  # its diagonal
            a, self.Q = A, None
        else:
            a, self.Q = eigh(A, overwrite_a=True, check_finite=False)
        a = np.maximum(a, 0.0)
        self.shrink = 1.0 / (1.0 + np.outer(self.e, a))
        seen = a > UNSEEN_DIRECTION_SHARE * max(float(a.max()), np.finfo(float).tiny)
        self.a_inverse = np.where(seen, 1.0 / np.where(seen, a, 1.0), 0.0)

    def biases(self, h: np.ndarray) -> np.ndarray:
        """A⁺ h."""
        return self._turn(self.a_inverse * self._turn(h, back=True))

    def _turn(self, V: np.ndarray, back: bool = False) -> np.ndarray:
        """To A's own directions and from there; a diagonal A needs no turning."""
        if self.Q is None:
            return V
        return V @ self.Q if back else V @ self.Q.T

    def __call__(self, g: np.ndarray) -> np.ndarray:
        """The model's inverse times a (d + 1, k) gradient."""
        V = self._turn(g[:-1], back=True)
        # What lies outside U is left as it is.
        U, shrink = self.U, self.shrink
        V = V * shrink if U is None else V + U @ ((U.T @ V) * (shrink - 1.0))
        return np.vstack([self._turn(V), self.biases(g[-1])])


def _principal(products: Products, index, weight) -> tuple[np.ndarray, np.ndarray]:
    """Variances and directions of the rows named, from whichever Gram matrix is smaller."""
    if products.d <= len(index):
        G, _ = products.gram(index, weight)
        return eigh(G, overwrite_a=True, check_finite=False)
    block = products.centred(index) * np.sqrt(weight)[:, None]
    e, V = eigh(block @ block.T, overwrite_a=True, check_finite=False)
    kept = e > UNSEEN_DIRECTION_SHARE * max(float(e[-1]), np.finfo(float).tiny)
    return e[kept], block.T @ (V[:, kept] / np.sqrt(e[kept]))


class Factored:
    """A Cholesky factor of a matrix whose diagonal was scaled to one."""

    def __init__(self, H: np.ndarray):
        self.root = 1.0 / np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
        H *= self.root[:, None]
        H *= self.root
        shift = 0.0
        while True:
            H[np.diag_indices_from(H)] = 1.0 + shift
            try:
                self.factor = cho_factor(H, lower=True, check_finite=False)
                return
            except np.linalg.LinAlgError:  # rounding has made it indefinite
                shift = max(1e-14, 100.0 * shift)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return self.root * cho_solve(self.factor, self.root * rhs, check_finite=False)


class Whole:
    """The inverse of H for the weights and biases of k classes, from a sample of rows."""

    costly = True

    def __init__(self, products: Products, p: Callable[[np.ndarray], np.ndarray], seed, bias):
        self.p, self.k, self.free = p, products.k, bool(bias)
        self.index = products.sample(MIN_MODEL_ROWS, seed)
        self.exact = len(self.index) == np.count_nonzero(products.c)
        self.X = np.column_stack([products.centred(self.index), np.ones(len(self.index))])
        c = products.c[self.index]
        self.c = c * (float(products.c.sum()) / float(c.sum()))
        self.refresh()

    def refresh(self) -> None:
        """Take the probabilities from the present scores."""
        p, k, size = self.p(self.index), self.k, self.X.shape[1]
        H = np.zeros((k, size, k, size))
        for one in range(k):
            for two in range(one + 1):
                weight = self.c * p[:, one] * ((one == two) - p[:, two])
                H[one, :, two] = (self.X * weight[:, None]).T @ self.X
                H[two, :, one] = H[one, :, two].T
        for one in range(k):
            H[one, range(size - 1), one, range(size - 1)] += 1.0
        # Equal shifts of all biases have no curvature; biases that are not free, no use for any.
        biases = H[:, -1, :, -1]
        biases += np.trace(biases) / k**2 + np.finfo(float).tiny
        if not self.free:
            H[:, -1], H[:, :, :, -1] = 0.0, 0.0
            H[range(k), -1, range(k), -1] = 1.0
        self.bends = np.linalg.pinv(H[:, -1, :, -1], hermitian=True)
        self.factored = Factored(H.reshape(k * size, k * size))

    def biases(self, h: np.ndarray) -> np.ndarray:
        return self.bends @ h

    def __call__(self, g: np.ndarray) -> np.ndarray:
        step = self.factored.solve(np.ravel(g.T)).reshape(self.k, -1).T
        if self.free:
            step[-1] -= step[-1].mean()
        return step


class Thin:
    """(I + BᵀB)⁻¹ = I − Bᵀ (I + BBᵀ)⁻¹ B for B = √s (X − 1μᵀ) with fewer rows than columns."""

    def __init__(self, X: np.ndarray, K: np.ndarray, s: np.ndarray, share: np.ndarray):
        """K = XXᵀ, and μ = Xᵀ share."""
        self.X, self.root, self.share = X, np.sqrt(s), share
        mean = K @ share
        H = K - mean[:, None] - mean + float(share @ mean)
        H *= self.root[:, None] * self.root
        H[np.diag_indices_from(H)] += 1.0
        self.factored = Factored(H)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        Xr = self.X @ rhs
        v = self.root * self.factored.solve(self.root * (Xr - self.share @ Xr))
        return rhs - (v - v.sum() * self.share) @ self.X


class Diagonal:
    """The inverse of a diagonal matrix."""

    def __init__(self, diagonal: np.ndarray):
        self.diagonal = diagonal

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return rhs / self.diagonal


class Sampled:
    """The inverse of H for the weights and the bias of two classes, from a sample of rows."""

    costly = True

    def __init__(self, products: Products, bends, seed: int, bias: Bias):
        self.seed, self.free, self.borrowed = seed, bool(bias), False
        self._choose(products, bends)
        self.refresh()

    def tells_enough(self, part: bool) -> bool:
        """Whether its rows will do for more, or for a larger part."""
        d = self.products.d
        least = BORROWED_ROWS_SHARE * enough_rows(d)
        least = min(least, PART_ROWS_PER_WEIGHT * (d + 1)) if part else least
        return not self.wide and len(self.index) >= least

    def of(self, products: Products, bends) -> Sampled:
        """The same for more rows, of which these are a part, until it is taken afresh."""
        model = copy(self)
        model.products, model.bends, model.exact, model.borrowed = products, bends, False, True
        return model

    def _choose(self, products: Products, bends) -> None:
        """The rows that tell the curvature."""
        self.products, self.bends = products, bends
        self.index = products.sample(enough_rows(products.d), self.seed)
        self.scale = float(products.c.sum()) / float(products.c[self.index].sum())
        m, d = len(self.index), products.d
        cheap = products.dense or m * m * d <= MAX_SPARSE_MULTIPLICATIONS
        thin = m < d and m * d <= MAX_COPIED_VALUES and cheap
        self.thin = products.centred(self.index) if thin else None
        self.wide = self.thin is None and d > MAX_MATRIX_COLUMNS
        self.exact = not self.wide and m == np.count_nonzero(products.c)
        if self.thin is not None:
            self.K = self.thin @ self.thin.T
        if self.wide:
            self.variances = spread(products.rows) ** 2

    def refresh(self) -> None:
        """Take the curvatures from the present scores."""
        if self.borrowed:
            self._choose(self.products, self.bends)
            self.borrowed = False
        s = self.scale * self.bends(self.index)
        self.total = max(float(s.sum()), np.finfo(float).tiny)
        self.h = np.zeros(self.products.d)
        self.inverse: Factored | Thin | Diagonal
        if self.wide:
            self.inverse = Diagonal(1.0 + self.total * self.variances)
            return
        if self.thin is not None:
            self.h = s @ self.thin
            share = s / self.total if self.free else np.zeros_like(s)
            self.inverse = Thin(self.thin, self.K, s, share)
            return
        H, self.h = self.products.gram(self.index, s)
        H[np.diag_indices_from(H)] += 1.0
        if self.free:
            H -= np.outer(self.h, self.h / self.total)
        self.inverse = Factored(H)

    def biases(self, h: np.ndarray) -> np.ndarray:
        return h / self.total if self.free else np.zeros_like(h)

    def pulled(self, step: np.ndarray, g: np.ndarray) -> float:
        """½‖g_w‖² after a small step of the bias, with room for what a sample does not tell."""
        moved = 2.0 * float(np.linalg.norm(self.h)) * float(np.abs(step).max())
        return 0.5 * (float(np.linalg.norm(g[:-1])) + moved) ** 2

    def __call__(self, g: np.ndarray) -> np.ndarray:
        g_w, g_b = g[:-1, 0], g[-1, 0]
        dw = self.inverse.solve(g_w - self.h * (g_b / self.total) if self.free else g_w)
        db = (g_b - self.h @ dw) / self.total if self.free else 0.0
        return np.append(dw, db)[:, None]


Model = Kronecker | Whole | Sampled
