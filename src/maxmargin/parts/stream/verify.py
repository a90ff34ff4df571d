"""verify_stream: a model's claim, recomputed from files that need not fit memory.

    primal(w, b) − dual(α) ≤ tol · primal      for the model's own (w, b) and any feasible α

The multipliers of a hinge are those of the fit: c where a row has slack, else 0, but for the rows
listed in the model.  Those of a squared hinge are no such rule of the slacks except at the
optimum itself: near it the rule proves only ½‖gradient‖², which may be far more than the gap.
Where that is not enough they are sought anew, by the methods over parts, from the rule on: whoever
finds them, they prove the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ...core.certify.certificate import Certificate
from ...core.certify.fisher import FisherCriterion
from ...core.certify.multiclass import from_scores
from ...core.certify.normal_equations import NormalEquations
from ...core.problem.class_losses import CLASS_LOSSES
from ...core.problem.losses import LOSSES, Hinge
from ...core.problem.problem import Bias
from ...core.rows.rows import scores, sqnorms
from ...core.solve.contract import Monitor
from ...models.bias_column import prove_joined
from ...models.fitting import make_monitor
from ...models.svm.reduced import together
from ..certify.many_class import certify_class_parts, repair_class_parts
from ..certify.smooth import certify_smooth
from ..certify.two_class import certify_parts, repair_parts
from ..files.sources import open_source
from ..parts import Block
from ..solve.class_hinge import solve_class_hinge
from ..solve.class_tasks import ClassSpec, ClassState, count, pose_classes
from ..solve.closed_forms import check_least_squares
from ..solve.fisher import check_fisher
from ..solve.hard_margin import verify_hard
from ..solve.hinge import solve_hinge
from ..solve.hinge_tasks import BinarySpec, BinaryState, begin, pose
from ..solve.smooth import Asked
from ..solve.tasks import ask_total
from .fit import class_weights, reading
from .folder import WorkFolder
from .hard import room_for
from .memory_limit import parse_memory
from .progress import StreamProgress
from .rows import StreamedRows
from .split_parts import SplitParts
from .training_summary import duels

# Times that multipliers are sought, each with a smaller gap asked for.
TRIES, SHARPER = 4, 0.2


def verify_stream(model, source, *, memory="1GB", tol=None):
    """Recompute the certificate of a LinearSVM, LogisticRegression or closed form from a source.

    ``source`` and ``memory`` are as in ``fit_stream``, and the rows those of the fit, in its
    order.  ``tol``: the gap that should be shown, by default the model's own; with the squared
    hinge more work is done for a smaller one.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM, fit_stream, verify_stream
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> chunks = [(X[:3], y[:3]), (X[3:], y[3:])]
    >>> svm = fit_stream(LinearSVM(loss="squared_hinge"), chunks)
    >>> verify_stream(svm, chunks).holds(1e-6)
    True
    """
    name = type(model).__name__
    if name not in PROOFS:
        raise TypeError(f"verify_stream recomputes {', '.join(PROOFS)}, got {name}.")
    check_is_fitted(model)
    progress = StreamProgress()
    monitor = None
    if hasattr(model, "tol"):
        progress.monitor = monitor = make_monitor(model)
        monitor.tol = monitor.tol if tol is None else float(tol)
    with (
        WorkFolder(None, False) as folder,
        reading(open_source(source), parse_memory(memory), folder, progress, None) as (rows, _),
    ):
        _same(model, rows)
        if getattr(model, "class_weight", None) is not None:
            rows.weigh(class_weights(model.class_weight, rows))
        found = PROOFS[name](model, rows, monitor)
        progress.done()
        return found


def _same(model, rows: StreamedRows) -> None:
    """The classes and columns of the model."""
    if rows.n_features != model.n_features_in_:
        raise ValueError(
            f"{rows.source.name} has {rows.n_features} features, the model {model.n_features_in_}."
        )
    here, there = rows.classes.astype(str).tolist(), model.classes_.astype(str).tolist()
    if here != there:
        raise ValueError(
            f"{rows.source.name} has the classes {', '.join(here[:5])}, the model knows "
            f"{', '.join(there[:5])}."
        )


# --- support vector machines ----------------------------------------------------------------


class Listed:
    """Multipliers that were kept, for each machine; pieces are asked for in their order."""

    def __init__(self, model, machine: int | None):
        rows = getattr(model, "_alpha_rows", np.zeros(0, dtype=np.int64))
        which = getattr(model, "_alpha_machines", np.zeros(0, dtype=np.int64))
        values = getattr(model, "_alpha_values", np.zeros(0))
        if hasattr(model, "alpha_"):  # of a fit in memory all are known
            alpha = np.asarray(model.alpha_).reshape(len(model.alpha_), -1)
            rows, which = (each.ravel() for each in np.indices(alpha.shape))
            values = alpha.ravel()
        mine = slice(None) if machine is None else which == machine
        self.rows, self.which, self.values = rows[mine], which[mine], values[mine]
        self.any = len(self.rows) > 0  # none are kept where they were too many
        self.first = 0

    def next(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places among the next n rows, machines and values."""
        low, high = np.searchsorted(self.rows, [self.first, self.first + n])
        place = self.rows[low:high] - self.first
        self.first += n
        return place, self.which[low:high], self.values[low:high]


def _svm(model, rows: StreamedRows, monitor: Monitor) -> Certificate:
    if model._bias_column:
        with rows.with_ones():
            return prove_joined(model, lambda inner: _svm(inner, rows, monitor))
    k = len(model.classes_)
    if k > 2 and model.multiclass in ("max", "sum"):
        return _joint(model, rows, monitor)
    found = []
    for q, (one, other) in enumerate(duels(k, model.multiclass)):
        loss = LOSSES[model.loss]
        machine = BinarySpec(float(model.C), loss, model._bias(), one, other, None, monitor.seed)
        found.append(_two(model, rows, monitor, machine, q))
        rows.memories.clear()
    return found[0] if k == 2 else together(model, found)


def _two(model, rows: StreamedRows, monitor: Monitor, machine: BinarySpec, q: int) -> Certificate:
    """One machine: multipliers by the rule, or better ones."""
    w, b, listed = model.coef_[q], float(model.intercept_[q]), Listed(model, q)
    if np.isinf(machine.C):
        return verify_hard(rows, machine, w, b, monitor.tol, room_for(rows))

    def recall(block: Block, memory):
        problem = pose(block, machine)
        z = 1.0 - problem.y * (scores(problem.rows, w) + b)
        alpha = np.where(z > 0.0, problem.c, 0.0)
        if machine.squared:
            alpha *= 2.0 * np.maximum(z, 0.0)
        place, _, values = listed.next(len(block.y))
        if machine.negative is not None:
            mine = (block.y == machine.positive) | (block.y == machine.negative)
            place, values = np.cumsum(mine)[place[mine[place]]] - 1, values[mine[place]]
        alpha[place] = values
        return {machine.key: BinaryState(sqnorms(problem.rows), alpha, alpha[None, :])}, 0

    _each(rows, recall)
    census = ask_total(rows, begin, machine)
    mean = census.sum_x / max(1, census.alive)
    told = isinstance(machine.loss, Hinge) and listed.any
    if not told:
        repair_parts(rows, machine)

    def prove() -> Certificate:
        return certify_parts(rows, machine, w, b, mean)

    def seek() -> None:
        solve_hinge(rows, machine, monitor)

    return prove() if told else _improved(prove, seek, monitor)


def _joint(model, rows: StreamedRows, monitor: Monitor) -> Certificate:
    """All classes at once, likewise."""
    loss = CLASS_LOSSES[model.multiclass, model.loss]
    machine = ClassSpec(float(model.C), loss, len(model.classes_), model._bias(), monitor.seed)
    W, b, listed = model.coef_, model.intercept_, Listed(model, None)
    if np.isinf(machine.C):
        return verify_hard(rows, machine, W, b, monitor.tol, room_for(rows))
    parts = SplitParts(rows, machine.k)

    def recall(block: Block, memory):
        beta = from_scores(pose_classes(block, machine), W, b)
        place, which, values = listed.next(len(block.y))
        beta[place, which] = values
        nothing = np.zeros(0)
        return {machine.key: ClassState(nothing, nothing, beta, beta[None])}, 0

    _each(parts, recall)
    census = ask_total(parts, count, machine)
    mean = census.sum_x / max(1, census.alive)
    told = model.loss == "hinge" and listed.any
    if not told:
        repair_class_parts(parts, machine)

    def prove() -> Certificate:
        return certify_class_parts(parts, machine, W, b, mean)

    def seek() -> None:
        solve_class_hinge(parts, machine, monitor)

    return prove() if told else _improved(prove, seek, monitor)


def _each(parts, task) -> None:
    for _ in parts.ask(task):
        pass


def _improved(prove, seek, monitor: Monitor) -> Certificate:
    """The best proof of a few; multipliers are sought while it falls short."""
    best, tol = prove(), monitor.tol
    for _ in range(TRIES):
        if best.holds(tol):
            break
        monitor.tol *= SHARPER
        seek()
        found = prove()
        better = found.feasible and not found.relative_gap > best.relative_gap
        best = found if better or not best.feasible else best
    return best


# --- logistic regression --------------------------------------------------------------------


def _logistic(model, rows: StreamedRows, monitor: Monitor) -> Certificate:
    """The dual of the best biases for W bounds the optimum; the primal is the model's own."""
    bias = Bias.FREE if model.fit_intercept else Bias.NONE
    asked = Asked(len(model.classes_), float(model.C), bias)
    W, b = model.coef_, model.intercept_
    mean, mass, loss = np.zeros(rows.n_features), 0.0, 0.0
    for _, block in rows.blocks():
        weight = np.ones(len(block.y)) if block.weight is None else block.weight
        mean += np.asarray(weight @ block.X).ravel()
        mass += float(weight.sum())
        f = np.asarray(block.X @ W.T) + b
        loss += float(weight @ _losses(f, block.y))
    _, found = certify_smooth(rows, asked, W, b, monitor.tol, mean / mass)
    primal = 0.5 * float(np.sum(W**2)) + float(model.C) * loss
    return replace(found, primal=primal)


def _losses(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    if f.shape[1] == 1:
        return np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * f[:, 0])
    return logsumexp(f, axis=1) - f[np.arange(len(y)), y]


# --- closed forms ---------------------------------------------------------------------------


def _least_squares(model, rows: StreamedRows, monitor) -> NormalEquations:
    k, free = len(model.classes_), bool(model.fit_intercept)
    return check_least_squares(rows, k, model.alpha_, free, model.coef_, model.intercept_)


def _fisher(model, rows: StreamedRows, monitor) -> FisherCriterion:
    plain, shrinkage = model.covariance == "none", model.shrinkage or 0.0
    given = None if model.priors is None else model.priors_
    return check_fisher(rows, len(model.classes_), given, plain, shrinkage, model.scalings_)


PROOFS: dict[str, Callable[..., Any]] = {
    "LinearSVM": _svm,
    "LogisticRegression": _logistic,
    "LeastSquaresClassifier": _least_squares,
    "FisherDiscriminant": _fisher,
}
