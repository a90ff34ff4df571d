"""LinearSVM by compiled batches: labellings of the same rows and columns go together.

Threads take batches, which release Python's lock.  A fit that the batch does not prove is made
once more on its own, by the solvers that ``LinearSVM`` has for hard cases.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ...core.certify.small import FIELDS, as_certificate, relative_gaps, told_of
from ...core.problem.losses import LOSSES
from ...core.rows.rows import as_rows
from ...core.solve.two_class.batch import Labellings, fits, solve_labellings
from ...core.solve.two_class.central_path import room_for
from ..fitting import make_monitor
from ..svm.linear_svm import LinearSVM
from ..validation import check_class_weight, one_of, positive
from .loop import fit_places
from .problems import Problems, is_dense, weighted
from .result import ManyFits

# Labellings solved in one call: few enough for Ctrl-C to be heard within a second.
MAX_CALL_LABELLINGS = 64
# Calls a thread takes at a time: many, where one takes less than what handing it out does.
CALLS_PER_TASK = 32


class Batch(NamedTuple):
    """Some labellings of the rows of a fold, on a subset of columns."""

    labellings: slice
    subset: int
    fold: int


class BatchArrays(NamedTuple):
    """Arrays over (labellings, subsets, folds); weights by subset, as these may differ in size."""

    coef: list[np.ndarray]
    b: np.ndarray
    told: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray | None


def why_not_in_batches(estimator, problems: Problems) -> str | None:
    """What a batch cannot do of what was asked; None if it can do all."""
    if type(estimator) is not LinearSVM:
        return f"batches serve LinearSVM, and this is {type(estimator).__name__}"
    if len(problems.classes) != 2:
        return f"batches serve two classes, and there are {len(problems.classes)}"
    if not is_dense(problems):
        return "batches serve dense rows, and these are sparse"
    if estimator.penalize_bias or estimator.probability or estimator.warm_start:
        return "batches know no penalised bias, no probabilities and no warm start"
    if estimator.solver != "auto" or not np.isfinite(positive("C", estimator.C, infinite=True)):
        return "batches have one solver, for a finite C"
    widest = max(map(len, problems.columns))
    if not all(fits(len(rows), widest) for rows, _ in problems.splits):
        return f"{problems.X.shape[0]} × {widest} values are no small problem"
    return None


def fit_in_batches(estimator, problems: Problems, decisions: bool, n_jobs: int | None) -> ManyFits:
    """All fits of a LinearSVM."""
    tol = make_monitor(estimator).tol
    loss = LOSSES[one_of("loss", estimator.loss, LOSSES)]
    found = _solve(estimator, problems, loss, tol, decisions, n_jobs)
    again = _fit_again(estimator, problems, found, tol, n_jobs)
    shape, (L, S, F) = problems.shape, problems.counts
    told = found.told.reshape(*shape, len(FIELDS))

    def certificate_at(place: tuple[int, ...]):
        _, subset, fold = np.unravel_index(np.ravel_multi_index(place, shape), (L, S, F))
        n, d = len(problems.splits[fold][0]), len(problems.columns[subset])
        return as_certificate(told[place], loss, estimator._bias(), n, d)

    return ManyFits(
        classes=problems.classes,
        coef=_coef(found.coef, shape),
        intercept=found.b.reshape(shape),
        gap=relative_gaps(told),
        scores=found.scores.reshape(shape) if problems.axes[2] else None,
        decisions=None if found.decisions is None else found.decisions.reshape(*shape, -1),
        tol=tol,
        how="by compiled batches"
        + (f", {again:,} of them once more on their own" if again else ""),
        certificate_at=certificate_at,
    )


def _solve(estimator, problems: Problems, loss, tol: float, decisions: bool, n_jobs) -> BatchArrays:
    L, S, F = problems.counts
    n = problems.X.shape[0]
    found = BatchArrays(
        [np.empty((L, F, len(subset))) for subset in problems.columns],
        np.empty((L, S, F)), np.empty((L, S, F, len(FIELDS))), np.full((L, S, F), np.nan),
        np.full((L, S, F, n), np.nan) if decisions else None,
    )  # fmt: skip
    bias = estimator._bias()
    X = as_rows(np.ascontiguousarray(problems.X, dtype=np.float64)).X  # type: ignore[union-attr]
    positive_rows = problems.codes == 1
    cost = np.full(n, float(estimator.C))
    if problems.weight is not None:
        cost *= problems.weight
    prices = [_by_class(estimator, problems, rows) for rows, _ in problems.splits]
    fitted = [weighted(problems, rows) for rows, _ in problems.splits]

    def work(batches: list[Batch]) -> None:
        room = {}
        for some, subset, fold in batches:
            columns, held = problems.columns[subset], problems.splits[fold][1]
            size = len(fitted[fold]), len(columns)
            if size not in room:  # or memory would be mapped anew for every call
                room = {size: room_for(*size, loss, bias)}
            these = Labellings(
                fitted[fold], columns, held, positive_rows[some], cost, prices[fold][some]
            )
            coef, b, told, _, f = solve_labellings(X, these, loss, tol, room[size])
            found.coef[subset][some, fold] = coef
            found.b[some, subset, fold], found.told[some, subset, fold] = b, told
            if len(held):
                right = (f > 0) == positive_rows[some][:, held]
                found.scores[some, subset, fold] = right.mean(axis=1)
            if found.decisions is not None:
                found.decisions[some, subset, fold][:, held] = f

    _run(work, _tasks(L, S, F), n_jobs)
    return found


def _tasks(L: int, S: int, F: int) -> list[list[Batch]]:
    """All batches, in lists that are worth handing to a thread."""
    starts = range(0, L, MAX_CALL_LABELLINGS)
    labellings = [slice(first, min(L, first + MAX_CALL_LABELLINGS)) for first in starts]
    batches = [Batch(some, s, f) for some, s, f in product(labellings, range(S), range(F))]
    size = max(1, CALLS_PER_TASK // min(L, MAX_CALL_LABELLINGS))
    return [batches[first : first + size] for first in range(0, len(batches), size)]


def _run(work, tasks: list, n_jobs: int | None) -> None:
    """All tasks, in threads; an error or Ctrl-C cancels those that have not begun."""
    threads = min(effective_n_jobs(n_jobs), len(tasks))
    if threads == 1:
        for task in tasks:
            work(task)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="maxmargin")
    try:
        for _ in pool.map(work, tasks):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _by_class(estimator, problems: Problems, rows: np.ndarray) -> np.ndarray:
    """What ``class_weight`` makes of each class in every labelling of the rows: (L, 2)."""
    given = estimator.class_weight
    if given is None:
        return np.ones((len(problems.codes), 2))
    if isinstance(given, str) and given == "balanced":
        plus = (problems.codes[:, rows] == 1).sum(axis=1)
        return len(rows) / (2.0 * np.stack([len(rows) - plus, plus], axis=1))
    fixed = check_class_weight(given, problems.classes, problems.classes[problems.codes[0]])
    if not fixed.min() > 0:
        raise ValueError(f"class_weight leaves a class without weight: {given}. Raise it.")
    return np.tile(fixed, (len(problems.codes), 1))


def _fit_again(estimator, problems: Problems, found: BatchArrays, tol: float, n_jobs) -> int:
    """Fit alone what a batch did not prove; how many these were."""
    places = [tuple(map(int, place)) for place in np.argwhere(~(relative_gaps(found.told) <= tol))]
    decisions = found.decisions is not None
    for place, fit in zip(
        places, fit_places(estimator, problems, places, decisions, n_jobs), strict=True
    ):
        labelling, subset, fold = place
        found.coef[subset][labelling, fold] = fit.coef[0]
        found.b[place], found.told[place] = fit.intercept[0], told_of(fit.certificate)
        found.scores[place] = fit.score
        if found.decisions is not None and fit.decision is not None:
            found.decisions[place][problems.splits[fold][1]] = fit.decision
    return len(places)


def _coef(by_subset: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The weights in one array, or in an array of arrays where their numbers differ."""
    if len({len(W[0, 0]) for W in by_subset}) == 1:
        return np.stack(by_subset, axis=1).reshape(*shape, -1)
    L, F, _ = by_subset[0].shape
    out = np.empty((L, len(by_subset), F), dtype=object)
    for labelling, subset, fold in np.ndindex(out.shape):
        out[labelling, subset, fold] = by_subset[subset][labelling, fold]
    return out.reshape(shape)
