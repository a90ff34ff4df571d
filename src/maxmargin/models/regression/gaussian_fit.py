"""The certificate of a Gaussian for every class: how far their likelihood is from the largest.

With Σ_c = L_c L_cᵀ, shares π_c and weights n_c of the classes, minus the log-likelihood is

    Σ n_c [ −log π_c + ½ log|Σ_c| + ½ tr(Σ_c⁻¹ T_c) + ½ ‖L_c⁻¹(m_c − x̄_c)‖² ] + constant,

x̄_c and T_c the mean and the covariance of the rows (shrunk, where that was asked for).  It is
smallest at m_c = x̄_c, Σ_c = T_c and the classes' own shares, and exceeds that by

    ½ Σ n_c [ Σ_i (e_i − log(1 + e_i)) + ‖L_c⁻¹(m_c − x̄_c)‖² ] + Σ n_c log(π̂_c/π_c),

e_i the eigenvalues of the whitened covariance less one, L_c⁻¹ T_c L_c⁻ᵀ − 1: all zero at the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ...core.certify.certificate import html_table
from ...core.certify.exported import Exported
from ...core.rows.double_double import gamma

# Roundings of an entry beside those of its sums: centring, shrinking, two triangular solves.
ENTRY_ROUNDINGS = 10


class Gaussian(NamedTuple):
    """A class: its weight, mean and covariance; ``root`` is the lower triangular L."""

    mass: float
    mean: np.ndarray
    covariance: np.ndarray
    root: np.ndarray


@dataclass(frozen=True)
class GaussianFit(Exported):
    """How near the Gaussians are to those of largest likelihood, recomputed from the data.

    ``relative_residual``: the largest entry that a whitened covariance, or a whitened mean, is off
    by; ``excess``: by how much the mean log-likelihood of a row could still grow.  Both count
    ``rounding``, what float64 may hide of them, which grows with ``condition``, the worst of a
    covariance.
    """

    relative_residual: float
    excess: float
    condition: float
    rounding: float
    problem: str

    @property
    def relative_gap(self) -> float:
        """``excess``, which has no unit: a difference of logarithms a row."""
        return self.excess

    def to_dict(self) -> dict:
        return super().to_dict() | {"relative_gap": self.relative_gap}

    def holds(self, tol: float) -> bool:
        """Whether means and covariances are those of the data to ``tol``."""
        return bool(self.relative_residual <= tol)

    def __str__(self) -> str:
        return (
            f"log-likelihood at most {self.excess:.1e} a row below the largest, covariances to "
            f"{self.relative_residual:.1e} (worst condition {self.condition:.1e})"
        )

    def _repr_html_(self) -> str:
        return html_table(
            {
                "problem": self.problem,
                "log-likelihood of a row below the largest by at most": f"{self.excess:.2e}",
                "relative residual": f"{self.relative_residual:.2e}",
                "of which rounding": f"{self.rounding:.2e}",
                "condition number": f"{self.condition:.2e}",
            }
        )


def certify(model: Iterable[Gaussian], best: Iterable[Gaussian], n: int, shares) -> GaussianFit:
    """The model's Gaussians against those of the data's n rows; ``shares`` are the model's and the
    data's, or None where the priors were given."""
    worst, total, mass, condition, rounding = 0.0, 0.0, 0.0, 1.0, 0.0
    k = d = 0
    for ours, theirs in zip(model, best, strict=True):
        d, k = len(ours.mean), k + 1
        found = float(np.linalg.cond(ours.covariance))
        doubt = d * found * gamma(n + d + ENTRY_ROUNDINGS)
        off, shift = _whitened(ours, theirs)
        total += theirs.mass * (_growth(off, doubt) + 0.5 * float(shift @ shift) + doubt**2)
        mass += theirs.mass
        worst = max(worst, float(np.abs(off).max()), float(np.abs(shift).max()))
        condition, rounding = max(condition, found), max(rounding, doubt)
    if shares is not None:
        own, data = shares
        total += mass * max(0.0, float(np.sum(data * np.log(data / own))))
        worst = max(worst, float(np.abs(own / data - 1.0).max()))
    problem = f"a Gaussian for each of {k} classes, {n} rows, {d} columns"
    return GaussianFit(worst + rounding, total / mass, condition, rounding, problem)


def _whitened(ours: Gaussian, theirs: Gaussian) -> tuple[np.ndarray, np.ndarray]:
    """L⁻¹ T L⁻ᵀ − 1 and L⁻¹(m − x̄)."""
    half = solve_triangular(ours.root, theirs.covariance, lower=True)
    off = solve_triangular(ours.root, half.T, lower=True)
    off[np.diag_indices_from(off)] -= 1.0
    return off, solve_triangular(ours.root, ours.mean - theirs.mean, lower=True)


def _growth(off: np.ndarray, doubt: float) -> float:
    """½ Σ (e − log(1 + e)), with every eigenvalue e moved by ``doubt`` to where that is more."""
    e = np.linalg.eigvalsh((off + off.T) / 2.0)
    e = e + np.copysign(doubt, e)
    if not e.min() > -1.0:
        return np.inf
    return 0.5 * float(np.sum(e - np.log1p(e)))
