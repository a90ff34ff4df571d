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
from ...certify.normal_equations import System
from .least_squares import column_factors, null_space, row_factors, side, system_of
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
    bound = _bound(C, Y * root, E * root, correct)
    return Directions(V, J, Y, certify(spread, H * root, V, bound, system))


def recertify(spread: Spread, H: np.ndarray, share: np.ndarray, V: np.ndarray) -> FisherCriterion:
    """The certificate of directions V, whoever found them."""
    root = np.sqrt(share)
    Y, E, correct, system = solve(spread, H)
    bound = _bound(root[:, None] * (H.T @ Y) * root, Y * root, E * root, correct)
    return certify(spread, H * root, V, bound, system)


def _bound(C, Y, E, correct) -> float:
    """The largest eigenvalue of M Σ⁻¹ Mᵀ = C + YᵀE + EᵀΣ⁻¹E."""
    return float(np.linalg.eigvalsh(_symmetric(C + Y.T @ E + E.T @ correct(E)))[-1])


def _symmetric(C) -> np.ndarray:
    return (C + C.T) / 2


def certify(spread: Spread, M: np.ndarray, V: np.ndarray, bound: float, system) -> FisherCriterion:
    """Criteria of V from the projected data, and the residual of the eigenvalue equation."""
    SV, BV = spread.apply(V), M @ (M.T @ V)
    inner = V.T @ SV
    J = np.einsum("ij,ij->j", V, BV) / inner.diagonal()
    # Deviation of every feature: the unit in which an entry of the residual counts.
    unit: np.ndarray | float = spread.scale[:, None]
    if system.rank < system.size:  # S_b points out of the range too, where nothing is asked
        unit, BV, SV = 1.0, V.T @ BV, inner
    left = np.linalg.norm(unit * (BV - SV * J), axis=0)
    scale = np.linalg.norm(unit * SV * J, axis=0)
    d, k = M.shape
    told = {name: value for name, value in system._asdict().items() if name != "least"}
    return FisherCriterion(
        criterion=tuple(float(j) for j in J),
        bound=max(bound, 0.0),
        relative_residual=float((left / np.where(scale > 0, scale, 1.0)).max(initial=0.0)),
        orthogonality=float(np.abs(inner - np.eye(len(J))).max(initial=0.0)),
        problem=f"Fisher's criterion, {k} classes, {d} columns, ridge {spread.ridge:.3g}",
        **told,
    )


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
