"""The matrix A of a least-squares problem: rows times √s, centred; never formed.

    A_i = √s_i (x_i − m_{c(i)}) D        c(i): one group for all rows, or the row's class
                                         D: a scale for every column, or none

A least-squares fit with a free bias centres all rows at their weighted mean; Fisher's
discriminant centres each class at its own.  Products with A and its two Gram matrices are
computed in float64, some rows (or columns) at a time, whatever the precision of the data.
Far from the origin a mean in float64 is not the mean: what it leaves of the rows is ``rest``,
which is taken off as well.  A column that does not vary has its value for a mean, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk, ssyrk

from .constant import exact_means
from .double_double import gamma
from .gram import column_gram
from .rows import as_rows

# Values converted to float64 at a time: in products about one cache, and in Gram matrices at
# least so many rows that adding to the Gram matrix costs little beside computing it.
PASS_VALUES = 1 << 17
GRAM_ROWS = 512
# A mean of so many deviations costs that factor in precision when it is taken off afterwards.
MAX_MEAN_DEVIATIONS = 100.0
# Rows whose deviation tells.
DEVIATION_SAMPLE_ROWS = 16
# Lengths of columns whose squares and products with one another neither under- nor overflow.
LENGTHS = (1e-140, 1e140)
# Data beyond are brought to 2 to this power, or its inverse: far from both, as a ridge may be.
SAFE_EXPONENT = 200
# A column is constant if what centring leaves is below this share of its size.
CONSTANT_COLUMN_TOL = 8 * np.finfo(np.float64).eps
# Roundings of a centred value beside those of the sums it enters.
CENTRED_ROUNDINGS = 8


class Design:
    """A as above.  ``codes`` names each row's group; ``weight`` None: all one."""

    def __init__(
        self, X, weight=None, centred=True, codes=None, groups=1, scale=None, centres=None,
        rest=None,
    ):  # fmt: skip
        if scale is not None and sparse.issparse(X):
            X = sparse.csr_array(X @ sparse.diags_array(scale))
            centres = None if centres is None else centres * scale
            scale = None
        self._weight, self._own = weight, centred and centres is None
        self._given = rest
        self.X, self.shape, self.scale = X, X.shape, scale
        self.root = None if weight is None else np.sqrt(weight)
        self.codes = codes
        share = np.ones(X.shape[0]) if weight is None else weight
        self.mass = np.bincount(codes, share, groups) if codes is not None else _total(share)
        self.centres = np.zeros((groups, X.shape[1])) if centres is None else centres
        self._level = np.zeros(X.shape[1], dtype=bool)  # columns of A known to be zero
        if centred and centres is None:
            self.centres = self._means(share, groups)
        self.off: np.ndarray | None = None  # how far given centres may be off, where that is known
        self.norms: np.ndarray | None = None  # ‖column of A‖, known once a Gram matrix is
        self._gram: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        return self.centres[0]

    @cached_property
    def rest(self) -> np.ndarray | None:
        """What the true means have beyond ``centres``, where that is more than nothing."""
        if not (self._own and self.far):
            return self._given
        share = np.ones(self.shape[0]) if self._weight is None else self._weight
        sums = np.zeros_like(self.centres)
        for part in self.parts(PASS_VALUES):
            block = _centred(self.X[part], self._centre(part), None, None, None, np.float64)
            members = np.ones((1, len(block))) if self.codes is None else self._members(part)
            sums += (members * share[part]) @ block
        return sums / np.maximum(self.mass, np.finfo(float).tiny)[:, None]

    def _rest(self, part: slice) -> np.ndarray | None:
        rest = self.rest
        if rest is None:
            return None
        return rest[0] if self.codes is None else rest[self.codes[part]]

    def _means(self, share, groups) -> np.ndarray:
        """The weighted mean of every group."""
        sums = np.zeros((groups, self.shape[1]))
        for part in self.parts(PASS_VALUES, stored=True):
            block = self.X[part].astype(np.float64, copy=False)
            if self.codes is None:
                sums[0] += share[part] @ block
            else:
                sums += (self._members(part) * share[part]) @ block
        means = sums / np.maximum(self.mass, np.finfo(float).tiny)[:, None]
        still = [exact_means(self.X, self._heavy(group), means[group]) for group in range(groups)]
        self._level = np.all(still, axis=0)
        return means

    def _heavy(self, group: int) -> np.ndarray | None:
        """Rows of a group that have weight; None: all."""
        if self.codes is None and self._weight is None:
            return None
        members = np.True_ if self.codes is None else self.codes == group
        return np.flatnonzero(members if self._weight is None else members & (self._weight > 0))

    def _members(self, part) -> np.ndarray:
        """1 where a row of the part belongs to a group, (groups, rows)."""
        return (self.codes[part] == np.arange(len(self.mass))[:, None]).astype(np.float64)

    def parts(self, values: int, fewest: int = 16, stored=False) -> Iterator[slice]:
        """Slices of rows with about so many values, all or those stored."""
        n, width = self.shape
        if stored and sparse.issparse(self.X):
            width = self.X.nnz // n
        size = max(fewest, values // max(1, width))
        return (slice(start, min(n, start + size)) for start in range(0, n, size))

    # --- products ---------------------------------------------------------------------

    def rows(self, part: slice, dtype=np.float64) -> np.ndarray:
        """Some rows of A, as a fresh dense block."""
        root = None if self.root is None else self.root[part, None]
        single = dtype == np.float32 and self.X.dtype == np.float32
        centre, rest = self._centre(part, dtype if single else np.float64), self._rest(part)
        return _centred(self.X[part], centre, rest, root, self.scale, dtype)

    def points(self, part: slice) -> np.ndarray:
        """Some rows centred, without their weights."""
        centre, rest = self._centre(part), self._rest(part)
        return _centred(self.X[part], centre, rest, None, self.scale, np.float64)

    def columns(self, part: slice, dtype=np.float64) -> np.ndarray:
        """Some columns of A, as a fresh dense block."""
        return self._far_columns(part, None if self.root is None else self.root[:, None], dtype)

    def _far_columns(self, part: slice, root=None, dtype=np.float64) -> np.ndarray:
        centre = self.centres[0, part] if self.codes is None else self.centres[self.codes, part]
        scale = None if self.scale is None else self.scale[part]
        rest = self._rest(slice(None))
        rest = None if rest is None else rest[..., part]
        return _centred(self.X[:, part], centre, rest, root, scale, dtype)

    def _centre(self, part: slice, dtype=np.float64) -> np.ndarray:
        centres = self.centres.astype(dtype, copy=False)
        return centres[0] if self.codes is None else centres.take(self.codes[part], axis=0)

    def apply(self, W) -> np.ndarray:
        """A W."""
        out = np.empty((self.shape[0], W.shape[1]))
        shift = self.centres @ W
        for part in self.parts(PASS_VALUES, stored=True):
            out[part] = self._forward(part, self._block(part), W, shift)
        return out

    def adjoint(self, R) -> np.ndarray:
        """Aᵀ R."""
        if self._sideways:
            return self._by_columns(R, None)
        return self.sweep(None, lambda part, _: R[part], R.shape[1])

    def outer(self, Z) -> tuple[np.ndarray, np.ndarray]:
        """W = AᵀZ and A W: of a wide A in one pass."""
        if not self._sideways:
            W = self.adjoint(Z)
            return W, self.apply(W)
        F = np.zeros(Z.shape)
        W = self._by_columns(Z, F)
        if not self.far:
            F -= self._shift(slice(None), self.centres @ W)
        return W, F if self.root is None else self.root[:, None] * F

    @property
    def _sideways(self) -> bool:
        return self.shape[1] > self.shape[0] and not sparse.issparse(self.X)

    def _by_columns(self, Z, F) -> np.ndarray:
        """Aᵀ Z, some columns at a time, and their part of X (Aᵀ Z) added to F."""
        n, d = self.shape
        Z = Z if self.root is None else self.root[:, None] * Z
        sums = self._sums(slice(None), Z)
        W, size = np.empty((d, Z.shape[1])), max(16, PASS_VALUES // n)
        for start in range(0, d, size):
            part = slice(start, start + size)
            if self.far:
                block = self._far_columns(part)
                np.matmul(block.T, Z, out=W[part])
            else:
                block = self.X[:, part].astype(np.float64, copy=False)
                np.matmul(block.T, Z, out=W[part])
                W[part] -= self.centres[:, part].T @ sums
            W[part][self._level[part]] = 0.0
            if F is not None:
                F += block @ W[part]
        return W

    def _sums(self, part: slice, R) -> np.ndarray:
        """Σ R over the rows of each group."""
        if self.codes is None:
            return (np.ones(len(R)) @ R)[None, :]  # quicker than R.sum(axis=0)
        return self._members(part) @ R

    def _shift(self, part: slice, shift) -> np.ndarray:
        return shift if self.codes is None else shift.take(self.codes[part], axis=0)

    def normal(self, W) -> np.ndarray:
        """Aᵀ A W."""
        return self.sweep(W, lambda _, F: F, W.shape[1])

    def sweep(self, W, respond: Callable, width: int) -> np.ndarray:
        """Aᵀ R for R = respond(part, A W there), some rows at a time: one pass over the data."""
        out, sums = np.zeros((self.shape[1], width)), np.zeros((len(self.centres), width))
        shift = None if W is None else self.centres @ W
        for part in self.parts(PASS_VALUES, stored=True):
            block = self._block(part)
            R = respond(part, None if W is None else self._forward(part, block, W, shift))
            if self.root is not None:
                R = self.root[part, None] * R
            out += block.T @ R
            if not self.far:
                sums += self._sums(part, R)
        out -= self.centres.T @ sums
        out[self._level] = 0.0
        return out

    def rough_adjoint(self, right: Callable, width: int) -> np.ndarray:
        """Aᵀ R of dense float32 data to their own precision: half the bytes, nothing converted."""
        out, sums = np.zeros((self.shape[1], width)), np.zeros((len(self.centres), width))
        for part in self.parts(2 * PASS_VALUES):
            R = right(part)
            R = R if self.root is None else self.root[part, None] * R
            out += self.X[part].T @ R.astype(np.float32)
            sums += self._sums(part, R)
        return out - self.centres.T @ sums

    def _block(self, part: slice):
        """Some rows of X in float64, centred now where the data are far from the origin."""
        return self.points(part) if self.far else self.X[part].astype(np.float64, copy=False)

    def _forward(self, part: slice, block, W, shift) -> np.ndarray:
        F = block @ W
        if not self.far:
            F -= self._shift(part, shift)
        if self.root is not None:
            F *= self.root[part, None]
        return F

    @cached_property
    def far(self) -> bool:
        """Whether centring must come first: dense data far from the origin, or to be scaled."""
        if sparse.issparse(self.X) or self.scale is not None:
            return self.scale is not None
        some = self.X[:: max(1, self.shape[0] // DEVIATION_SAMPLE_ROWS)].astype(np.float64)
        deviation, varies = some.std(axis=0), (some != some[0]).any(axis=0)
        away = np.abs(self.centres).max(axis=0) > MAX_MEAN_DEVIATIONS * deviation
        return bool(away[varies].any())

    # --- Gram matrices: the lower triangle is valid, in Fortran order --------------------

    def form_gram(self, dtype) -> None:
        """Form Aᵀ A now, for whoever asks for it first: its diagonal tells the columns' norms,
        which by themselves would take a pass over the data."""
        self._gram = self.column_gram(dtype)

    def column_gram(self, dtype=np.float64) -> np.ndarray:
        """Aᵀ A, d × d."""
        formed, self._gram = self._gram, None
        if formed is not None and formed.dtype == dtype:
            return formed
        if sparse.issparse(self.X):
            G = self._sparse_column_gram()
        else:
            G = np.zeros((self.shape[1],) * 2, dtype=dtype, order="F")
            syrk = dsyrk if dtype == np.float64 else ssyrk
            for part in self.parts(PASS_VALUES, GRAM_ROWS):
                A = self.rows(part, dtype)
                G = syrk(1.0, A.T, beta=1.0, c=G, lower=1, overwrite_c=1)
        self.norms = np.sqrt(np.maximum(G.diagonal().astype(np.float64), 0.0))
        return G

    def _sparse_column_gram(self) -> np.ndarray:
        n, _ = self.shape
        s = np.ones(n) if self.root is None else self.root**2
        mean = self.mass @ self.centres / max(self.mass.sum(), np.finfo(float).tiny)
        G, _ = column_gram(as_rows(self.X), np.arange(n), s, mean)
        if self.codes is not None:  # between the centres there is nothing left to count
            apart = np.sqrt(self.mass)[:, None] * (self.centres - mean)
            G -= apart.T @ apart
        G[self._level], G[:, self._level] = 0.0, 0.0
        return G

    def row_gram(self, dtype=np.float64) -> np.ndarray:
        """A Aᵀ, n × n."""
        n, d = self.shape
        if sparse.issparse(self.X):
            return self._sparse_row_gram()
        K = np.zeros((n, n), dtype=dtype, order="F")
        self.norms = np.empty(d)
        syrk = dsyrk if dtype == np.float64 else ssyrk
        size = max(GRAM_ROWS, PASS_VALUES // max(1, n))
        for start in range(0, d, size):
            part = slice(start, start + size)
            A = self.columns(part, dtype)
            self.norms[part] = np.sqrt(np.einsum("ij,ij->j", A, A))
            K = syrk(1.0, A.T, trans=1, beta=1.0, c=K, lower=1, overwrite_c=1)
        return K

    def _sparse_row_gram(self) -> np.ndarray:
        X, centres = self.X.astype(np.float64, copy=False), self.centres
        if self._level.any():
            X, centres = X[:, ~self._level], centres[:, ~self._level]
        codes = np.zeros(self.shape[0], dtype=int) if self.codes is None else self.codes
        K = (X @ X.T).toarray(order="F")
        cross = np.asarray(X @ centres.T)[:, codes]
        K -= cross
        K -= cross.T
        K += (centres @ centres.T)[np.ix_(codes, codes)]
        if self.root is not None:
            K *= self.root
            K *= self.root[:, None]
        return K

    def column_norms(self) -> np.ndarray:
        """‖column of A‖, from the Gram matrix where there was one."""
        if self.norms is None and sparse.issparse(self.X):
            s = np.ones(self.shape[0]) if self.root is None else self.root**2
            total = s @ self.X.astype(np.float64).power(2) - self.mass @ self.centres**2
            self.norms = np.sqrt(np.where(self._level, 0.0, np.maximum(total, 0.0)))
        if self.norms is None:
            total = np.zeros(self.shape[1])
            for part in self.parts(PASS_VALUES):
                A = self.rows(part)
                total += np.einsum("ij,ij->j", A, A)
            self.norms = np.sqrt(total)
        return self.norms

    # --- what rounding does -----------------------------------------------------------

    @property
    def terms(self) -> int:
        """The most roundings that a sum over all rows goes through: those of a part, and of the
        parts."""
        n, width = self.shape
        if self._sideways:
            return n
        if sparse.issparse(self.X):
            width = max(1, self.X.nnz // n)
        size = min(n, max(GRAM_ROWS, PASS_VALUES // max(1, width)))
        return size + -(-n // max(16, min(size, PASS_VALUES // max(1, width))))

    @cached_property
    def moved(self) -> np.ndarray:
        """Per column, the length of the centres that are taken off."""
        known = self.centres if self.rest is None else self.rest
        most = np.abs(known[0]) if len(known) == 1 else np.abs(known).max(axis=0)
        length = np.sqrt(float(self.mass.sum())) * most
        return length if self.scale is None else length * self.scale

    def reach(self) -> np.ndarray:
        """Per column, the length of the values that enter products with A."""
        norms = 1.001 * self.column_norms()  # they may be those of a Gram matrix in float32
        return norms if self.far else norms + 2.0 * self.moved

    def centre_error(self) -> np.ndarray:
        """How far the centres may be from the true means."""
        if self.off is not None:
            return self.off if self.scale is None else self.off * self.scale
        off = 1.01 * gamma(self.terms + CENTRED_ROUNDINGS) / np.sqrt(float(self.mass.min()))
        return off * (self.moved + self.column_norms())

    def still(self) -> np.ndarray:
        """Columns that are constant, exactly; their numbers."""
        moved = self.moved
        if self.far and self.scale is None:
            moved = np.sqrt(float(self.mass.sum())) * np.abs(self.centres).max(axis=0)
        rounded = np.flatnonzero(self.column_norms() <= CONSTANT_COLUMN_TOL * moved)
        return rounded[self._constant(rounded)] if len(rounded) else rounded

    def _constant(self, columns: np.ndarray) -> np.ndarray:
        X = self.X[:, columns]
        X = X.toarray() if sparse.issparse(X) else X
        if self.codes is None:
            return X.min(axis=0) == X.max(axis=0)
        groups = [X[self.codes == c] for c in np.unique(self.codes)]
        return np.all([each.min(axis=0) == each.max(axis=0) for each in groups], axis=0)

    def sure(self) -> bool:
        """Whether the squares of all columns are numbers, and those of zero length constant."""
        norms = self.column_norms()
        least, most = norms.min(initial=1.0), norms.max(initial=0.0)
        if LENGTHS[0] <= least and most <= LENGTHS[1]:
            return True
        small = np.flatnonzero(norms < LENGTHS[0])
        return bool(most <= LENGTHS[1]) and bool(self._constant(small).all())

    def unit(self) -> float:
        """A power of two by which to multiply data whose squares are no numbers; mostly one."""
        norms = self.column_norms()
        if len(norms) == 0 or (LENGTHS[0] <= norms.min() and norms.max() <= LENGTHS[1]):
            return 1.0
        values = self.X.data if sparse.issparse(self.X) else self.X
        largest = float(np.abs(values).max(initial=0.0))
        if LENGTHS[0] <= largest <= LENGTHS[1] or not 0.0 < largest < np.inf:
            return 1.0
        towards = SAFE_EXPONENT if largest > 1.0 else -SAFE_EXPONENT  # no further than need be
        return float(2.0 ** (towards - int(np.frexp(largest)[1])))


def _centred(block, centre, rest, root, scale, dtype) -> np.ndarray:
    """√s (x − centre − rest) D; in float32 that is rounded, and the centre if the data are."""
    block = block.toarray() if sparse.issparse(block) else block
    if dtype == np.float32 and block.dtype == np.float32:
        centre = centre.astype(np.float32, copy=False)
    block = np.subtract(block, centre, out=np.empty(block.shape, dtype), casting="same_kind")
    if rest is not None:
        block -= rest.astype(dtype, copy=False)
    for factor in (root, scale):
        if factor is not None:
            block *= factor.astype(dtype, copy=False)
    return block


def _total(share) -> np.ndarray:
    return np.array([share.sum()])
