"""Fisher's discriminant over parts, and how much to shrink its covariance.

    γ = min(1, (Σ‖z‖⁴/n − ‖S‖²) / (n ‖S − μI‖²)),     S = Σ z zᵀ/n,   μ = tr S/d

is Ledoit and Wolf's shrinkage of one class, z its rows about their mean in units of each feature's
deviation.  All of it adds up: variances in one pass, Σ‖z‖⁴ and the products of features in another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ....core.certify.fisher import FisherCriterion
from ....core.rows.design import CENTRED_ROUNDINGS, PASS_VALUES
from ....core.rows.double_double import gamma
from ....core.solve.closed_form.discriminant import Directions, directions, recertify
from ....core.solve.closed_form.within import Spread
from ...parts import Block, Parts, need_weight
from .least_squares import PartsDesign, class_sums

# Values of the products of features that a part answers with at a time: 64 MB.
MAX_PRODUCT_VALUES = 8_000_000


def solve_fisher(
    parts: Parts, k: int, priors: np.ndarray | None, plain: bool, shrinkage: float | str, most: int
) -> tuple[Directions, np.ndarray, np.ndarray]:
    """Directions with their proof, the class means, and the priors.

    ``plain``: means only, without the spread within the classes.
    """
    spread, means, share = _posed(parts, k, priors, plain, shrinkage)
    return directions(spread, (means - share @ means).T, share, most), means, share


def check_fisher(
    parts: Parts, k: int, priors, plain: bool, shrinkage: float | str, V
) -> tuple[FisherCriterion, Spread, np.ndarray]:
    """The certificate of directions V, whoever found them; the spread and the class means."""
    spread, means, share = _posed(parts, k, priors, plain, shrinkage)
    return recertify(spread, (means - share @ means).T, share, V), spread, means


def _posed(parts: Parts, k: int, priors, plain: bool, shrinkage: float | str):
    """The spread within the classes, their means and priors."""
    sums = parts.total(class_sums, k)
    need_weight(sums[0], k)
    design = PartsDesign(parts, sums, groups=True)
    share = sums[0] / sums[0].sum() if priors is None else priors
    return _spread(design, share, sums[0], plain, shrinkage), design.centres, share


def _spread(design: PartsDesign, state, mass, plain: bool, shrinkage: float | str) -> Spread:
    """Σ as asked for, as ``solve/closed_form/within.py`` makes it of rows in memory."""
    known: Any = design
    one = np.ones(design.shape[1])
    if shrinkage == "auto" and not plain:
        lost, target = _ledoit_wolf(design.all, design.centres, mass)
        if lost.max() > 0.0:
            D = 1.0 / np.sqrt(state @ target)
            design.weigh((1.0 - lost) * state / mass)
            design.rescale(D)
            return Spread(known, 1.0, D)
        shrinkage = 0.0
    design.weigh(state / mass)
    if not plain and not shrinkage:
        return Spread(known, 0.0, one)
    variance = float((design.column_norms() ** 2).mean())
    off = gamma(design.terms + design.shape[1] + CENTRED_ROUNDINGS)
    if plain or shrinkage == 1.0:
        return Spread(None, variance or 1.0, one, off, 2.0 * design.centre_error())
    design.weigh((1.0 - float(shrinkage)) * state / mass)
    return Spread(known, float(shrinkage) * variance, one, off)


def _ledoit_wolf(parts: Parts, centres: np.ndarray, counts) -> tuple[np.ndarray, np.ndarray]:
    """γ_c and γ_c T_c of every class, for features in units of their deviation within it."""
    k, d = centres.shape
    variance = parts.total(_variances, centres) / counts[:, None]
    unit = np.where(variance > 0, variance, 1.0)
    lost, together = np.zeros(k), max(1, MAX_PRODUCT_VALUES // d**2)
    for first in range(0, k, together):
        some = np.arange(first, min(k, first + together))
        fourth, G = parts.total(_moments, some, centres, unit)
        for c, sum_c, G_c in zip(some, fourth, G, strict=True):
            lost[c] = _shrinkage(float(sum_c), G_c / counts[c], float(counts[c]))
    return lost, (lost * (variance > 0).mean(axis=1))[:, None] * unit


def _shrinkage(fourth: float, S: np.ndarray, n: float) -> float:
    """γ as above."""
    d = len(S)
    if d == 1:
        return 0.0
    square, mu = float((S * S).sum()), float(np.trace(S)) / d
    beta = (fourth / n - square) / (d * n)
    delta = (square - d * mu**2) / d
    beta = min(beta, delta)
    return 0.0 if beta == 0.0 else beta / delta


def _variances(block: Block, state, centres):
    """Σ (x − m)² of every class."""
    out = np.zeros_like(centres)
    for c, Z in _by_class(block, range(len(centres)), centres):
        out[c] += np.einsum("ij,ij->j", Z, Z)
    return state, out


def _moments(block: Block, state, some, centres, unit):
    """Σ‖z‖⁴ and Σ z zᵀ of some classes."""
    d, at = centres.shape[1], {int(c): i for i, c in enumerate(some)}
    fourth, G = np.zeros(len(some)), np.zeros((len(some), d, d))
    for c, Z in _by_class(block, some, centres):
        Z /= np.sqrt(unit[c])
        fourth[at[c]] += float((np.einsum("ij,ij->i", Z, Z) ** 2).sum())
        G[at[c]] += Z.T @ Z
    return state, (fourth, G)


def _by_class(block: Block, some, centres):
    """Rows of each class about its centre in float64, some at a time."""
    size = max(16, PASS_VALUES // centres.shape[1])
    for c in map(int, some):
        mine = np.flatnonzero(block.y == c)
        for start in range(0, len(mine), size):
            X = block.X[mine[start : start + size]]
            X = X.toarray() if sparse.issparse(X) else X
            yield c, X.astype(np.float64) - centres[c]
