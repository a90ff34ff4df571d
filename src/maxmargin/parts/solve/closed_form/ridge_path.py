"""Many ridges over parts, and the errors of every row when it is left out.

With AᵀA = V λ Vᵀ known to all, a part has the left singular vectors of its own rows, U = A V/√λ,
and these give the residual of each of its rows without itself
(``solve/closed_form/ridge_path.py``).  Only Σ of their squares leaves the part: one pass for all α
together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....core.problem.targets import OneOfK
from ....core.solve.closed_form.ridge_path import (
    LeaveOneOut,
    LeftOut,
    column_vectors,
    spectrum,
    sum_left_out,
)
from ....models.regression.least_squares import RidgePath
from ...parts import Block, Parts
from .least_squares import MAX_TRIANGLE_COLUMNS, ClosedForm, Targets, _part, solve_targets


class Told(NamedTuple):
    """What a part needs to leave out each of its rows."""

    V: np.ndarray
    values: np.ndarray
    H: np.ndarray  # AᵀB
    alphas: np.ndarray
    centres: np.ndarray
    offset: np.ndarray | None
    mass: float  # Σ s of all rows
    k: int


def solve_ridge_path(parts: Parts, k: int, alphas: np.ndarray, free: bool):
    """The α with the smallest leave-one-out error, its model, and the whole path."""
    asked = _posed(parts, k, free)
    known = spectrum(asked.design)  # type: ignore[arg-type]
    loo = _left_out(asked, known, alphas)
    beta = known.V.T @ asked.first.W
    W = [known.V @ (beta / (known.values + alpha)[:, None]) for alpha in alphas]
    coef, intercept = (np.array(each) for each in zip(*map(asked.model, W), strict=True))
    known.alpha = float(alphas[loo.best])
    found: ClosedForm = solve_targets(asked, known.alpha, [known])
    return known.alpha, found, RidgePath(alphas, coef, intercept, loo)


def leave_one_out_parts(parts: Parts, k: int, alphas: np.ndarray, free: bool) -> LeaveOneOut:
    """Errors on all rows, each left out in its turn, for every α."""
    asked = _posed(parts, k, free)
    return _left_out(asked, spectrum(asked.design), alphas)  # type: ignore[arg-type]


def _posed(parts: Parts, k: int, free: bool) -> Targets:
    if parts.n_features > MAX_TRIANGLE_COLUMNS:
        raise ValueError(
            f"There are {parts.n_features} features; leaving one out tells every part a matrix as "
            f"wide as that, {MAX_TRIANGLE_COLUMNS} at most. Give one alpha instead of alphas, "
            "and compare "
            "on validation rows, or reduce the features first."
        )
    return Targets(parts, k, free)


def _left_out(asked: Targets, known, alphas) -> LeaveOneOut:
    mass = float(asked.design.mass.sum())
    told = Told(
        known.V, known.values, asked.first.W, np.asarray(alphas), asked.design.centres,
        asked.offset, mass, asked.k,
    )  # fmt: skip
    sums: LeftOut = asked.parts.total(_sums, told)
    return sums.mean(alphas, True)


def _sums(block: Block, state, told: Told):
    """Σ over the part's rows."""
    V, values, H = told.V, told.values, told.H
    design = _part(block, told.centres, None)
    targets = OneOfK(block.y, told.k)
    weight = np.ones(len(block.y)) if design.root is None else design.root**2
    v2 = weight / told.mass if told.offset is not None else np.zeros(len(weight))
    vectors = column_vectors(design, V, values, H, v2)

    def weights(alpha):
        return V @ ((V.T @ H) / (values + alpha)[:, None])

    sums = sum_left_out(design, targets, told.offset, values, vectors, told.alphas, weights)
    return state, sums
