"""FisherDiscriminant: class means against the spread within the classes."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ...core.certify.fisher import FisherCriterion
from ...core.rows.design import Design
from ...core.solve.closed_form.discriminant import Directions, directions, recertify
from ...core.solve.closed_form.within import Spread, spread_within
from ...core.solve.precise.fisher import (
    FisherData,
    precise_criterion,
    precise_directions,
    precise_weights,
)
from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..device.tensors import is_tensor, labels_of, log_probabilities, wants_device
from ..fitting import linear_scores
from ..forgetting.mixin import ForgettingMixin
from ..stored import CALIBRATED, LINEAR
from ..validation import (
    all_or_nothing,
    check_rows,
    check_sample_weight,
    check_training,
    check_weights,
    count,
    one_of,
)


def _unit(spread: Spread, X, weight, codes, means) -> float:
    """The power of two by which the data should be multiplied, mostly one."""
    design = spread.design
    if design is None or design.scale is not None:
        design = Design(X, weight, codes=codes, groups=len(means), centres=means)
    return design.unit()


def in_units(told: dict[str, Any], unit: float) -> dict[str, Any]:
    """What was found of data times ``unit``, in the units of the data."""
    if unit == 1.0:
        return told
    scaled = {name: told[name] * unit for name in ("coef_", "scalings_")}
    moved = {name: told[name] / unit for name in ("means_", "xbar_")}
    return told | scaled | moved


NO_SPREAD = (
    "FisherDiscriminant found no spread within the classes: every point equals the mean of its "
    "class. Use covariance='none', or more examples of each class."
)


class FisherDiscriminant(
    Calibrated,
    ForgettingMixin,
    Certified,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Fisher's linear discriminant for two and k classes: directions, and a classifier on them.

    The directions maximise  J(w) = wᵀ S_b w / wᵀ Σ w, the spread of the class means for the
    spread within the classes; ``transform`` projects on them.  ``predict`` takes the class of the
    nearest mean in the metric Σ⁻¹, moved by the priors: for normal classes of equal covariance
    that is Bayes' rule.

    Parameters
    ----------
    covariance : {"within", "none"}, default="within"
        "within": Σ is the pooled covariance of the classes (divided by n, as scikit-learn's
        ``LinearDiscriminantAnalysis(solver="lsqr")`` does).  "none": means only, the line between
        the means is the direction; Σ is the mean variance times the identity.
    shrinkage : None, float in [0, 1] or "auto", default=None
        Mixes Σ with its mean variance times the identity; "auto" by Ledoit and Wolf, class by
        class.  Needed where there are fewer rows than columns; without it directions in
        which the classes have no spread at all are left out.
    threshold : {"priors", "midpoint"}, default="priors"
        "midpoint" puts boundaries half way between the means, whatever the classes' sizes.
    priors : array-like of k shares or None
        Default: the shares of the classes in y.
    n_components : int or None
        Directions of ``transform``, at most k − 1, which is the default.
    device : str, torch.device or None, default=None
        Where to compute; tensors are fitted where they are.  Needs ``maxmargin[gpu]``.
    probability : bool, default=False
        Calibrate probabilities on rows left out, in place of those of normal classes;
        ``predict_proba_interval`` and ``predict_set`` then exist.

    Attributes
    ----------
    coef_, intercept_ : scores w·x + b, (k, d) and (k,); with two classes (1, d) and (1,)
    scalings_ : (d, components), the directions, with scalingsᵀ Σ scalings = 1
    criterion_ : J of each;  explained_variance_ratio_ : their shares of the sum over all
    means_ : (k, d);  xbar_ : their mean;  priors_ : (k,)
    certificate_ : FisherCriterion
        J recomputed from the projected data, and the bound no direction exceeds.
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import FisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FisherDiscriminant().fit(X, y)
    >>> model.transform(X).shape, model.criterion_.round(3)
    ((150, 2), array([32.192,  0.285]))
    >>> model.certificate_.holds(1e-9)
    True
    """

    _log_odds = True  # probabilities are a function of the scores alone: sigmoid, softmax
    _stored = (
        LINEAR
        | CALIBRATED
        | {
            "scalings_": "float d c !",
            "criterion_": "float c",
            "explained_variance_ratio_": "float c",
            "means_": "float k d",
            "xbar_": "float d !",
            "priors_": "float k !",
            "certificate_": "FisherCriterion",
        }
    )

    def __init__(
        self,
        *,
        covariance: str = "within",
        shrinkage: float | str | None = None,
        threshold: str = "priors",
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        device: Any = None,
        probability: bool = False,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.threshold = threshold
        self.priors = priors
        self.n_components = n_components
        self.device = device
        self.probability = probability

    # What a fit tells.
    priors_: np.ndarray
    means_: np.ndarray
    xbar_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    scalings_: np.ndarray
    criterion_: np.ndarray
    explained_variance_ratio_: np.ndarray

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), dense or sparse, or a tensor, and labels y of any kind."""
        if wants_device(self, X):
            from ..device.fisher import fit

            return fit(self, X, y, sample_weight)
        with all_or_nothing(self), one_blas_thread():
            one_of("covariance", self.covariance, ["within", "none"])
            one_of("threshold", self.threshold, ["priors", "midpoint"])
            X, classes, codes = check_training(self, X, y)
            weight = check_weights(self, X, codes, classes, sample_weight, None)
            self.classes_ = classes
            self.priors_ = self._check_priors(codes, weight)
            most = self._check_components(X)
            self._check_shrinkage(sample_weight)
            found, means, unit = self._solve(X, codes, weight, most)
            if unit != 1.0:  # the squares of these data are no numbers: another unit, exactly
                found, means, _ = self._solve(unit * X, codes, weight, most)
            assert found is not None  # in that unit they are
            self.__dict__.update(in_units(self._told(found, means, self.priors_), unit))
            self._calibrate(X, codes, weight, check_sample_weight(X, sample_weight))
        return self

    def _solve(self, X, codes, weight, most: int) -> tuple[Directions | None, np.ndarray, float]:
        """Directions, class means, and the power of two by which the data should be multiplied."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread, means = self._spread(X, codes, weight)
            unit = _unit(spread, X, weight, codes, means)
            if unit != 1.0:
                return None, means, unit
            if spread.design is not None and len(spread.design.still()) == X.shape[1]:
                raise ValueError(NO_SPREAD)  # what there seems to be is rounding of the means
            H = spread.about_mean(means, self.priors_)
            found = directions(spread, H, self.priors_, most)
            return precise_directions(self._asked(X, codes, weight), most, found), means, 1.0

    def _asked(self, X, codes, weight) -> FisherData:
        by_mass = self.priors is None
        return FisherData(X, codes, weight, self.priors_, by_mass, self.covariance, self.shrinkage)

    def _spread(self, X, codes, weight) -> tuple[Spread, np.ndarray]:
        return spread_within(X, codes, weight, self.priors_, self.covariance, self.shrinkage)

    def _told(self, found: Directions, means, share) -> dict[str, Any]:
        """Scores of the classes: x·Y_c − ½ m_c·Y_c + log π_c, about the mean of the means; and
        what else a fit tells."""
        if found.certificate.rank == 0:
            raise ValueError(NO_SPREAD)
        Y, xbar = found.Y, share @ means
        H = (means - xbar).T
        b = -0.5 * np.einsum("ij,ij->j", H, Y) - xbar @ Y
        if self.threshold == "priors":
            b = b + np.log(share)
        W = Y.T
        if len(share) == 2:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        total = float(np.einsum("ij,ij,j->", H, Y, share))
        return {
            "priors_": share, "means_": means, "xbar_": xbar,
            "coef_": np.ascontiguousarray(W), "intercept_": b,
            "scalings_": found.V, "criterion_": found.J,
            "explained_variance_ratio_": found.J / total if total > 0 else found.J,
            "certificate_": found.certificate,
        }  # fmt: skip

    # --- what was asked -----------------------------------------------------------------

    def _check_priors(self, codes, weight) -> np.ndarray:
        k = len(self.classes_)
        if self.priors is None:
            mass = np.bincount(codes, weight, k)
            return mass / mass.sum()
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (k,) or not (priors > 0).all() or abs(priors.sum() - 1) > 1e-8:
            raise ValueError(
                f"priors must be {k} positive numbers that add up to 1, one for each of "
                f"{self.classes_.tolist()}, got priors={self.priors!r}."
            )
        return priors / priors.sum()

    def _check_components(self, X) -> int:
        limit = min(len(self.classes_) - 1, X.shape[1])
        if self.n_components is None:
            return limit
        if count("n_components", self.n_components) > limit:
            raise ValueError(
                f"n_components must be at most {limit}, the smaller of the number of features "
                f"({X.shape[1]}) and of classes less one ({len(self.classes_) - 1}), got "
                f"n_components={self.n_components}."
            )
        return int(self.n_components)

    def _check_shrinkage(self, sample_weight) -> None:
        given = self.shrinkage
        if given is None:
            return
        if isinstance(given, str):
            one_of("shrinkage", given, ["auto"])
            if sample_weight is not None:
                raise ValueError(
                    "shrinkage='auto' is defined for examples of equal weight, got sample_weight. "
                    "Give shrinkage a number between 0 and 1."
                )
        elif not isinstance(given, Real) or isinstance(given, bool) or not 0 <= float(given) <= 1:
            raise ValueError(
                "shrinkage must be None, 'auto' or a number between 0 and 1, got "
                f"shrinkage={given!r}."
            )

    # --- what it can do -------------------------------------------------------------------

    def _recertify(self, X, codes, weight) -> FisherCriterion:
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread, means = self._spread(X, codes, weight)
            unit = _unit(spread, X, weight, codes, means)
            if unit != 1.0:
                spread, means = self._spread(unit * X, codes, weight)
            H = spread.about_mean(means, self.priors_)
            V = self.scalings_ / unit
            proof = recertify(spread, H, self.priors_, V)
            asked = self._asked(unit * X, codes, weight)
            proof = precise_criterion(asked, V, proof)
            return self._with_scores(proof, spread, means, unit, asked)

    def _with_scores(
        self, proof, spread: Spread, means, unit: float, asked: FisherData | None = None
    ) -> FisherCriterion:
        """The proof counts what predictions depend on, too: Σw = m_c − m for the scores' weights,
        their biases, and the centre of the projections, each relative to what it is made of."""
        W, b, share = self.coef_.T / unit, self.intercept_, self.priors_
        H = spread.about_mean(means, share)
        xbar = means[0] + share @ (means - means[0])
        about = np.log(share) if self.threshold == "priors" else np.zeros(len(share))
        Y, log_odds = W, about
        if len(share) == 2:
            H, log_odds = H[:, 1:] - H[:, :1], about[1:] - about[:1]
        left, size = spread.scale[:, None] * (H - spread.apply(Y)), spread.scale[:, None] * H
        if proof.rank < proof.size:  # means differ outside the range too, where nothing is asked
            left, size = Y * left, Y * size
            left, size = np.abs(left.sum(axis=0)), np.abs(size.sum(axis=0))
        else:
            left, size = np.linalg.norm(left, axis=0), np.linalg.norm(size, axis=0)
        # Half way between the means, or at −½ m_c·Y_c, moved by the priors.
        middle = 0.5 * (means[0] + means[1]) if len(share) == 2 else xbar
        wanted = log_odds - middle @ Y
        if len(share) > 2:
            wanted = wanted - 0.5 * np.einsum("ij,ij->j", H, Y)
        scale = 1.0 + np.abs(middle) @ np.abs(Y) + np.abs(np.einsum("ij,ij->j", H, Y))
        reach = np.abs(xbar) + np.abs(means - xbar).max(axis=0)
        moved = np.abs(self.xbar_ * unit - xbar) / np.where(reach > 0, reach, 1.0)
        left = left / np.where(size > 0, size, 1.0)
        left = left if asked is None else precise_weights(asked, Y, left)
        lefts = left, np.abs(b - wanted) / scale, moved
        worst = float(np.concatenate([[proof.relative_residual], *lefts]).max())  # NaN stays NaN
        return replace(proof, relative_residual=worst)

    @property
    def _n_features_out(self) -> int:
        return self.scalings_.shape[1]

    def transform(self, X: MatrixLike) -> Any:
        """Project on the directions: (n, components), centred at the mean of the means."""
        check_is_fitted(self)
        if is_tensor(X):
            from ..device.fisher import transform

            return transform(self, X)
        X = check_rows(self, X, reset=False)
        return np.asarray(X @ self.scalings_) - self.xbar_ @ self.scalings_

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """The logarithm of each class's share at x, (n, k), up to a constant per row; with two
        classes (n,), the log-odds of ``classes_[1]``."""
        return linear_scores(self, X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The most probable class."""
        f = self.decision_function(X)
        if is_tensor(f):
            return labels_of(self.classes_, f)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Probabilities of the classes, calibrated or, without ``probability``, as they are if
        each class is normal with covariance Σ."""
        if hasattr(self, "calibration_"):
            return super().predict_proba(X)
        f = self.decision_function(X)
        if is_tensor(f):
            return log_probabilities(f).exp()
        return np.column_stack([expit(-f), expit(f)]) if f.ndim == 1 else softmax(f, axis=1)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Logarithms of ``predict_proba``, without underflow."""
        if hasattr(self, "calibration_"):
            return super().predict_log_proba(X)
        f = self.decision_function(X)
        if is_tensor(f):
            return log_probabilities(f)
        return log_softmax(np.column_stack([np.zeros_like(f), f]) if f.ndim == 1 else f, axis=1)

    def _in_words(self) -> tuple[str, str]:
        text = (
            "Fisher's discriminant: directions in which the means of the classes are far apart, "
            "measured by the spread within classes; a closed form."
        )
        return text, "maximise  J(w) = (wᵀ S_b w) / (wᵀ Σ w)"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
