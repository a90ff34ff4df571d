"""LinearSVM with k classes at once: the "max" and the "sum" rule."""

from __future__ import annotations

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.circulation import repair_classes
from ...core.certify.conclude import first_that_proves
from ...core.certify.multiclass import certify_classes, from_scores
from ...core.problem.class_losses import CLASS_LOSSES, boxed_classes, hinge_rates, one_slack
from ...core.problem.losses import LOSSES
from ...core.problem.multiclass import MulticlassProblem
from ...core.problem.problem import costs
from ...core.rows.rows import as_rows
from ...core.solve.contract import ClassPoint, Ending, Monitor
from ...core.solve.many_class.form import CLASS_SOLVERS, solve_classes
from ...core.solve.precise.resort import sharpened
from ..claim import best_claim
from ..fitting import make_monitor, note
from ..validation import one_of
from .two_class import kinds_of


def pose(model, X, codes, weight) -> MulticlassProblem:
    """The k-class problem of the model's parameters."""
    loss = CLASS_LOSSES[model.multiclass, one_of("loss", model.loss, LOSSES)]
    c = costs(float(model.C), weight, len(codes))
    codes = codes.astype(np.int64, copy=False)
    return MulticlassProblem(as_rows(X), codes, c, loss, len(model.classes_), model._bias())


def fit(model, X, codes, weight, monitor: Monitor) -> Ending:
    one_of("solver", model.solver, ["auto", *CLASS_SOLVERS])
    problem = pose(model, X, codes, weight)
    start = _start(model, problem) if model.warm_start else None
    solution = solve_classes(problem, monitor, model.solver, start)
    certificate = solution.certificate
    W, b, beta = solution.point
    model.coef_ = W
    keep(model, problem, beta, solution.slacks, b, float(np.sum(W * W)))
    note(model, solution, certificate)
    return solution.ending


def keep(model, problem: MulticlassProblem, beta, slacks, b, norm: float) -> None:
    """What k classes tell of a fit, of whatever kind; ``slacks`` (n, 2) are worst and summed."""
    worst, total = slacks.T
    slack = np.maximum(0.0, worst) if one_slack(problem.loss) else total
    model.intercept_, model.alpha_ = b, beta
    model.slack_ = np.where(problem.c > 0, slack, 0.0)
    model.support_ = np.flatnonzero(beta.any(axis=1))
    model.support_kind_ = support_kinds(problem, beta, worst)[model.support_]
    model.margin_ = 1.0 / float(np.sqrt(2.0 * norm)) if norm > 0 else np.inf


def norm(W: np.ndarray) -> float:
    """√2 ‖W‖, which no ‖w_y − w_c‖ exceeds."""
    return float(np.sqrt(2.0 * np.sum(W * W)))


def dual_coef(model) -> np.ndarray:
    """α of the support vectors, (k, n_support): the own class receives what the others give."""
    dual = -model.alpha_[model.support_]
    dual[np.arange(len(dual)), model._codes[model.support_]] = -dual.sum(axis=1)
    return dual.T


def _start(model, problem: MulticlassProblem) -> ClassPoint | None:
    """The present solution, if there is one for as many columns and classes."""
    n, d = problem.shape
    k = problem.k
    if getattr(model, "coef_", np.empty((0, 0))).shape != (k, d):
        return None
    same_rows = np.shape(model.alpha_) == (n, k)
    beta = repair_classes(problem, model.alpha_) if same_rows else np.zeros((n, k))
    return ClassPoint(model.coef_, model.intercept_, beta)


def support_kinds(problem: MulticlassProblem, beta: np.ndarray, worst: np.ndarray) -> np.ndarray:
    """On the margin, inside it, or on the wrong side, for every point; as for two classes."""
    below = False
    if problem.hard or hinge_rates(problem.loss)[2] < np.inf:
        below = beta.sum(axis=1) < problem.c * (1.0 - 1e-12)
    return kinds_of(worst, below)


def known_multipliers(model, problem: MulticlassProblem) -> np.ndarray | None:
    """Those of the fit if there is one for every row; a streamed fit keeps only those that the
    scores of a row do not tell."""
    n = len(problem.y)
    if hasattr(model, "alpha_") or not hasattr(model, "_alpha_rows"):
        beta = getattr(model, "alpha_", np.empty(0))
        return beta if np.shape(beta) == (n, problem.k) else None
    if model._alpha_rows.max(initial=-1) >= n or model._alpha_machines.max(initial=0) >= problem.k:
        return None
    W, b = model.coef_, model.intercept_
    beta = np.zeros((n, problem.k)) if problem.hard else from_scores(problem, W, b)
    beta[model._alpha_rows, model._alpha_machines] = model._alpha_values
    hinge = problem.hard or boxed_classes(problem.loss)
    return beta if hinge else repair_classes(problem, beta)  # slacks tell them but nearly


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data, with multipliers stored, rebuilt or sought."""
    problem = pose(model, X, codes, weight)
    W, b = model.coef_, model.intercept_
    beta = known_multipliers(model, problem)

    def prove(beta: np.ndarray) -> Certificate:
        return certify_classes(problem, W, b, beta, tol=model.tol)

    none, monitor = np.zeros((len(problem.y), problem.k)), make_monitor(model)
    start = ClassPoint(W, b, none if beta is None else beta)

    def seek() -> tuple[float, Certificate]:
        solution = solve_classes(problem, monitor, "auto", start)
        certificate = solution.certificate
        return certificate.primal, prove(solution.point.beta)

    best = first_that_proves(
        *([lambda: prove(beta)] if beta is not None else []),
        lambda: prove(repair_classes(problem, from_scores(problem, W, b))),
        lambda: prove(none),
    )
    return best_claim(sharpened(problem, W, b, best, model.tol), monitor, seek)
