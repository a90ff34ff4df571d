"""LinearSVM: the soft- and hard-margin support vector machine of the lectures, with proof."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...core.problem.problem import Bias
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..device.tensors import as_arrays, as_numpy, is_tensor, labels_of, wants_device
from ..fitting import linear_scores, make_monitor, warn_unless_reached
from ..forgetting.mixin import ForgettingMixin
from ..reduction.votes import votes
from ..sparse_weights import SparseWeights, begin_dense, dense_weights
from ..stored import CALIBRATED, DUAL, LINEAR, SOLVED, STREAMED, SUPPORT
from ..validation import (
    all_or_nothing,
    check_sample_weight,
    check_scale,
    check_training,
    check_weights,
    one_of,
    positive,
)
from . import joint as svm_joint
from . import reduced as svm_reduced
from . import two_class as svm_two
from .form import LinearForm, PenalizedBias
from .words import svm_in_words

MULTICLASS_FORMS: dict[str, LinearForm] = {
    "max": svm_joint,
    "sum": svm_joint,
    "rest": svm_reduced,
    "pairs": svm_reduced,
}


class LinearSVM(
    Calibrated, ForgettingMixin, SparseWeights, Certified, ClassifierMixin, BaseEstimator
):
    """Support vector machine with a free bias, solved exactly, with a certificate.

    Two classes: minimises  ½‖w‖² + C Σ sᵢ ℓ(yᵢ (w·xᵢ + b))  over w and b, with ℓ the hinge
    max(0, 1 − m) or its square.  More classes: ½‖W‖² + C Σ sᵢ ℓ(W xᵢ + b, yᵢ) with one weight
    vector and one bias per class (see ``multiclass``).  Biases are not penalised.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack.  Large C: few violations, narrow margin.  ``inf``: the hard margin,
        which raises ``NotSeparableError`` with a proof when no separator exists.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    multiclass : {"max", "sum", "rest", "pairs"}, default="max"
        What a row of class y pays when there are more than two classes.  ``"max"``: the
        largest of max(0, 1 − s_y + s_c) over the wrong classes c (Crammer and Singer).
        ``"sum"``: their sum (Weston and Watkins).  ``"rest"``: one two-class machine for every
        class against all others.  ``"pairs"``: one for every pair, and the most duels won.
        With two classes all four are the same machine.
    tol : float, default=1e-6
        Relative duality gap at which the fit counts as solved: the objective is then
        proved to be within ``tol`` times itself of the optimum.
    max_iter : int, default=10000
        Most iterations (Newton steps, or passes over the data).
    max_seconds : float, default=inf
        Most seconds; the best model so far is kept, with its gap and a warning.
    fit_intercept : bool, default=True
    penalize_bias : bool, default=False
        Add ½b² to the objective, as LIBLINEAR does.  For comparison only.
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of each class.
    solver : {"auto", "tiny", "newton", "descent", "interior"}, default="auto"
        What was chosen and why is told in ``solver_`` and ``solver_reason_``.  The "max" and
        "sum" rules know "newton" and "descent".
    warm_start : bool, default=False
        Start from the present solution.
    random_state : int or None
        Order of visits in ``descent`` and choice of rows in ``newton``.  The optimum does
        not depend on it.
    device : str, torch.device or None, default=None
        Where to compute: "cuda", "cpu".  Tensors are fitted where they are; NumPy arrays go to the
        device named, and results come back as arrays.  Needs ``maxmargin[gpu]``.
    probability : bool, default=False
        Calibrate at the end of ``fit``: ``predict_proba``, ``predict_proba_interval`` and
        ``predict_set`` then exist.  Costs a small part of a fit.
    verbose : int, default=0
        1 prints progress a few times a second, 2 every iteration.

    Attributes
    ----------
    coef_, intercept_ : w as (1, d) and b as (1,), in float64 whatever the data; (k, d) and
        (k,) for k classes, one row per pair for ``"pairs"``; tensors where X was one
    certificate_ : Certificate
        Primal, dual, gap and KKT residuals, recomputed from the data in float64.
    alpha_ : (n,) multiplier of every training point; with k classes (n, k): how much each
        point blames each wrong class (``"rest"``, ``"pairs"``: one column per machine); not kept
        with k classes on a device
    support_, dual_coef_ : indices of points with a positive multiplier, and their signed
        multipliers: ``coef_ == dual_coef_ @ X[support_]``
    support_kind_ : for each of them "margin", "inside" or "misclassified"
    slack_ : (n,) ξᵢ = max(0, 1 − yᵢ(w·xᵢ + b)); with several slacks per point, their sum
    margin_ : γ = 1/‖w‖; for k classes 1/(√2 ‖W‖), the smallest of all
        (w_y − w_c)·x/√(2Σ‖w‖²) when there is no slack
    history_ : list of steps with seconds, primal, dual
    n_iter_, solver_, solver_reason_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM
    >>> X = np.array([[0., 0.], [1., 1.], [3., 3.], [4., 4.]])
    >>> svm = LinearSVM(C=np.inf).fit(X, ["low", "low", "high", "high"])
    >>> print(svm.predict([[0., 1.], [5., 3.]]), f"{svm.margin_:.3f}")
    ['low' 'high'] 1.414
    >>> svm.certificate_.holds(1e-9)
    True
    """

    _stored = LINEAR | DUAL | STREAMED | SUPPORT | SOLVED | CALIBRATED

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        multiclass: str = "max",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float = np.inf,
        fit_intercept: bool = True,
        penalize_bias: bool = False,
        class_weight: dict | str | None = None,
        solver: str = "auto",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        device: Any = None,
        probability: bool = False,
        verbose: int = 0,
    ):
        self.C = C
        self.loss = loss
        self.multiclass = multiclass
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.penalize_bias = penalize_bias
        self.class_weight = class_weight
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.probability = probability
        self.verbose = verbose

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), dense or sparse, or a tensor, and labels y of any kind."""
        begin_dense(self)
        if wants_device(self, X):
            from ..device.svm import fit

            return fit(self, X, y, sample_weight)
        with all_or_nothing(self):
            X, classes, codes = check_training(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, self.class_weight)
            self._fit_checked(X, classes, codes, weight)
            self._calibrate(X, codes, weight, check_sample_weight(X, sample_weight))
        return self

    def _fit_checked(self, X, classes, codes, weight, memory=None):
        """Fit to data that are validated, with class weights already in ``weight``."""
        with all_or_nothing(self):
            monitor = make_monitor(self)
            if memory is not None and len(classes) == 2 and not self._bias_column:
                monitor.path = memory.margins
            if np.isinf(positive("C", self.C, infinite=True)):
                check_scale(X)
            one_of("multiclass", self.multiclass, MULTICLASS_FORMS)
            self.classes_, self._codes = classes, codes
            ending = self._form().fit(self, X, codes, weight, monitor)
        warn_unless_reached(self, ending, self.certificate_)
        return self

    def _form(self) -> LinearForm:
        """How the problem is posed: two classes, k at once, or two at a time."""
        form = svm_two if len(self.classes_) == 2 else MULTICLASS_FORMS[self.multiclass]
        return PenalizedBias(form) if self._bias_column else form

    def _bias(self) -> Bias:
        return Bias.FREE if self.fit_intercept and not self.penalize_bias else Bias.NONE

    @property
    def _bias_column(self) -> bool:
        """Whether the bias is the weight of a column of ones."""
        return bool(self.fit_intercept and self.penalize_bias)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Signed multipliers of the support vectors: ``coef_ == dual_coef_ @ X[support_]``."""
        check_is_fitted(self)
        if not hasattr(self, "alpha_"):
            raise AttributeError(
                "dual_coef_ needs the multiplier of every row, and a LinearSVM that was fitted to "
                "a stream, on a cluster or, with more than two classes, on a device does not keep "
                "them. Fit the rows in memory."
            )
        return self._form().dual_coef(as_arrays(self))

    def _recertify(self, X, codes, weight):
        return self._form().recertify(as_arrays(self), X, codes, weight)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """w·x + b for every row: positive on the side of ``classes_[1]``.

        With k classes (n, k): the score of every class; for ``multiclass="pairs"`` the number
        of duels it wins, ties broken by how clearly.
        """
        f = self._raw_scores(X)
        duels = f.ndim == 2 and self.multiclass == "pairs"
        return votes(f, len(self.classes_)) if duels else f

    def _raw_scores(self, X) -> np.ndarray:
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The label of the side on which each row lies, or of the class with the best score."""
        f: Any = self.decision_function(X)
        if is_tensor(f):
            return labels_of(self.classes_, f)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def signed_distance(self, X: MatrixLike) -> Any:
        """γ = (w·x + b)/‖w‖: the distance of each row to the hyperplane, with its side's sign.

        With k classes (n, k): the smallest distance, with its sign, to the hyperplanes where
        the class and another score the same.  It is positive for the class predicted, and
        there it is the distance to the boundary of its region.
        """
        f: Any = self.decision_function(X)
        coef = dense_weights(as_numpy(self.coef_))
        if f.ndim == 1:
            norm = float(np.linalg.norm(coef))
            return f / norm if norm > 0 else f
        if self.multiclass == "pairs":
            raise ValueError(
                "signed_distance needs one weight vector per class, but multiclass='pairs' has "
                "one per pair. Use decision_function, or multiclass='max', 'sum' or 'rest'."
            )
        if is_tensor(f):
            from ..device.predict import distances

            return distances(f, coef)
        return _distances(f, coef)

    def _in_words(self) -> tuple[str, str]:
        return svm_in_words(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _distances(f: np.ndarray, W: np.ndarray) -> np.ndarray:
    """min over c′ ≠ c of (f_c − f_c′)/‖W_c − W_c′‖."""
    out = np.empty_like(f)
    for c in range(len(W)):
        others = np.arange(len(W)) != c
        norms = np.linalg.norm(W[c] - W[others], axis=1)
        norms[norms == 0.0] = 1.0
        out[:, c] = ((f[:, [c]] - f[:, others]) / norms).min(axis=1)
    return out
