"""The covariance within classes, as a sum that is never formed: Σ = AᵀA + ridge.

    S_w = Σ_c π_c Cov_c,       Cov_c = Σ_{i in c} s_i (x_i − m_c)(x_i − m_c)ᵀ / Σ_{i in c} s_i

Shrinkage by γ_c replaces Cov_c by (1 − γ_c) Cov_c + γ_c T_c: T_c is the mean variance times the
identity, or for Ledoit and Wolf's γ_c the variance of every feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.covariance import ledoit_wolf_shrinkage

from ...rows.design import CENTRED_ROUNDINGS, LENGTHS, Design
from ...rows.double_double import gamma
from .least_squares import precisions, side


class Spread(NamedTuple):
    """Σ = D⁻¹ (AᵀA + ridge) D⁻¹, with A of the features times D = ``scale``; no design: A = 0."""

    design: Design | None
    ridge: float
    scale: np.ndarray
    off: float = 0.0  # how far the ridge may be off, relatively
    blur: np.ndarray = np.zeros(1)  # how far the class means may be off, where there is no design
    rest: np.ndarray | None = None  # what the true class means have beyond those in float64

    def about_mean(self, means: np.ndarray, share: np.ndarray) -> np.ndarray:
        """H (d, k): the class means about their mean, by differences, which do not cancel."""
        apart = means - means[0]
        if self.rest is not None:
            apart = apart + (self.rest - self.rest[0])
        return (apart - share @ apart).T

    def apply(self, Y) -> np.ndarray:
        """ΣY."""
        D = self.scale[:, None]
        out = self.ridge * (Y / D) / D
        if self.design is not None:
            out += self.design.normal(Y / D) / D
        return out


def spread_within(X, codes, weight, priors, covariance, shrinkage) -> tuple[Spread, np.ndarray]:
    """Σ as asked for, and the class means."""
    k, one = len(priors), np.ones(X.shape[1])
    share = np.ones(len(codes)) if weight is None else weight
    weight = (priors / np.bincount(codes, share, k))[codes] * share
    plain = Design(X, weight, codes=codes, groups=k)
    means = plain.centres
    if covariance != "none" and (shrinkage is None or shrinkage == 0.0):
        return _unshrunk(plain, X, codes, weight, means), means
    # A sum of squares over all values, about centres that may be off.
    moved, norms = plain.centre_error(), plain.column_norms()
    off = 1.01 * gamma(plain.terms + X.shape[1] + CENTRED_ROUNDINGS)
    off += float(plain.mass.sum() * (moved @ moved)) / max(float(norms @ norms), LENGTHS[0])
    if covariance == "none" or shrinkage == 1.0:
        blur = 2.0 * moved
        return Spread(None, _mean_variance(plain) or 1.0, one, off, blur, plain.rest), means
    if shrinkage != "auto":
        kept = Design(
            X, (1.0 - shrinkage) * weight, codes=codes, groups=k, centres=means, rest=plain.rest
        )
        kept.off = moved
        ridge = shrinkage * _mean_variance(plain)
        return Spread(kept, ridge, one, off, rest=plain.rest), means
    lost, target = _ledoit_wolf(X, codes, k)
    if lost.max() == 0.0:
        return _unshrunk(plain, X, codes, weight, means), means
    D = 1.0 / np.sqrt(priors @ target)
    given = {"scale": D, "centres": means, "rest": plain.rest}
    kept = Design(X, (1.0 - lost)[codes] * weight, codes=codes, groups=k, **given)
    kept.off = moved
    return Spread(kept, 1.0, D, off, rest=plain.rest), means


def _mean_variance(design: Design) -> float:
    return float((design.column_norms() ** 2).mean())


def _unshrunk(plain: Design, X, codes, weight, means) -> Spread:
    """With fewer rows than columns Σ⁻¹ means the pseudo-inverse, of features in deviations."""
    n, d = X.shape
    if d < n:
        if side(plain) == "columns":
            plain.form_gram(precisions(plain, d)[0])
        return Spread(plain, 0.0, np.ones(d), rest=plain.rest)
    deviation = plain.column_norms()
    D = 1.0 / np.where(deviation > 0, deviation, 1.0)
    given = {"scale": D, "centres": means, "rest": plain.rest}
    scaled = Design(X, weight, codes=codes, groups=len(means), **given)
    scaled.off = plain.centre_error()
    return Spread(scaled, 0.0, D, rest=plain.rest)


def _ledoit_wolf(X, codes, k) -> tuple[np.ndarray, np.ndarray]:
    """γ_c and γ_c T_c of every class, for features in units of their deviation within it."""
    if sparse.issparse(X):
        raise ValueError(
            "shrinkage='auto' looks at every product of two features in every row and needs "
            "dense data, got a sparse matrix. Give shrinkage a number between 0 and 1."
        )
    lost, target = np.zeros(k), np.zeros((k, X.shape[1]))
    for c in range(k):
        Z = X[codes == c].astype(np.float64)
        Z -= Z.mean(axis=0)
        variance = np.einsum("ij,ij->j", Z, Z) / len(Z)
        unit = np.where(variance > 0, variance, 1.0)
        Z /= np.sqrt(unit)
        lost[c] = ledoit_wolf_shrinkage(Z, assume_centered=True)
        target[c] = lost[c] * (variance > 0).mean() * unit
    return lost, target
