"""QuadraticDiscriminant: a Gaussian for every class, and so a quadratic score each."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...core.types import ArrayLike, MatrixLike
from ..certified import Certified
from ..stored import SEEN
from ..validation import all_or_nothing, check_rows, check_training, check_weights
from .gaussian_fit import Gaussian, GaussianFit, certify

# Condition of a covariance beyond which its inverse has no digits left in float64.
MAX_CONDITION = 1e14


class QuadraticDiscriminant(Certified, ClassifierMixin, BaseEstimator):
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

    _stored = SEEN | {
        "classes_": "labels k !",
        "means_": "float k d !",
        "covariances_": "float k d d !",
        "priors_": "float k !",
        "certificate_": "GaussianFit",
    }

    def __init__(self, *, shrinkage: float = 0.0, priors: ArrayLike | None = None):
        self.shrinkage = shrinkage
        self.priors = priors

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to dense training points X (n, d) and labels y of any kind."""
        with all_or_nothing(self):
            if not 0.0 <= float(self.shrinkage) <= 1.0:
                raise ValueError(f"shrinkage must be from 0 to 1, got {self.shrinkage!r}.")
            X, self.classes_, codes = check_training(self, X, y, accept_sparse=False)
            weight = check_weights(self, X, codes, self.classes_, sample_weight, None)
            shares, best = self._best(X, codes, weight)
            self.priors_ = shares if self.priors is None else self._check_priors()
            self.means_ = np.array([each.mean for each in best])
            self.covariances_ = np.array([each.covariance for each in best])
            self.certificate_ = self._recertify(X, codes, weight)
        return self

    def _check_priors(self) -> np.ndarray:
        k, priors = len(self.classes_), np.asarray(self.priors, dtype=float)
        if priors.shape != (k,) or not (priors > 0).all() or abs(priors.sum() - 1.0) > 1e-9:
            raise ValueError(
                f"priors must be {k} positive numbers that add up to one, got {self.priors!r}."
            )
        return priors

    def _best(self, X, codes, weight) -> tuple[np.ndarray, list[Gaussian]]:
        """The shares of the classes, and of each the Gaussian of largest likelihood for these
        rows, shrunk as asked."""
        X, k = np.asarray(X, dtype=np.float64), len(self.classes_)
        weight = np.ones(len(X)) if weight is None else weight
        mass = np.bincount(codes, weight, k)
        own = [codes == c for c in range(k)]
        best = [self._gaussian(X[rows], weight[rows], c) for c, rows in enumerate(own)]
        return mass / mass.sum(), best

    def _gaussian(self, rows: np.ndarray, weight: np.ndarray, c: int) -> Gaussian:
        """Covariances are over n, not n − 1; refused where they have no inverse."""
        n, d = rows.shape
        mass = float(weight.sum())
        mean = weight @ rows / (mass or 1.0)
        Z = rows - mean
        S = (weight * Z.T) @ Z / (mass or 1.0)
        S = (1.0 - self.shrinkage) * S + self.shrinkage * np.trace(S) / d * np.eye(d)
        if not np.linalg.cond(S) <= MAX_CONDITION:
            raise ValueError(
                f"The {n} rows of class {self.classes_[c]} do not vary in all {d} features: "
                "their covariance has no inverse. Use shrinkage > 0, fewer features, or "
                "FisherDiscriminant, whose covariance is of all classes together."
            )
        return Gaussian(mass, mean, S, cholesky(S, lower=True))

    def _gaussians(self) -> list[Gaussian]:
        """Those of the model: its own means and covariances."""
        return [
            Gaussian(share, mean, S, cholesky(S, lower=True))
            for share, mean, S in zip(self.priors_, self.means_, self.covariances_, strict=True)
        ]

    def _recertify(self, X, codes, weight) -> GaussianFit:
        shares, best = self._best(X, codes, weight)
        both = None if self.priors is not None else (self.priors_, shares)
        return certify(self._gaussians(), best, X.shape[0], both)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Log of π_c times the density of class c, but for a constant: (n, k); with two classes
        (n,), the second's minus the first's."""
        check_is_fitted(self)
        X = np.asarray(check_rows(self, X, reset=False), dtype=np.float64)
        scores = np.column_stack([_log_density(X, each) for each in self._gaussians()])
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

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

    def _in_words(self) -> tuple[str, str]:
        shrunk = f", shrunk by {float(self.shrinkage):.3g}" if self.shrinkage else ""
        text = f"A Gaussian for every class, with a mean and a covariance of its own{shrunk}."
        return text, "predict the largest  log π_c − ½ log|Σ_c| − ½ (x − m_c)ᵀ Σ_c⁻¹ (x − m_c)"


def _log_density(X: np.ndarray, of: Gaussian) -> np.ndarray:
    """Of π_c times the density, but for a constant."""
    Z = solve_triangular(of.root, (X - of.mean).T, lower=True)
    half_log_det = float(np.log(np.diag(of.root)).sum())
    return np.log(of.mass) - half_log_det - 0.5 * np.sum(Z * Z, axis=0)
