"""Each estimator on a stream: from parameters to a method over parts, and back to attributes."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...core.certify.conclude import lengthened
from ...core.certify.mistakes import PerceptronCertificate
from ...core.problem.losses import LOSSES, Hinge
from ...core.problem.problem import Bias
from ...core.rows.rows import scores
from ...core.solve.contract import Ending, Monitor, settled
from ...core.solve.perceptron.passes import Halt, run_passes
from ...core.solve.perceptron.updates import Rule
from ...models.bias_column import fit_joined
from ...models.fitting import warn_unless_reached
from ...models.perceptron.inputs import check_plan
from ...models.perceptron.perceptron import farewell
from ...models.regression.least_squares import ENOUGH
from ...models.svm.reduced import keep_some, together
from ...models.validation import at_least_zero, check_alphas, one_of, positive
from ..certify.smooth import certify_smooth
from ..parts import Block, Parts
from ..side_by_side import solve_side_by_side
from ..solve.closed_forms import solve_least_squares
from ..solve.fisher import solve_fisher
from ..solve.hinge import solve_hinge
from ..solve.hinge_tasks import BinarySpec, pose
from ..solve.ridge_path import solve_ridge_path
from ..solve.smooth import Asked, solve_smooth
from ..solve.tasks import PartsSolution
from .certify import UNSURE, certify_hinge
from .checkpointed_parts import CheckpointedParts, recall_machine
from .classes import fit_classes
from .hard import room_for, solve_streamed
from .hinge import solve_hinge as solve_near
from .lockstep_budget import machines_in_a_pass
from .multiplier_exceptions import collect
from .perceptron import StreamLearner
from .plane import HingeTask, StreamPlane
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .training_summary import account

# What helps where the rows that matter to all classes at once did not fit.
MORE_MEMORY = (
    " The rows that matter did not fit the memory limit: with more memory far fewer passes are "
    "needed."
)
# Columns up to which the rows near their margin are solved by d × d systems.
MOST_COLUMNS = 2000


def check(estimator) -> None:
    """Refuse, before anything is read, what a stream cannot do."""
    name = type(estimator).__name__
    refused: dict[str, list[tuple[str, Any]]] = {
        "LinearSVM": [("solver", "auto")],
        "LogisticRegression": [("solver", "auto")],
        "Perceptron": [("batch_size", 1), ("trace", False), ("explain", False)],
    }
    for parameter, only in refused.get(name, []):
        if getattr(estimator, parameter) != only:
            raise ValueError(
                f"{name} on a stream has {parameter}={only!r} only, got "
                f"{parameter}={getattr(estimator, parameter)!r}."
            )
    if name == "Perceptron" and estimator.order == "random":
        raise ValueError("order='random' jumps about all rows. On a stream use cycle or shuffle.")
    if hasattr(estimator, "C"):
        positive("C", estimator.C, infinite=name == "LinearSVM")


def warn(estimator, stopped) -> None:
    """Say what a fit did not reach."""
    name = type(estimator).__name__
    if isinstance(stopped, Ending):
        k, rule = len(estimator.classes_), getattr(estimator, "multiclass", "")
        joint = k > 2 and rule in ("max", "sum")
        also = MORE_MEMORY if joint and estimator.solver_ == "ascent" else ""
        warn_unless_reached(estimator, stopped, estimator.certificate_, also)
    elif name == "LeastSquaresClassifier" and not estimator.certificate_.holds(ENOUGH):
        estimator._warn()
    elif isinstance(stopped, Halt) and stopped is Halt.PASSES:
        text = farewell(estimator, (estimator.coef_, estimator.intercept_))
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def _tell(estimator, monitor: Monitor, certificate, solver: str, why: str) -> None:
    estimator.certificate_ = certificate
    estimator.history_ = monitor.history
    estimator.n_iter_ = max(1, monitor.n_iter)
    estimator.solver_, estimator.solver_reason_ = solver, why


def fit_svm(estimator, rows: StreamedRows, monitor: Monitor, sample: RowBuffer) -> Ending:
    """Two classes, all classes at once, or several machines of two classes side by side."""
    if estimator._bias_column:
        with rows.with_ones():
            more, norm = sample.with_ones(), estimator._form().norm
            return fit_joined(estimator, lambda inner: fit_svm(inner, rows, monitor, more), norm)
    k = len(rows.classes)
    loss = LOSSES[one_of("loss", estimator.loss, LOSSES)]
    one_of("multiclass", estimator.multiclass, ["max", "sum", "rest", "pairs"])
    if k > 2 and estimator.multiclass in ("max", "sum"):
        fit = fit_classes(estimator, rows, monitor, sample)
        _tell(estimator, monitor, fit.certificate, fit.solver, fit.why)
        account(estimator, rows)
        return settled(fit.ending, fit.certificate, monitor.tol)
    duels: list[tuple[int, int | None]] = [(1, None)]
    if k > 2:
        duels = [(c, None) for c in range(k)]
        if estimator.multiclass == "pairs":
            duels = list(combinations(range(k), 2))
    near = k == 2 and isinstance(loss, Hinge) and rows.n_features <= MOST_COLUMNS
    hard = np.isinf(estimator.C)
    some = sample if near or hard else None
    at_once = min(len(duels), machines_in_a_pass(rows, duels))
    plan = StreamPlan(rows, estimator, loss, some, len(duels), at_once)
    solvers: dict[Hashable, Any] = {duel: partial(_two, plan=plan, duel=duel) for duel in duels}
    found = solve_side_by_side(rows, solvers, monitor, at_once, rows.forget)
    estimator.coef_ = np.array([each.w for each in found])
    estimator.intercept_ = np.array([each.b for each in found])
    norm = float(np.linalg.norm(estimator.coef_, axis=1).max())
    estimator.margin_ = 1.0 / norm if norm > 0 else np.inf
    if hard or isinstance(loss, Hinge):  # the multipliers of a squared hinge follow from the slacks
        keep_some(estimator, [(each.rows, each.alpha) for each in found])
    certificate = found[0].certificate
    if k > 2:
        certificate = together(estimator, [each.certificate for each in found])
    _tell(estimator, monitor, certificate, found[0].solver, found[0].why)
    account(estimator, rows)
    ending = next((e.ending for e in found if e.ending is not Ending.REACHED), Ending.REACHED)
    return settled(ending, certificate, monitor.tol)


class StreamPlan(NamedTuple):
    """What the two-class machines of a fit share; ``at_once`` of them are asked in one pass."""

    rows: StreamedRows
    estimator: Any
    loss: Any
    sample: RowBuffer | None
    machines: int
    at_once: int


def _two(
    parts: Parts, *, monitor: Monitor, plan: StreamPlan, duel: tuple[int, int | None]
) -> PartsSolution:
    """Rows near their margin in memory where that works; else what works over any parts."""
    rows, sample, loss = plan.rows, plan.sample, plan.loss
    bias, C = plan.estimator._bias(), float(plan.estimator.C)
    machine = BinarySpec(C, loss, bias, *duel, None, monitor.seed)
    if np.isinf(C) and sample is not None:
        return solve_streamed(parts, machine, monitor, sample, room_for(rows, plan.at_once))
    if sample is not None:
        monitor.solver = "rounds"
        task = HingeTask(C, bias, monitor)
        found = solve_near(rows, task, sample)
        w, b, multipliers = *found.plane, found.multipliers
        proof = lengthened(
            certify_hinge(rows, task, found.plane, multipliers),
            monitor.tol,
            lambda t: certify_hinge(rows, task, StreamPlane(t * w, t * b), multipliers),
        )
        ending = settled(found.ending, proof.certificate, monitor.tol)
        if ending is not Ending.STALLED:
            why = f"a stream of {rows.n} rows: those near their margin are kept in memory"
            return PartsSolution(
                *proof.plane, proof.certificate, ending, "rounds", why, proof.rows, proof.alpha
            )
    problem = None if parts is rows else duel
    standing = CheckpointedParts(parts, rows, f"{duel[0]}-{duel[1]}", 8 * plan.at_once, problem)
    recall_machine(standing, machine)
    fit = solve_hinge(standing, machine, monitor)
    if fit.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    told = parts.ask(_odd_multipliers, machine, fit.w, fit.b) if isinstance(loss, Hinge) else ()
    odd, alpha = collect(told, rows.memory.limit // plan.machines)
    return fit._replace(rows=odd, alpha=alpha)


def _odd_multipliers(block: Block, memory, machine: BinarySpec, w, b):
    """Rows of a part whose multiplier is not c or 0 as their slack says, and it."""
    problem = pose(block, machine)
    known = memory[machine.key].alpha
    z = 1.0 - problem.y * (scores(problem.rows, w) + b)
    odd = np.flatnonzero((known != np.where(z > 0.0, problem.c, 0.0)) | (np.abs(z) < UNSURE))
    place = odd
    if machine.negative is not None:
        mine = np.flatnonzero((block.y == machine.positive) | (block.y == machine.negative))
        place = mine[odd]
    return memory, (len(block.y), place, known[odd])


def fit_logistic(estimator, rows: StreamedRows, monitor: Monitor, sample: RowBuffer) -> Ending:
    monitor.solver = "newton"
    bias = Bias.FREE if estimator.fit_intercept else Bias.NONE
    asked = Asked(len(rows.classes), float(estimator.C), bias)
    m = sample.count
    block = Block(sample.matrix(), sample.y[:m].astype(np.int64), sample.c[:m])
    state = rows.folder.load()
    start = (state["W"], state["b"]) if state is not None and "smooth" in state else None

    def note(W, b) -> None:
        rows.folder.save(smooth=1, W=W, b=b)

    found = solve_smooth(rows, asked, monitor, block, start, note)
    b, certificate = certify_smooth(rows, asked, found.W, found.b, monitor.tol, found.mu)
    estimator.coef_, estimator.intercept_ = found.W, b
    account(estimator, rows)
    why = f"a stream of {rows.n} rows: quasi-Newton steps, a model of the Hessian from a sample"
    _tell(estimator, monitor, certificate, "newton", why)
    return settled(found.ending, certificate, monitor.tol)


def fit_least_squares(estimator, rows: StreamedRows, monitor, sample) -> None:
    alpha = at_least_zero("alpha", estimator.alpha)
    k, free = len(rows.classes), bool(estimator.fit_intercept)
    if estimator.alphas is None:
        found = solve_least_squares(rows, k, alpha, free)
    else:
        alphas = check_alphas(estimator.alphas)
        alpha, found, estimator.path_ = solve_ridge_path(rows, k, alphas, free)
    estimator.alpha_ = alpha
    estimator.coef_, estimator.intercept_ = found.coef, found.intercept
    estimator.certificate_ = found.certificate
    account(estimator, rows)


def fit_fisher(estimator, rows: StreamedRows, monitor, sample) -> None:
    one_of("covariance", estimator.covariance, ["within", "none"])
    one_of("threshold", estimator.threshold, ["priors", "midpoint"])
    k = len(rows.classes)
    given = None
    if estimator.priors is not None:
        given = estimator._check_priors(np.zeros(0, dtype=int), None)
    most = estimator._check_components(np.empty((0, rows.n_features)))
    estimator._check_shrinkage(rows.mass if rows.tally.weighed else None)
    plain, shrinkage = estimator.covariance == "none", estimator.shrinkage or 0.0
    found, means, share = solve_fisher(rows, k, given, plain, shrinkage, most)
    estimator.priors_, estimator.means_, estimator.xbar_ = share, means, share @ means
    estimator._keep(found, (means - estimator.xbar_).T)
    account(estimator, rows)


def fit_perceptron(estimator, rows: StreamedRows, monitor, sample) -> Halt:
    plan = check_plan(estimator)
    if rows.tally.weighed:
        raise ValueError("Perceptron takes no weights of rows: its result depends on their order.")
    seed = check_random_state(estimator.random_state).randint(2**31)
    rate = np.full(len(rows.classes), float(estimator.learning_rate))
    if estimator.class_weight is not None:
        from .fit import class_weights

        rate = rate * class_weights(estimator.class_weight, rows)
    rule = Rule(rate, float(estimator.margin), float(estimator.fit_intercept))
    shuffle = estimator.order == "shuffle"
    learner = StreamLearner(rows, rule, estimator.average, shuffle, seed)
    learner.go_on()
    plan = plan._replace(order="cycle", max_passes=max(1, plan.max_passes - learner.done))
    run = run_passes(learner, plan, 0, None)
    if run.halt is Halt.INTERRUPTED:
        raise KeyboardInterrupt
    if run.pocket is not None:
        W, b, _ = run.pocket
        learner.learner.weights = learner.learner.weights._replace(W=W, b=b)
    estimator._keep(learner.learner, rows.dtype)
    _account(estimator, rows, run, learner)
    return run.halt


def _account(estimator: Any, rows: StreamedRows, run, learner: StreamLearner) -> None:
    """What the weights kept do on the training rows."""
    W, b = estimator.coef_.astype(np.float64), estimator.intercept_.astype(np.float64)
    wrong, violating, loss, squared = learner.audit(W, b)
    made = sum(line.updates for line in run.history)
    estimator.updates_ = made
    estimator.radius_ = float(np.sqrt(squared + bool(estimator.fit_intercept)))
    estimator.history_, estimator.n_iter_ = run.history, len(run.history)
    estimator.certificate_ = PerceptronCertificate(
        rows.n, wrong, violating, loss, made, len(run.history), run.halt.value,
        False, None, len(rows.classes),
    )  # fmt: skip
    account(estimator, rows)
