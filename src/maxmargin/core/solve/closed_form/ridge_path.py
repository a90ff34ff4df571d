"""Ridge for every α from one factorisation, and leave-one-out errors in closed form.

With A = U √λ Vᵀ (singular value decomposition), β = UᵀB and B the centred targets,

    W(α) = V √λ β / (λ + α)

and leaving row i out moves its residual to

    e_i = u_i / P_ii,      u = (AAᵀ + αI)⁻¹ B,      P = (AAᵀ + αI)⁻¹,

both on the complement of v = √s/‖√s‖, which the free bias takes.  For α → 0 rows outside the
range of A rule both sums (e_i = r_i / (1 − h_i), h the leverage); the others keep their limit.
[Allen 1974; Golub, Heath and Wahba 1979]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...rows.design import PASS_VALUES, Design
from .factorisation import Spectrum, spectrum_of_blocks, spectrum_of_gram
from .least_squares import GRAM_ROWS, null_space, side

# Below this share of the largest eigenvalue the Gram matrix is too rough: QR of the data.
MIN_EIGENVALUE_SHARE = 1e-10
# A share of a row outside the range of A below this is rounding.
RANGE_ROUNDING = 1e-9


@dataclass(frozen=True)
class LeaveOneOut:
    """What the model says of every row when that row is left out, for every α.

    ``squared_error``: weighted mean of Σ(t − score)², (alphas,); ``error``: share of rows
    misclassified, (alphas,), None for a regression; ``scores``: (alphas, n, targets), where kept.
    """

    alphas: np.ndarray
    squared_error: np.ndarray
    error: np.ndarray | None = None
    scores: np.ndarray | None = None

    @property
    def best(self) -> int:
        """The place of the α with the smallest squared error."""
        return int(np.argmin(self.squared_error))

    def __str__(self) -> str:
        i = self.best
        wrong = "" if self.error is None else f", {self.error[i]:.2%} of the rows wrong"
        return (
            f"leave-one-out squared error {self.squared_error[i]:.6g}{wrong} at "
            f"alpha={self.alphas[i]:g} (best of {len(self.alphas)})"
        )


def spectrum(design: Design) -> Spectrum:
    """All eigenvalues of the smaller Gram matrix."""
    n, d = design.shape
    columns = side(design) == "columns"
    of_gram = spectrum_of_gram(design.column_gram() if columns else design.row_gram())
    full = of_gram.rank == min(n - len(design.centres), d)
    if full and of_gram.values.min(initial=np.inf) > MIN_EIGENVALUE_SHARE * of_gram.values.max(
        initial=0.0
    ):
        return of_gram
    if columns:
        parts = design.parts(PASS_VALUES, max(GRAM_ROWS, d))
        return spectrum_of_blocks((design.rows(part) for part in parts), d, n)
    size = max(GRAM_ROWS, n)
    blocks = (design.columns(slice(j, j + size)).T for j in range(0, d, size))
    return spectrum_of_blocks(blocks, n, d)


def coefficients(design: Design, known: Spectrum, H: np.ndarray, alphas) -> np.ndarray:
    """W for every α, (alphas, d, k).  H = AᵀB for the columns' spectrum, B for the rows'."""
    beta = known.V.T @ H
    Z = [known.V @ (beta / (known.values + alpha)[:, None]) for alpha in alphas]
    if side(design) == "columns":
        return np.array(Z)
    k = H.shape[1]
    W = design.adjoint(np.concatenate(Z, axis=1))
    return np.array([W[:, i * k : (i + 1) * k] for i in range(len(alphas))])


def leave_one_out(design, targets, offset, known: Spectrum, H, alphas, keep=True) -> LeaveOneOut:
    """Errors of every row by the formula above; ``known`` and ``H`` as for ``coefficients``."""
    n, k, count = design.shape[0], targets.width, len(alphas)
    scores = np.empty((count, n, k)) if keep else None
    vectors = _left_vectors(design, known, H, offset is not None)

    def weights(alpha):
        return coefficients(design, known, H, [alpha])[0]

    sums = sum_left_out(design, targets, offset, known.values, vectors, alphas, weights, scores)
    return sums.mean(alphas, hasattr(targets, "mistakes_of"), scores)


class LeftOut(NamedTuple):
    """Σ s ‖e‖² and Σ s over rows misclassified, for every α, and Σ s: these add up over parts."""

    squared: np.ndarray
    wrong: np.ndarray
    mass: float

    def mean(self, alphas, classes: bool, scores=None) -> LeaveOneOut:
        error = self.wrong / self.mass if classes else None
        alphas = np.asarray(alphas, dtype=float)
        return LeaveOneOut(alphas, self.squared / self.mass, error, scores)


def sum_left_out(
    design, targets, offset, values, vectors, alphas, weights: Callable, scores=None
) -> LeftOut:
    """Over the rows of ``vectors``; ``weights(α)`` is the model for rows of weight zero."""
    squared, wrong, mass = np.zeros(len(alphas)), np.zeros(len(alphas)), 0.0
    shift = 0.0 if offset is None else offset
    for part, U, beta, v2 in vectors:
        T = targets.block(part)
        root = np.ones(len(T)) if design.root is None else design.root[part]
        for a, alpha in enumerate(alphas):
            out = left_out(U, values, beta, (T - shift) * root[:, None], v2, alpha)
            E = out / np.where(root > 0, root, 1.0)[:, None]
            if (root == 0).any():  # out already
                unseen = T - shift - design.points(part) @ weights(alpha)
                E[root == 0] = unseen[root == 0]
            squared[a] += float(root**2 @ (E * E).sum(axis=1))
            if hasattr(targets, "mistakes_of"):
                wrong[a] += float(root**2 @ targets.mistakes_of(part, T - E))
            if scores is not None:
                scores[a, part] = T - E
        mass += float(root @ root)
    return LeftOut(squared, wrong, mass)


def _left_vectors(design, known, H, free):
    """Rows of U with β and v², some rows at a time."""
    n = design.shape[0]
    v2 = (null_space(design) ** 2)[:, 0] if free else np.zeros(n)
    if side(design) == "rows":
        yield slice(0, n), known.V, known.V.T @ H, v2
        return
    yield from column_vectors(design, known.V, known.values, H, v2)


def column_vectors(design, V, values, H, v2):
    """The same from the spectrum of AᵀA: U = A V/√λ."""
    size = np.sqrt(values)
    beta = (V.T @ H) / size[:, None]
    for part in design.parts(PASS_VALUES):
        yield part, (design.rows(part) @ V) / size, beta, v2[part]


def left_out(U, values, beta, B, v2, alpha: float) -> np.ndarray:
    """Residuals of some rows, each without itself; U are their rows of left singular vectors."""
    squares = U * U
    outside = np.maximum(1.0 - v2 - squares.sum(axis=1), 0.0)[:, None]
    left = B - U @ beta
    u = U @ (beta / (values + alpha)[:, None])
    P = (squares @ (1.0 / (values + alpha)))[:, None]
    if alpha > 0:
        u, P = u + left / alpha, P + outside / alpha
        return u / np.where(P > 0, P, np.inf)
    inside = u / np.where(P > 0, P, np.inf)
    return np.where(
        outside > RANGE_ROUNDING, left / np.where(outside > RANGE_ROUNDING, outside, 1.0), inside
    )
