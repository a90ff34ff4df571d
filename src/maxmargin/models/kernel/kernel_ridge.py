"""KernelRidge and KernelRidgeClassifier: least squares in the basis of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...core.certify.normal_equations import NormalEquations
from ...core.kernels.decimal_values import decimal_values, few_enough
from ...core.kernels.enclosed import MAX_TWOFOLD_VALUES, Enclosed, enclosed_sums, value_error
from ...core.kernels.kernel_block import KernelPoints
from ...core.kernels.kernels import Kernel, check_definite, check_precomputed, kernel_for
from ...core.problem.targets import OneOfK, Values
from ...core.solve.closed_form.kernel_ridge import KernelSystem
from ...core.solve.closed_form.ridge_path import LeaveOneOut
from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ..certified import Certified
from ..stored import RIDGE
from ..validation import (
    ROW_CHECKS,
    all_or_nothing,
    at_least_zero,
    check_alphas,
    check_known,
    check_rows,
    check_sample_weight,
    check_training,
    check_weights,
)

# Kernels that are inner products for certain, so that nobody need look.
MERCER_KERNELS = ("linear", "poly", "rbf", "laplacian", "cosine")
# Kernel values held at a time when predicting.
PREDICTION_BLOCK_VALUES = 1 << 22


class _KernelRidge(Certified, BaseEstimator):
    """What the regression and the classifier share."""

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        alphas: ArrayLike | None = None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alphas = alphas

    def _solve(self, X, targets, weight) -> None:
        alpha = at_least_zero("alpha", self.alpha)
        alphas = None if self.alphas is None else check_alphas(self.alphas)
        kernel = kernel_for(X, self.kernel, self.gamma, self.degree, self.coef0, weight)
        system = self._system(kernel, X, targets, weight)
        self.__dict__.pop("loo_", None)
        factors = None
        if alphas is not None:
            known = system.spectrum()
            self.loo_ = system.leave_one_out(targets, alphas, known, keep=False)
            alpha = known.alpha = float(alphas[self.loo_.best])
            factors = [known]
        self._kernel, self.alpha_ = kernel, alpha
        self.dual_coef_, self.certificate_ = system.solve(alpha, factors)
        self.X_fit_ = None if kernel.precomputed else X

    def _system(self, kernel: Kernel, X, targets, weight) -> KernelSystem:
        if kernel.precomputed:
            check_precomputed(X)
        K = kernel(X)
        if kernel.name not in MERCER_KERNELS:
            check_definite(K)
        off, reach = value_error(kernel, X, K)
        exact, digits = (
            partial(_in_twice_the_digits, kernel, X),
            partial(_in_many_digits, kernel, X),
        )
        Y = targets.block(slice(0, X.shape[0]))
        return KernelSystem(K, Y, weight, off, reach, exact, digits)

    def _leave_one_out(self, X, targets, weight, alphas) -> LeaveOneOut:
        alphas = [self.alpha_] if alphas is None else check_alphas(alphas)
        system = self._system(self._kernel, X, targets, weight)
        return system.leave_one_out(targets, alphas, system.spectrum())

    def _prove(self, X, targets, weight) -> NormalEquations:
        """The certificate of u on these rows, which must be the training rows."""
        n = len(self.dual_coef_)
        if X.shape[0] != n:
            raise ValueError(
                f"verify can recompute this proof on the {n} training rows only, got "
                f"{X.shape[0]}: the model has one coefficient for each of them."
            )
        system = self._system(self._kernel, X, targets, weight)
        return system.prove(self.dual_coef_, self.alpha_)

    def _scores(self, X) -> np.ndarray:
        """Σ_j k(x, x_j) u_j, in blocks of rows."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        n, size = X.shape[0], max(1, PREDICTION_BLOCK_VALUES // len(self.dual_coef_))
        F = np.empty((n, self.dual_coef_.shape[1]))
        with one_blas_thread():
            for start in range(0, n, size):
                part = slice(start, start + size)
                F[part] = self._kernel(X[part], self.X_fit_) @ self.dual_coef_
        return F

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel)
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _in_twice_the_digits(kernel: Kernel, X, u) -> Enclosed | None:
    """K u with bounds on its errors, where the rows are not too many."""
    n = X.shape[0]
    if n * n > MAX_TWOFOLD_VALUES:
        return None
    return enclosed_sums(KernelPoints(X, kernel), np.arange(n), u, sharp=True)


def _in_many_digits(kernel: Kernel, X, digits: int) -> np.ndarray | None:
    """K in so many digits, where the rows are few."""
    points, every = KernelPoints(X, kernel), np.arange(X.shape[0])
    if not few_enough(points, every, points):
        return None
    return decimal_values(points, every, points, digits)


PARAMETERS_DOC = """
    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the ridge.  0 interpolates; where K is singular the smallest u is taken.
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", "precomputed"} or
        callable, default="rbf"
        "precomputed": X is the n × n Gram matrix, and (m, n) kernel values at prediction.  A
        callable maps two rows to a number, or two matrices to the matrix of values.
    gamma : float, "scale" or "auto", default="scale"
        1/(d · variance of X) for "scale", 1/d for "auto".
    degree, coef0 : of the polynomial kernel (γ x·x′ + coef0)^degree, and of the sigmoid
    alphas : array-like or None, default=None
        Try all of these from one factorisation, and keep the one with the smallest
        leave-one-out squared error (``loo_``); ``alpha`` is then ignored.

    Attributes
    ----------
    dual_coef_ : u, (n, targets)
    X_fit_ : the training points (None for "precomputed")
    certificate_ : NormalEquations, the residual of (K + αI)u = y; where float64 coefficients cannot
        solve it, u are others of the same function, with the residual that would leave as much
    alpha_ : the α used;  loo_ : LeaveOneOut, with ``alphas`` only
"""


class KernelRidge(RegressorMixin, _KernelRidge):
    __doc__ = f"""Kernel ridge regression: f(x) = Σ k(x, xⱼ) uⱼ with (K + αI)u = y.

    Minimises  ½ Σ sᵢ (f(xᵢ) − yᵢ)² + ½ α‖f‖²  over all functions of the kernel's basis, which is
    never formed.  There is no separate bias.
{PARAMETERS_DOC}
    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelRidge
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge(alphas=[1e-6, 1e-3, 1.0], gamma=1.0).fit(x, np.sin(x[:, 0]))
    >>> model.alpha_, model.certificate_.holds(1e-9)
    (1e-06, True)
    """

    _stored = RIDGE | {"_flat": "flag !"}

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to X (n, d), dense or sparse, or an (n, n) Gram matrix, and numbers y (n,) or
        (n, outputs)."""
        with all_or_nothing(self), one_blas_thread():
            X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, **ROW_CHECKS)
            self._flat = y.ndim == 1
            weight = check_sample_weight(X, sample_weight)
            self._solve(X, _values(y), weight)
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """f(x) for every row."""
        F = self._scores(X)
        return F[:, 0] if self._flat else F

    def leave_one_out(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        alphas: ArrayLike | None = None,
    ) -> LeaveOneOut:
        """Errors on every row of the training data when it is left out: in closed form."""
        check_is_fitted(self)
        with one_blas_thread():
            X, targets, weight = self._again(X, y, sample_weight)
            return self._leave_one_out(X, targets, weight, alphas)

    def _again(self, X, y, sample_weight):
        X, y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, reset=False, **ROW_CHECKS
        )
        return X, _values(y), check_sample_weight(X, sample_weight)

    def _verify(self, X, y, sample_weight, groups) -> NormalEquations:
        with one_blas_thread():
            return self._prove(*self._again(X, y, sample_weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _values(y) -> Values:
    return Values(np.asarray(y, dtype=np.float64).reshape(len(y), -1))


class KernelRidgeClassifier(ClassifierMixin, _KernelRidge):
    __doc__ = f"""Kernel ridge regression on 1-of-k targets, −1 and +1 for two classes.

    The same as ``LeastSquaresClassifier(fit_intercept=False)`` in the basis of the kernel.
{PARAMETERS_DOC}    class_weight : dict, "balanced" or None (a parameter)
    classes_ : (k,)

    Examples
    --------
    >>> from maxmargin import KernelRidgeClassifier
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = KernelRidgeClassifier(0.1, kernel="poly", degree=2).fit(X, y)
    >>> print(model.predict(X), model.leave_one_out(X, y).error)
    ['same' 'same' 'other' 'other'] [1.]
    """

    _stored = RIDGE | {"classes_": "labels k !"}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        alphas: ArrayLike | None = None,
        class_weight: dict | str | None = None,
    ):
        super().__init__(
            alpha, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, alphas=alphas
        )
        self.class_weight = class_weight

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to X (n, d), dense or sparse, or an (n, n) Gram matrix, and labels of any kind."""
        with all_or_nothing(self), one_blas_thread():
            X, classes, codes = check_training(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            self.classes_ = classes
            self._solve(X, OneOfK(codes, len(classes)), weight)
        return self

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores aiming at 1 for the class and 0 for the others, (n, k); with two classes (n,),
        aiming at −1 and +1."""
        F = self._scores(X)
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest score."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def leave_one_out(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        alphas: ArrayLike | None = None,
    ) -> LeaveOneOut:
        """Errors on every row of the training data when it is left out: in closed form."""
        check_is_fitted(self)
        with one_blas_thread():
            X, codes, weight = check_known(self, X, y, sample_weight)
            return self._leave_one_out(X, OneOfK(codes, len(self.classes_)), weight, alphas)

    def _recertify(self, X, codes, weight) -> NormalEquations:
        with one_blas_thread():
            return self._prove(X, OneOfK(codes, len(self.classes_)), weight)

    def _in_words(self) -> tuple[str, str]:
        text = (
            f"Ridge regression on the labels as numbers in the space of the {self.kernel} kernel, "
            f"α = {float(self.alpha_):.4g}; a closed form."
        )
        return text, "minimise  ½ Σ ‖tᵢ − f(xᵢ)‖² + ½ α‖f‖²"
