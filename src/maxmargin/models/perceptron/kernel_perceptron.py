"""KernelPerceptron: the dual form of the perceptron, with any kernel in place of x·x′."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...core.certify.mistakes import PerceptronCertificate
from ...core.kernels.kernel_rows import KernelRows
from ...core.kernels.kernels import check_precomputed, kernel_for
from ...core.solve.perceptron.kernel_perceptron import KernelLearner, tally
from ...core.solve.perceptron.passes import Halt, run_passes
from ...core.solve.perceptron.updates import Rule
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..stored import CALIBRATED, PASSES, SEEN
from ..validation import (
    all_or_nothing,
    check_class_weight,
    check_rows,
    check_training,
    positive,
)
from .inputs import check_plan
from .perceptron import farewell

# Share of the cache's size that a block of kernel values may take when predicting; the
# kernel functions themselves need a few more of the same size while they work.
CACHE_BLOCK_SHARE = 0.1


class KernelPerceptron(Calibrated, Certified, ClassifierMixin, BaseEstimator):
    """The perceptron in its dual form: f(x) = Σ αᵢ yᵢ (k(xᵢ, x) + 1), w is never formed.

    With the linear kernel it makes the same updates in the same order as ``Perceptron``.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", "precomputed"} or
        callable, default="rbf"
        "precomputed": X is the n × n Gram matrix, and (m, n) kernel values at prediction.  A
        callable maps two rows to a number, or two matrices to the matrix of values.
    gamma : float, "scale" or "auto", default="scale"
        1/(d · variance of X) for "scale", 1/d for "auto".
    degree, coef0 : of the polynomial kernel (γ x·x′ + coef0)^degree, and of the sigmoid
    cache_megabytes : float, default=64
        Most memory for Gram rows; nothing else of size n² is ever held.
    order, learning_rate, margin, average, fit_intercept, max_passes, tol, pocket,
    class_weight, probability, random_state : as for ``Perceptron``

    Attributes
    ----------
    alpha_ : update counts, (n,) for two classes, (n, k) otherwise
    support_, dual_coef_ : points with an update, and their coefficients, (1, s) or (k, s)
    support_vectors_ : their rows (not for "precomputed")
    intercept_, updates_, updated_ (the points updated, in order), certificate_, history_,
    n_iter_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from maxmargin import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = KernelPerceptron(gamma=1.0).fit(X, y)
    >>> print(model.predict(X), model.certificate_.wrong)
    ['same' 'same' 'other' 'other'] 0
    """

    _stored = (
        {
            "classes_": "labels k !",
            "_kernel": "Kernel !",
            "dual_coef_": "float m s !",
            "intercept_": "float m !",
            "support_vectors_": "rows s d",
            "updated_": "int u",
        }
        | SEEN
        | PASSES
        | CALIBRATED
        | {"support_": "int s !"}
    )

    def __init__(
        self,
        kernel: str | Callable = "rbf",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        cache_megabytes: float = 64.0,
        order: str = "shuffle",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        max_passes: int = 1000,
        tol: float | None = None,
        pocket: bool = False,
        class_weight: dict | str | None = None,
        probability: bool = False,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_megabytes = cache_megabytes
        self.order = order
        self.learning_rate = learning_rate
        self.margin = margin
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_passes = max_passes
        self.tol = tol
        self.pocket = pocket
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Train on X (n, d), dense or sparse, or on an (n, n) Gram matrix."""
        with all_or_nothing(self):
            plan = check_plan(self)
            megabytes = positive("cache_megabytes", self.cache_megabytes)
            X, classes, codes = check_training(self, X, y)
            kernel = kernel_for(X, self.kernel, self.gamma, self.degree, self.coef0)
            if kernel.precomputed:
                check_precomputed(X)
            height = 1 if len(classes) == 2 else len(classes)
            gram = KernelRows(X, kernel, megabytes)
            learner = KernelLearner(gram, codes, self._rule(classes, codes), height)
        run = run_passes(learner, plan, len(codes), check_random_state(self.random_state))
        if run.pocket is not None:
            learner.alpha = run.pocket
        self.classes_, self._kernel = classes, kernel
        self._keep(learner, X)
        self._account(learner, run, X)
        self._calibrate(X, codes, None)
        return self

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _rule(self, classes, codes) -> Rule:
        scale = np.ones(len(classes))
        if self.class_weight is not None:
            scale = check_class_weight(self.class_weight, classes, classes[codes])
        return Rule(self.learning_rate * scale, float(self.margin), float(self.fit_intercept))

    def _keep(self, learner: KernelLearner, X) -> None:
        coefficients = learner.coefficients(self.average)
        self.alpha_ = learner.alpha[:, 0] if len(self.classes_) == 2 else learner.alpha
        self.support_ = np.flatnonzero(learner.alpha.any(axis=1))
        self.dual_coef_ = np.ascontiguousarray(coefficients[self.support_].T)
        self.intercept_ = coefficients.sum(axis=0) * float(self.fit_intercept)
        self.__dict__.pop("support_vectors_", None)
        if not self._precomputed:
            self.support_vectors_ = X[self.support_]

    def _account(self, learner: KernelLearner, run, X) -> None:
        """Errors on the training points, recomputed from the coefficients kept."""
        wrong, violating, loss = tally(self._scores(X), learner.codes, learner.rule.margin)
        self.updated_ = np.array(learner.updated, dtype=np.int64)
        self.updates_ = len(self.updated_)
        self.history_, self.n_iter_ = run.history, len(run.history)
        self.certificate_ = PerceptronCertificate(
            len(learner.codes), wrong, violating, loss, self.updates_, len(run.history),
            run.halt.value, classes=len(self.classes_), can_explain=False,
        )  # fmt: skip
        if run.halt in (Halt.PASSES, Halt.INTERRUPTED):
            warnings.warn(farewell(self, ()), ConvergenceWarning, stacklevel=3)

    def _scores(self, X) -> np.ndarray:
        """Kernel values with the support, in blocks much smaller than the cache."""
        n, s = X.shape[0], max(1, len(self.support_))
        block = max(1, int(CACHE_BLOCK_SHARE * self.cache_megabytes * 1e6 / (8 * s)))
        F = np.empty((n, len(self.intercept_)))
        for start in range(0, n, block):
            part = X[start : start + block]
            if self._precomputed:
                K = part[:, self.support_]
                K = K.toarray() if sparse.issparse(K) else K
            else:
                K = self._kernel(part, self.support_vectors_)
            F[start : start + block] = K @ self.dual_coef_.T + self.intercept_
        return F

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """f(x): (n,) for two classes, positive for ``classes_[1]``; otherwise (n, k)."""
        check_is_fitted(self)
        F = self._scores(check_rows(self, X, reset=False))
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest score, the smaller label on a tie."""
        F = self.decision_function(X)
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    def _in_words(self) -> tuple[str, str]:
        text = f"A perceptron in the space of the {self.kernel} kernel. It minimises no objective."
        if len(self.classes_) == 2:
            return text, "yᵢ f(xᵢ) ≤ 0   ⟹   f ← f + η yᵢ k(xᵢ, ·)"
        return text, "f_c(xᵢ) ≥ f_y(xᵢ)   ⟹   f_y ← f_y + η k(xᵢ, ·),   f_c ← f_c − η k(xᵢ, ·)"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel)
        tags.input_tags.pairwise = self._precomputed
        return tags
