"""Rows forgotten by a linear machine of two classes, in a few passes over the data.

A row without a multiplier holds nothing: without it w, b and α are what they were, the dual is the
same number, and the primal is no larger, so that the certificate of the fit is one of the rest too.
Where multipliers are gone the rows near their margin are solved again, or for smooth losses a few
steps are made, and the proof is recomputed.
Rows that are gone stay where they are, with cost 0: a copy of the others takes as long as three
passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...core.certify.certificate import Certificate
from ...core.certify.two_class import from_margins
from ...core.problem.losses import kink
from ...core.problem.problem import Problem, two_class_summary
from ...core.solve.contract import Point, Solution
from ...core.solve.two_class.changed_costs import solve_changed
from ...core.solve.two_class.changed_smooth import solve_smooth_changed
from ..fitting import make_monitor, note
from ..left_out.known_data import KnownData
from ..svm import two_class

# Below this many rows a fit takes milliseconds anyhow.
MIN_ROWS = 2000
# More rows gone than this share of all: the optimum is elsewhere.
MAX_GONE_SHARE = 0.05
SAME_METHOD = "that of all rows: those that are gone had no multiplier, and less loss is no more"
SAME_WHY = "rows without a multiplier hold nothing"


def resumed(model: Any, known: KnownData, gone: np.ndarray, rest: np.ndarray) -> Any | None:
    """The model without the rows ``gone``; None where a fit has to find it."""
    old = model.plain() if hasattr(model, "plain") else model
    if known.problem is None or not _serves(old, known, gone):
        return None
    problem = replace(known.problem, c=np.where(rest, known.problem.c, 0.0))
    before = _optimum(old, known)
    new = clone(old)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    if hasattr(old, "alpha_"):
        new._codes = known.codes[rest]
    if not before.alpha[gone].any():
        return _kept(old, new, problem, rest)
    solution = _solve(problem, before, known.scores, rest, old)
    return None if solution is None else _told(new, problem, solution, rest)


def _optimum(model, known: KnownData) -> Point:
    """The machine of all rows; of logistic losses the multipliers follow from the margins."""
    w, b, problem = model.coef_[0], float(model.intercept_[0]), known.problem
    if hasattr(model, "alpha_"):
        return Point(w, b, model.alpha_)
    return Point(w, b, from_margins(problem, problem.y * (known.scores + b)))


def _serves(model, known: KnownData, gone) -> bool:
    """Many rows, costs that do not depend on the others, and multipliers that prove the optimum."""
    n = len(known.codes)
    return (
        isinstance(getattr(model, "class_weight", None), dict | None)
        and model.solver in ("auto", "newton")
        and n >= MIN_ROWS
        and len(gone) <= MAX_GONE_SHARE * n
        and model.certificate_.holds(model.tol)
        and (not hasattr(model, "loss") or getattr(model, "alpha_", np.empty(0)).shape == (n,))
    )


def _kept(old, new, problem: Problem, rest) -> Any:
    """The same machine, with its certificate."""
    claim, monitor = old.certificate_, make_monitor(old)
    monitor.record(claim.primal, claim.dual)
    new.coef_, new.intercept_, new.margin_ = old.coef_, old.intercept_, old.margin_
    new.alpha_, new.slack_ = old.alpha_[rest], old.slack_[rest]
    new.support_, new.support_kind_ = _places(rest)[old.support_], old.support_kind_
    new.certificate_ = _of_the_rest(replace(claim, method=SAME_METHOD), problem, rest)
    new.history_, new.n_iter_ = monitor.history, 1
    new.solver_, new.solver_reason_ = old.solver_, SAME_WHY
    return new


def _solve(problem: Problem, before: Point, f, rest, old) -> Solution | None:
    """The optimum of the others; None where it is not near."""
    monitor = make_monitor(old)
    if kink(problem.loss) == 1.0:  # the hinge
        gone = len(rest) - int(np.count_nonzero(rest))
        return solve_changed(problem, before, f, gone, monitor)
    start = before._replace(alpha=np.where(rest, 0.0, before.alpha))
    return solve_smooth_changed(problem, start, f, old.certificate_.primal, monitor)


def _told(new, problem: Problem, solution: Solution, rest) -> Any:
    """What a fit to the rows that are left would tell."""
    w, b, alpha = solution.point
    new.coef_, new.intercept_ = w[None, :], np.array([b])
    if hasattr(new, "loss"):
        two_class.keep(new, problem, alpha, solution.scores, b, float(w @ w))
        new.alpha_, new.slack_ = new.alpha_[rest], new.slack_[rest]
        new.support_ = _places(rest)[new.support_]
    note(new, solution, _of_the_rest(solution.certificate, problem, rest))
    return new


def _of_the_rest(certificate: Certificate, problem: Problem, rest) -> Certificate:
    """Said of the rows that are left."""
    n, (_, d) = int(np.count_nonzero(rest)), problem.shape
    return replace(certificate, problem=two_class_summary(problem.loss, problem.bias, n, d, False))


def _places(rest: np.ndarray) -> np.ndarray:
    """Where each of all rows is among those that are left."""
    return np.cumsum(rest) - 1
