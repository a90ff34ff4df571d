"""LeastSquaresClassifier: 1-of-k targets met in the least-squares sense, in closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...core.certify.normal_equations import (
    NormalEquations,
    certify_least_squares,
    gradient,
    offset_of,
)
from ...core.problem.targets import OneOfK
from ...core.rows.design import Design
from ...core.solve.closed_form.least_squares import (
    RidgeWeights,
    describe,
    least_squares,
    side,
    with_bias,
)
from ...core.solve.closed_form.ridge_path import LeaveOneOut, coefficients, leave_one_out, spectrum
from ...core.solve.precise.least_squares import (
    Squares,
    precise_equations,
    precise_least_squares,
)
from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..device.tensors import is_tensor, labels_of, wants_device
from ..fitting import linear_scores
from ..forgetting.mixin import ForgettingMixin
from ..stored import CALIBRATED, LINEAR
from ..validation import (
    all_or_nothing,
    at_least_zero,
    check_alphas,
    check_known,
    check_sample_weight,
    check_training,
    check_weights,
)

# A relative residual of the normal equations above this is worth a warning.
RESIDUAL_WARNING_TOL = 1e-6


@dataclass(frozen=True)
class RidgePath:
    """Every model of a path: ``alphas``, ``coef`` (alphas, k, d), ``intercept`` (alphas, k), and
    the leave-one-out errors, all from one factorisation."""

    alphas: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    loo: LeaveOneOut

    def __str__(self) -> str:
        return f"{len(self.alphas)} models; {self.loo}"


def _unit(design: Design) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return design.unit()


class LeastSquaresClassifier(
    Calibrated, ForgettingMixin, Certified, ClassifierMixin, BaseEstimator
):
    """Least squares on 1-of-k targets, with or without a ridge, solved in closed form.

    Minimises  ½ Σ sᵢ ‖W xᵢ + b − tᵢ‖² + ½ α‖W‖²  with tᵢ the unit vector of the row's class;
    W̃ = pinv(X̃) T for α = 0.  The bias is not penalised.  The d × d normal equations are solved or
    the "other" n × n ones, whichever are smaller, by Cholesky, QR or SVD as conditioning asks.
    Where several W are equally good, the one of least norm is returned.

    Two classes have one weight vector, the difference of the two: w·x + b aims at −1 and +1.

    Least squares charges a point for being far on the right side: distant points, however
    clear, move the boundary.  ``LinearSVM`` does not.

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the ridge, as in scikit-learn's ``RidgeClassifier``.
    alphas : array-like or None, default=None
        Try all of these from one factorisation, and keep the one with the smallest
        leave-one-out squared error; ``alpha`` is then ignored.  See ``path_``.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    device : str, torch.device or None, default=None
        Where to compute; tensors are fitted where they are.  Needs ``maxmargin[gpu]``.
    probability : bool, default=False
        Calibrate at the end of ``fit``: ``predict_proba``, ``predict_proba_interval`` and
        ``predict_set`` then exist.  Costs a small part of a fit.

    Attributes
    ----------
    coef_, intercept_ : (k, d) and (k,); with two classes (1, d) and (1,), in float64
    certificate_ : NormalEquations
        The residual of the normal equations, recomputed from the data in float64, and how the
        system was solved and conditioned.
    alpha_ : the α used
    path_ : RidgePath, with ``alphas`` only
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LeastSquaresClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.certificate_.holds(1e-12), model.certificate_.rank
    (True, 4)
    >>> print(model.leave_one_out(X, y))
    leave-one-out squared error 0.28726, 17.33% of the rows wrong at alpha=0 (best of 1)
    """

    _stored = (
        LINEAR
        | CALIBRATED
        | {
            "alpha_": "number !",
            "path_": "RidgePath",
            "certificate_": "NormalEquations",
            "n_labels_": "count m",
        }
    )

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        alphas: ArrayLike | None = None,
        fit_intercept: bool = True,
        class_weight: dict | str | None = None,
        device: Any = None,
        probability: bool = False,
    ):
        self.alpha = alpha
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.device = device
        self.probability = probability

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to training points X (n, d), dense or sparse, or a tensor, and labels y of any kind.

        Of a tensor y may have several columns of 0 and 1: a label each.
        """
        if wants_device(self, X):
            from ..device.closed_forms import fit_least_squares

            return fit_least_squares(self, X, y, sample_weight)
        with all_or_nothing(self), one_blas_thread():
            alpha = at_least_zero("alpha", self.alpha)
            alphas = None if self.alphas is None else check_alphas(self.alphas)
            X, classes, codes = check_training(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            self.classes_ = classes
            self.__dict__.pop("n_labels_", None)
            unit = self._solve(X, codes, weight, alpha, alphas)
            if unit != 1.0:  # the squares of these data are no numbers
                self._solve(unit * X, codes, weight, alpha, alphas, unit)
            self._solve_precisely(X, codes, weight)
            self._calibrate(X, codes, weight, check_sample_weight(X, sample_weight))
        if not self.certificate_.holds(RESIDUAL_WARNING_TOL):
            self._warn()
        return self

    def _warn(self) -> None:
        proof = self.certificate_
        advice = "use a ridge, alpha > 0, or scale the features to similar size"
        warnings.warn(
            f"LeastSquaresClassifier solved its normal equations to {proof.relative_residual:.1e} "
            f"only ({proof}). The model is kept. To get closer: {advice}.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _solve(self, X, codes, weight, alpha, alphas, unit=1.0) -> float:
        """Fit to data that have been multiplied by ``unit``, a power of two, to which W and α are
        converted; returns the unit that the data ask for."""
        design, targets, offset, length = self._pose(X, codes, weight)
        self.__dict__.pop("path_", None)
        factors = None
        with np.errstate(over="ignore", invalid="ignore"):  # then another unit is asked for
            if alphas is not None:
                alpha, factors = self._choose(design, targets, offset, alphas, unit)
            found = least_squares(design, targets, offset, alpha * unit * unit, length, factors)
            W, self.intercept_, moved = with_bias(design, found.W, found.offset, length)
            self.alpha_, self.coef_ = alpha, np.ascontiguousarray(W.T) * unit
            found = found._replace(W=W, slopes=None if moved else found.slopes)
            self.certificate_ = self._certify(design, targets, found, length, unit)
        return design.unit() if unit == 1.0 else unit

    def _solve_precisely(self, X, codes, weight) -> None:
        """In fractions, where data are small and float64 proves too little."""
        found = precise_least_squares(self._squares(X, codes, weight), self.certificate_)
        if found is not None:
            W, self.intercept_, self.certificate_ = found
            self.coef_ = np.ascontiguousarray(W.T)

    def _squares(self, X, codes, weight) -> Squares:
        targets = OneOfK(codes, len(self.classes_))
        return Squares(X, targets, weight, self.alpha_, bool(self.fit_intercept))

    def _pose(self, X, codes, weight):
        """A, T, the mean of T and its length about it."""
        design = Design(X, weight, centred=bool(self.fit_intercept))
        targets = OneOfK(codes, len(self.classes_))
        offset = targets.mean(weight) if self.fit_intercept else None
        about = 0.0 if offset is None else offset
        return design, targets, offset, targets.length(weight, about) or 1.0

    def _certify(self, design, targets, found: RidgeWeights, length, unit) -> NormalEquations:
        W, offset, slopes = found.W, found.offset, found.slopes
        off: np.ndarray | float = 0.0
        if offset is not None:
            offset, off = offset_of(design, W, self.intercept_)
            if slopes is not None:  # the solver's last look was one at the scores it aimed at
                off = off + np.abs(offset - found.offset)
        return certify_least_squares(
            design, targets, W, offset, self.alpha_, found.system, length, slopes, off, unit
        )

    def _choose(self, design, targets, offset, alphas, unit):
        """The α with the smallest leave-one-out error, and the factorisation that serves all."""
        known, H = self._factorise(design, targets, offset)
        scaled = np.asarray(alphas) * unit * unit
        loo = leave_one_out(design, targets, offset, known, H, scaled, keep=False)
        W = coefficients(design, known, H, scaled)
        intercept = [
            np.zeros(W.shape[2]) if offset is None else offset - design.mean @ w for w in W
        ]
        coef = unit * np.ascontiguousarray(W.transpose(0, 2, 1))
        self.path_ = RidgePath(alphas, coef, np.array(intercept), replace(loo, alphas=alphas))
        known.alpha = float(scaled[loo.best])
        return float(alphas[loo.best]), [known]

    def _factorise(self, design, targets, offset):
        if side(design) == "iterations":
            raise ValueError(
                f"A path of alphas, or leaving one out, needs a factorisation of a matrix of "
                f"{min(design.shape)} rows, which is too large for data of shape {design.shape}. "
                "Fit each alpha by itself, or reduce the features first."
            )
        known = spectrum(design)
        everything = slice(0, design.shape[0])
        if side(design) == "rows":
            B = targets.block(everything) - (0.0 if offset is None else offset)
            return known, B if design.root is None else B * design.root[:, None]
        return known, gradient(design, targets, None, offset, 0.0).W

    def leave_one_out(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        alphas: ArrayLike | None = None,
    ) -> LeaveOneOut:
        """Errors on every row of the training data when it is left out, for ``alphas`` or the α
        of the fit: in closed form, without fitting again."""
        check_is_fitted(self)
        with one_blas_thread():
            X, codes, weight = check_known(self, X, y, sample_weight)
            design, targets, offset, _ = self._pose(X, codes, weight)
            alphas = [self.alpha_] if alphas is None else check_alphas(alphas)
            unit = _unit(design)
            if unit != 1.0:
                design, targets, offset, _ = self._pose(unit * X, codes, weight)
            known, H = self._factorise(design, targets, offset)
            scaled = np.asarray(alphas) * unit * unit
            found = leave_one_out(design, targets, offset, known, H, scaled)
            return replace(found, alphas=np.asarray(alphas, dtype=float))

    def _recertify(self, X, codes, weight) -> NormalEquations:
        with one_blas_thread():
            design, targets, offset, length = self._pose(X, codes, weight)
            unit = _unit(design)
            if unit != 1.0:
                design, targets, offset, length = self._pose(unit * X, codes, weight)
            system = describe(design, bool(self.fit_intercept), self.alpha_ * unit * unit)
            found = RidgeWeights(self.coef_.T / unit, offset, system)
            near = self._certify(design, targets, found, length, unit)
            squares = self._squares(X, codes, weight)
            return precise_equations(squares, self.coef_.T, self.intercept_, near)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores W x + b, (n, k), aiming at 1 for the class and 0 for the others; with two
        classes (n,), aiming at −1 and +1."""
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest score."""
        f = self.decision_function(X)
        if is_tensor(f):
            return labels_of(self.classes_, f, hasattr(self, "n_labels_"))
        if hasattr(self, "n_labels_"):
            return (f > 0).astype(int)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def _in_words(self) -> tuple[str, str]:
        text = (
            "Least squares on the labels as numbers, with a ridge "
            f"α = {float(getattr(self, 'alpha_', 0.0)):.4g}; a closed form."
        )
        return text, "minimise  ½ Σ ‖tᵢ − W xᵢ − b‖² + ½ α‖W‖²"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
