"""One verify over parts, whatever their source: a model's claim, recomputed from all rows.

    primal(w, b) − dual(α) ≤ tol · primal      for the model's own (w, b) and any feasible α

The multipliers of a support vector machine are those stored with the model (of a fit in memory
all, of others those that a row's own slack does not tell), else rebuilt from the margins; where
these prove less than ``tol`` they are sought, by the methods over parts, from there
(``models/claim.py``).  Those of logistic regression follow from its probabilities, and closed forms
have none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..core.certify.certificate import Certificate
from ..core.certify.conclude import first_that_proves
from ..core.certify.fisher import FisherCriterion
from ..core.certify.multiclass import from_scores
from ..core.certify.normal_equations import NormalEquations
from ..core.certify.two_class import from_margins
from ..core.problem.losses import boxed
from ..core.rows.rows import scores, sqnorms
from ..core.solve.contract import Monitor
from ..models.bias_column import prove_joined
from ..models.claim import best_claim
from ..models.fitting import make_monitor
from ..models.regression.fisher import FisherDiscriminant
from ..models.regression.least_squares import LeastSquaresClassifier
from ..models.regression.logistic_regression import LogisticRegression
from ..models.svm.linear_svm import LinearSVM
from ..models.svm.reduced import together
from .certify import many_class, two_class
from .certify.smooth import recertify_smooth
from .data import PartsData
from .fit import binary_specs, class_spec, is_joint, smooth_problem
from .parts import Block, Parts
from .solve.closed_form.fisher import check_fisher
from .solve.closed_form.least_squares import check_least_squares
from .solve.hard_margin.rounds import verify_hard
from .solve.many_class.driver import solve_class_hinge
from .solve.many_class.tasks import ClassSpec, ClassState, count
from .solve.tasks import PartsSolution, ask_total
from .solve.two_class.driver import solve_hinge
from .solve.two_class.tasks import BinarySpec, BinaryState, begin


@singledispatch
def verify_parts(model: Any, data: PartsData, tol: float | None = None) -> Any:
    """The certificate of a fitted ``model`` on all rows of ``data``.

    ``tol``: the gap that should be shown, by default the model's own.
    """
    raise TypeError(f"No proof over parts is known for {type(model).__name__}.")


def is_verified_by_parts(kind: type) -> bool:
    """Whether there is a proof over parts for estimators of this class."""
    return verify_parts.dispatch(kind) is not verify_parts.dispatch(object)


def names_of_proofs() -> list[str]:
    """The estimators whose claims can be verified over parts."""
    return [kind.__name__ for kind in verify_parts.registry if kind is not object]


def need_same(model: Any, data: PartsData, name: str) -> None:
    """Refuse rows with other columns or classes than the model's; ``name``: what holds them."""
    if data.parts.n_features != model.n_features_in_:
        raise ValueError(
            f"{name} has {data.parts.n_features} features, the model {model.n_features_in_}."
        )
    here, there = data.classes.astype(str).tolist(), model.classes_.astype(str).tolist()
    if here != there:
        raise ValueError(
            f"{name} has the classes {', '.join(here[:5])}, the model knows {', '.join(there[:5])}."
        )


def _monitor(model: Any, data: PartsData, tol: float | None) -> Monitor:
    monitor = data.watch(make_monitor(model))
    monitor.tol = monitor.tol if tol is None else float(tol)
    return monitor


# --- support vector machines ----------------------------------------------------------------


@verify_parts.register
def _verify_svm(model: LinearSVM, data: PartsData, tol: float | None = None) -> Certificate:
    if model._bias_column:
        with data.with_ones() as more:
            return prove_joined(model, lambda inner: _verify_svm(inner, more, tol))
    specs: list[Any] = [class_spec(model, 0)] if is_joint(model) else list(binary_specs(model, 0))
    found = []
    for q, spec in enumerate(specs):
        # A search uses up the budget of a fit.
        monitor = _monitor(model, data, tol)
        found.append(_claim(model, data, spec, q).verify(monitor))
        data.parts.forget()
    return found[0] if len(found) == 1 else together(model, found)


def _claim(model: LinearSVM, data: PartsData, spec: Any, q: int) -> Claim:
    """What one of the model's problems claims."""
    if isinstance(spec, ClassSpec):
        parts, stored = data.class_parts(spec.k), stored_multipliers(model, data.n, None)
        return ClassClaim(parts, spec, model.coef_, model.intercept_, stored, data.room)
    stored = stored_multipliers(model, data.n, q)
    w, b = model.coef_[q], float(model.intercept_[q])
    return BinaryClaim(data.parts, spec, w, b, stored, data.room)


class Stored(NamedTuple):
    """Multipliers that a model has, by row and class (or problem): all, or a rule's exceptions."""

    rows: np.ndarray  # ascending
    which: np.ndarray
    values: np.ndarray
    all: bool

    def piece(self, first: int, n: int) -> Stored:
        """Those of n rows, the first of which has the number ``first``, counted from there."""
        low, high = np.searchsorted(self.rows, [first, first + n])
        mine = slice(low, high)
        return Stored(self.rows[mine] - first, self.which[mine], self.values[mine], self.all)


def stored_multipliers(model: Any, n: int, q: int | None) -> Stored | None:
    """Those of problem ``q``, or of all classes, if they are about ``n`` rows."""
    alpha = vars(model).get("alpha_")
    if alpha is not None:
        if len(alpha) != n:
            return None
        alpha = np.asarray(alpha).reshape(n, -1)
        rows, which = np.nonzero(alpha)
        values = alpha[rows, which]
    elif len(vars(model).get("_alpha_rows", ())) and model._alpha_rows.max() < n:
        rows, which, values = model._alpha_rows, model._alpha_machines, model._alpha_values
    else:
        return None
    mine = slice(None) if q is None else which == q
    return Stored(rows[mine], which[mine], values[mine], alpha is not None)


class Claim(ABC):
    """Weights of one problem, and the multipliers that the parts hold for it."""

    def __init__(self, parts: Parts, spec: Any, w: Any, b: Any, stored: Stored | None, room: int):
        self.parts, self.spec, self.w, self.b = parts, spec, w, b
        self.stored, self.room = stored, room

    def verify(self, monitor: Monitor) -> Certificate:
        """The best proof, with stored, rebuilt or sought multipliers."""
        if np.isinf(self.spec.C):  # the rows nearest to their margin are solved again
            tol = monitor.tol
            return verify_hard(self.parts, self.spec, self.w, self.b, tol, self.room)
        nothing = np.zeros(0, dtype=np.int64)
        stored = self.stored or Stored(nothing, nothing, np.zeros(0), False)
        self.parts.deal(partial(self.recall, self.spec, self.w, self.b), stored.piece)
        self.mean = self.centre()
        known = self.stored is not None and (stored.all or self.exact)
        best = first_that_proves(
            *([self.prove] if known else []), self.repaired_proof, self.empty_proof
        )
        return best_claim(best, monitor, lambda: self.seek(monitor))

    def repaired_proof(self) -> Certificate:
        self.repair()
        return self.prove()

    def empty_proof(self) -> Certificate:
        ask_total(self.parts, self.set_none, self.spec)
        return self.prove()

    def seek(self, monitor: Monitor) -> tuple[float, Certificate]:
        """The optimum's upper bound, and what the multipliers found prove of our weights."""
        return self.solve(monitor).certificate.primal, self.prove()

    exact: bool  # whether slacks, but for the exceptions, tell multipliers without rounding
    recall: Any  # the task that gives a part its multipliers
    set_none: Any  # the task that takes them away

    @abstractmethod
    def centre(self) -> np.ndarray:
        """A place among the rows."""

    @abstractmethod
    def repair(self) -> None:
        """Make the parts' multipliers feasible."""

    @abstractmethod
    def prove(self) -> Certificate:
        """The certificate of our weights and the parts' multipliers."""

    @abstractmethod
    def solve(self, monitor: Monitor) -> PartsSolution:
        """Better multipliers for the parts."""


def _recall_binary(spec: BinarySpec, w, b, block: Block, states: Any, stored: Stored):
    problem = spec.pose(block)
    alpha = np.zeros(len(problem.y))
    if not stored.all:
        alpha = from_margins(problem, problem.y * (scores(problem.rows, w) + b))
    place, values = stored.rows, stored.values
    if spec.negative is not None:
        mine = (block.y == spec.positive) | (block.y == spec.negative)
        values, place = values[mine[place]], np.cumsum(mine)[place[mine[place]]] - 1
    alpha[place] = values
    return {spec.key: BinaryState(sqnorms(problem.rows), alpha, alpha[None, :])}, 0


class BinaryClaim(Claim):
    """Of two classes."""

    recall, set_none = staticmethod(_recall_binary), staticmethod(two_class.set_none)

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return boxed(self.spec.loss)

    def centre(self) -> np.ndarray:
        census = ask_total(self.parts, begin, self.spec)
        return census.sum_x / max(1, census.alive)

    def repair(self) -> None:
        two_class.repair_parts(self.parts, self.spec)

    def prove(self) -> Certificate:
        return two_class.certify_parts(self.parts, self.spec, self.w, self.b, self.mean)

    def solve(self, monitor: Monitor) -> PartsSolution:
        return solve_hinge(self.parts, self.spec, monitor)


def _recall_classes(spec: ClassSpec, W, b, block: Block, states: Any, stored: Stored):
    beta = from_scores(spec.pose(block), W, b)
    if stored.all:
        beta = np.zeros_like(beta)
    beta[stored.rows, stored.which] = stored.values
    nothing = np.zeros(0)
    return {spec.key: ClassState(nothing, nothing, beta, beta[None])}, 0


class ClassClaim(Claim):
    """Of all classes at once."""

    recall, set_none = staticmethod(_recall_classes), staticmethod(many_class.set_none)

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.spec.rates[1] == self.spec.rates[3] == 0.0

    def centre(self) -> np.ndarray:
        census = ask_total(self.parts, count, self.spec)
        return census.sum_x / max(1, census.alive)

    def repair(self) -> None:
        many_class.repair_class_parts(self.parts, self.spec)

    def prove(self) -> Certificate:
        return many_class.certify_class_parts(self.parts, self.spec, self.w, self.b, self.mean)

    def solve(self, monitor: Monitor) -> PartsSolution:
        return solve_class_hinge(self.parts, self.spec, monitor)


# --- logistic regression --------------------------------------------------------------------


@verify_parts.register
def _verify_logistic(
    model: LogisticRegression, data: PartsData, tol: float | None = None
) -> Certificate:
    """The dual of the best biases for W bounds the optimum; the primal is the model's own."""
    monitor, W, b = _monitor(model, data, tol), model.coef_, model.intercept_
    sum_x, mass = data.parts.total(_weighted_sum)
    return recertify_smooth(data.parts, smooth_problem(model), W, b, monitor.tol, sum_x / mass)


def _weighted_sum(block: Block, state):
    """Σ s x and Σ s."""
    weight = np.ones(len(block.y)) if block.weight is None else block.weight
    return state, (np.asarray(weight @ block.X).ravel(), float(weight.sum()))


# --- closed forms ---------------------------------------------------------------------------


@verify_parts.register
def _verify_least_squares(
    model: LeastSquaresClassifier, data: PartsData, tol: float | None = None
) -> NormalEquations:
    k, free = len(model.classes_), bool(model.fit_intercept)
    return check_least_squares(data.parts, k, model.alpha_, free, model.coef_, model.intercept_)


@verify_parts.register
def _verify_fisher(
    model: FisherDiscriminant, data: PartsData, tol: float | None = None
) -> FisherCriterion:
    plain, shrinkage = model.covariance == "none", model.shrinkage or 0.0
    given = None if model.priors is None else model.priors_
    proof, spread, means = check_fisher(
        data.parts, len(model.classes_), given, plain, shrinkage, model.scalings_
    )
    return model._with_scores(proof, spread, means, 1.0)
