"""One fit over parts for every estimator, whatever their source: from parameters to attributes.

``fit_parts`` returns what a fit tells; ``fit_estimator`` writes it on the estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from functools import partial, singledispatch
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..core.certify.mistakes import PerceptronCertificate
from ..core.certify.separability import NotSeparableError
from ..core.problem.class_losses import CLASS_LOSSES
from ..core.problem.losses import LOSSES
from ..core.problem.problem import Bias
from ..core.solve.contract import Ending, Monitor, settled
from ..core.solve.perceptron.passes import Halt, run_passes
from ..core.solve.perceptron.updates import Rule
from ..core.solve.threads import one_blas_thread
from ..models.bias_column import by_class, joined, told_of_x
from ..models.fitting import make_monitor, warn_unless_reached
from ..models.perceptron.inputs import check_plan
from ..models.perceptron.perceptron import Perceptron, farewell, weights_told
from ..models.regression.fisher import FisherDiscriminant
from ..models.regression.least_squares import RESIDUAL_WARNING_TOL, LeastSquaresClassifier
from ..models.regression.logistic_regression import LogisticRegression
from ..models.svm.linear_svm import MULTICLASS_FORMS, LinearSVM
from ..models.svm.reduced import together
from ..models.validation import at_least_zero, check_alphas, one_of, positive
from .calibrate import calibrate
from .certify.smooth import certify_smooth
from .data import Duel, PartsData, class_weights
from .parts import Block
from .side_by_side import solve_side_by_side
from .solve.closed_form.fisher import solve_fisher
from .solve.closed_form.least_squares import solve_least_squares
from .solve.closed_form.ridge_path import solve_ridge_path
from .solve.many_class.tasks import ClassSpec
from .solve.perceptron import PartsLearner
from .solve.smooth import Asked, Smooth, solve_smooth
from .solve.tasks import PartsSolution
from .solve.two_class.tasks import BinarySpec

# What estimators in memory know of every training row, or of an earlier fit to them.
OF_EVERY_ROW = (
    "alpha_", "support_", "support_kind_", "slack_", "_z", "_codes",
    "_alpha_rows", "_alpha_values", "_alpha_machines",
)  # fmt: skip
OF_EARLIER_FITS = (*OF_EVERY_ROW, "trace_", "path_", "feature_names_in_", "calibration_")
# Rules by which all classes are one problem; the others are several of two classes.
JOINT_RULES = ("max", "sum")
# The only values of some parameters, over parts.
ONLY: dict[type, dict[str, Any]] = {
    LinearSVM: {"solver": "auto"},
    LogisticRegression: {"solver": "auto"},
    Perceptron: {"batch_size": 1, "trace": False, "explain": False},
}


class FitResult(NamedTuple):
    """What a fit tells: fitted attributes, why it ended, and what else helps if that was early."""

    attributes: dict[str, Any]
    ending: Ending | Halt | None = None
    advice: str = ""


def fit_estimator(estimator: Any, data: PartsData) -> FitResult:
    """Fit to rows in parts; what that tells becomes the estimator's attributes."""
    for name in OF_EARLIER_FITS:
        vars(estimator).pop(name, None)
    estimator.classes_, estimator.n_features_in_ = data.classes, int(data.parts.n_features)
    if data.names is not None:
        estimator.feature_names_in_ = data.names
    with one_blas_thread():
        result = fit_parts(estimator, data)
        vars(estimator).update(result.attributes)
        if getattr(estimator, "probability", False):
            calibrate(estimator, data)
    return result


def check_possible(estimator: Any, where: str) -> None:
    """Refuse, before any row is looked at, what parts cannot do; ``where`` they are, in words."""
    name = type(estimator).__name__
    for kind, only in ONLY.items():
        for parameter, value in only.items() if isinstance(estimator, kind) else ():
            if getattr(estimator, parameter) != value:
                raise ValueError(
                    f"{name} {where} has {parameter}={value!r} only, got "
                    f"{parameter}={getattr(estimator, parameter)!r}."
                )
    if isinstance(estimator, Perceptron) and estimator.order == "random":
        raise ValueError("order='random' jumps about all rows. Use 'cycle' or 'shuffle' here.")
    if isinstance(estimator, LinearSVM | LogisticRegression):
        positive("C", estimator.C, infinite=isinstance(estimator, LinearSVM))


def warn(estimator: Any, result: FitResult) -> None:
    """Say what a fit did not reach."""
    if isinstance(result.ending, Ending):
        warn_unless_reached(estimator, result.ending, estimator.certificate_, result.advice)
    elif result.ending in (Halt.PASSES, Halt.INTERRUPTED):
        text = farewell(estimator, (estimator.coef_, estimator.intercept_))
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
    elif isinstance(estimator, LeastSquaresClassifier) and not estimator.certificate_.holds(
        RESIDUAL_WARNING_TOL
    ):
        estimator._warn()


@singledispatch
def fit_parts(estimator: Any, data: PartsData) -> FitResult:
    """The fit of ``estimator`` to all rows of ``data``."""
    raise TypeError(f"No fit over parts is known for {type(estimator).__name__}.")


def is_fitted_by_parts(kind: type) -> bool:
    """Whether there is a fit over parts for estimators of this class."""
    return fit_parts.dispatch(kind) is not fit_parts.dispatch(object)


def names_of_fits() -> list[str]:
    """The estimators that can be fitted over parts."""
    return [kind.__name__ for kind in fit_parts.registry if kind is not object]


def starts_from_sample(estimator: Any) -> bool:
    """Whether a fit over parts begins with a sample of the rows."""
    return isinstance(estimator, LinearSVM | LogisticRegression)


def _told(monitor: Monitor, certificate: Any, solver: str, why: str) -> dict[str, Any]:
    return {
        "certificate_": certificate, "history_": monitor.history,
        "n_iter_": max(1, monitor.n_iter), "solver_": solver, "solver_reason_": why,
    }  # fmt: skip


# --- support vector machines ----------------------------------------------------------------


def duels(k: int, rule: str) -> list[Duel]:
    """The two-class problems of k classes."""
    if k == 2:
        return [(1, None)]
    return list(combinations(range(k), 2)) if rule == "pairs" else [(c, None) for c in range(k)]


def is_joint(model: Any) -> bool:
    """Whether all classes of a LinearSVM are one problem."""
    return len(model.classes_) > 2 and model.multiclass in JOINT_RULES


def class_spec(model: Any, seed: int) -> ClassSpec:
    """The problem of all classes that a LinearSVM's parameters ask for."""
    C = positive("C", model.C, infinite=True)
    loss = CLASS_LOSSES[model.multiclass, one_of("loss", model.loss, LOSSES)]
    return ClassSpec(C, loss, len(model.classes_), model._bias(), seed)


def binary_specs(model: Any, seed: int) -> list[BinarySpec]:
    """The two-class problems that its parameters ask for."""
    C, loss = positive("C", model.C, infinite=True), LOSSES[one_of("loss", model.loss, LOSSES)]
    some = duels(len(model.classes_), model.multiclass)
    return [BinarySpec(C, loss, model._bias(), *duel, seed=seed) for duel in some]


@fit_parts.register
def _fit_svm(estimator: LinearSVM, data: PartsData) -> FitResult:
    """Two classes, all classes at once, or several problems of two classes side by side."""
    one_of("multiclass", estimator.multiclass, MULTICLASS_FORMS)
    if estimator._bias_column:
        return _fit_joined(estimator, data)
    monitor = data.watch(make_monitor(estimator))
    joint, norm = is_joint(estimator), estimator._form().norm
    if joint:
        fit = data.solve_classes(class_spec(estimator, monitor.seed), monitor)
        fits, ending, certificate = [fit], fit.ending, fit.certificate
        coef, intercept = fit.w, fit.b
    else:
        fits = _side_by_side(estimator, data, monitor)
        ending = next((f.ending for f in fits if f.ending is not Ending.REACHED), Ending.REACHED)
        proofs = [fit.certificate for fit in fits]
        certificate = proofs[0] if len(proofs) == 1 else together(estimator, proofs)
        coef, intercept = np.stack([f.w for f in fits]), np.array([f.b for f in fits])
    length = norm(coef)
    attributes = {
        "coef_": coef, "intercept_": intercept,
        "margin_": 1.0 / length if length > 0 else np.inf,
        **_told(monitor, certificate, fits[0].solver, fits[0].why),
        **_kept_multipliers(fits, joint),
    }  # fmt: skip
    ending = settled(ending, certificate, monitor.tol)
    return FitResult(attributes, ending, data.advice(fits[0].solver) if joint else "")


def _fit_joined(estimator: LinearSVM, data: PartsData) -> FitResult:
    """A penalised bias is the weight of a column of ones."""
    with data.with_ones() as more:
        try:
            result = _fit_svm(joined(estimator), more)
        except NotSeparableError as error:
            raise NotSeparableError(by_class(error.proof)) from None
    return result._replace(attributes=told_of_x(result.attributes, estimator._form().norm))


def _side_by_side(estimator: LinearSVM, data: PartsData, monitor: Monitor) -> list[PartsSolution]:
    specs = binary_specs(estimator, monitor.seed)
    at_once = data.problems_at_once([spec.key for spec in specs])
    solve = partial(data.solve_binary, problems=len(specs), at_once=at_once)
    jobs: dict[Hashable, Any] = {spec.key: partial(solve, spec=spec) for spec in specs}
    return solve_side_by_side(data.parts, jobs, monitor, at_once, data.after_group)


def _kept_multipliers(fits: list[PartsSolution], joint: bool) -> dict[str, np.ndarray]:
    """The multipliers of some rows, by their numbers and by problem (or class)."""
    known = [(fit.rows, fit.alpha) for fit in fits if fit.rows is not None]
    if not known:
        return {}
    if joint:
        [(rows, beta)] = known
        n, k = beta.shape  # type: ignore[union-attr]
        which, rows, values = np.tile(np.arange(k), n), np.repeat(rows, k), beta.ravel()  # type: ignore[union-attr]
    else:
        which = np.concatenate([np.full(len(some), q) for q, (some, _) in enumerate(known)])
        rows, values = (np.concatenate(each) for each in zip(*known, strict=True))
    return {"_alpha_rows": rows, "_alpha_machines": which, "_alpha_values": values}


# --- logistic regression --------------------------------------------------------------------


def smooth_problem(model: LogisticRegression) -> Asked:
    """The problem that a LogisticRegression's parameters ask for."""
    bias = Bias.FREE if model.fit_intercept else Bias.NONE
    return Asked(len(model.classes_), positive("C", model.C), bias)


@fit_parts.register
def _fit_logistic(estimator: LogisticRegression, data: PartsData) -> FitResult:
    monitor = data.watch(make_monitor(estimator))
    monitor.solver = "newton"
    asked, sample = smooth_problem(estimator), data.sample(monitor.seed)
    state = data.load()
    start = (state["W"], state["b"]) if state is not None and "smooth" in state else None
    if start is None and estimator.warm_start:
        start = _present(estimator, (asked.columns, data.parts.n_features))
    found = _search(data, asked, monitor, sample, start)
    b, certificate = certify_smooth(data.parts, asked, found.W, found.b, monitor.tol, found.mu)
    why = f"quasi-Newton steps, with a model of the Hessian from {len(sample.y)} of {data.n} rows"
    attributes = {
        "coef_": found.W, "intercept_": b, **_told(monitor, certificate, "newton", why),
    }  # fmt: skip
    return FitResult(attributes, settled(found.ending, certificate, monitor.tol))


def _present(estimator: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray] | None:
    """The present solution, if it has the right shape."""
    known = vars(estimator).get("coef_", np.empty(0))
    return (known, estimator.intercept_) if known.shape == shape else None


def _search(data: PartsData, asked: Asked, monitor: Monitor, sample: Block, start) -> Smooth:
    """The optimum, or what was reached before Ctrl-C."""
    reached = start

    def note(W, b) -> None:
        nonlocal reached
        reached = W, b
        data.save(smooth=1, W=W, b=b)

    try:
        return solve_smooth(data.parts, asked, monitor, sample, start, note)
    except KeyboardInterrupt:
        if reached is None or not data.keeps_best:
            raise
        mean = np.asarray(sample.X.mean(axis=0)).ravel()
        return Smooth(reached[0], reached[1], Ending.INTERRUPTED, mean)


# --- closed forms ---------------------------------------------------------------------------


@fit_parts.register
def _fit_least_squares(estimator: LeastSquaresClassifier, data: PartsData) -> FitResult:
    alpha = at_least_zero("alpha", estimator.alpha)
    k, free, path = len(data.classes), bool(estimator.fit_intercept), {}
    if estimator.alphas is None:
        found = solve_least_squares(data.parts, k, alpha, free)
    else:
        alphas = check_alphas(estimator.alphas)
        alpha, found, path["path_"] = solve_ridge_path(data.parts, k, alphas, free)
    return FitResult({
        "alpha_": alpha, "coef_": found.coef, "intercept_": found.intercept,
        "certificate_": found.certificate, **path,
    })  # fmt: skip


@fit_parts.register
def _fit_fisher(estimator: FisherDiscriminant, data: PartsData) -> FitResult:
    one_of("covariance", estimator.covariance, ["within", "none"])
    one_of("threshold", estimator.threshold, ["priors", "midpoint"])
    given = None
    if estimator.priors is not None:
        given = estimator._check_priors(np.zeros(0, dtype=int), None)
    most = estimator._check_components(np.empty((0, data.parts.n_features)))
    estimator._check_shrinkage(data.mass if data.weighed else None)
    plain, shrinkage = estimator.covariance == "none", estimator.shrinkage or 0.0
    found, means, share = solve_fisher(data.parts, len(data.classes), given, plain, shrinkage, most)
    return FitResult(estimator._told(found, means, share))


# --- the perceptron -------------------------------------------------------------------------


@fit_parts.register
def _fit_perceptron(estimator: Perceptron, data: PartsData) -> FitResult:
    plan = check_plan(estimator)
    if data.weighed:
        raise ValueError("Perceptron takes no weights of rows: its result depends on their order.")
    seed = check_random_state(estimator.random_state).randint(2**31)
    rate = np.full(len(data.classes), float(estimator.learning_rate))
    if estimator.class_weight is not None:
        rate = rate * class_weights(estimator.class_weight, data.classes, data.counts)
    rule = Rule(rate, float(estimator.margin), float(estimator.fit_intercept))
    order = seed if estimator.order == "shuffle" else None
    passes = PartsLearner(data, rule, estimator.average, order)
    passes.go_on(data.load())
    left = max(1, plan.max_passes - passes.passes)
    run = run_passes(passes, plan._replace(order="cycle", max_passes=left), 0, None)
    if run.halt is Halt.INTERRUPTED and not data.keeps_best:
        raise KeyboardInterrupt
    learner = passes.learner
    if run.pocket is not None:
        W, b, _ = run.pocket
        learner.weights = learner.weights._replace(W=W, b=b)
    weights = weights_told(learner, estimator.average, data.dtype)
    # What the weights kept do on the training rows.
    W, b = (weights[name].astype(np.float64) for name in ("coef_", "intercept_"))
    wrong, violating, loss, squared = passes.audit(W, b)
    made = sum(line.updates for line in run.history)
    certificate = PerceptronCertificate(
        data.n, wrong, violating, loss, made, len(run.history), run.halt.value,
        False, None, len(data.classes),
    )  # fmt: skip
    return FitResult({
        **weights, "updates_": made, "history_": run.history, "n_iter_": len(run.history),
        "radius_": float(np.sqrt(squared + bool(estimator.fit_intercept))),
        "certificate_": certificate,
    }, run.halt)  # fmt: skip
