"""Rows forgotten by a linear machine of two classes, in a few passes over the data.

A row without a multiplier holds nothing: without it w, b and α are what they were, the dual is the
same number, and the primal is no larger, so that the certificate of the fit is one of the rest too.
Where multipliers are gone the rows near their margin are solved again, and the proof is recomputed.
Rows that are gone stay where they are, with cost 0: a copy of the others takes as long as three
passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...core.certify.certificate import Certificate
from ...core.problem.losses import boxed
from ...core.problem.problem import Problem, two_class_summary
from ...core.solve.contract import Monitor, Point
from ...core.solve.two_class.changed_costs import solve_changed
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
    problem = known.problem
    if problem is None or not _serves(old, known, gone):
        return None
    problem.c[gone] = 0.0
    monitor = make_monitor(old)
    new = clone(old)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    new._codes = known.codes[rest]
    kept = _kept if not old.alpha_[gone].any() else _solved
    return kept(old, new, problem, known.scores, rest, monitor)


def _serves(model, known: KnownData, gone) -> bool:
    """Many rows, costs that do not depend on the others, and multipliers that prove the optimum."""
    n = len(known.codes)
    return (
        isinstance(getattr(model, "class_weight", None), dict | None)
        and model.solver in ("auto", "newton")
        and n >= MIN_ROWS
        and len(gone) <= MAX_GONE_SHARE * n
        and model.certificate_.holds(model.tol)
        and getattr(model, "alpha_", np.empty(0)).shape == (n,)
    )


def _kept(old, new, problem: Problem, f, rest, monitor: Monitor) -> Any:
    """The same machine, with its certificate."""
    claim = old.certificate_
    monitor.record(claim.primal, claim.dual)
    new.coef_, new.intercept_, new.margin_ = old.coef_, old.intercept_, old.margin_
    new.alpha_, new.slack_ = old.alpha_[rest], old.slack_[rest]
    new.support_, new.support_kind_ = _places(rest)[old.support_], old.support_kind_
    new.certificate_ = _of_the_rest(replace(claim, method=SAME_METHOD), problem, rest)
    new.history_, new.n_iter_ = monitor.history, 1
    new.solver_, new.solver_reason_ = old.solver_, SAME_WHY
    return new


def _solved(old, new, problem: Problem, f, rest, monitor: Monitor) -> Any | None:
    """The optimum of the others; None where it is not near."""
    if not boxed(problem.loss):
        return None
    start = Point(old.coef_[0], float(old.intercept_[0]), old.alpha_)
    changed = len(rest) - int(np.count_nonzero(rest))
    solution = solve_changed(problem, start, f, changed, monitor)
    if solution is None:
        return None
    w, b, alpha = solution.point
    new.coef_ = w[None, :]
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
