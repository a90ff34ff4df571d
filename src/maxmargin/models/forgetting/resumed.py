"""Rows forgotten by a linear machine of two classes, in one pass over the data or a few.

A row without a multiplier holds nothing: without it w, b and α are what they were, the dual is the
same number, and the primal is no larger, so that the certificate of the fit is one of the rest too.
Where multipliers are gone the rows near their margin are solved again, or for smooth losses a few
steps are made, and the proof is recomputed.  A hinge that was fitted here knows its slacks, and so
which rows are near, before it sees the data: the one pass for the new proof then also tells whether
they are those of the fit.
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
from ...core.rows.rows import combine, take
from ...core.solve.contract import Point, Solution
from ...core.solve.two_class.changed_costs import Front, solve_changed
from ...core.solve.two_class.changed_smooth import solve_smooth_changed
from ...core.solve.two_class.left_rows import left_rows
from ..fitting import make_monitor, note
from ..left_out.known_data import KnownData
from ..left_out.same_data import SAME_OBJECTIVE_TOL
from ..svm import two_class

# Below this many rows a fit takes milliseconds anyhow.
MIN_ROWS = 2000
# More rows gone than this share of all: the optimum is elsewhere.
MAX_GONE_SHARE = 0.05
# Rows that are on the wrong side of their margin by more, after the near ones have been solved, are
# of other data: those of the fit cross it by thousandths.
MAX_ASTRAY = 0.1
# Parameters that need not be copied.
PLAIN_VALUES = (str, bool, int, float, type(None))
SAME_METHOD = "that of all rows: those that are gone had no multiplier, and less loss is no more"
SAME_WHY = "rows without a multiplier hold nothing"


def knows_its_slacks(model: Any, gone: np.ndarray) -> bool:
    """Whether a hinge can forget these rows, of which some have multipliers, by one pass."""
    old = model.plain() if hasattr(model, "plain") else model
    z, hinge = getattr(old, "_z", None), getattr(old, "loss", None) == "hinge"
    if z is None or not hinge or old._bias_column or not np.isfinite(old.C):
        return False
    return z.shape == old.alpha_.shape and bool(old.alpha_[gone].any())


def at_once(model: Any, posed: KnownData, gone: np.ndarray) -> Any | None:
    """The model without the rows ``gone``, of data that are seen once, for the new proof.

    None where they are not those of the fit, or seem not to be, or where the optimum is elsewhere.
    """
    old = model.plain() if hasattr(model, "plain") else model
    if len(posed.codes) != len(old._z) or not _serves(old, posed, gone):
        return None
    start = Front(_optimum(old, posed), old._z, gone[:0])
    problem = _without(posed.problem, gone)

    def known(here: Front) -> bool:
        return _same_data(old, problem, start.point, here)

    solution = solve_changed(problem, start, gone, make_monitor(old), known)
    return None if solution is None else _told(_empty(old), problem, solution, posed, gone)


def resumed(model: Any, known: KnownData, gone: np.ndarray) -> Any | None:
    """The model without the rows ``gone``; None where a fit has to find it."""
    old = model.plain() if hasattr(model, "plain") else model
    if known.problem is None or not _serves(old, known, gone):
        return None
    before, problem = _optimum(old, known), _without(known.problem, gone)
    if not before.alpha[gone].any():
        return _kept(old, _empty(old), problem, known, gone)
    solution = _solve(problem, before, known.scores, gone, old)
    return None if solution is None else _told(_empty(old), problem, solution, known, gone)


def _without(problem: Problem, gone) -> Problem:
    """The same rows, of which those that are gone cost nothing."""
    c = problem.c.copy()
    c[gone] = 0.0
    return replace(problem, c=c)


def _empty(old) -> Any:
    """A model of the same kind that knows its classes and columns."""
    new = _unfitted(old)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    return new


def _unfitted(model) -> Any:
    """What scikit-learn's ``clone`` makes of it, which takes 0.2 ms."""
    given = {name: value for name, value in vars(model).items() if not _told_by_fits(name)}
    if not all(isinstance(value, PLAIN_VALUES) for value in given.values()):
        return clone(model)
    new = object.__new__(type(model))
    vars(new).update(given)
    return new


def _told_by_fits(name: str) -> bool:
    return name.startswith("_") or name.endswith("_")


def _same_data(model, problem: Problem, before: Point, here: Front) -> bool:
    """Whether the multipliers of the fit have their dual on these data, too.

    Their w_α is that of the proof but for the rows whose multipliers are others now.  Rows without
    one, and costs, are not in it, but in the proof: of other data some row is on another side of
    its margin than its multiplier says.
    """
    proof, claim, alpha = here.proof, model.certificate_, before.alpha
    assert proof is not None
    if not max(proof.certificate.kkt_violation.values()) <= MAX_ASTRAY:
        return False
    moved = np.unique(here.moved)
    step = (alpha[moved] - here.point.alpha[moved]) * problem.y[moved]
    w = proof.w_alpha + combine(take(problem.rows, moved), step)
    dual = float(alpha.sum()) - 0.5 * float(w @ w)
    off = SAME_OBJECTIVE_TOL * max(abs(dual), abs(claim.dual)) + 2.0 * claim.rounding
    return abs(dual - claim.dual) <= off


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


def _kept(old, new, problem: Problem, known: KnownData, gone) -> Any:
    """The same machine, with its certificate."""
    claim, monitor, rest = old.certificate_, make_monitor(old), _mask(len(known.codes), gone)
    monitor.record(claim.primal, claim.dual)
    new.coef_, new.intercept_, new.margin_ = old.coef_, old.intercept_, old.margin_
    for name in ("alpha_", "slack_", "_z"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name)[rest])
    new._codes = known.codes[rest]
    before = np.searchsorted(gone, old.support_)  # how many of them are gone
    new.support_, new.support_kind_ = old.support_ - before, old.support_kind_
    new.certificate_ = _of_the_rest(replace(claim, method=SAME_METHOD), problem, len(gone))
    new.history_, new.n_iter_ = monitor.history, 1
    new.solver_, new.solver_reason_ = old.solver_, SAME_WHY
    return new


def _solve(problem: Problem, before: Point, f, gone, old) -> Solution | None:
    """The optimum of the others; None where it is not near."""
    monitor = make_monitor(old)
    if kink(problem.loss) == 1.0:  # the hinge
        front = Front(before, 1.0 - problem.y * (f + before.b), gone[:0])
        return solve_changed(problem, front, gone, monitor)
    pulled = np.zeros(len(before.alpha))
    pulled[gone] = before.alpha[gone]
    start = before._replace(alpha=pulled)
    return solve_smooth_changed(problem, start, f, old.certificate_.primal, monitor)


def _told(new, problem: Problem, solution: Solution, known: KnownData, gone) -> Any:
    """What a fit to the rows that are left would tell."""
    w, b, alpha = solution.point
    new.coef_, new.intercept_ = w[None, :], np.array([b])
    if solution.slacks is not None:  # the hinge
        left = left_rows(problem, alpha, solution.slacks, known.codes, gone)
        new.alpha_, new._z, new.slack_, new._codes, new.support_, kinds = left
        new.support_kind_ = two_class.KINDS.take(kinds)
        length = float(np.sqrt(w @ w))
        new.margin_ = 1.0 / length if length > 0.0 else np.inf
    elif hasattr(new, "loss"):
        rest = _mask(len(alpha), gone)
        z = (1.0 - problem.y * (solution.scores + b))[rest]
        those = replace(problem, c=problem.c[rest])
        two_class.tell_rows(new, those, alpha[rest], z, float(w @ w))
        new._codes = known.codes[rest]
    note(new, solution, _of_the_rest(solution.certificate, problem, len(gone)))
    return new


def _mask(n: int, gone) -> np.ndarray:
    """Which rows stay."""
    rest = np.ones(n, dtype=bool)
    rest[gone] = False
    return rest


def _of_the_rest(certificate: Certificate, problem: Problem, gone: int) -> Certificate:
    """Said of the rows that are left."""
    n, d = problem.shape
    said = two_class_summary(problem.loss, problem.bias, n - gone, d, False)
    return replace(certificate, problem=said)
