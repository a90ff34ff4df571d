"""Least squares in closed form, through whichever normal equations are smaller.

    min over W, b   ½ Σ s_i ‖t_i − W x_i − b‖² + ½ α‖W‖²

With A = √s (x − mean) and B = √s (t − mean), which settles b:

    columns   (AᵀA + αI) W = AᵀB                       d × d
    rows      (AAᵀ + αI) Z = B,    W = AᵀZ             n × n, the "other" normal equations

No inverse is formed.  A Cholesky factor is tried in float32 where the matrix is large, in
float64 otherwise; what it leaves is corrected by refinement, W += (AᵀA + αI)⁻¹ gradient, with
the gradient from the data in float64, so that the answer does not have the factor's precision
but that of the data.  Where refinement does not shrink the residual the next factor is tried,
at last QR of A and SVD of R, which gives the W of least norm at any rank.  Where even the smaller
matrix would be too large, conjugate gradients solve the columns' equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk, ssyrk

from ...certify.normal_equations import FEW, Gradient, System, gradient
from ...rows.design import CONSTANT_COLUMN_TOL, GRAM_ROWS, LENGTHS, PASS_VALUES, Design
from ...rows.double_double import SINGLE_U, U, gamma, product, two_sum
from .factorisation import PROOF_SHIFT, Cholesky, Singular, Spectrum, spectrum_of_blocks
from .refine import MAX_CONDITION, best_of, refined

# From this size on a float32 factor and a few passes over the data are quicker than float64.
MIN_SINGLE_SIZE = 400
# Lengths of columns whose products with one another are numbers in float32, and not small ones.
SINGLE_LENGTHS = (1e-12, 1e15)
# The largest matrix to be formed, dense and from sparse data, where conjugate gradients may win.
MAX_GRAM_SIZE, MAX_SPARSE_GRAM_SIZE = 20_000, 5_000
# What rounding of a bias may add to the relative residual before W is moved for it; how many
# multiples of W are tried, first and at last, and values of them held at a time.
BIAS_ROUNDING_SHARE, NUDGES, MAX_NUDGED_VALUES = 1e-9, (1 << 8, 1 << 16), 1 << 22
# Conjugate gradients end at this relative residual, or after so many steps.
CG_TOL, MAX_CG_STEPS = 1e-12, 2000


class RidgeWeights(NamedTuple):
    """W (d, k), the score at the mean of the data, and how they were found."""

    W: np.ndarray
    offset: np.ndarray | None
    system: System
    slopes: Gradient | None = None  # at (W, offset), where the solver has them


def side(design: Design) -> str:
    """The system to solve: "columns", "rows" or, where both are too large, "iterations"."""
    n, d = design.shape
    limit = MAX_SPARSE_GRAM_SIZE if sparse.issparse(design.X) else MAX_GRAM_SIZE
    if min(n, d) > limit:
        return "iterations"
    return "columns" if d < n else "rows"


def least_squares(design: Design, targets, offset, alpha, length, factors=None) -> RidgeWeights:
    """The minimiser; ``offset`` is the mean of the targets, None where there is no bias.

    ``factors`` of the system may be given by a caller who has one.
    """
    solve = {"columns": _columns, "rows": _rows, "iterations": _iterations}[side(design)]
    return solve(design, targets, offset, alpha, length, factors)


def describe(design: Design, free: bool, alpha: float) -> System:
    """What can be said of the system without solving it: rank, condition, smallest eigenvalue."""
    name = side(design)
    if name == "iterations":
        return System("columns", "none", design.shape[1], design.shape[1], np.nan, 0, alpha)
    factors = column_factors(design, alpha)
    if name == "rows":
        V = null_space(design) if free else np.zeros((design.shape[0], 0))
        factors = row_factors(design, alpha, V)
    for factor in factors:
        if factor.condition <= MAX_CONDITION:
            break
    return system_of(design, factor, 0, int(free))


def with_bias(design: Design, W, offset, length: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """W, b with the scores ``offset`` at the centre, and whether W was touched.

    Far from the origin b is large, and what its rounding adds to every score is not small.  W
    times 1 + i·2⁻⁵² needs another b each time: the one that is nearest to a float64 is taken.
    """
    if offset is None:
        return W, np.zeros(W.shape[1]), False
    if not design.far:
        return W, offset - design.mean @ W, False
    enough = BIAS_ROUNDING_SHARE * length / np.sqrt(float(design.mass.sum()))
    b, off = _biases(design, W, offset)
    if (np.abs(off) <= enough).all():
        return W, b, False
    W = W.copy()
    for c in np.flatnonzero(np.abs(off) > enough):
        W[:, c] = _nearest(design, W[:, c], offset[c], enough)
    return W, _biases(design, W, offset)[0], True


def _biases(design: Design, W, offset) -> tuple[np.ndarray, np.ndarray]:
    """b = offset − W m rounded, and what its rounding leaves."""
    hi, lo = product(design.mean[None, :], W)
    if design.rest is not None:
        lo = lo + design.rest @ W
    first, rest = two_sum(-hi[0], offset)
    return two_sum(first, rest - lo[0])


def _nearest(design: Design, w, offset: float, enough: float) -> np.ndarray:
    """w times the number near one that makes its bias nearly a float64."""
    for many in NUDGES:
        steps = 1.0 + 2.0**-52 * np.arange(max(1, min(many, MAX_NUDGED_VALUES // len(w))))
        tried = w[:, None] * steps
        off = np.abs(_biases(design, tried, offset)[1])
        if off.min() <= enough:
            break
    return tried[:, off.argmin()]


# --- d × d ------------------------------------------------------------------------------


def _columns(design, targets, offset, alpha, length, factors) -> RidgeWeights:
    first = _start(design, targets, offset)

    def look(W):
        slopes = gradient(design, targets, W, offset, alpha)
        return slopes.W, slopes.relative(design, length), slopes

    factor, found = best_of(
        factors or column_factors(design, alpha), lambda factor: refined(factor, first, look)
    )
    return RidgeWeights(found.X, offset, system_of(design, factor, found.steps, 0), found.seen)


def _start(design: Design, targets, offset) -> np.ndarray:
    """AᵀB, from which refinement starts: where the first factor is in float32 that will do."""
    single = precisions(design, design.shape[1])[0] is np.float32
    if not single or design.X.dtype != np.float32 or design.far:
        return gradient(design, targets, None, offset, 0.0).W

    def right(part: slice) -> np.ndarray:
        B = targets.block(part) - (0.0 if offset is None else offset)
        return B if design.root is None else design.root[part, None] * B

    return design.rough_adjoint(right, targets.width)


def system_of(design: Design, factor, refinements: int, groups: int) -> System:
    """What to tell of a factor.  In the rows' system ``groups`` unknowns go to the biases."""
    name, rank = side(design), factor.rank
    size = design.shape[1]
    if name == "rows":
        size = design.shape[0] if design.root is None else int((design.root > 0).sum())
        size -= groups
        rank = min(rank, size)
    least = factor.least if name == "columns" else 0.0
    return System(name, factor.name, size, rank, factor.condition, refinements, least)


def column_factors(design: Design, alpha: float):
    """Factors of AᵀA + αI, the quickest first and the surest last."""
    n, d = design.shape
    for dtype in precisions(design, d):
        try:
            G = design.column_gram(dtype)
            dead = constant_columns(design) if alpha == 0 else no(d)
            doubt = gram_error(design, dead, dtype) if alpha == 0 else np.inf
            yield Cholesky(G, alpha, dead, doubt)
        except Singular:
            continue
    blocks = (design.rows(part) for part in design.parts(PASS_VALUES, max(GRAM_ROWS, d)))
    yield _with(alpha, spectrum_of_blocks(blocks, d, n))


def precisions(design: Design, size: int) -> tuple[type, ...]:
    """Those in which a factor is tried, in turn."""
    dense = not sparse.issparse(design.X)
    return (np.float32, np.float64) if dense and size >= MIN_SINGLE_SIZE else (np.float64,)


def _with(alpha: float, spectrum: Spectrum) -> Spectrum:
    spectrum.alpha = alpha
    return spectrum


def no(size: int) -> np.ndarray:
    return np.zeros(size, dtype=bool)


def constant_columns(design: Design) -> np.ndarray:
    """Columns of A that are zero but for rounding."""
    length = np.sqrt(float(design.mass.sum())) * np.abs(design.centres).max(axis=0)
    return design.column_norms() <= CONSTANT_COLUMN_TOL * length


def gram_error(design: Design, dead: np.ndarray, dtype: type = np.float64) -> float:
    """How far D AᵀA D with unit diagonal may be from that of the true means.

    An entry is a sum over the rows, rounded as often; a centre off the mean by e adds a multiple
    of eeᵀ, which no true covariance has.  Infinite where a dead column is not quite constant.
    In float32 rows are rounded before they are multiplied.
    """
    norms = design.column_norms()
    least, most = SINGLE_LENGTHS if dtype == np.float32 else (0.0, np.inf)
    if not (least <= norms[~dead].min(initial=most) and norms.max(initial=0.0) <= most):
        return np.inf
    if dead.any() and len(design.still()) < dead.sum():
        return np.inf
    unit = 1.0 / np.maximum(norms[~dead], LENGTHS[0])
    moved = design.centre_error()[~dead] * unit
    size = float(len(unit))
    if sparse.issparse(design.X):  # centred only after products are taken
        size = float(np.sum((design.reach()[~dead] * unit) ** 2))
    off, u = float(design.mass.sum()) * float(moved @ moved), U
    if dtype == np.float32:
        taken = np.sqrt(float(design.mass.sum())) * np.abs(design.centres).max(axis=0)[~dead]
        taken = taken if design.scale is None else taken * design.scale[~dead]
        each = np.sqrt(float(np.sum((8.0 + 4.0 * taken * unit) ** 2))) * SINGLE_U
        off, u = off + each * (2.0 * np.sqrt(size) + each), SINGLE_U
    return 1.01 * (gamma(design.terms + FEW, u) * size + off)


def smallest_of_some_rows(design: Design) -> float:
    """A lower bound of the smallest eigenvalue of D AᵀA D, or zero, from some rows of A in float64:
    the others can only add to it.  For a factor in float32, which proves nothing."""
    n, d = design.shape
    norms = design.column_norms()
    if not (LENGTHS[0] <= norms.min() and norms.max() <= LENGTHS[1]):
        return 0.0
    some = np.unique(np.linspace(0, n - 1, min(n, d + d // 4 + 64)).astype(int))
    A = design.rows(some) / norms  # type: ignore[arg-type]
    G = dsyrk(1.0, A.T, lower=1)
    size, moved = float(G.diagonal().sum()), design.centre_error() / norms
    doubt = gamma(len(some) + FEW) * size + float(design.mass.sum()) * float(moved @ moved)
    doubt += d * gamma(d + 2) * float(G.diagonal().max())
    np.fill_diagonal(G, G.diagonal() - PROOF_SHIFT)
    _, failed = lapack.dpotrf(G, lower=1, clean=0, overwrite_a=1)
    return 0.0 if failed else max(0.0, PROOF_SHIFT - doubt)


# --- n × n ------------------------------------------------------------------------------


def _rows(design, targets, offset, alpha, length, factors) -> RidgeWeights:
    n = design.shape[0]
    B = targets.block(slice(0, n)) - (0.0 if offset is None else offset)
    if design.root is not None:
        B *= design.root[:, None]
    V = np.zeros((n, 0)) if offset is None else null_space(design)

    def attempt(factor):
        def look(Z):
            Z -= V @ (V.T @ Z)
            W, F = design.outer(Z)
            left = B - F - alpha * Z
            return left, float(np.abs(factor.reachable(left)).max()) / length, (W, B - F)

        return refined(factor, B, look)

    factor, found = best_of(factors or row_factors(design, alpha, V), attempt)
    W, R = found.seen
    slopes = _slopes(design, W, R, alpha, offset is not None)
    return RidgeWeights(W, offset, system_of(design, factor, found.steps, V.shape[1]), slopes)


def _slopes(design: Design, W, R, alpha: float, free: bool) -> Gradient:
    """The gradient from residuals R just computed from the data."""
    root = np.ones(len(R)) if design.root is None else design.root
    bias = root @ R if free else np.zeros(R.shape[1])
    return Gradient(design.adjoint(R) - alpha * W, bias, 0.5 * float(np.vdot(R, R)))


def row_factors(design: Design, alpha: float, V: np.ndarray):
    """Factors of AAᵀ + αI, the quickest first and the surest last."""
    n, d = design.shape
    for dtype in precisions(design, n):
        try:
            K = design.row_gram(dtype)
            if V.size:
                K = fill_null_space(K, V)
            yield Cholesky(K, alpha, K.diagonal() <= 0)
        except Singular:
            continue
    size = max(GRAM_ROWS, n)
    blocks = (design.columns(slice(j, j + size)).T for j in range(0, d, size))
    yield _with(alpha, spectrum_of_blocks(blocks, n, d))


def fill_null_space(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Centring makes V, √s of every group, eigenvectors of AAᵀ with eigenvalue zero.  Nothing to
    be solved for has a component along V: its eigenvalue may as well be the mean one.
    """
    mean = float(K.diagonal().sum(dtype=np.float64)) / len(K)
    syrk = dsyrk if K.dtype == np.float64 else ssyrk
    return syrk(mean, V.astype(K.dtype), beta=1.0, c=K, lower=1, overwrite_c=1)


def null_space(design: Design) -> np.ndarray:
    """√s on the rows of each group, as columns of length one."""
    n, groups = design.shape[0], len(design.centres)
    V = np.zeros((n, groups), order="F")
    codes = np.zeros(n, dtype=int) if design.codes is None else design.codes
    V[np.arange(n), codes] = 1.0 if design.root is None else design.root
    length = np.sqrt(np.einsum("ij,ij->j", V, V))
    return V / np.where(length > 0, length, 1.0)


# --- iterations -------------------------------------------------------------------------


def _iterations(design, targets, offset, alpha, length, factors) -> RidgeWeights:
    """Conjugate gradients on (AᵀA + αI) W = AᵀB, all columns of W at once.

    From W = 0 and without a preconditioner they stay in the range of Aᵀ: without a ridge they
    find the W of least norm.  With one, columns are scaled to unit curvature.
    """
    d = design.shape[1]
    W = np.zeros((d, targets.width))
    R = gradient(design, targets, None, offset, alpha).W
    D = 1.0 / (design.column_norms() ** 2 + alpha)[:, None] if alpha > 0 else 1.0
    Y = D * R
    P, rho = Y.copy(), np.einsum("ij,ij->j", R, Y)
    goal, steps = CG_TOL**2 * rho, 0
    while steps < MAX_CG_STEPS and (rho > goal).any():
        try:
            Q = design.normal(P) + alpha * P
        except KeyboardInterrupt:  # W is usable; its residual tells how far it has come
            break
        bend = np.einsum("ij,ij->j", P, Q)
        step = np.where(bend > 0, rho / np.where(bend > 0, bend, 1.0), 0.0)
        W += step * P
        R -= step * Q
        Y = D * R
        fresh = np.einsum("ij,ij->j", R, Y)
        P = Y + np.where(rho > 0, fresh / np.where(rho > 0, rho, 1.0), 0.0) * P
        rho, steps = fresh, steps + 1
    told = System("columns", "conjugate gradients", d, d, np.nan, steps, alpha)
    return RidgeWeights(W, offset, told)
