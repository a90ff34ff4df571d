"""How the problems of a support vector machine are solved on a stream.

Rows near their margin are kept in memory where that works; else the methods over any parts are
used, with checkpoints.  A model keeps those multipliers that its own slacks do not tell.
"""

from __future__ import annotations

import numpy as np

from ...core.certify.conclude import lengthened
from ...core.certify.multiclass import from_scores
from ...core.problem.losses import boxed
from ...core.problem.multiclass import MulticlassProblem
from ...core.rows.class_products import score_chunks
from ...core.rows.rows import scores
from ...core.solve.contract import Ending, Monitor, settled
from ..parts import Block, Parts
from ..solve.hard_margin.rounds import solve_hard
from ..solve.hard_margin.tasks import HeldRows, classes_of
from ..solve.many_class.driver import solve_class_hinge
from ..solve.many_class.near import MAX_HELD_VALUES
from ..solve.many_class.tasks import ClassSpec, ClassState, pose_classes
from ..solve.tasks import PartsSolution
from ..solve.two_class.driver import solve_hinge
from ..solve.two_class.tasks import BinarySpec, pose
from .certify import UNSURE_SLACK, certify_hinge, exceptions
from .checkpointed_parts import CheckpointedParts, recall_spec
from .hinge import solve_hinge as solve_near
from .multiplier_exceptions import collect
from .plane import HingeTask, StreamPlane
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .split_parts import SplitParts

# Columns up to which the rows near their margin are solved by d × d systems.
NEAR_COLUMNS = 2000
# The share of the memory limit for rows of all classes that are held in one place, and how many
# times they are held while their problem is posed and solved.
HELD_ROWS_SHARE, HELD_ROWS_COPIES = 0.5, 5
# Of the memory that a sample may take the rows that decide a hard margin may take this share, for
# they are copied when others join them, and their solver makes arrays as large.
HARD_SHARE = 0.5


def hard_room(rows: StreamedRows, at_once: int = 1) -> int:
    """Bytes of the rows that decide the margin of one of so many problems side by side."""
    return int(HARD_SHARE * rows.memory.sample / at_once)


def solve_streamed_hard(
    parts: Parts, spec: BinarySpec | ClassSpec, monitor: Monitor, sample: RowBuffer, room: int
) -> PartsSolution:
    """The hard margin of all rows, or the proof that there is none.

    A sample is solved first, so that few passes are left to make.
    """
    block = Block(sample.matrix(), sample.y[: sample.count].astype(np.int64), None)
    y, ids = classes_of(block, spec), sample.ids[: sample.count]
    kept = HeldRows(block.X, y, ids)
    if (y < 0).any():
        kept = kept.take(np.flatnonzero(y >= 0))
    return _whole(solve_hard(parts, spec, monitor, room, kept))


def _whole(fit: PartsSolution) -> PartsSolution:
    if fit.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt  # its checkpoint is better than its model
    return fit


# --- two classes ----------------------------------------------------------------------------


def solve_near_margin(
    rows: StreamedRows, spec: BinarySpec, monitor: Monitor, sample: RowBuffer
) -> PartsSolution:
    """Rounds over the rows near their margin, which are kept in memory."""
    monitor.solver = "rounds"
    task = HingeTask(spec.C, spec.bias, monitor)
    found = solve_near(rows, task, sample)
    w, b, multipliers = *found.plane, found.multipliers
    proof = lengthened(
        certify_hinge(rows, task, found.plane, multipliers),
        monitor.tol,
        lambda t: certify_hinge(rows, task, StreamPlane(t * w, t * b), multipliers),
    )
    ending = settled(found.ending, proof.certificate, monitor.tol)
    why = f"a stream of {rows.n} rows: those near their margin are kept in memory"
    return PartsSolution(
        *proof.plane, proof.certificate, ending, "rounds", why, proof.rows, proof.alpha
    )


def solve_streamed_binary(
    parts: Parts, rows: StreamedRows, spec: BinarySpec, monitor: Monitor, problems: int,
    at_once: int,
) -> PartsSolution:  # fmt: skip
    """By what works over any parts, from the multipliers of a checkpoint where there is one.

    ``parts`` are the rows, or a job's view of them.
    """
    job = None if parts is rows else spec.key
    name = f"{spec.positive}-{spec.negative}"
    standing = CheckpointedParts(parts, rows, name, 8 * at_once, job)
    recall_spec(standing, spec)
    fit = _whole(solve_hinge(standing, spec, monitor))
    if not boxed(spec.loss):  # a squared hinge's follow from the slacks
        return fit
    told = parts.ask(_binary_exceptions, spec, fit.w, fit.b)
    listed, alpha = collect(told, rows.memory.limit // problems)
    return fit._replace(rows=listed, alpha=alpha)


def _binary_exceptions(block: Block, states, spec: BinarySpec, w, b):
    """Rows of a part whose multiplier is not c or 0 as their slack says, and it."""
    problem = pose(block, spec)
    known = states[spec.key].alpha
    z = 1.0 - problem.y * (scores(problem.rows, w) + b)
    listed = place = exceptions(known, z, problem.c)
    if spec.negative is not None:
        mine = np.flatnonzero((block.y == spec.positive) | (block.y == spec.negative))
        place = mine[listed]
    return states, (len(block.y), place, known[listed])


# --- all classes at once --------------------------------------------------------------------


def solve_streamed_classes(
    rows: StreamedRows, spec: ClassSpec, monitor: Monitor, sample: RowBuffer
) -> PartsSolution:
    """All classes in one problem; what scores do not tell of the multipliers is kept."""
    if np.isinf(spec.C):
        return solve_streamed_hard(rows, spec, monitor, sample, hard_room(rows))
    parts = CheckpointedParts(SplitParts(rows, spec.k), rows, "classes", 8 * spec.k)
    parts.recall(spec.key, _recalled)
    values = min(MAX_HELD_VALUES, int(HELD_ROWS_SHARE * rows.memory.limit / (8 * HELD_ROWS_COPIES)))
    fit = _whole(solve_class_hinge(parts, spec, monitor, values))
    told = parts.ask(_class_exceptions, spec, fit.w, fit.b)
    listed, beta = collect(told, rows.memory.limit, spec.k)
    return fit._replace(rows=listed, alpha=beta)


def _recalled(block: Block, beta: np.ndarray) -> ClassState | None:
    """A state to start from: all but its multipliers is made anew."""
    nothing = np.zeros(0)
    return ClassState(nothing, nothing, beta, beta[None]) if len(beta) == len(block.y) else None


def _class_exceptions(block: Block, states, spec: ClassSpec, W, b):
    """Rows whose multipliers their scores do not tell, and these."""
    problem, beta = pose_classes(block, spec), states[spec.key].beta
    told = from_scores(problem, W, b)
    # Those of a squared hinge follow from the slacks up to the gap, but for who bears them.
    differs = beta != told if spec.rates[1] == spec.rates[3] else (beta > 0) != (told > 0)
    listed = np.flatnonzero(differs.any(axis=1) | _unsure(problem, W, b))
    return states, (len(beta), listed, beta[listed])


def _unsure(problem: MulticlassProblem, W, b) -> np.ndarray:
    """Rows with a slack, or two largest ones, so near to each other that rounding decides."""
    unsure = np.zeros(len(problem.y), dtype=bool)
    for part, f in score_chunks(problem.rows, W):
        s = f + b
        z = np.sort(1.0 + s - s[np.arange(len(s)), problem.y[part]][:, None], axis=1)
        unsure[part] = (np.abs(z) < UNSURE_SLACK).any(axis=1) | (z[:, -1] - z[:, -2] < UNSURE_SLACK)
    return unsure
