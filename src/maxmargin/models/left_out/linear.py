"""Linear machines, each row left out: support vector machines of all forms, logistic losses."""

from __future__ import annotations

import numpy as np

from ...core.certify.multiclass import certify_classes
from ...core.certify.two_class import certify
from ...core.problem.multiclass import MulticlassProblem
from ...core.rows.rows import take
from ...core.solve.contract import ClassPoint, ClassWeights, Point
from ...core.solve.left_out.answer import LeftOutScores
from ...core.solve.left_out.many_class import leave_out_classes, leave_out_smooth
from ...core.solve.left_out.two_class import leave_out_two_class
from ..bias_column import joined, with_ones
from ..svm import joint, reduced, two_class
from .same_data import check_count, check_objective


def leave_out_svm(model, X, codes, weight) -> LeftOutScores:
    """LinearSVM; a penalised bias is the weight of a column of ones."""
    if hasattr(model, "alpha_"):
        check_count(model, len(codes), len(model.alpha_))
    if model._bias_column:
        model, X = joined(model), with_ones(X)
    if len(model.classes_) == 2:
        return _two_classes(model, X, codes, weight)
    if model.multiclass in ("max", "sum"):
        return _joint(model, X, codes, weight)
    return _reduced(model, X, codes, weight)


def leave_out_logistic(model, X, codes, weight) -> LeftOutScores:
    check_objective(model, model._recertify(X, codes, weight).primal)
    problem = model._problem(X, codes, weight, len(model.classes_))
    return leave_out_smooth(problem, ClassWeights(model.coef_, model.intercept_))


def _two_classes(model, X, codes, weight) -> LeftOutScores:
    problem = two_class.pose(model, X, codes, weight)
    w, b = model.coef_[0], float(model.intercept_[0])
    start = _start(model, problem, w, b)
    check_objective(model, certify(problem, w, b, start.alpha).primal)
    return leave_out_two_class(problem, start)


def _start(model, problem, w, b: float, machine: int = 0, some=slice(None)) -> Point:
    alpha = two_class.known_multipliers(model, problem, w, b, machine, some)
    return Point(w, b, np.zeros(len(problem.y)) if alpha is None else alpha)


def _joint(model, X, codes, weight) -> LeftOutScores:
    problem: MulticlassProblem = joint.pose(model, X, codes, weight)
    beta = joint.known_multipliers(model, problem)
    if beta is None:
        beta = np.zeros((len(codes), problem.k))
    point = ClassPoint(model.coef_, model.intercept_, beta)
    check_objective(model, certify_classes(problem, *point).primal)
    return leave_out_classes(problem, point)


def _reduced(model, X, codes, weight) -> LeftOutScores:
    """One machine after the other; a row that a machine is not about is not in it anyhow."""
    whole = two_class.pose(model, X, codes, weight)
    machines, primal = [], 0.0
    for q, (problem, some) in enumerate(reduced.questions(model, codes, whole, take)):
        w, b = model.coef_[q], float(model.intercept_[q])
        alpha = model.alpha_[some, q] if hasattr(model, "alpha_") else None
        start = _start(model, problem, w, b, q, some) if alpha is None else Point(w, b, alpha)
        primal += certify(problem, w, b, start.alpha).primal
        machines.append((problem, some, start))
    check_objective(model, primal)
    F = model_scores(model, X)
    found = [(some, leave_out_two_class(problem, start)) for problem, some, start in machines]
    return put_together(F, found)


def model_scores(model, X) -> np.ndarray:
    """The machines' own scores (n, machines)."""
    return np.asarray(X @ model.coef_.T) + model.intercept_


def put_together(F: np.ndarray, found) -> LeftOutScores:
    """Of several machines the scores side by side, the largest tolerance, and the longest way."""
    n = len(F)
    out = LeftOutScores(F.copy(), np.zeros(n), np.full(n, "no multiplier", dtype=object))
    for q, (some, machine) in enumerate(found):
        out.scores[some, q] = machine.scores
        out.tolerance[some] = np.maximum(out.tolerance[some], machine.tolerance)
        longer = machine.way != "no multiplier"
        rows = np.arange(n)[some][longer]
        out.way[rows] = machine.way[longer]
    return out
