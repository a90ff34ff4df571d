"""Perceptron: the first algorithm of every lecture, for two or k classes, in every mode."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ...core.certify.mistakes import PerceptronCertificate
from ...core.rows.rows import as_rows, scores
from ...core.solve.perceptron.linear_perceptron import (
    NO_LOG,
    LinearLearner,
    audit_weights,
    fresh_weights,
    power_for,
    row_power,
)
from ...core.solve.perceptron.passes import Halt, Run, run_passes
from ...core.solve.perceptron.trace import trace_from
from ...core.solve.perceptron.updates import PerceptronWeights, Rule
from ...core.types import ArrayLike, MatrixLike
from ..calibration.mixin import Calibrated
from ..certified import Certified
from ..labels import known_codes, stream_classes
from ..stored import CALIBRATED, LINEAR, PASSES
from ..validation import FLOAT_DTYPES, all_or_nothing, canonical, check_class_weight, check_rows
from .inputs import (
    check_plan,
    contiguous,
    plainly_valid,
    put_start,
    training_set,
)
from .mistake_bound import explanation

# What fit learns about its training set, which a later stream makes untrue.
TRAINING_SET_ATTRIBUTES = (
    "alpha_", "support_", "radius_", "certificate_", "history_", "trace_", "mistake_bound_",
    "calibration_",
)  # fmt: skip


class Perceptron(Calibrated, Certified, ClassifierMixin, BaseEstimator):
    """The perceptron of the lectures: correct the weights at every mistake.

    Two classes, y = ±1: while y (w·x + b) ≤ margin,  w += η y x  and  b += η y.
    k classes: the right row of W gains η x, the row predicted instead loses it; ties go to
    the smaller label.  Starts from w = 0 and b = 0.

    Parameters
    ----------
    order : {"shuffle", "cycle", "random"}, default="shuffle"
        "shuffle": permute once at the start, then cycle, in case the data lie in some odd
        order.  "cycle": as the data lie, again and again; the fastest on large data.
        "random": pick at random with replacement; a pass is n picks.
    batch_size : int or "all", default=1
        Points scored with the same weights before their updates are added: 1 is the
        incremental mode, "all" the batch mode.
    learning_rate : float, default=1.0
        η.  From w = 0 with margin 0 it only scales w and b.
    margin : float, default=0.0
        Update while y (w·x + b) ≤ margin; k classes: while the right class does not lead
        the best other one by more than this.
    average : bool, default=False
        Predict with the mean of the weights over all steps; ``last_coef_`` has the last ones.
    fit_intercept : bool, default=True
    max_passes : int, default=1000
    tol : float or None, default=None
        Second stopping rule: stop when the perceptron loss Σ max(0, margin − m) met during
        a pass differs from the last pass's by at most ``tol`` times the larger.
    pocket : bool, default=False
        Keep the weights of the pass that ended with the fewest training errors.
    class_weight : dict, "balanced" or None
        Multiplies η for the points of each class.  There is no ``sample_weight``: for an
        algorithm that depends on the order, a weight is not the same as a repetition.
    warm_start : bool, default=False
        Go on from the present weights.  Counts go on too when there are as many points.
    trace : bool, default=False
        Record every update in ``trace_``, to be replayed or drawn.
    explain : bool, default=False
        Prove whether the data are separable, and if so bound the updates
        (``mistake_bound_``).  Costs a maximum-margin problem.
    probability : bool, default=False
        Calibrate on five folds at the end of ``fit``, which costs four more: ``predict_proba``,
        ``predict_proba_interval`` and ``predict_set`` then exist.
    random_state : int, RandomState or None, default=0
        Fully determines the orders "shuffle" and "random"; None draws new ones every time.

    Attributes
    ----------
    coef_, intercept_ : (1, d) and (1,) for two classes, (k, d) and (k,) otherwise
    updates_ : number of updates, points of a batch counted one by one
    alpha_ : how often each training point was updated: (n,) counts α with w = η Σ αᵢ yᵢ xᵢ,
        b = η Σ αᵢ yᵢ;  for k classes (n, k), +1 and −1 per update, with W = η αᵀ X
    support_ : the points with an update
    radius_ : R = max ‖x‖, x with a 1 appended when there is a bias
    certificate_ : PerceptronCertificate
    history_ : seconds, updates and loss of every pass
    n_iter_, classes_, n_features_in_, feature_names_in_, last_coef_, last_intercept_

    Examples
    --------
    >>> from maxmargin import Perceptron
    >>> X = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]]
    >>> model = Perceptron("cycle").fit(X, ["low", "low", "high", "high"])
    >>> print(model.predict([[0.0, 1.0], [5.0, 3.0]]), model.updates_)
    ['low' 'high'] 5
    >>> print(model.certificate_)
    all 4 training points right after 5 updates in 4 passes (a whole pass needed no update)
    """

    _stored = (
        LINEAR
        | PASSES
        | CALIBRATED
        | {
            "last_coef_": "float m d",
            "last_intercept_": "float m",
            "_average_sums": "pair",
            "_clock": "number",
        }
    )

    def __init__(
        self,
        order: str = "shuffle",
        *,
        batch_size: int = 1,
        learning_rate: float = 1.0,
        margin: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        max_passes: int = 1000,
        tol: float | None = None,
        pocket: bool = False,
        class_weight: dict | str | None = None,
        warm_start: bool = False,
        trace: bool = False,
        explain: bool = False,
        probability: bool = False,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.order = order
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.margin = margin
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_passes = max_passes
        self.tol = tol
        self.pocket = pocket
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.trace = trace
        self.explain = explain
        self.probability = probability
        self.random_state = random_state

    # The weights to predict with, and the state from which a stream goes on.
    coef_: np.ndarray
    intercept_: np.ndarray
    last_coef_: np.ndarray
    last_intercept_: np.ndarray
    _average_sums: tuple[np.ndarray, np.ndarray]
    _clock: float

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Train on X (n, d), dense or sparse, from zero or from the given weights."""
        with all_or_nothing(self):
            plan = check_plan(self)
            X, classes, codes = training_set(self, X, y)
            learner = self._learner(X, classes, codes, coef_init, intercept_init)
        start = learner.weights.W.copy(), learner.weights.b.copy()
        earlier = int(np.maximum(learner.alpha, 0).sum())  # a warm start's
        run = run_passes(learner, plan, len(codes), check_random_state(self.random_state))
        made = int(np.maximum(learner.alpha, 0).sum()) - earlier
        self.classes_ = classes
        self._publish(learner, run, X.dtype)
        self.updates_: int = earlier + made
        self._account(learner, run, X, start, made)
        self._calibrate(X, codes, None)
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """One pass over the points given, going on from the present weights.

        The first call must name all ``classes``.  What ``fit`` knew of its training set
        (``alpha_``, ``certificate_``, …) is dropped: a stream has none.  The arrays of
        weights are updated in place; copy them to keep an earlier state.

        Examples
        --------
        >>> from maxmargin import Perceptron
        >>> model = Perceptron().partial_fit([[2.0]], ["b"], classes=["a", "b"])
        >>> model.partial_fit([[-1.0]], ["a"]).updates_
        1
        """
        with all_or_nothing(self):
            first = "classes_" not in vars(self)
            known = stream_classes(self, classes)
            if first or not plainly_valid(self, X, y):
                X, y = validate_data(
                    self, X, y, reset=first, accept_sparse="csr", dtype=FLOAT_DTYPES,
                    accept_large_sparse=True,
                )  # fmt: skip
            codes = known_codes(y, known)
            X = contiguous(canonical(X))
            learner = self._stream_learner(X, known, codes)
        n = len(codes)
        order = np.arange(n)
        if n > 1 and self.order != "cycle":
            rng = check_random_state(self.random_state)
            order = rng.permutation(n) if self.order == "shuffle" else rng.randint(n, size=n)
        updates, _ = learner.sweep(order)
        learner.rows = None  # the stream's, not ours to keep
        self.classes_ = known
        for name in TRAINING_SET_ATTRIBUTES:
            self.__dict__.pop(name, None)
        self._keep(learner, X.dtype if first else self.coef_.dtype)
        self.updates_ = updates + (0 if first else self.updates_)
        self.n_iter_ = 1
        return self

    def _learner(self, X, classes, codes, coef_init, intercept_init) -> LinearLearner:
        rows, k = as_rows(X), len(classes)
        n, height = len(codes), 1 if k == 2 else k
        weights, clock = fresh_weights(height, rows, self.average), 0.0
        alpha = np.zeros((n, height), dtype=np.int64)
        given = coef_init is not None or intercept_init is not None
        if given:
            put_start(weights, coef_init, intercept_init)
        elif self.warm_start and hasattr(self, "last_coef_"):
            weights, clock = self._present(weights, classes)
            counts = getattr(self, "alpha_", None)
            if counts is not None and len(counts) == n:
                alpha = counts.reshape(n, height).copy()
        rule = self._rule(classes, classes[codes] if self.class_weight == "balanced" else None)
        size = n if self.batch_size == "all" else min(n, self.batch_size)
        return LinearLearner(
            rows, codes, rule, size, weights, alpha, self.order != "cycle", clock, self.trace,
            power=row_power(rows),
        )  # fmt: skip

    def _stream_learner(self, X, classes, codes) -> LinearLearner:
        """The learner of the last call if nothing was set anew since, else one checked afresh."""
        n, height = len(codes), 1 if len(classes) == 2 else len(classes)
        settings = self._settings()
        same, learner = self.__dict__.get("_stream", (None, None))
        if same != settings or learner.weights.W is not self.last_coef_:
            check_plan(self)
            if "last_coef_" in vars(self):
                weights, clock = self._sums(), self._clock
            else:
                weights, clock = fresh_weights(height, as_rows(X), self.average), 0.0
            rule = self._rule(classes, None)
            learner = LinearLearner(None, codes, rule, 1, weights, codes, False, clock)
            if self.class_weight is None:  # a dict might be changed behind our back
                self._stream = settings, learner
        learner.rows, learner.codes = as_rows(X), codes
        learner.alpha = np.zeros((n, height), dtype=np.int64)
        learner.size = n if self.batch_size == "all" else min(n, self.batch_size)
        return learner

    def _settings(self) -> tuple:
        """Everything that a stream's updates depend on."""
        return (
            self.order, self.batch_size, self.learning_rate, self.margin, self.average,
            self.fit_intercept, self.class_weight, self.max_passes, self.tol, self.pocket,
        )  # fmt: skip

    def _rule(self, classes, labels) -> Rule:
        if self.class_weight is None:
            scale = np.ones(len(classes))
        elif labels is None and self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs the whole training set, which partial_fit does '
                "not see. Pass a dict {label: weight} instead."
            )
        else:
            labels = classes if labels is None else labels
            scale = check_class_weight(self.class_weight, classes, labels)
        return Rule(self.learning_rate * scale, float(self.margin), float(self.fit_intercept))

    def _sums(self) -> PerceptronWeights:
        """The present weights, with fresh sums if averaging began only now."""
        W, b, U, u = self.last_coef_, self.last_intercept_, *self._average_sums
        if self.average and U.shape != W.shape:
            U, u = W * self._clock, b * self._clock  # as if they had just been added
        return PerceptronWeights(W, b, U if self.average else U[:, :0], u)

    def _present(self, fresh: PerceptronWeights, classes) -> tuple[PerceptronWeights, float]:
        """A copy of where the last fit ended, if it fits this data; else a fresh start."""
        same = np.array_equal(self.classes_, classes)
        if not same or self.last_coef_.shape != fresh.W.shape:
            raise ValueError(
                f"warm_start=True goes on from weights for classes {self.classes_.tolist()} and "
                f"{self.last_coef_.shape[1]} features, but the data have classes "
                f"{classes.tolist()} and {fresh.W.shape[1]} features. "
                "Use warm_start=False to start afresh."
            )
        return PerceptronWeights(*(part.copy() for part in self._sums())), self._clock

    def _publish(self, learner: LinearLearner, run: Run, dtype) -> None:
        if run.pocket is not None:
            W, b, alpha = run.pocket
            learner.weights = learner.weights._replace(W=W, b=b)
            learner.alpha = alpha
        self._keep(learner, dtype)

    def _keep(self, learner: LinearLearner, dtype) -> None:
        self.__dict__.update(weights_told(learner, self.average, dtype))

    def _account(self, learner: LinearLearner, run: Run, X, start, made) -> None:
        """Everything fit says about its training set, recomputed with the weights kept."""
        n, k = len(learner.codes), len(self.classes_)
        W, b = self.coef_.astype(np.float64), self.intercept_.astype(np.float64)
        wrong, violating, loss, squared = audit_weights(
            learner.rows, learner.codes, learner.rule.margin, W, b
        )
        self.alpha_ = learner.alpha[:, 0] if k == 2 else learner.alpha
        self.support_ = np.flatnonzero(learner.alpha.any(axis=1))
        self.radius_ = float(np.sqrt(squared + bool(self.fit_intercept)))
        self.history_ = run.history
        self.n_iter_ = len(run.history)
        whole = learner.size >= n and n > 1
        proof, bound = None, None
        if self.explain:
            proof, bound = explanation(X, learner.codes, k, self.fit_intercept)
        self.certificate_ = PerceptronCertificate(
            n, wrong, violating, loss, made, len(run.history), run.halt.value,
            whole and run.oscillates(), proof, k,
        )  # fmt: skip
        self.__dict__.pop("mistake_bound_", None)
        if bound is not None:
            self.mistake_bound_ = bound
        if self.trace:
            log = np.concatenate(learner.logs or [NO_LOG])
            rule = learner.rule
            self.trace_ = trace_from(log, learner.rows, learner.codes, rule.rate, rule.bias, start)
        if run.halt in (Halt.PASSES, Halt.INTERRUPTED):
            warnings.warn(farewell(self, start), ConvergenceWarning, stacklevel=3)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """w·x + b: (n,) for two classes, positive for ``classes_[1]``; otherwise (n, k)."""
        check_is_fitted(self)
        return np.ldexp(self._long_scores(X), -power_for(self.coef_))

    def _long_scores(self, X: MatrixLike) -> np.ndarray:
        """Scores times a power of two, with which no product of very small weights underflows."""
        rows, p = as_rows(check_rows(self, X, reset=False)), power_for(self.coef_)
        W, b = self.coef_.astype(np.float64), self.intercept_.astype(np.float64)
        F = np.column_stack([scores(rows, w) for w in np.ldexp(W, p)]) + np.ldexp(b, p)
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class of the highest score, the smaller label on a tie."""
        check_is_fitted(self)
        F = self._long_scores(X)
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    def _in_words(self) -> tuple[str, str]:
        text = (
            "A perceptron: whenever a row is on the wrong side, it is added to the weights. "
            "It minimises no objective"
        )
        text += "; the weights kept are the mean over all updates." if self.average else "."
        if len(self.classes_) == 2:
            return text, "yᵢ(w·xᵢ + b) ≤ 0   ⟹   w ← w + η yᵢ xᵢ"
        return text, "s_c(xᵢ) ≥ s_y(xᵢ)   ⟹   w_y ← w_y + η xᵢ,   w_c ← w_c − η xᵢ"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def weights_told(learner: LinearLearner, average: bool, dtype) -> dict[str, Any]:
    """The weights to predict with, and the state from which a stream goes on."""
    W, b, U, u = learner.weights
    last = {"last_coef_": W, "last_intercept_": b}
    if average:
        W, b = learner.average()
    return {
        **last, "_average_sums": (U, u), "_clock": learner.clock,
        "coef_": W.astype(dtype, copy=False), "intercept_": b.astype(dtype, copy=False),
    }  # fmt: skip


def farewell(model, start) -> str:
    """What to tell a user whose run ended before a pass without updates."""
    certificate = model.certificate_
    text = f"{type(model).__name__} stopped early: {certificate}."
    if certificate.oscillates:
        text += f" In batch mode the learning rate {model.learning_rate:g} is too large:"
        text += " every step overshoots and the loss goes up and down instead of falling."
        scale_free = model.margin == 0 and not any(np.any(part) for part in start)
        if scale_free:
            text += (
                " From w = 0 with margin=0 the rate only scales w, so lowering it alone changes "
                "nothing: set margin=1 with a small learning_rate, or a smaller batch_size."
            )
        else:
            text += f" Try learning_rate={model.learning_rate / 10:g} or a smaller batch_size."
    elif certificate.ending == Halt.INTERRUPTED.value:
        text += " Go on with warm_start=True." if hasattr(model, "warm_start") else ""
    else:
        text += (
            " If the data are separable, raise max_passes; if not, pocket=True or average=True "
            "make the most of them."
        )
    return text
