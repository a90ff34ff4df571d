"""LinearSVM with two classes: one hyperplane, one multiplier per row."""

from __future__ import annotations

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import SHARPEST, first_that_proves
from ...core.certify.repair import repair
from ...core.certify.two_class import certify, from_margins
from ...core.problem.losses import LOSSES, boxed
from ...core.problem.problem import Problem, costs
from ...core.rows.rows import as_rows, scores
from ...core.solve.contract import Ending, Monitor, Point
from ...core.solve.precise.resort import sharpened
from ...core.solve.two_class.form import SOLVERS, solve
from ...core.solve.two_class.left_rows import ON_MARGIN_SLACK
from ..claim import best_claim
from ..fitting import make_monitor, note
from ..validation import one_of

KINDS = np.array(["margin", "inside", "misclassified"])


def pose(model, X, codes, weight) -> Problem:
    """The two-class problem of the model's parameters; class 1 is the positive side."""
    y = 2.0 * codes - 1.0
    loss = LOSSES[one_of("loss", model.loss, LOSSES)]
    return Problem(as_rows(X), y, costs(float(model.C), weight, len(y)), loss, model._bias())


def fit(model, X, codes, weight, monitor: Monitor) -> Ending:
    one_of("solver", model.solver, ["auto", *SOLVERS])
    problem = pose(model, X, codes, weight)
    if monitor.path is not None:
        monitor.path.begin(problem)
    start = _start(model, problem, monitor) if model.warm_start else None
    solution = solve(problem, monitor, model.solver, start)
    certificate = solution.certificate
    w, b, alpha = solution.point
    if monitor.path is not None:
        foreseeable = solution.solver == "newton" and boxed(problem.loss)
        monitor.path.end(problem, solution.point, solution.scores if foreseeable else None)
    model.coef_ = w[None, :]
    z = keep(model, problem, alpha, solution.scores, b, float(w @ w))
    model._z = z.astype(np.float32)  # which rows are near, if some are to be forgotten
    note(model, solution, certificate)
    return solution.ending


def keep(model, problem: Problem, alpha, f, b: float, norm: float) -> np.ndarray:
    """What two classes tell of a fit, of whatever kind: multipliers, slacks, support, margin.

    f are the scores w·x without the bias, ``norm`` is ‖w‖².  Returns z = 1 − m of every row.
    """
    model.intercept_ = np.array([b])
    z = 1.0 - problem.y * (f + b)
    tell_rows(model, problem, alpha, z, norm)
    return z


def tell_rows(model, problem: Problem, alpha, z, norm: float) -> None:
    """The same of z = 1 − m, which are below zero where a row has no slack."""
    model.alpha_ = alpha
    model.slack_ = np.maximum(0.0, z)
    model.slack_[problem.c <= 0.0] = 0.0
    model.support_ = np.flatnonzero(alpha > 0)
    model.support_kind_ = support_kinds(problem, alpha, model.slack_, model.support_)
    model.margin_ = 1.0 / float(np.sqrt(norm)) if norm > 0 else np.inf


def norm(W: np.ndarray) -> float:
    """The longest w; its machine has the smallest margin."""
    return float(np.linalg.norm(W, axis=1).max())


def dual_coef(model) -> np.ndarray:
    """yα of the support vectors, (1, n_support)."""
    signs = np.where(model._codes[model.support_] == 1, 1.0, -1.0)
    return (signs * model.alpha_[model.support_])[None, :]


def _start(model, problem: Problem, monitor: Monitor) -> Point | None:
    """What a path foresees, or the present solution, if there is one for as many columns."""
    if monitor.path is not None and (ahead := monitor.path.start(problem)) is not None:
        return ahead
    n, d = problem.shape
    if getattr(model, "coef_", np.empty((0, 0))).shape != (1, d):
        return None
    known = getattr(model, "alpha_", np.empty(0))  # a streamed fit has none
    alpha = np.clip(known, 0.0, problem.cap) if known.shape == (n,) else np.zeros(n)
    return Point(model.coef_[0], float(model.intercept_[0]), alpha)


def support_kinds(problem: Problem, alpha: np.ndarray, slack: np.ndarray, some) -> np.ndarray:
    """On the margin, inside it, or on the wrong side, for the points named by ``some``.

    A hinge multiplier below its cap says "on the margin" more sharply than the slack does,
    which is zero there only up to the tolerance of the fit.
    """
    below = problem.hard or boxed(problem.loss)
    return kinds_of(slack[some], below and alpha[some] < problem.cap[some])


def kinds_of(slack: np.ndarray, below) -> np.ndarray:
    """The kind of every slack; ``below`` says where a hinge multiplier is below its cap."""
    kinds = np.where(slack > 1.0, 2, 1)
    kinds[(slack <= ON_MARGIN_SLACK) | below] = 0
    return KINDS.take(kinds)


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data, with multipliers stored, rebuilt or sought."""
    problem = pose(model, X, codes, weight)
    w, b = model.coef_[0], float(model.intercept_[0])
    return proved(model, problem, w, b, known_multipliers(model, problem, w, b))


def proved(model, problem: Problem, w, b: float, alpha: np.ndarray | None) -> Certificate:
    """The best proof for (w, b): better multipliers are sought where these prove too little."""
    monitor = make_monitor(model)
    start = Point(w, b, np.zeros(len(problem.y)) if alpha is None else alpha)

    def seek() -> tuple[float, Certificate]:
        solution = solve(problem, monitor, "auto", start)
        certificate = solution.certificate
        return certificate.primal, certify(problem, w, b, solution.point.alpha, tol=model.tol)

    near = best_proof(problem, w, b, alpha, model.tol)
    return best_claim(sharpened(problem, w, b, near, model.tol), monitor, seek)


def known_multipliers(
    model, problem: Problem, w, b: float, machine: int = 0, some=slice(None)
) -> np.ndarray | None:
    """Those of the fit, or of one of its machines, if there is one for every row.

    Of a streamed fit only those are kept that the slack of a row, all or nothing, does not tell;
    of a hard margin those that are not zero.
    ``some``: the rows that a machine is about.
    """
    n = len(problem.y)
    if hasattr(model, "alpha_") or not hasattr(model, "_alpha_rows"):
        alpha = getattr(model, "alpha_", np.empty(0))
        return alpha if len(alpha) == n else None
    mine = model._alpha_machines == machine
    rows, values = model._alpha_rows[mine], model._alpha_values[mine]
    places = np.arange(n) if isinstance(some, slice) else some
    local = np.minimum(np.searchsorted(places, rows), n - 1)
    if not np.array_equal(places[local], rows):
        return None
    alpha = np.zeros(n)
    if not problem.hard:
        alpha = from_margins(problem, _margins(problem, w, b))
    alpha[local] = values
    return alpha


def best_proof(
    problem: Problem, w, b: float, alpha: np.ndarray | None, tol: float = SHARPEST
) -> Certificate:
    """With the multipliers given if they are feasible, else rebuilt from margins, or none."""

    def prove(alpha: np.ndarray) -> Certificate:
        return certify(problem, w, b, alpha, tol=tol)

    return first_that_proves(
        *([lambda: prove(alpha)] if alpha is not None else []),
        lambda: prove(repair(problem, from_margins(problem, _margins(problem, w, b)))),
        lambda: prove(np.zeros(len(problem.y))),
    )


def _margins(problem: Problem, w, b: float) -> np.ndarray:
    return problem.y * (scores(problem.rows, w) + b)
