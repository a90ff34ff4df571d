"""QuadraticDiscriminant: a Gaussian for every class, and so a quadratic score each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...core.types import ArrayLike, MatrixLike
from ..validation import all_or_nothing, check_rows, check_training

# Condition of a covariance beyond which its inverse has no digits left in float64.
MAX_CONDITION = 1e14


@dataclass(frozen=True)
class GaussianFit:
    """How well the Gaussians fit what was asked of them, recomputed from the data.

    ``relative_residual`` is the worst ‖Lᵀ-whitened covariance − 1‖ of a class, ``condition`` the
    worst condition of a covariance.  Means and covariances of largest likelihood have residual 0.
    """

    relative_residual: float
    condition: float

    def holds(self, tol: float) -> bool:
        return bool(self.relative_residual <= tol)

    def __str__(self) -> str:
        return (
            f"covariances are reproduced to {self.relative_residual:.1e} "
            f"(worst condition {self.condition:.1e})"
        )


class QuadraticDiscriminant(ClassifierMixin, BaseEstimator):
    """A Gaussian generative model: one mean and one covariance for each class.

    The score of class c is  log π_c − ½ log|Σ_c| − ½ (x − m_c)ᵀ Σ_c⁻¹ (x − m_c),  a quadratic
    function; the largest wins, for any number of classes.  With one covariance for all the squares
    cancel, and the scores are those of ``FisherDiscriminant``.

    Parameters
    ----------
    shrinkage : float from 0 to 1, default=0.0
        Σ_c becomes (1 − s) Σ_c + s tr(Σ_c)/d I.  Above zero every Σ_c has an inverse.
    priors : (k,) or None
        π; None takes the shares of the classes.

    Attributes
    ----------
    means_ : (k, d);  covariances_ : (k, d, d);  priors_ : (k,)
    certificate_ : GaussianFit
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import QuadraticDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = QuadraticDiscriminant().fit(X, y)
    >>> round(model.score(X, y), 2), model.certificate_.holds(1e-9)
    (0.98, True)
    """

    def __init__(self, *, shrinkage: float = 0.0, priors: ArrayLike | None = None):
        self.shrinkage = shrinkage
        self.priors = priors

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit to dense training points X (n, d) and labels y of any kind."""
        with all_or_nothing(self):
            if not 0.0 <= float(self.shrinkage) <= 1.0:
                raise ValueError(f"shrinkage must be from 0 to 1, got {self.shrinkage!r}.")
            X, self.classes_, codes = check_training(self, X, y, accept_sparse=False)
            X = np.asarray(X, dtype=np.float64)
            self.priors_ = self._check_priors(codes)
            k = len(self.classes_)
            self.means_ = np.array([X[codes == c].mean(axis=0) for c in range(k)])
            self.covariances_ = np.array([self._covariance(X[codes == c], c) for c in range(k)])
            self._roots = [cholesky(S, lower=True) for S in self.covariances_]
            self.certificate_ = self._certify(X, codes)
        return self

    def _check_priors(self, codes: np.ndarray) -> np.ndarray:
        k = len(self.classes_)
        if self.priors is None:
            return np.bincount(codes, minlength=k) / len(codes)
        priors = np.asarray(self.priors, dtype=float)
        if priors.shape != (k,) or not (priors > 0).all() or abs(priors.sum() - 1.0) > 1e-9:
            raise ValueError(
                f"priors must be {k} positive numbers that add up to one, got {self.priors!r}."
            )
        return priors

    def _covariance(self, rows: np.ndarray, c: int) -> np.ndarray:
        """Of largest likelihood (over n, not n − 1), shrunk as asked; refused where it has no
        inverse."""
        n, d = rows.shape
        Z = rows - rows.mean(axis=0)
        S = Z.T @ Z / n
        S = (1.0 - self.shrinkage) * S + self.shrinkage * np.trace(S) / d * np.eye(d)
        if not np.linalg.cond(S) <= MAX_CONDITION:
            raise ValueError(
                f"The {n} rows of class {self.classes_[c]!r} do not vary in all {d} features: "
                "their covariance has no inverse. Use shrinkage > 0, fewer features, or "
                "FisherDiscriminant, whose covariance is of all classes together."
            )
        return S

    def _certify(self, X: np.ndarray, codes: np.ndarray) -> GaussianFit:
        """Whiten every class by its factor: without shrinkage its covariance becomes 1."""
        worst = 0.0
        for c, (mean, L) in enumerate(zip(self.means_, self._roots, strict=True)):
            Z = solve_triangular(L, (X[codes == c] - mean).T, lower=True)
            d, n = Z.shape
            spread = self.shrinkage * np.trace(L @ L.T) / d
            inverse = solve_triangular(L, np.eye(d), lower=True)
            rest = spread * (inverse @ inverse.T)
            found = (1.0 - self.shrinkage) * (Z @ Z.T) / n + rest
            worst = max(worst, float(np.abs(found - np.eye(d)).max()))
        return GaussianFit(worst, float(max(np.linalg.cond(S) for S in self.covariances_)))

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Log of π_c times the density of class c, but for a constant: (n, k); with two classes
        (n,), the second's minus the first's."""
        check_is_fitted(self)
        X = np.asarray(check_rows(self, X, reset=False), dtype=np.float64)
        scores = np.column_stack([self._score(X, c) for c in range(len(self.classes_))])
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _score(self, X: np.ndarray, c: int) -> np.ndarray:
        L = self._roots[c]
        Z = solve_triangular(L, (X - self.means_[c]).T, lower=True)
        half_log_det = float(np.log(np.diag(L)).sum())
        return np.log(self.priors_[c]) - half_log_det - 0.5 * np.sum(Z * Z, axis=0)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Bayes' rule: (n, k) probabilities of the classes, if the Gaussians are true."""
        f = self.decision_function(X)
        f = np.column_stack([np.zeros(len(f)), f]) if f.ndim == 1 else f
        e = np.exp(f - f.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest score."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
