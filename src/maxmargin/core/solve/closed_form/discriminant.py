"""Fisher's discriminant: the directions in which class means differ most for their spread.

    max over w   J(w) = wᵀ S_b w / wᵀ Σ w,      Σ = S_w + ridge,   S_w = AᵀA = Σ_c π_c Cov_c

S_b has rank k − 1 at most, so no eigenproblem of size d is needed: with H = (m_c − m) as columns
and ΣY = H solved once, the k × k matrix √π HᵀY √π = Q diag(J) Qᵀ has the criteria as eigenvalues,
and V = Y √π Q J^(−½) are the directions, with VᵀΣV = 1.

    columns   Y = Σ⁻¹H                                           d × d, for d < n
    rows      Y = (H − Aᵀ(AAᵀ + ridge)⁻¹AH)/ridge                n × n
              Y = Aᵀ(AAᵀ)⁻²AH = Σ⁺H                              without a ridge
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...certify.fisher import FisherCriterion
from ...certify.normal_equations import FEW, System
from ...rows.design import LENGTHS, Design
from ...rows.double_double import OUTWARDS, U, gamma
from .least_squares import (
    column_factors,
    null_space,
    row_factors,
    side,
    smallest_of_some_rows,
    system_of,
)
from .refine import Refined, best_of
from .within import Spread

# Refinement ends when a correction is this small beside Y, or after so many.
CORRECTION_TOL, MAX_REFINEMENTS = 1e-8, 6
# A criterion below this share of the largest is no direction but rounding.
CRITERION_ROUNDING = 1e-12


class Directions(NamedTuple):
    """V (d, at most k − 1), their criteria, Y = Σ⁻¹H, and the proof."""

    V: np.ndarray
    J: np.ndarray
    Y: np.ndarray
    certificate: FisherCriterion


def directions(spread: Spread, H: np.ndarray, share: np.ndarray, most: int) -> Directions:
    """The best ``most`` directions for class means H (d, k) about their mean, with shares π."""
    Y, E, correct, system = solve(spread, H)
    root = np.sqrt(share)
    C = root[:, None] * (H.T @ Y) * root
    J, Q = np.linalg.eigh(_symmetric(C))
    J, Q = J[::-1][:most], Q[:, ::-1][:, :most]
    keep = CRITERION_ROUNDING * max(float(J.max(initial=0.0)), np.finfo(float).tiny) < J
    J, Q = J[keep], Q[:, keep]
    V = (Y * root) @ (Q / np.sqrt(J))
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(len(J))] < 0, -1.0, 1.0)
    bound = _bound(spread, H * root, Y * root, E * root, correct, system)
    return Directions(V, J, Y, certify(spread, H * root, V, bound, system))


def recertify(spread: Spread, H: np.ndarray, share: np.ndarray, V: np.ndarray) -> FisherCriterion:
    """The certificate of directions V, whoever found them."""
    root = np.sqrt(share)
    Y, E, correct, system = solve(spread, H)
    bound = _bound(spread, H * root, Y * root, E * root, correct, system)
    return certify(spread, H * root, V, bound, system)


def _bound(spread: Spread, M, Y, E, correct, system: System) -> tuple[float, float]:
    """The largest eigenvalue of M Σ⁻¹ Mᵀ = MY + YᵀE + EᵀΣ⁻¹E, or more, and what of that is for
    rounding."""
    k, C = M.shape[1], _symmetric(M.T @ Y + Y.T @ E)
    if system.rank < system.size:
        return float(np.linalg.eigvalsh(C + _symmetric(E.T @ correct(E)))[-1]), 0.0
    d, size = len(M), np.abs(Y)
    off = mean_error(spread, M)
    doubt = apply_error(spread, Y) + off + 2.0 * U * np.abs(M)
    pair = gamma(d + FEW) * (np.abs(M).T @ size + size.T @ np.abs(E)) + off.T @ size
    lost = np.linalg.norm(pair) + np.linalg.norm(size.T @ doubt)
    lost += 4.0 * k * k * U * np.linalg.norm(C)  # of eigenvalues
    left = spread.scale[:, None] * (np.abs(E) + doubt)
    if spread.design is not None and not spread.ridge:
        left = left / np.maximum(spread.design.column_norms(), LENGTHS[0])[:, None]
    curvature = spread.ridge or system.least
    square = float(np.sum(left * left)) / curvature if curvature > 0.0 else np.inf
    rounding = OUTWARDS * (float(lost) + square)
    return float(np.linalg.eigvalsh(C)[-1]) + rounding, rounding


def mean_error(spread: Spread, M) -> np.ndarray:
    """How far means about their mean may be off, (d, k)."""
    if spread.design is None:
        return 4.0 * len(M.T) * U * np.abs(M) + spread.blur[:, None]
    each = 2.0 * spread.design.centre_error() / spread.scale
    return each[:, None] + 4.0 * len(M.T) * U * np.abs(M).max(axis=1, keepdims=True)


def apply_error(spread: Spread, Y) -> np.ndarray:
    """How far ``spread.apply(Y)`` may be from ΣY."""
    D, A = spread.scale[:, None], spread.design
    Z = np.abs(Y / D)
    # The ridge is a share of the mean variance, a sum over all values.
    out = (gamma(len(Y) + FEW) + spread.off) * spread.ridge * Z / D
    if A is None:
        return OUTWARDS * out
    reach, e = A.reach(), A.centre_error()
    each = (gamma(len(Y) + FEW) + gamma(A.terms + FEW)) * (reach @ Z)
    moved = float(A.mass.sum()) * e[:, None] * (e @ Z)
    return OUTWARDS * (out + (reach[:, None] * each * 1.01 + moved) / D)


def _symmetric(C) -> np.ndarray:
    return (C + C.T) / 2


def certify(spread: Spread, M: np.ndarray, V: np.ndarray, most, system) -> FisherCriterion:
    """Criteria of V from the projected data, and the residual of the eigenvalue equation.

    ``most``: the bound on all directions, and what of it is rounding.
    """
    bound, rounding = most
    SV, BV = spread.apply(V), M @ (M.T @ V)
    inner = V.T @ SV
    J = np.einsum("ij,ij->j", V, BV) / inner.diagonal()
    doubt: np.ndarray | float = 0.0
    if system.rank == system.size:
        doubt = apply_error(spread, V)
        off = _criterion_error(M, V, J, inner.diagonal(), doubt, mean_error(spread, M))
        lifted = float((J + off).max(initial=0.0))
        rounding = max(rounding, float(off.max(initial=0.0)))
        bound = max(bound, lifted)
        share = np.minimum(off / np.maximum(J, LENGTHS[0]), LENGTHS[1])
        doubt = doubt * J + np.abs(M) @ (share * np.abs(M.T @ V))
    # Deviation of every feature: the unit in which an entry of the residual counts.
    unit: np.ndarray | float = spread.scale[:, None]
    if system.rank < system.size:  # S_b points out of the range too, where nothing is asked
        unit, BV, SV = 1.0, V.T @ BV, inner
        doubt = 0.0
    left = np.linalg.norm(unit * (np.abs(BV - SV * J) + doubt), axis=0)
    scale = np.linalg.norm(unit * SV * J, axis=0)
    d, k = M.shape
    return FisherCriterion(
        criterion=tuple(float(j) for j in J),
        bound=max(bound, 0.0) if bound < np.inf else np.inf,
        rounding=rounding,
        relative_residual=float((left / np.where(scale > 0, scale, 1.0)).max(initial=0.0)),
        orthogonality=float(np.abs(inner - np.eye(len(J))).max(initial=0.0)),
        problem=f"Fisher's criterion, {k} classes, {d} columns, ridge {spread.ridge:.3g}",
        **system.told(),
    )


def _criterion_error(M, V, J, square, doubt, off) -> np.ndarray:
    """How far J = ‖Mᵀv‖²/vᵀΣv may be off: relative errors of both, and one more."""
    size = np.abs(V)
    below = np.einsum("ij,ij->j", size, doubt) + gamma(len(V) + FEW) * np.abs(square)
    share = below / np.maximum(square, LENGTHS[0])
    above = np.linalg.norm(gamma(len(V) + FEW) * np.abs(M).T @ size + off.T @ size, axis=0)
    length = np.sqrt(np.maximum(J * square, LENGTHS[0]))
    ratio = above / length
    share = np.where(share < 0.5, share / (1.0 - np.minimum(share, 0.5)), np.inf)
    return OUTWARDS * 1.01 * J * ((1.0 + ratio) ** 2 * (1.0 + share) - 1.0 + 8.0 * U)


def solve(spread: Spread, H: np.ndarray):
    """Y = Σ⁻¹H, its residual E = H − ΣY, E ↦ Σ⁻¹E, and how it was done."""
    D = spread.scale[:, None]
    if spread.design is None:
        told = System("identity", "none", len(H), len(H), 1.0, 0, spread.ridge)
        return H * D * D / spread.ridge, np.zeros_like(H), lambda E: E * D * D / spread.ridge, told
    name = side(spread.design)
    if name == "iterations":
        raise ValueError(
            f"FisherDiscriminant needs a covariance of {len(H)} features or a Gram matrix of "
            f"{spread.design.shape[0]} rows; both are too large. Reduce the features first."
        )
    factors = _factors(spread, name)
    factor, found = best_of(factors, lambda f: _refined(spread, H, _inverse(spread, f, name)))
    correct = _inverse(spread, factor, name)
    told = system_of(spread.design, factor, found.steps, H.shape[1])
    if not spread.ridge:
        told = told._replace(size=len(H))
        full = name == "columns" and told.rank == told.size
        if full and told.least == 0.0 and isinstance(spread.design, Design):
            told = told._replace(least=smallest_of_some_rows(spread.design))
    return found.X, found.left, lambda E: D * correct(D * E), told


def _factors(spread: Spread, name: str):
    assert spread.design is not None
    if name == "columns":
        return column_factors(spread.design, spread.ridge)
    return row_factors(spread.design, spread.ridge, null_space(spread.design))


def _inverse(spread: Spread, factor, name: str):
    """H ↦ (AᵀA + ridge)⁺ H through the factor."""
    A, ridge = spread.design, spread.ridge
    assert A is not None
    if name == "columns":
        return factor.solve
    V = null_space(A)

    def within(B):
        Z = factor.solve(B)
        return Z - V @ (V.T @ Z)

    if ridge:
        return lambda H: (H - A.adjoint(within(A.apply(H)))) / ridge
    return lambda H: A.adjoint(within(within(A.apply(H))))


def _refined(spread: Spread, H, correct) -> Refined:
    """Y += Σ⁻¹(H − ΣY) until the next correction is small; its square is what is left then."""
    D = spread.scale[:, None]
    Y, steps, size = D * correct(D * H), 0, np.inf
    while True:
        E = H - spread.apply(Y)
        step = D * correct(D * E)
        now = float(np.linalg.norm(step / D) / max(np.linalg.norm(Y / D), np.finfo(float).tiny))
        if now <= CORRECTION_TOL or steps == MAX_REFINEMENTS or not now < 0.5 * size:
            return Refined(Y, E, min(now, size) ** 2, steps)
        Y, steps, size = Y + step, steps + 1, now
