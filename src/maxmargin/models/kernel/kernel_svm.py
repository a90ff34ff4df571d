"""KernelSVM: the support vector machine with a kernel in place of x·z, with proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...core.kernels.gram_checks import check_gram, check_kernel, check_values
from ...core.kernels.kernel_block import KernelPoints
from ...core.kernels.kernels import Kernel, check_square, kernel_for
from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..fitting import frozen, make_monitor, warn_unless_reached
from ..forgetting.mixin import ForgettingMixin
from ..reduction.votes import votes
from ..stored import CALIBRATED, DUAL, LANDMARKS, SEEN, SOLVED, SUPPORT
from ..svm.form import ModelForm
from ..svm.words import svm_in_words
from ..validation import (
    all_or_nothing,
    check_rows,
    check_sample_weight,
    check_training,
    check_weights,
    count,
    one_of,
    positive,
)
from . import joint as kernel_joint
from . import nystroem as kernel_rank
from . import reduced as kernel_reduced
from . import two_class as kernel_two
from .expansion import Expansion
from .objects import ObjectKernel, are_objects, as_objects, check_objects

MULTICLASS_FORMS: dict[str, ModelForm] = {
    "pairs": kernel_reduced,
    "rest": kernel_reduced,
    "max": kernel_joint,
    "sum": kernel_joint,
}
SVM_KERNELS = ["linear", "poly", "rbf", "laplacian", "cosine", "precomputed"]


class KernelSVM(Calibrated, ForgettingMixin, Certified, ClassifierMixin, BaseEstimator):
    """Support vector machine with a kernel and a free bias, solved exactly, with a certificate.

    Two classes: minimises  ½‖w‖² + C Σ sᵢ max(0, 1 − yᵢ (w·φ(xᵢ) + b))  over w and b, where
    φ(x)·φ(z) = k(x, z) and w = Σ αᵢ yᵢ φ(xᵢ) is never formed.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack.  ``inf``: the hard margin, which raises ``NotSeparableError`` with a
        proof when the kernel has no separator.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"} or callable
        rbf exp(−γ‖x − z‖²), poly (γ x·z + coef0)^degree.  "precomputed": X is the (n, n) Gram
        matrix, and (m, n) kernel values at prediction.  A callable maps two rows to a number,
        or an (m, d) and an (n, d) matrix to an (m, n) one; X may then be a list of objects.
    gamma : "scale", "auto" or float, default="scale"
        1/(d · variance of X) for "scale", 1/d for "auto".
    degree, coef0 : of the polynomial kernel
    multiclass : {"pairs", "rest", "max", "sum"}, default="pairs"
        With more than two classes: a machine for every pair, and the most duels won; one for
        every class against the rest; or all classes at once with the largest ("max") or the
        sum ("sum") of a row's slacks, for up to 5,000 rows.
    rank : int or None, default=None
        ``r``: replace the kernel by its Nyström approximation from r rows drawn by lot.  For
        large data; the certificate then proves the approximated problem and says so.
    tol : float, default=1e-3
        Relative duality gap at which the fit counts as solved: the objective is then proved to
        be within ``tol`` times itself of the optimum.  Up to some hundred rows are always
        solved to about 1e-9.
    cache_mb : float, default=200
        Most memory, in megabytes, for rows of the kernel matrix; nothing else is of size n².
    max_iter : int, default=100000
        Most blocks of rows (Newton steps or passes where linear solvers do the work).
    max_seconds : float, default=inf
        Most seconds; the best model so far is kept, with its gap and a warning.
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of each class.
    warm_start : bool, default=False
        Start from the present multipliers, if there is one for every row.
    random_state : int or None
        First block of rows, and landmarks of ``rank``.  The exact optimum does not depend on it.
    probability : bool, default=False
        Calibrate at the end of ``fit``: ``predict_proba``, ``predict_proba_interval`` and
        ``predict_set`` then exist.  Costs a small part of a fit; with ``rank``, or
        "max" and "sum" of more than two classes, four.
    verbose : int, default=0
        1 prints progress a few times a second, 2 every block.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap and KKT residuals, recomputed from kernel values in float64.
    alpha_ : (n,) multiplier of every training point; (n, machines) or (n, k) for k classes
    support_, support_vectors_, dual_coef_ : the points with a positive multiplier, their rows
        (not for "precomputed") and signed multipliers:
        ``decision_function(x) == dual_coef_ @ k(support_vectors_, x) + intercept_``
        (with ``rank``, k is the approximated kernel).  Where rows are so large that float64
        multipliers do not say the function, any row has a coefficient that is none.
    support_kind_ : for each of them "margin", "inside" or "misclassified"
    slack_ : (n,) ξᵢ; with several slacks per point, their sum
    margin_ : 1/‖w‖ in the space of the kernel; for k classes as in ``LinearSVM``
    gamma_ : γ as a number
    rank_, trace_error_ : with ``rank``, the features used and the share of the kernel left out
    history_ : list of steps with seconds, primal, dual
    intercept_, n_iter_, solver_, solver_reason_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from maxmargin import KernelSVM
    >>> X, y = make_circles(100, factor=0.4, noise=0.05, random_state=0)
    >>> svm = KernelSVM(C=float("inf"), kernel="poly", degree=2).fit(X, y)
    >>> print(svm.score(X, y), len(svm.support_), svm.certificate_.holds(1e-6))
    1.0 4 True
    """

    _stored = (
        {
            "classes_": "labels k !",
            "_expansion": "Expansion !",
            "intercept_": "float m !",
            "gamma_": "number",
            "support_vectors_": "rows s d",
        }
        | SEEN
        | DUAL
        | SUPPORT
        | SOLVED
        | {"support_": "int s !"}
        | LANDMARKS
        | CALIBRATED
    )

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        multiclass: str = "pairs",
        rank: int | None = None,
        tol: float = 1e-3,
        cache_mb: float = 200.0,
        max_iter: int = 100_000,
        max_seconds: float = np.inf,
        class_weight: dict | str | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        probability: bool = False,
        verbose: int = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.rank = rank
        self.tol = tol
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.probability = probability
        self.verbose = verbose

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to training points X (n, d), dense or sparse, or to an (n, n) Gram matrix."""
        with all_or_nothing(self), one_blas_thread():
            monitor = make_monitor(self)
            positive("C", self.C, infinite=True)
            positive("cache_mb", self.cache_mb)
            one_of("multiclass", self.multiclass, MULTICLASS_FORMS)
            if self.rank is not None:
                count("rank", self.rank)
            whole_numbers = np.dtype(getattr(X, "dtype", float)).kind in "iub"
            check = check_objects if are_objects(self.kernel, X) else check_training
            X, classes, codes = check(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            points = self._points(X, sample_weight, whole_numbers)
            self.classes_, self._codes = classes, codes
            ending = self._form().fit(self, points, codes, weight, monitor)
            self._keep_expansion(points)
            self._calibrate(X, codes, weight, check_sample_weight(X, sample_weight))
        warn_unless_reached(self, ending, self.certificate_)
        return self

    def _points(self, X, sample_weight, whole_numbers: bool) -> KernelPoints:
        """The training points under a kernel that has been checked."""
        if not callable(self.kernel):
            one_of("kernel", self.kernel, SVM_KERNELS)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        asked = self.kernel
        if X.dtype == object and callable(asked):
            asked = ObjectKernel(asked)
        kernel: Kernel = kernel_for(X, asked, self.gamma, self.degree, self.coef0, sample_weight)
        if kernel.precomputed:
            X = check_gram(X, whole_numbers)
        points = KernelPoints(X, kernel)
        if callable(kernel.name):
            check_kernel(points)
        check_values(points)
        self.gamma_ = kernel.gamma
        return points

    def _form(self) -> ModelForm:
        """How the problem is posed: approximated, two classes, k at once, or two at a time."""
        if self.rank is not None:
            return kernel_rank
        return kernel_two if len(self.classes_) == 2 else MULTICLASS_FORMS[self.multiclass]

    def _keep_expansion(self, points: KernelPoints) -> None:
        """What prediction needs of the training points; of landmarks, the form has kept it."""
        self.__dict__.pop("support_vectors_", None)
        if not points.kernel.precomputed:
            self.support_vectors_ = points.X[self.support_]
        given = self.__dict__.pop("_coefficients", None)
        if self.rank is None:
            own = self._form().dual_coef(self).T if given is None else given[self.support_]
            self._expansion = Expansion.of(points, self.support_, own)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, one row per machine or class: their signed
        multipliers, or others of the same function where float64 multipliers do not say it."""
        check_is_fitted(self)
        if self.rank is None:
            return frozen(self._expansion.coefficients.T.copy())
        return frozen(self._form().dual_coef(self))

    def _recertify(self, X, codes, weight):
        if self._expansion.points.kernel.precomputed:
            check_square(X)
        return self._form().recertify(self, X, codes, weight)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """w·φ(x) + b for every row: positive on the side of ``classes_[1]``.

        With k classes (n, k): the score of every class; for ``multiclass="pairs"`` the number
        of duels it wins, ties broken by how clearly.
        """
        F = self._raw_scores(X)
        if len(self.classes_) == 2:
            return F[:, 0]
        return votes(F, len(self.classes_)) if self.multiclass == "pairs" else F

    def _raw_scores(self, X) -> np.ndarray:
        check_is_fitted(self)
        of_objects = isinstance(self._expansion.points.kernel.name, ObjectKernel)
        X = as_objects(X) if of_objects else check_rows(self, X, reset=False)
        return self._expansion.scores(self._expansion.prepare(X)) + self.intercept_

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The label of the side on which each row lies, or of the class with the best score."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def _in_words(self) -> tuple[str, str]:
        gamma = getattr(self, "gamma_", None)
        kernel = str(self.kernel) + (f", γ = {gamma:.4g}" if isinstance(gamma, float) else "")
        text, formula = svm_in_words(self)
        space = "x stands for φ(x), φ(x)·φ(z) = k(x, z)."
        return f"{text} It works in the space of the {kernel} kernel: {space}", formula

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel)
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
