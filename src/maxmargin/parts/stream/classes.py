"""LinearSVM with k classes at once on a stream: the "max" and the "sum" rule."""

from __future__ import annotations

import numpy as np

from ...core.certify.multiclass import from_scores
from ...core.problem.class_losses import CLASS_LOSSES
from ...core.problem.multiclass import MulticlassProblem
from ...core.rows.class_products import score_chunks
from ...core.solve.contract import Ending, Monitor
from ...models.svm.joint import keep_some
from ..parts import Block
from ..solve.class_hinge import solve_class_hinge
from ..solve.class_near import VALUES
from ..solve.class_tasks import ClassSpec, ClassState, pose_classes
from ..solve.tasks import PartsSolution
from .certify import UNSURE
from .checkpointed_parts import CheckpointedParts
from .hard import room_for, solve_streamed
from .multiplier_exceptions import collect
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .split_parts import SplitParts

# The share of the memory limit for rows that all problems of a fit hold in one place, and how many
# times they are held while one of these is posed and solved.
HELD, COPIES = 0.5, 5


def fit_classes(
    estimator, rows: StreamedRows, monitor: Monitor, sample: RowBuffer
) -> PartsSolution:
    """All classes in one problem; what scores do not tell of the multipliers is kept."""
    k = len(rows.classes)
    loss = CLASS_LOSSES[estimator.multiclass, estimator.loss]
    machine = ClassSpec(float(estimator.C), loss, k, estimator._bias(), monitor.seed)
    if np.isinf(machine.C):
        fit = solve_streamed(rows, machine, monitor, sample, room_for(rows))
    else:
        parts = CheckpointedParts(SplitParts(rows, k), rows, "classes", 8 * k)
        parts.recall(machine.key, _given)
        values = min(VALUES, int(HELD * rows.memory.limit / (8 * COPIES)))
        fit = solve_class_hinge(parts, machine, monitor, values)
    if fit.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    estimator.coef_, estimator.intercept_ = fit.w, fit.b
    norm = float(np.sum(fit.w**2))
    estimator.margin_ = 1.0 / float(np.sqrt(2.0 * norm)) if norm > 0 else np.inf
    odd, beta = fit.rows, fit.alpha
    if odd is None or beta is None:
        told = parts.ask(_odd_multipliers, machine, fit.w, fit.b)
        odd, beta = collect(told, rows.memory.limit, k)
    keep_some(estimator, odd, beta)
    rows.memories.clear()
    return fit


def _given(block: Block, beta: np.ndarray) -> ClassState | None:
    """A share to start from: all but its multipliers is made anew."""
    nothing = np.zeros(0)
    return ClassState(nothing, nothing, beta, beta[None]) if len(beta) == len(block.y) else None


def _odd_multipliers(block: Block, memory, machine: ClassSpec, W, b):
    """Rows whose multipliers their scores do not tell, and these."""
    problem, beta = pose_classes(block, machine), memory[machine.key].beta
    told = from_scores(problem, W, b)
    # Those of a squared hinge follow from the slacks up to the gap, but for who bears them.
    differs = beta != told if machine.rates[1] == machine.rates[3] else (beta > 0) != (told > 0)
    odd = np.flatnonzero(differs.any(axis=1) | _unsure(problem, W, b))
    return memory, (len(beta), odd, beta[odd])


def _unsure(problem: MulticlassProblem, W, b) -> np.ndarray:
    """Rows with a slack, or two largest ones, so near to each other that rounding decides."""
    unsure = np.zeros(len(problem.y), dtype=bool)
    for part, f in score_chunks(problem.rows, W):
        s = f + b
        z = np.sort(1.0 + s - s[np.arange(len(s)), problem.y[part]][:, None], axis=1)
        unsure[part] = (np.abs(z) < UNSURE).any(axis=1) | (z[:, -1] - z[:, -2] < UNSURE)
    return unsure
